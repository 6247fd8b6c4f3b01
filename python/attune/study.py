"""Asking attuned what to try, and telling it how good that was."""
from __future__ import annotations

import base64
import json
import math
import os
import pathlib
import random
import shutil
import tempfile
import threading
import weakref
from collections import deque
from typing import Any, Callable, Deque, Dict, List, Optional, Tuple, Type, Union

from . import files, standing, values
from .daemon import Daemon, DaemonError, find_attuned
from .study_trial import NoMoreTrials, StudyTrial, WaitForResults

_VERSION = 2  # of the files of save()
_JOURNAL = 'attuned.journal'
_MOST = 100_000  # trials that attuned accepts to be asked for at once


class Study:
    """Ask and tell, by a process attuned of its own.

    space: a search space (docs/search-space.md), e.g. {'x': {'_type': 'uniform', '_value': [0, 1]}}
    tuner, assessor: names of `attuned --list`; their arguments as in experiment files
    seed: the same one and the same calls give the same answers; None: drawn, see Study.seed
    maximize: larger values are better; objectives: [{'metric': ..., 'mode': ...}], instead of
        `maximize`, names what is looked for in reported dicts, the first one above all; one with a
        'limit' is kept to at most (at least, when maximized) that
    constraints: conditions on the parameters, ['lr * batch < 10']
    concurrency: how many trials are going to run at a time, for tuners that care
    attuned: the program, see find_attuned()

    Functions may be called from any thread; each waits for the others. DaemonError: attuned does
    not accept the arguments, or has died; trials and best can still be read then.
    """

    def __init__(self, space: Dict[str, Any], tuner: str = 'auto',
                 tuner_args: Optional[Dict[str, Any]] = None, assessor: Optional[str] = None,
                 assessor_args: Optional[Dict[str, Any]] = None, *, seed: Optional[int] = None,
                 maximize: bool = False, objectives: Optional[List[Dict[str, Any]]] = None,
                 constraints: Optional[List[str]] = None, concurrency: int = 1,
                 attuned: Optional[str] = None):
        if maximize and objectives:
            raise ValueError('give objectives their modes, and leave out maximize')
        mode = 'maximize' if maximize else 'minimize'
        arguments = dict(tuner_args or {})
        seed = arguments.pop('seed', None) if seed is None else seed
        settings = {
            'space': space, 'tuner': tuner, 'tuner_args': arguments,
            'assessor': assessor, 'assessor_args': assessor_args or {},
            'seed': random.SystemRandom().randrange(1 << 31) if seed is None else seed,
            'objectives': objectives or [{'metric': 'default', 'mode': mode}],
            'constraints': constraints or [], 'concurrency': concurrency,
        }
        # A copy: what the caller changes later is not what attuned was told.
        self._settings = values.plain(settings, 'Study')
        self._set_up(attuned)
        self._start()

    def _set_up(self, attuned: Optional[str]) -> None:
        self._program = find_attuned(attuned)
        self._changed = threading.Condition(threading.RLock())  # an end or a report of a trial
        self._trials: List[StudyTrial] = []
        self._ready: Deque[StudyTrial] = deque()  # proposed, and not asked for yet
        self._requested = 0  # trials that attuned owes
        self._unsettled = False  # an exchange was interrupted: an answer may be lost
        self._exhausted = False
        self._folder = tempfile.mkdtemp(prefix='attune-study-')
        self._daemons: List[Daemon] = []  # the one that works; a list, for the finalizer's sake
        self._discard = weakref.finalize(self, _discard, self._daemons, self._folder, os.getpid())

    # ---- asking and telling ----------------------------------------------------------------------

    def ask(self, count: Optional[int] = None) -> Union[StudyTrial, List[StudyTrial]]:
        """The next trial; with `count` a list of up to so many, and at least one.

        NoMoreTrials, WaitForResults: there is none, for good or for now.
        """
        if count is not None and not 1 <= count <= _MOST:
            raise ValueError(f'count must be from 1 to {_MOST:,}, got {count}')
        wanted = 1 if count is None else count
        with self._changed:
            missing = wanted - len(self._ready) - self._requested
            # An answer may have come since: one that has waited, for a result or an end.
            if missing > 0 and not self._exhausted:
                self._synchronize(('GE', str(missing)))
            elif len(self._ready) < wanted:
                self._synchronize()
            found = []
            while self._ready and len(found) < wanted:
                trial = self._ready.popleft()
                trial.number = len(self._trials)
                self._trials.append(trial)
                found.append(trial)
            if not found and self._exhausted:
                raise NoMoreTrials('the tuner has no more trials')
            if not found:
                raise WaitForResults('the tuner waits for results of trials that run')
        return found[0] if count is None else found

    # A trial to report(), tell(), fail() or stop() is what ask() gave, or its number.

    def report(self, trial: Union[StudyTrial, int], metrics: Any) -> bool:
        """An intermediate result. False: the trial should end, trial.stop_reason says why; then
        stop() or tell() it. Asked again it stays false."""
        value = self._checked(metrics)
        with self._changed:
            trial = self._running(trial)
            metric = trial.metric('PERIODICAL', len(trial.reports), value)
            trial.reports.append(value)
            self._synchronize(metric)
            self._changed.notify_all()
            return trial.stop_reason is None

    def tell(self, trial: Union[StudyTrial, int], metrics: Any) -> None:
        """The trial's result: a number, or a dict that has the first objective's metric."""
        value = self._checked(metrics)
        with self._changed:
            self._end(self._running(trial), 'completed', 'SUCCEEDED', value)

    def fail(self, trial: Union[StudyTrial, int]) -> None:
        """The trial has no result, and will have none."""
        with self._changed:
            self._end(self._running(trial), 'failed', 'FAILED')

    def stop(self, trial: Union[StudyTrial, int]) -> None:
        """The trial has ended early, as report() said, or as you have decided."""
        with self._changed:
            trial = self._running(trial)
            self._end(trial, 'stopped',
                      'EARLY_STOPPED' if trial.stop_reason is not None else 'USER_CANCELED')

    @property
    def trials(self) -> List[StudyTrial]:
        """All that were asked for, by number."""
        with self._changed:
            return list(self._trials)

    @property
    def count(self) -> int:
        """len(trials), without a copy."""
        return len(self._trials)

    @property
    def best(self) -> Optional[StudyTrial]:
        """The completed trial that is best in the first objective, the first of equals, among those
        that keep the limits of all others; None: no trial has a finite number of each.

        While no trial keeps the limits: the one that breaks them least, see keeps_limits().
        """
        ranked = self._ranked()
        return min(ranked, key=lambda pair: pair[0])[1] if ranked else None

    @property
    def trade_offs(self) -> List[StudyTrial]:
        """The completed trials that keep the limits and that no other is better than in everything,
        by the first objective: all of the best with several objectives, [best] with one."""
        return standing.trade_offs(self._ranked())

    def keeps_limits(self, trial: StudyTrial) -> bool:
        """Whether it has completed with a finite number of each objective, and breaks no limit."""
        rank = self._rank(trial)
        return rank is not None and rank[0] == 0

    @property
    def seed(self) -> int:
        """What makes the tuner's answers repeatable."""
        return self._settings['seed']

    def value(self, trial: StudyTrial) -> float:
        """The first objective of a trial's result; nan: it has none."""
        return math.nan if trial.metrics is None else self._value_of(trial.metrics)

    def optimize(self, function: Callable[..., Any], trials: int, workers: int = 1,
                 catch: Tuple[Type[Exception], ...] = ()) -> Optional[StudyTrial]:
        """Tries the function (TrialFunction: its shapes) until the study has so many trials in all,
        so that a continued study ends where an uninterrupted one does; returns best. Trials that
        were asked for elsewhere count. ValueError: fewer than one.

        With workers above 1 in so many threads: for functions that wait, for processes or for
        code that releases the interpreter's lock. The answers then depend on who ends first.
        Exceptions of `catch` fail their trial. Any other fails it too, no trial is started any
        more, and when those that run have ended it is raised, as is KeyboardInterrupt.
        Ends early when the tuner has no more.
        """
        from .optimize import optimize  # here: it needs this module
        optimize(self, function, trials, workers, catch)
        return self.best

    @property
    def changed(self) -> threading.Condition:
        """Held by whoever changes this study; notified when a trial has reported or ended."""
        return self._changed

    # ---- keeping and ending ----------------------------------------------------------------------

    def save(self, path: Union[str, 'os.PathLike[str]']) -> None:
        """Writes everything into one file, for load(); replaced whole or not at all.

        Trials that run stay running, here and where it is loaded. OSError: the disk. DaemonError:
        attuned has died, or could not write its journal.
        """
        with self._changed:
            self._synchronize()
            document = {'attune_study': _VERSION, 'settings': self._settings,
                        'exhausted': self._exhausted, 'requested': self._requested,
                        'trials': [vars(trial) for trial in self._trials],
                        'ready': [vars(trial) for trial in self._ready],
                        'sent': self._daemon.sent, 'received': self._daemon.received,
                        'journal': _read_journal(self._folder)}
            files.write_whole(pathlib.Path(path), json.dumps(document).encode())

    @classmethod
    def load(cls, path: Union[str, 'os.PathLike[str]'], attuned: Optional[str] = None) -> 'Study':
        """The study that save() wrote: it goes on with the answers that it would have given.

        Exactly so with the same version of attuned; one that answers otherwise than its journal says
        is told all results and running trials anew. ValueError: not such a file.
        """
        text = pathlib.Path(path).read_bytes()
        try:
            document = json.loads(text)
        except ValueError as error:
            raise ValueError(f'{os.fspath(path)}: not valid JSON: {error}') from error
        if not isinstance(document, dict) or document.get('attune_study') != _VERSION:
            raise ValueError(f'{os.fspath(path)}: not a study that this version has saved')
        study = cls.__new__(cls)
        study._settings = document['settings']
        study._set_up(attuned)
        study._exhausted = document['exhausted']
        study._requested = document['requested']
        study._trials = [StudyTrial(**record) for record in document['trials']]
        study._ready = deque(StudyTrial(**record) for record in document['ready'])
        with open(os.path.join(study._folder, _JOURNAL), 'wb') as file:
            file.write(base64.b64decode(document['journal']))
        sent, received = document['sent'], document['received']
        if study._start(resume=True, received=received) == sent:
            study._daemon.sent += sent
            study._daemon.received += received
        else:
            study._tell_all()
        return study

    def close(self) -> None:
        """Ends attuned, in order. trials and best can still be read. May be called again."""
        with self._changed:
            self._discard()
            self._unsettled = False

    def __enter__(self) -> 'Study':
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    # ---- attuned ---------------------------------------------------------------------------------

    def _start(self, resume: bool = False, received: Optional[int] = None) -> Optional[int]:
        """A new attuned; with `resume` with the memory of the former one.

        `received`: how many answers that one was heard to give; it then goes on as if nothing had
        happened, and how many commands it knows of is returned. None: it has to be told.
        """
        settings = self._settings
        experiment = {
            'tuner': {'name': settings['tuner'],
                      'classArgs': {'seed': settings['seed'], **settings['tuner_args']}},
            'objectives': settings['objectives'], 'constraints': settings['constraints'],
            'trialConcurrency': settings['concurrency'],
            'capabilities': ['sync', 'reason', 'error'],
        }
        if received is not None:
            experiment['resume'] = {'received': received}
        if settings['assessor'] is not None:
            experiment['assessor'] = {'name': settings['assessor'],
                                      'classArgs': settings['assessor_args']}
        words = ['--exp_params', base64.b64encode(json.dumps(experiment).encode()).decode(),
                 '--log-file', '/dev/stderr', '--log-level', 'error',
                 '--checkpoint-dir', self._folder, '--durability', 'never']
        try:
            self._daemons[:] = [Daemon(self._program, words + ['--resume'] * resume)]
            self._daemon.send(('IN', json.dumps(settings['space'])), ('PI', 'begin'))
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
        commands = [('FD', json.dumps(told)), ('AD', json.dumps(resumed))]
        if owed:
            commands.append(('GE', str(owed)))
        self._exchange(*commands)
        self._unsettled = False

    @property
    def _daemon(self) -> Daemon:
        return self._daemons[0]

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
        self._requested += sum(int(payload) for code, payload in commands if code == 'GE')
        while True:
            code, payload = self._daemon.receive()
            if code == 'PO':
                return
            if code == 'TR':
                proposal = json.loads(payload)
                self._requested = max(0, self._requested - 1)
                self._ready.append(StudyTrial(-1, proposal['parameters'], proposal=payload,
                                              parameter_id=proposal['parameter_id']))
            elif code == 'NO':
                self._requested = 0  # it is the answer to all
                self._exhausted = True
            elif code == 'KI':
                verdict = json.loads(payload)
                trial = self._trials[int(verdict['trial_job_id'][1:])]
                trial.stop_reason = verdict.get('reason') or 'stopped early'

    def _settle(self) -> None:
        """After an interrupt (Ctrl-C) within an exchange: a new attuned, told what is known here."""
        if self._unsettled and not self._daemon.died:
            self._daemon.close()
            self._resume()

    def _checked(self, metrics: Any) -> values.Metrics:
        value = values.metrics(metrics)
        self._value_of(value)
        return value

    def _value_of(self, value: values.Metrics) -> float:
        if not isinstance(value, dict):
            return float(value)
        name = self._settings['objectives'][0].get('metric', 'default')
        found = value.get(name)
        if not values.is_number(found):
            raise ValueError(f'metrics: {name!r} must be a number, got {found!r}')
        return float(found)

    def _rank(self, trial: StudyTrial) -> Optional[standing.Standing]:
        if trial.status != 'completed' or trial.metrics is None:
            return None
        return standing.of(trial.metrics, self._settings['objectives'])

    def _ranked(self) -> List[Tuple[standing.Standing, StudyTrial]]:
        ranked = ((self._rank(trial), trial) for trial in self.trials)
        return [(rank, trial) for rank, trial in ranked if rank is not None]

    def _running(self, trial: Union[StudyTrial, int]) -> StudyTrial:
        """The trial that is meant. TypeError: none is. ValueError: of another study, or ended."""
        by_number = isinstance(trial, int) and not isinstance(trial, bool)
        if not by_number and not isinstance(trial, StudyTrial):
            raise TypeError(f'a trial of ask(), or its number, is needed, got {trial!r:.100}')
        number = trial if by_number else trial.number
        found = self._trials[number] if 0 <= number < len(self._trials) else None
        if found is None or not (by_number or found is trial):
            raise ValueError(f'trial {number} is not of this study')
        if found.status != 'running':
            raise ValueError(f'trial {number} has ended already: {found.status}')
        return found


def _discard(daemons: List[Daemon], folder: str, owner: int) -> None:
    if os.getpid() != owner:
        return  # a forked child: daemon and folder are its parent's
    try:
        for daemon in daemons:
            daemon.close()  # first: it saves its state when it ends
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _read_journal(folder: str) -> str:
    """attuned's memory, in base64. It is whole: an answer leaves after its record is written."""
    try:
        return base64.b64encode(pathlib.Path(folder, _JOURNAL).read_bytes()).decode()
    except OSError as error:
        raise DaemonError(f'attuned could not write its journal: {error.strerror}') from error
