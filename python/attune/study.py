"""Asking attuned what to try, and telling it how good that was."""
from __future__ import annotations

import json
import os
import pathlib
import threading
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple, Type, Union

from . import files, study_file, study_points, study_settings, values
from .daemon import find_attuned
from .errors import NoMoreTrials, StudyError, WaitForResults
from .study_core import StudyCore
from .study_file import StudyFile
from .study_replay import replay
from .study_trial import StudyTrial

_MOST = 100_000  # trials that attuned accepts to be asked for at once
Path = Union[str, 'os.PathLike[str]']


class Study(StudyCore):
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
    file: every call has written what it did to this file before it returns, see open(); None: what
        is not saved is lost with the process
    if_exists: 'fail', or 'continue': goes on with that file, if there is one

    Functions may be called from any thread; each waits for the others. StudyError (a ValueError):
    an argument cannot be used; nothing was made. DaemonError: attuned was not found, or has died;
    trials and best can still be read then.
    """

    def __init__(self, space: Dict[str, Any], tuner: str = 'auto',
                 tuner_args: Optional[Dict[str, Any]] = None, assessor: Optional[str] = None,
                 assessor_args: Optional[Dict[str, Any]] = None, *, seed: Optional[int] = None,
                 maximize: bool = False, objectives: Optional[List[Dict[str, Any]]] = None,
                 constraints: Optional[List[str]] = None, concurrency: int = 1,
                 attuned: Optional[str] = None, file: Optional[Path] = None,
                 if_exists: str = 'fail'):
        if if_exists not in ('fail', 'continue'):
            raise StudyError(f"if_exists: must be 'fail' or 'continue', got {if_exists!r}")
        settings = study_settings.make(space, tuner, tuner_args, assessor, assessor_args, seed,
                                       maximize, objectives, constraints, concurrency)
        program = find_attuned(attuned)
        study_settings.check(program, settings)
        if file is not None and if_exists == 'continue' and os.path.exists(file):
            drawn = seed is None and 'seed' not in (tuner_args or {})
            self._open(file, program, settings, drawn)
            return
        self._set_up(settings, program)
        try:
            new = StudyFile(file) if file is not None else None
            self._start()
            if new is not None:
                new.write(self._document(), new=True)
                self._files.append(new)
        except BaseException:
            self._discard()
            raise

    # ---- asking and telling ----------------------------------------------------------------------

    def ask(self, count: Optional[int] = None) -> Union[StudyTrial, List[StudyTrial]]:
        """The next trial; with `count` a list of up to so many, and at least one.

        NoMoreTrials, WaitForResults: there is none, for good or for now.
        """
        if count is not None and (isinstance(count, bool) or not isinstance(count, int)):
            raise TypeError(f'count: must be an integer, got {count!r:.100}')
        if count is not None and not 1 <= count <= _MOST:
            raise StudyError(f'count: must be from 1 to {_MOST:,}, got {count}')
        with self._change():
            found = self._ask(1 if count is None else count)
            exhausted = self._exhausted
        if not found and exhausted:
            raise NoMoreTrials('the tuner has no more trials')
        if not found:
            raise WaitForResults('the tuner waits for results of trials that run')
        return found[0] if count is None else found

    def _ask(self, wanted: int) -> List[StudyTrial]:
        found = []
        while self._enqueued and len(found) < wanted:
            found.append(self._adopt(self._enqueued.popleft()))
        missing = wanted - len(found) - len(self._ready) - self._requested
        # An answer may have come since: one that has waited, for a result or an end.
        requests = missing > 0 and not self._exhausted
        if requests:
            self._synchronize(('GE', str(missing)))
        elif len(self._ready) < wanted - len(found):
            self._synchronize()
        while self._ready and len(found) < wanted:
            trial = self._ready.popleft()
            trial.number = len(self._trials)
            self._trials.append(trial)
            found.append(trial)
        if requests or found:
            self._log({'ask': wanted, 'trials': [trial.proposal for trial in found]})
        return found

    # A trial to report(), tell(), fail() or stop() is what ask() gave, or its number.

    def report(self, trial: Union[StudyTrial, int], metrics: Any) -> bool:
        """An intermediate result. False: the trial should end, trial.stop_reason says why; then
        stop() or tell() it. Asked again it stays false."""
        value = self._checked(metrics)
        with self._change():
            trial = self._running(trial)
            metric = trial.metric('PERIODICAL', len(trial.reports), value)
            trial.reports.append(value)
            self._synchronize(metric)
            self._log({'report': trial.number, 'value': value})
            self._changed.notify_all()
            return trial.stop_reason is None

    def tell(self, trial: Union[StudyTrial, int], metrics: Any) -> None:
        """The trial's result: a number, or a dict that has the first objective's metric."""
        value = self._checked(metrics)
        with self._change():
            trial = self._running(trial)
            self._end(trial, 'completed', 'SUCCEEDED', value)
            self._log({'tell': trial.number, 'value': value})

    def fail(self, trial: Union[StudyTrial, int]) -> None:
        """The trial has no result, and will have none."""
        with self._change():
            trial = self._running(trial)
            self._end(trial, 'failed', 'FAILED')
            self._log({'fail': trial.number})

    def stop(self, trial: Union[StudyTrial, int, None] = None) -> None:
        """The trial has ended early, as report() said, or as you have decided.

        Without a trial: optimize() starts no more of them, and returns when those that run have
        ended. For callbacks, and for other threads.
        """
        if trial is None:
            with self._changed:
                self._stopping = True
                self._changed.notify_all()
            return
        with self._change():
            trial = self._running(trial)
            self._end(trial, 'stopped',
                      'EARLY_STOPPED' if trial.stop_reason is not None else 'USER_CANCELED')
            self._log({'stop': trial.number})

    def enqueue(self, parameters: Dict[str, Any]) -> None:
        """The next trial is this one; of several that wait, the first. StudyError: it lacks a
        parameter, or is no point of the space, or breaks a constraint."""
        if not isinstance(parameters, dict):
            raise TypeError(f'parameters: must be a dict, got {parameters!r:.100}')
        found = values.plain(parameters, 'parameters')
        self._usable()
        study_points.check_point(self._program, self._settings, found)
        with self._change():
            self._enqueued.append(found)
            self._log({'enqueue': found})

    def import_results(self, results: Iterable[Dict[str, Any]]) -> None:
        """Results from elsewhere, dicts with 'parameters' and 'value': the tuner learns from them,
        they are no trials. What it knows already is not told again.

        All of them or none. StudyError: one cannot be used, and which.
        """
        records = [study_points.record(f'results[{index}]', result, self._checked)
                   for index, result in enumerate(results)]
        if not records:
            return
        self._usable()
        study_points.check_results(self._program, self._settings, records)
        with self._change():
            self._import(records)

    def optimize(self, function: Callable[..., Any], n: Optional[int] = None, *,
                 until: Optional[int] = None, workers: int = 1,
                 catch: Tuple[Type[Exception], ...] = (),
                 callbacks: Iterable[Callable[['Study', StudyTrial], Any]] = ()
                 ) -> Optional[StudyTrial]:
        """Tries the function (TrialFunction: its shapes), and returns best.

        n: so many trials more. until: as many as the study then has in all, those of ask() and of
        a loaded study included, so that a study that goes on ends where an uninterrupted one does.
        Exactly one of them. StudyError: neither or both, or n is below 1.

        With workers above 1 in so many threads: for functions that wait, for processes or for
        code that releases the interpreter's lock. The answers then depend on who ends first.
        Exceptions of `catch` fail their trial. Any other fails it too, no trial is started any
        more, and when those that run have ended it is raised, as is KeyboardInterrupt.
        callbacks: each is called with the study and each trial that has ended, one after the
        other, and may call stop(). An exception of theirs is raised like one of the function.
        Ends early when the tuner has no more, or after stop().
        """
        from .optimize import optimize  # here: it needs this module
        optimize(self, function, n, until, workers, catch, tuple(callbacks))
        return self.best

    @property
    def changed(self) -> threading.Condition:
        """Held by whoever changes this study; notified when a trial has reported or ended."""
        return self._changed

    # ---- keeping and ending ----------------------------------------------------------------------

    def save(self, path: Path) -> None:
        """Writes everything into one file, for load(); replaced whole or not at all.

        Trials that run stay running, here and where it is loaded. OSError: the disk. DaemonError:
        attuned has died, or could not write its journal. StudyError: a study writes to it.
        """
        with self._changed:
            self._settle()
            if any(os.path.abspath(path) == str(file.path) for file in self._files):
                raise StudyError(f'path: {os.fspath(path)} is the file of this study, which has '
                                 'everything already; name another one')
            with StudyFile(path).kept_from_others():
                files.write_whole(pathlib.Path(path), json.dumps(self._document()).encode() + b'\n')

    @classmethod
    def load(cls, path: Path, attuned: Optional[str] = None) -> 'Study':
        """The study that save() wrote: it goes on with the answers that it would have given, and
        writes nothing to the file.

        Exactly so with the same version of attuned; one that answers otherwise than its journal says
        is told all results and running trials anew. StudyError: not such a file.
        """
        study = cls.__new__(cls)
        parsed = study_file.parse(pathlib.Path(path).read_bytes(), path)
        study._go_on(*parsed, find_attuned(attuned), os.fspath(path))
        return study

    @classmethod
    def open(cls, file: Path, attuned: Optional[str] = None) -> 'Study':
        """Goes on with the file of a study, as load(), and writes to it. What was asked for and
        not told is still running; optimize() runs it again first.

        FileNotFoundError: there is none. StudyError: not such a file, or another study uses it.
        """
        study = cls.__new__(cls)
        study._open(file, find_attuned(attuned))
        return study

    def _open(self, path: Path, program: str, settings: Optional[study_settings.Settings] = None,
              seed_is_drawn: bool = False) -> None:
        file = StudyFile(path)
        try:
            document, events = study_file.parse(file.read(), path)
            made_with = document.get('settings', {})
            for name in study_settings.differences(settings or made_with, made_with, seed_is_drawn):
                raise StudyError(f'{name}: {os.fspath(path)} was made with '
                                 f'{made_with.get(name)!r:.200}; give the same, or another file')
            self._go_on(document, events, program, os.fspath(path))
        except BaseException:
            file.close()
            raise
        self._files.append(file)
        self._left_over.extend(trial for trial in self._trials if trial.status == 'running')
        try:
            file.write(self._document())
        except BaseException:
            self._discard()
            raise

    def _go_on(self, document: Dict[str, Any], events: List[study_file.Event], program: str,
               where: str) -> None:
        self._set_up(document.get('settings', {}), program)
        try:
            self._take_document(document)
            replay(self, events)
        except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
            self._discard()
            raise StudyError(f'{where}: is damaged ({type(error).__name__}: {error}); put a copy of '
                             'the file in its place') from error
        except BaseException:
            self._discard()
            raise

    def close(self) -> None:
        """Ends attuned, in order. trials and best can still be read. May be called again."""
        with self._changed:
            self._discard()
            self._unsettled = self._unwritten = False

    def __enter__(self) -> 'Study':
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
