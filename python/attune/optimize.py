"""A study's trials, one after the other or by workers, on one function."""
from __future__ import annotations

import copy
import os
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Callable, List, Optional, Tuple, Type

from . import values
from .errors import DaemonError, NoMoreTrials, StudyError, WaitForResults
from .functions import Reporter, TrialFunction, TrialStopped
from .processes import Processes
from .progress import Progress
from .study import Study
from .study_trial import StudyTrial


Callback = Callable[[Study, StudyTrial], Any]


@dataclass
class Limits:
    """When optimize() starts no more trials: as its arguments say."""

    n: Optional[int]
    until: Optional[int]
    timeout: Optional[float]
    _began: float = field(default_factory=time.monotonic)

    def check(self) -> None:
        """StudyError, TypeError: they say nothing, or too much."""
        if self.n is not None and self.until is not None:
            raise StudyError('n: optimize(f, 100) runs 100 more, optimize(f, until=100) as many as '
                             'are missing to 100 in all; not both')
        if self.n is None and self.until is None and self.timeout is None:
            raise StudyError('n: say how many trials: optimize(f, 100) runs 100 more, '
                             'optimize(f, until=100) as many as are missing to 100 in all')
        _check_counts(n=self.n, until=self.until)
        if self.timeout is not None and not (values.is_number(self.timeout) and self.timeout > 0):
            raise StudyError(f'timeout: must be a number of seconds above 0, got {self.timeout!r}')

    def is_over(self) -> bool:
        """Whether the time is."""
        return self.timeout is not None and time.monotonic() - self._began >= self.timeout


def _check_counts(**counts: Optional[int]) -> None:
    for name, count in counts.items():
        if count is None:
            continue
        if isinstance(count, bool) or not isinstance(count, int):
            raise TypeError(f'{name}: must be an integer, got {count!r:.100}')
        if count < 1:
            raise StudyError(f'{name}: must be 1 or more, got {count}')


def optimize(study: Study, function: Callable[..., Any], limits: Limits, workers: int,
             processes: int, catch: Tuple[Type[Exception], ...], callbacks: Tuple[Callback, ...],
             progress: Optional[bool]) -> None:
    """Study.optimize(), whose contract it is."""
    limits.check()
    if processes == -1:
        processes = os.cpu_count() or 1
    if processes and workers != 1:
        raise StudyError('workers: are threads; with processes leave them out')
    _check_counts(workers=workers, processes=processes or None)
    for callback in callbacks:
        if not callable(callback):
            raise TypeError(f'callbacks: must be functions of a study and a trial, '
                            f'got {callback!r:.100}')
    if progress or (progress is None and sys.stderr is not None and sys.stderr.isatty()):
        callbacks += (Progress(study, limits.n, limits.until),)
    run = _Run(study, TrialFunction(function, keeps_checkpoints=False), limits, catch, callbacks)
    if processes:
        with Processes(function) as run.processes:
            run.work_in_threads(processes)
    elif workers == 1:
        run.work()
    else:
        run.work_in_threads(workers)
    for callback in callbacks:
        if isinstance(callback, Progress):
            callback.close()
    if run.errors:
        raise run.errors[0]


class _Run:
    """What the workers share; `errors` is changed with study.changed held."""

    def __init__(self, study: Study, function: TrialFunction, limits: Limits,
                 catch: Tuple[Type[Exception], ...], callbacks: Tuple[Callback, ...]):
        self.errors: List[BaseException] = []
        self.processes: Optional[Processes] = None  # the function runs there
        self._study = study
        self._function = function
        self._limits = limits
        self._missing = limits.n  # trials to start
        self._catch = catch
        self._callbacks = callbacks
        study._stopping = False

    def work(self) -> None:
        """Until there is nothing more to do, or an error that ends all."""
        try:
            while True:
                trial = self._ask()
                if trial is None:
                    return
                self._try(trial)
        except BaseException as error:  # raised in the thread of the caller
            self._give_up(error)

    def work_in_threads(self, workers: int) -> None:
        threads = [threading.Thread(target=self.work) for _ in range(workers)]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except BaseException as error:  # KeyboardInterrupt: comes to the main thread alone
            self._give_up(error)
            for thread in threads:
                thread.join()

    def _give_up(self, error: BaseException) -> None:
        with self._study.changed:
            self.errors.append(error)
            self._study.changed.notify_all()

    def _ask(self) -> Optional[StudyTrial]:
        """None: there is nothing more to do."""
        study, until = self._study, self._limits.until
        with study.changed:
            while not (self.errors or study._stopping or self._missing == 0
                       or self._limits.is_over()):
                try:
                    trial = study._take_left_over()
                    if trial is None:
                        if until is not None and study.count >= until:
                            return None
                        trial = study.ask()
                    if self._missing is not None:
                        self._missing -= 1
                    return trial
                except NoMoreTrials:
                    return None
                except WaitForResults:
                    if not any(trial.status == 'running' for trial in study.trials):
                        raise  # nobody is left to wait for
                    study.changed.wait()
        return None

    def _try(self, trial: StudyTrial) -> None:
        study, function = self._study, self._function
        try:
            result = self._result_of(trial)
            if result is None:
                raise RuntimeError(f'{function.name}() ran to its end without reporting or '
                                   'returning a result')
            self._end(trial, lambda: study.tell(trial, result))
        except TrialStopped:
            self._end(trial, lambda: study.stop(trial))
        except BaseException as error:
            if not isinstance(error, DaemonError) and trial.status == 'running':
                self._end(trial, lambda: study.fail(trial))
            if not isinstance(error, self._catch):
                raise

    def _result_of(self, trial: StudyTrial) -> Optional[values.Metrics]:
        if self.processes is not None:
            return self.processes.run(trial)
        return run_trial(self._function, trial)

    def _end(self, trial: StudyTrial, end: Callable[[], None]) -> None:
        """In one turn, so that callbacks hear of ends in the order in which they count."""
        with self._study.changed:
            end()
            try:
                for callback in self._callbacks:
                    callback(self._study, trial)
            except BaseException as error:  # not the function's: `catch` is not for it
                self._give_up(error)


def run_trial(function: TrialFunction, trial: StudyTrial) -> Optional[values.Metrics]:
    """The function's result for this trial. TrialStopped: it is to end."""
    study = trial.study

    def send(value: values.Metrics) -> None:
        if not study.report(trial, value):
            raise TrialStopped(trial.stop_reason)

    reporter = Reporter(send, trial.job, f'{function.name}_{trial.job}', None)
    if study.grows:
        result = function(trial, reporter)
        if result is None and trial.reports:
            result = trial.reports[-1]
        return result
    return function(copy.deepcopy(trial.parameters), reporter)
