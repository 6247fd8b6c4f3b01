"""A study's trials, one after the other or in threads, on one function."""
from __future__ import annotations

import copy
import threading
from typing import Any, Callable, List, Optional, Tuple, Type

from . import values
from .daemon import DaemonError
from .functions import Reporter, TrialFunction, TrialStopped
from .study import Study
from .study_trial import NoMoreTrials, StudyTrial, WaitForResults


def optimize(study: Study, function: Callable[..., Any], trials: int, workers: int,
             catch: Tuple[Type[Exception], ...]) -> None:
    """Study.optimize(), whose contract it is."""
    if workers < 1:
        raise ValueError(f'workers must be positive, got {workers}')
    if trials < 1:
        raise ValueError(f'trials must be positive, got {trials}')
    run = _Run(study, TrialFunction(function, keeps_checkpoints=False), trials, catch)
    if workers == 1:
        run.work()
    else:
        run.work_in_threads(workers)
    if run.errors:
        raise run.errors[0]


class _Run:
    """What the workers share; `errors` is changed with study.changed held."""

    def __init__(self, study: Study, function: TrialFunction, trials: int,
                 catch: Tuple[Type[Exception], ...]):
        self.errors: List[BaseException] = []
        self._study = study
        self._function = function
        self._trials = trials  # of the study, in all
        self._catch = catch

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
        with self._study.changed:
            while not self.errors and self._study.count < self._trials:
                try:
                    return self._study.ask()
                except NoMoreTrials:
                    return None
                except WaitForResults:
                    if not any(trial.status == 'running' for trial in self._study.trials):
                        raise  # nobody is left to wait for
                    self._study.changed.wait()
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
            study.tell(trial, result)
        except TrialStopped:
            study.stop(trial)
        except BaseException as error:
            if not isinstance(error, DaemonError) and trial.status == 'running':
                study.fail(trial)
            if not isinstance(error, self._catch):
                raise
