"""Asking for trials, and telling how good they were."""
from __future__ import annotations

import json
import os
import threading
from typing import (Any, Callable, Dict, Iterable, List, Optional, Tuple, Type, Union,
                    overload)

from .errors import NoMoreTrials, StudyError, WaitForResults
from .study_results import StudyResults
from .study_trial import StudyTrial

Path = Union[str, 'os.PathLike[str]']


class Study(StudyResults):
    """Ask and tell. The engine runs in this process; with `attuned` in a process of its own.

    space: a search space (docs/search-space.md), e.g. {'x': {'_type': 'uniform', '_value': [0, 1]}};
        without one, trials say what they need while they run: trial.suggest_float() and the like
    tuner, assessor: names of `attuned --list`; their arguments as in experiment files
    seed: the same one and the same calls give the same answers; None: drawn, see Study.seed
    maximize: larger values are better; objectives: [{'metric': ..., 'mode': ...}], instead of
        `maximize`, names what is looked for in reported dicts, the first one above all; one with a
        'limit' is kept to at most (at least, when maximized) that
    constraints: conditions on the parameters, ['lr * batch < 10']
    concurrency: how many trials are going to run at a time, for tuners that care
    attuned: the program that is the engine, or True: see find_attuned()
    file: every call has written what it did to this file before it returns, see open(); None: what
        is not saved is lost with the process
    if_exists: 'fail', or 'continue': goes on with that file, if there is one
    durability: 'never', 'each_second', 'always': when the file is flushed to the disk, for a crash
        of the machine; the end of a process loses nothing

    Functions may be called from any thread; each waits for the others. A study belongs to the
    process that has made it. StudyError (a ValueError): an argument cannot be used; nothing was
    made.
    """

    _changed: threading.Condition
    _stopping: bool  # optimize() starts no more trials

    def __new__(cls, *arguments: Any, **named: Any) -> 'Study':
        if cls is not Study:
            return super().__new__(cls)
        file, attuned = named.get('file'), named.get('attuned')
        goes_on = file is not None and named.get('if_exists') == 'continue' and os.path.exists(file)
        return super().__new__(_class_for(attuned, file if goes_on else None))

    def __init__(self, space: Optional[Dict[str, Any]] = None, tuner: str = 'auto',
                 tuner_args: Optional[Dict[str, Any]] = None, assessor: Optional[str] = None,
                 assessor_args: Optional[Dict[str, Any]] = None, *, seed: Optional[int] = None,
                 maximize: bool = False, objectives: Optional[List[Dict[str, Any]]] = None,
                 constraints: Optional[List[str]] = None, concurrency: int = 1,
                 attuned: Union[str, bool, None] = None, file: Optional[Path] = None,
                 if_exists: str = 'fail', durability: str = 'never'):
        raise NotImplementedError  # an engine has its own

    # ---- asking and telling ----------------------------------------------------------------------

    @overload
    def ask(self) -> StudyTrial: ...

    @overload
    def ask(self, count: int) -> List[StudyTrial]: ...

    def ask(self, count: Optional[int] = None) -> Union[StudyTrial, List[StudyTrial]]:
        """The next trial; with `count` a list of up to so many, and at least one.

        NoMoreTrials, WaitForResults: there is none, for good or for now.
        """
        if count is not None and (isinstance(count, bool) or not isinstance(count, int)):
            raise TypeError(f'count: must be an integer, got {count!r:.100}')
        if count is not None and count < 1:
            raise StudyError(f'count: must be 1 or more, got {count}')
        found, exhausted = self._ask_for(1 if count is None else count)
        if not found and exhausted:
            raise NoMoreTrials('the tuner has no more trials')
        if not found:
            raise WaitForResults('the tuner waits for results of trials that run')
        return found[0] if count is None else found

    # A trial to report(), tell(), fail() or stop() is what ask() gave, or its number.

    def report(self, trial: Union[StudyTrial, int], metrics: Any) -> bool:
        """An intermediate result. False: the trial should end, trial.stop_reason says why; then
        stop() or tell() it. Asked again it stays false."""
        raise NotImplementedError

    def tell(self, trial: Union[StudyTrial, int], metrics: Any) -> None:
        """The trial's result: a number, or a dict that has the first objective's metric."""
        raise NotImplementedError

    def fail(self, trial: Union[StudyTrial, int]) -> None:
        """The trial has no result, and will have none."""
        raise NotImplementedError

    def stop(self, trial: Union[StudyTrial, int, None] = None) -> None:
        """The trial has ended early, as report() said, or as you have decided.

        Without a trial: optimize() starts no more of them, and returns when those that run have
        ended. For callbacks, and for other threads.
        """
        if trial is not None:
            self._stop_trial(trial)
            return
        with self._changed:
            self._stopping = True
            self._changed.notify_all()

    def enqueue(self, parameters: Dict[str, Any]) -> None:
        """The next trial is this one; of several that wait, the first. StudyError: it lacks a
        parameter, or is no point of the space, or breaks a constraint. Without a search space some
        parameters may be missing."""
        raise NotImplementedError

    def import_results(self, results: Iterable[Dict[str, Any]]) -> None:
        """Results from elsewhere, dicts with 'parameters' and 'value': the tuner learns from them,
        they are no trials. What it knows already is not told again.

        All of them or none. StudyError: one cannot be used, and which.
        """
        raise NotImplementedError

    def declare(self, space: Dict[str, Any]) -> None:
        """Adds parameters to a study without a search space, before a trial asks for them."""
        raise StudyError('the study has a search space, to which nothing can be added')

    def optimize(self, function: Callable[..., Any], n: Optional[int] = None, *,
                 until: Optional[int] = None, workers: int = 1, processes: int = 0,
                 timeout: Optional[float] = None, catch: Tuple[Type[Exception], ...] = (),
                 callbacks: Iterable[Callable[['Study', StudyTrial], Any]] = (),
                 progress: Optional[bool] = None) -> Optional[StudyTrial]:
        """Tries the function (TrialFunction: its shapes), and returns best. In a study without a
        search space the function gets the trial in place of the parameters.

        n: so many trials more. until: as many as the study then has in all, those of ask() and of
        a loaded study included, so that a study that goes on ends where an uninterrupted one does.
        timeout: no trial starts after so many seconds. One of the three at least; n or until, not
        both. StudyError: none or both, or n is below 1.

        With workers above 1 in so many threads: for functions that wait, for processes or for
        code that releases the interpreter's lock. `processes` in their place: in so many processes;
        function, parameters and results then have to be picklable. The answers depend on who ends
        first.
        Exceptions of `catch` fail their trial. Any other fails it too, no trial is started any
        more, and when those that run have ended it is raised, as is KeyboardInterrupt.
        callbacks: each is called with the study and each trial that has ended, one after the
        other, and may call stop(). An exception of theirs is raised like one of the function.
        progress: a line on stderr that says how far it is; None: if that is a terminal.
        Ends early when the tuner has no more, or after stop().
        """
        from .optimize import Limits, optimize  # here: it needs this module
        limits = Limits(n, until, timeout)
        optimize(self, function, limits, workers, processes, catch, tuple(callbacks), progress)
        return self.best

    def importance(self, metric: Optional[str] = None) -> Dict[str, float]:
        """Which share of the variance of the results each parameter explains alone; most first, and
        1 in all. `metric`: of the objectives, the first one by default. StudyError: fewer than two
        trials have completed; no such objective; the study has an attuned."""
        raise StudyError('importance: a study with attuned has none; leave attuned out')

    @property
    def grows(self) -> bool:
        """Whether it was made without a search space."""
        return not self._settings['space']

    @property
    def changed(self) -> threading.Condition:
        """Held by whoever changes this study; notified when a trial has reported or ended."""
        return self._changed

    # ---- keeping and ending ----------------------------------------------------------------------

    def save(self, path: Path) -> None:
        """Writes everything into one file, for load(); replaced whole or not at all.

        Trials that run stay running, here and where it is loaded. OSError, StudyError: the disk;
        a study writes to it.
        """
        raise NotImplementedError

    @classmethod
    def load(cls, path: Path, attuned: Union[str, bool, None] = None) -> 'Study':
        """The study that save() wrote: it goes on with the answers that it would have given, and
        writes nothing to the file.

        Exactly so with the same version of attune; one that would answer otherwise keeps all
        trials and results, with a warning. StudyError: not such a file. `attuned`: for the file of a
        study that had one.
        """
        return _class_for(attuned, path).load(path, attuned)

    @classmethod
    def open(cls, file: Path, attuned: Union[str, bool, None] = None) -> 'Study':
        """Goes on with the file of a study, as load(), and writes to it. What was asked for and
        not told is still running; optimize() runs it again first.

        FileNotFoundError: there is none. StudyError: not such a file, or another study uses it.
        """
        return _class_for(attuned, file).open(file, attuned)

    def close(self) -> None:
        """Ends the engine, in order. trials and best can still be read. May be called again."""
        raise NotImplementedError

    def __enter__(self) -> 'Study':
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    # ---- what an engine has ----------------------------------------------------------------------

    def _ask_for(self, count: int) -> Tuple[List[StudyTrial], bool]:
        """Up to so many trials; and whether there will never be more."""
        raise NotImplementedError

    def _stop_trial(self, trial: Union[StudyTrial, int]) -> None:
        raise NotImplementedError

    def _suggest(self, trial: StudyTrial, name: str, _declared: str,
                 _kind: Optional[type]) -> Any:
        """A parameter of a running trial. `_declared` is JSON; the value becomes of this kind."""
        if name not in trial.parameters:
            raise StudyError(f'{name}: the search space of the study lacks it; add it there, or '
                             'make the study without a space')
        return trial.parameters[name]

    def _give(self, trial: StudyTrial, name: str, _declared: str, _value: Any) -> None:
        """The trial tries this value, whatever was proposed; as _suggest()."""
        raise StudyError(f'{name}: the study has a search space, whose trials have their values')


def _class_for(attuned: Union[str, bool, None], file: Optional[Path]) -> Type[Study]:
    """`file`: one to go on with, or None."""
    if attuned is None and not (file is not None and _is_of_daemon(file)):
        from .library_study import LibraryStudy
        return LibraryStudy
    from .daemon_study import DaemonStudy
    return DaemonStudy


def _is_of_daemon(file: Path) -> bool:
    """Whether a study with attuned has written the file: its first line says a later format."""
    with open(os.path.abspath(file), 'rb') as lines:
        first = lines.readline()
    try:
        return json.loads(first).get('attune_study', 1) > 1
    except (ValueError, AttributeError, TypeError):
        return False  # the engine says what is wrong with it
