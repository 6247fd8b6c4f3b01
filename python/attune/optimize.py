"""A study's trials, one after the other or in threads, on one function."""
from __future__ import annotations

import copy
import threading
from typing import Any, Callable, List, Optional, Tuple, Type

from . import values
from .daemon import DaemonError
from .errors import NoMoreTrials, StudyError, WaitForResults
from .functions import Reporter, TrialFunction, TrialStopped
from .study import Study
from .study_trial import StudyTrial


Callback = Callable[[Study, StudyTrial], Any]


def optimize(study: Study, function: Callable[..., Any], n: Optional[int], until: Optional[int],
             workers: int, catch: Tuple[Type[Exception], ...],
             callbacks: Tuple[Callback, ...]) -> None:
    """Study.optimize(), whose contract it is."""
    if (n is None) == (until is None):
        raise StudyError('n: say how many trials: optimize(f, 100) runs 100 more, '
                         'optimize(f, until=100) as many as are missing to 100 in all'
                         + ('' if n is None else '; not both'))
    for name, count in (('n', n), ('until', until), ('workers', workers)):
        if count is None:
            continue
        if isinstance(count, bool) or not isinstance(count, int):
            raise TypeError(f'{name}: must be an integer, got {count!r:.100}')
        if count < 1:
            raise StudyError(f'{name}: must be 1 or more, got {count}')
    for callback in callbacks:
        if not callable(callback):
            raise TypeError(f'callbacks: must be functions of a study and a trial, '
                            f'got {callback!r:.100}')
    run = _Run(study, TrialFunction(function, keeps_checkpoints=False), n, until, catch, callbacks)
    if workers == 1:
        run.work()
    else:
        run.work_in_threads(workers)
    if run.errors:
        raise run.errors[0]


class _Run:
    """What the workers share; `errors` is changed with study.changed held."""

    def __init__(self, study: Study, function: TrialFunction, n: Optional[int],
                 until: Optional[int], catch: Tuple[Type[Exception], ...],
                 callbacks: Tuple[Callback, ...]):
        self.errors: List[BaseException] = []
        self._study = study
        self._function = function
        self._missing = n  # trials to start
        self._until = until  # of the study, in all
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
        study = self._study
        with study.changed:
            while not self.errors and not study._stopping and self._missing != 0:
                try:
                    trial = study._take_left_over()
                    if trial is None:
                        if self._until is not None and study.count >= self._until:
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

        def send(value: values.Metrics) -> None:
            if not study.report(trial, value):
                raise TrialStopped(trial.stop_reason)

        reporter = Reporter(send, trial.job, f'{function.name}_{trial.job}', None)
        try:
            result = function(copy.deepcopy(trial.parameters), reporter)
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

    def _end(self, trial: StudyTrial, end: Callable[[], None]) -> None:
        """In one turn, so that callbacks hear of ends in the order in which they count."""
        with self._study.changed:
            end()
            try:
                for callback in self._callbacks:
                    callback(self._study, trial)
            except BaseException as error:  # not the function's: `catch` is not for it
                self._give_up(error)
