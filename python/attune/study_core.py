"""A study and its attuned: what is said to it, what it answers, and how it is started again."""
from __future__ import annotations

import base64
import contextlib
import json
import os
import pathlib
import shutil
import tempfile
import threading
import weakref
from collections import deque
from typing import Any, Deque, Dict, Iterator, List, Optional, Tuple, Union

from . import study_settings, values
from .daemon import Daemon, DaemonError
from .errors import StudyError
from .study_file import VERSION, Event, StudyFile
from .study_results import StudyResults
from .study_settings import Settings
from .study_trial import DaemonTrial, StudyTrial

_JOURNAL = 'attuned.journal'


class StudyCore(StudyResults):
    """What changes a study, one call at a time. Study has the functions for users."""

    def _set_up(self, settings: Settings, program: str) -> None:
        self._settings = settings
        self._program = program
        self._changed = threading.Condition(threading.RLock())  # an end or a report of a trial
        self._trials: List[DaemonTrial] = []
        self._ready: Deque[DaemonTrial] = deque()  # proposed, and not asked for yet
        self._enqueued: Deque[Dict[str, Any]] = deque()  # parameters that come before those
        self._imported: List[Dict[str, Any]] = []  # as FD wants them, for an attuned that is new
        self._left_over: Deque[DaemonTrial] = deque()  # ran when the program ended that had the file
        self._requested = 0  # trials that attuned owes
        self._next_id = 0  # above all parameter ids that attuned has given out
        self._unsettled = False  # an exchange was interrupted: an answer may be lost
        self._unwritten = False  # a change was interrupted: the file may lack it
        self._exhausted = False
        self._stopping = False  # optimize() starts no more trials
        self._folder = tempfile.mkdtemp(prefix='attune-study-')
        self._daemons: List[Daemon] = []  # the one that works; a list, for the finalizer's sake
        self._files: List[StudyFile] = []  # the one that is written to, or none
        self._discard = weakref.finalize(self, _discard, self._daemons, self._files, self._folder,
                                         os.getpid())

    # ---- the file --------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _change(self) -> Iterator[None]:
        """Holds the study for one change. What was interrupted before is put in order first."""
        with self._changed:
            self._settle()
            if self._unwritten and not self._daemon.died:
                self._unwritten = False
                for file in self._files:
                    file.write(self._document())
            self._unwritten = bool(self._files)
            try:
                yield
            except (ValueError, TypeError):
                self._unwritten = False  # refused, before anything has changed
                raise
            self._unwritten = False

    def _log(self, event: Event) -> None:
        """Adds what has happened to the file. OSError: the disk; nothing can be done any more."""
        for file in self._files:
            try:
                file.append(event)
            except OSError as error:
                self._daemon.close(f'{file.path} could not be written: {error.strerror}; '
                                   'make room, and open it again')
                self._discard()
                raise

    def _document(self) -> Dict[str, Any]:
        """All of the study, attuned's memory included."""
        self._synchronize()
        return {'attune_study': VERSION, 'settings': self._settings,
                'exhausted': self._exhausted, 'requested': self._requested,
                'next_id': self._next_id, 'enqueued': list(self._enqueued),
                'imported': self._imported,
                'trials': [trial.record() for trial in self._trials],
                'ready': [trial.record() for trial in self._ready],
                'sent': self._daemon.sent, 'received': self._daemon.received,
                'journal': _read_journal(self._folder)}

    def _take_document(self, document: Dict[str, Any]) -> None:
        """Goes on where _document() was; not started yet."""
        self._exhausted = document['exhausted']
        self._requested = document['requested']
        self._trials = [DaemonTrial(**record, owner=self) for record in document['trials']]
        self._ready = deque(DaemonTrial(**record, owner=self) for record in document['ready'])
        self._enqueued = deque(document.get('enqueued', []))
        self._imported = document.get('imported', [])
        ids = [trial.parameter_id for trial in (*self._trials, *self._ready)]
        self._next_id = document.get('next_id', max(ids, default=-1) + 1 + self._requested)
        with open(os.path.join(self._folder, _JOURNAL), 'wb') as file:
            file.write(base64.b64decode(document['journal']))
        sent, received = document['sent'], document['received']
        if self._start(resume=True, received=received) == sent:
            self._daemon.sent += sent
            self._daemon.received += received
        else:
            self._tell_all()

    # ---- attuned ---------------------------------------------------------------------------------

    @property
    def _daemon(self) -> Daemon:
        return self._daemons[0]

    def _start(self, resume: bool = False, received: Optional[int] = None) -> Optional[int]:
        """A new attuned; with `resume` with the memory of the former one.

        `received`: how many answers that one was heard to give; it then goes on as if nothing had
        happened, and how many commands it knows of is returned. None: it has to be told.
        """
        parameters = study_settings.experiment(self._settings)
        if received is not None:
            parameters['resume'] = {'received': received}
        words = ['--exp_params', study_settings.encoded(parameters),
                 '--log-file', '/dev/stderr', '--log-level', 'error',
                 '--checkpoint-dir', self._folder, '--durability', 'never']
        try:
            self._daemons[:] = [Daemon(self._program, words + ['--resume'] * resume)]
            self._daemon.send(('IN', json.dumps(self._settings['space'])), ('PI', 'begin'))
            # What is no search space at all is ignored, with a line in the log.
            code, payload = self._daemon.receive()
            if code == 'ID':
                self._daemon.receive()  # the answer to PI
                return json.loads(payload).get('through') if payload else None
            self._daemon.close(f'attuned refuses the search space: {self._daemon.last_said()}')
            self._daemon.receive()  # raises that
        except DaemonError:
            self._unsettled = False
            self._discard()
            raise

    def _resume(self) -> None:
        """A new attuned in the place of the one that has ended, with what that one knew."""
        self._start(resume=True)
        self._tell_all()

    def _tell_all(self) -> None:
        """What attuned may not know, or not for sure: results, running trials, requests."""
        owed, self._requested = self._requested, 0
        told = [{'parameter': json.loads(trial.proposal)['parameters'], 'value': trial.metrics,
                 'trialJobId': trial.job} for trial in self._trials if trial.status == 'completed']
        running = [{**json.loads(trial.proposal), 'trial_job_id': trial.job}
                   for trial in self._trials if trial.status == 'running']
        ready = [json.loads(trial.proposal) for trial in self._ready]
        resumed = [{**proposal, 'parameter_source': 'resumed'} for proposal in running + ready]
        commands = study_settings.imports(told + self._imported)
        commands += [('AD', json.dumps(resumed[begin:begin + study_settings.RECORDS_AT_ONCE]))
                     for begin in range(0, len(resumed), study_settings.RECORDS_AT_ONCE)]
        if owed:
            commands.append(('GE', str(owed)))
        self._exchange(*commands)
        self._unsettled = False

    def _adopt(self, parameters: Dict[str, Any]) -> StudyTrial:
        """A trial with parameters of the user. attuned is told the id that it bears, so that its
        results are those of any other trial."""
        proposal = {'parameter_id': self._next_id, 'parameter_source': 'customized',
                    'parameters': parameters, 'parameter_index': 0}
        trial = DaemonTrial(len(self._trials), parameters, parameter_id=self._next_id,
                            proposal=json.dumps(proposal), owner=self)
        self._next_id += 1
        self._trials.append(trial)  # before it is told: after an interrupt it is told again
        self._synchronize(('AD', json.dumps([{**proposal, 'trial_job_id': trial.job}])))
        return trial

    def _usable(self) -> None:
        """DaemonError: it was closed, or its attuned has died."""
        with self._changed:
            self._synchronize()

    def _import(self, records: List[Dict[str, Any]]) -> None:
        self._imported.extend(records)
        self._synchronize(*study_settings.imports(records))
        self._log({'import': [{'parameters': record['parameter'], 'value': record['value']}
                              for record in records]})

    def _take_left_over(self) -> Optional[StudyTrial]:
        """A trial that ran when the program ended which had the file before; it begins again."""
        with self._change():
            while self._left_over:
                trial = self._left_over.popleft()
                if trial.status == 'running':  # nobody has told it meanwhile
                    self._begin_again(trial)
                    return trial
        return None

    def _begin_again(self, trial: StudyTrial) -> None:
        """It runs from its beginning: its first report makes the assessor forget the former ones."""
        trial.reports.clear()
        trial.stop_reason = None
        self._log({'again': trial.number})

    def _end(self, trial: StudyTrial, status: str, event: str,
             result: Optional[values.Metrics] = None) -> None:
        self._settle()
        self._unsettled = True
        final = [] if result is None else [trial.metric('FINAL', 0, result)]
        self._daemon.send(*final, ('EN', json.dumps({
            'trial_job_id': trial.job, 'event': event, 'hyper_params': trial.proposal})))
        # In this order: whoever is interrupted between them never sees an end without its result.
        trial.metrics = result
        trial.status = status
        self._unsettled = False
        self._changed.notify_all()

    def _synchronize(self, *commands: Tuple[str, str]) -> None:
        """Returns when attuned has handled them and all before, and all its answers are in."""
        self._settle()
        self._unsettled = True
        self._exchange(*commands)
        self._unsettled = False

    def _exchange(self, *commands: Tuple[str, str]) -> None:
        self._daemon.send(*commands, ('PI', 'sync'))
        asked = sum(int(payload) for code, payload in commands if code == 'GE')
        self._requested += asked
        self._next_id += asked
        while True:
            code, payload = self._daemon.receive()
            if code == 'PO':
                return
            if code == 'TR':
                proposal = json.loads(payload)
                self._requested = max(0, self._requested - 1)
                self._next_id = max(self._next_id, proposal['parameter_id'] + 1)
                self._ready.append(DaemonTrial(-1, proposal['parameters'], proposal=payload,
                                               parameter_id=proposal['parameter_id'], owner=self))
            elif code == 'NO':
                self._requested = 0  # it is the answer to all
                self._exhausted = True
            elif code == 'KI':
                verdict = json.loads(payload)
                trial = self._trials[int(verdict['trial_job_id'][1:])]
                trial.stop_reason = verdict.get('reason') or 'stopped early'

    def _settle(self) -> None:
        """After an interrupt (Ctrl-C) within an exchange: a new attuned, told what is known here.
        None after close()."""
        if self._unsettled and not self._daemon.died and self._discard.alive:
            self._daemon.close()
            self._resume()

    def _running(self, trial: Union[StudyTrial, int]) -> StudyTrial:
        """The trial that is meant. TypeError: none is. StudyError: of another study, or ended."""
        by_number = isinstance(trial, int) and not isinstance(trial, bool)
        if not by_number and not isinstance(trial, StudyTrial):
            raise TypeError(f'a trial of ask(), or its number, is needed, got {trial!r:.100}')
        number = trial if by_number else trial.number
        found = self._trials[number] if 0 <= number < len(self._trials) else None
        if found is None or not (by_number or found is trial):
            raise StudyError(f'trial {number} is not of this study; give one that its ask() gave')
        if found.status != 'running':
            raise StudyError(f'trial {number} has ended already: {found.status}; ask() for another')
        return found


def _discard(daemons: List[Daemon], open_files: List[StudyFile], folder: str, owner: int) -> None:
    if os.getpid() != owner:
        return  # a forked child: daemon, file and folder are its parent's
    try:
        for daemon in daemons:
            daemon.close()  # first: it saves its state when it ends
    finally:
        for file in open_files:
            file.close()
        open_files.clear()
        shutil.rmtree(folder, ignore_errors=True)


def _read_journal(folder: str) -> str:
    """attuned's memory, in base64. It is whole: an answer leaves after its record is written."""
    try:
        return base64.b64encode(pathlib.Path(folder, _JOURNAL).read_bytes()).decode()
    except OSError as error:
        raise DaemonError(f'attuned could not write its journal: {error.strerror}') from error
