"""Study.optimize(): trials one after the other, in one thread or several."""
from __future__ import annotations

import concurrent.futures
import gc
import os
import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence, Set, Tuple, Type

from .exceptions import TrialPruned
from .frozen import FrozenTrial
from .logging import get_logger
from .states import TrialState

if TYPE_CHECKING:
    from .studies import Study

_log = get_logger('attune.optuna.study')


class InLoop(threading.local):
    """Whether this thread is within optimize()."""

    here = False


@dataclass
class Limits:
    """When no more trials start."""

    trials: Optional[int]
    seconds: Optional[float]

    def __post_init__(self) -> None:
        self._begin = time.monotonic()

    def allow(self, study: 'Study', begun: int) -> bool:
        late = self.seconds is not None and time.monotonic() - self._begin >= self.seconds
        enough = self.trials is not None and begun >= self.trials
        return not (study._stopping or late or enough)


def optimize(study: 'Study', func: Callable[..., Any], limits: Limits, jobs: int,
             catch: Tuple[Type[Exception], ...], callbacks: Sequence[Callable[..., Any]],
             collect: bool, show_progress: bool) -> None:
    """See Study.optimize()."""
    if study._in_loop.here:
        raise RuntimeError("Nested invocation of `Study.optimize` method isn't allowed.")
    study._stopping = False
    progress = _Progress(limits.trials) if show_progress else None

    def one() -> None:
        study._in_loop.here = True
        try:
            ended = _run(study, func, catch)
            if collect:
                gc.collect()
            for callback in callbacks:
                callback(study, ended)
            if progress is not None:
                progress.show()
        finally:
            study._in_loop.here = False

    try:
        if jobs == 1:
            _one_after_the_other(study, one, limits)
        else:
            _in_threads(study, one, limits, (os.cpu_count() or 1) if jobs == -1 else jobs)
    finally:
        if progress is not None:
            print(file=sys.stderr)


def _one_after_the_other(study: 'Study', one: Callable[[], None], limits: Limits) -> None:
    begun = 0
    while limits.allow(study, begun):
        begun += 1
        one()


def _in_threads(study: 'Study', one: Callable[[], None], limits: Limits, jobs: int) -> None:
    running: Set['concurrent.futures.Future[None]'] = set()
    begun = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        while limits.allow(study, begun):
            if len(running) >= jobs:
                ended, running = concurrent.futures.wait(
                    running, return_when=concurrent.futures.FIRST_COMPLETED)
                for each in ended:
                    each.result()
                continue
            running.add(pool.submit(one))
            begun += 1
        for each in concurrent.futures.as_completed(running):
            each.result()


def _run(study: 'Study', func: Callable[..., Any],
         catch: Tuple[Type[Exception], ...]) -> FrozenTrial:
    trial = study.ask()
    value, state, error, problems = None, None, None, []
    try:
        value = func(trial)
    except TrialPruned as pruned:
        state, error = TrialState.PRUNED, pruned
    except (Exception, KeyboardInterrupt) as failure:
        state, error = TrialState.FAIL, failure
    ended = study._tell(trial, value, state, False, problems.append)
    if study.sampler.is_exhausted(study._records.trials):
        study._stopping = True
    _say(study, ended, value, error, problems)
    if ended.state == TrialState.FAIL and error is not None and not isinstance(error, catch):
        raise error
    return ended


def _say(study: 'Study', ended: FrozenTrial, value: Any, error: Optional[BaseException],
         problems: Sequence[str]) -> None:
    if ended.state == TrialState.PRUNED:
        _log.info('Trial %d pruned. %s', ended.number, error)
    elif ended.state == TrialState.FAIL:
        _log.warning('Trial %d failed with parameters: %s because of the following error: %s.',
                     ended.number, ended.params, repr(error) if error is not None else problems[0],
                     exc_info=error)
        _log.warning('Trial %d failed with value %r.', ended.number, value)
    elif not _log.isEnabledFor(20):
        return
    elif len(ended.values) > 1:
        _log.info('Trial %d finished with values: %s and parameters: %s.', ended.number,
                  ended.values, ended.params)
    else:
        best = study.best_trial
        _log.info('Trial %d finished with value: %s and parameters: %s. Best is trial %d with '
                  'value: %s.', ended.number, ended.value, ended.params, best.number, best.value)


class _Progress:
    """A line on stderr."""

    def __init__(self, trials: Optional[int]) -> None:
        self._all = f'/{trials}' if trials else ''
        self._ended = 0
        self._lock = threading.Lock()

    def show(self) -> None:
        with self._lock:
            self._ended += 1
            print(f'\r{self._ended}{self._all} trials', end='', file=sys.stderr, flush=True)
