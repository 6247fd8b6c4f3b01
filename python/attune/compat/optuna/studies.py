"""A study as Optuna has it. What is tried next, and what ends early, attune's engine says."""
from __future__ import annotations

import copy
import threading
import warnings
from typing import (Any, Callable, Container, Dict, Iterable, List, Optional, Sequence, Tuple, Type,
                    Union)

from ...optuna_engine import Engine
from . import dataframes, fronts
from .distributions import BaseDistribution
from .frozen import FrozenTrial, create_trial
from .live import Trial
from .logging import get_logger
from .optimizing import InLoop, Limits, optimize
from .pruners import BasePruner
from .records import Records
from .repeats import is_repeated
from .sampling import NOTHING, BaseSampler
from .states import StudyDirection, TrialState
from .suggesting import deprecated
from .telling import result_of

_log = get_logger('attune.optuna.study')
_HOW = {TrialState.COMPLETE: 'completed', TrialState.PRUNED: 'stopped', TrialState.FAIL: 'failed'}
_COLUMNS = ('number', 'value', 'datetime_start', 'datetime_complete', 'duration', 'params',
            'user_attrs', 'system_attrs', 'state')


class Study:
    """Made by create_study() and load_study(). Any thread may call; calls take turns."""

    def __init__(self, records: Records, engine: Engine, sampler: BaseSampler,
                 pruner: BasePruner) -> None:
        self._records = records
        self._engine = engine
        self._sampler = sampler
        self._pruner = pruner
        self._lock = threading.RLock()
        self._in_loop = InLoop()
        self._stopping = False

    # ---- running trials --------------------------------------------------------------------------

    def optimize(self, func: Callable[[Trial], Any], n_trials: Optional[int] = None,
                 timeout: Optional[float] = None, n_jobs: int = 1,
                 catch: Union[Iterable[Type[Exception]], Type[Exception]] = (),
                 callbacks: Optional[List[Callable[['Study', FrozenTrial], None]]] = None,
                 gc_after_trial: bool = False, show_progress_bar: bool = False) -> None:
        """Runs trials of `func` until there are n_trials more, or `timeout` seconds are over, or
        stop() was called. n_jobs: so many threads; -1: as many as there are processors.

        TrialPruned ends a trial early. Exceptions of `catch` fail it; others fail it, and are
        raised. RuntimeError: called from within an objective.
        """
        kinds = tuple(catch) if isinstance(catch, Iterable) else (catch,)
        optimize(self, func, Limits(n_trials, timeout), n_jobs, kinds, tuple(callbacks or ()),
                 gc_after_trial, show_progress_bar)

    def ask(self, fixed_distributions: Optional[Dict[str, BaseDistribution]] = None) -> Trial:
        """The next trial, an enqueued one first. `fixed_distributions`: its parameters are chosen
        at once."""
        with self._lock:
            record = self._records.next_waiting()
            if record is not None:
                self._records.begin(record, self._engine.ask(record.number))
            else:
                engine_number = self._engine.ask(len(self._records.trials))
                attributes = self.sampler.begin(self._records.trials)
                record = self._records.add(create_trial(
                    state=TrialState.RUNNING, system_attrs=attributes), engine_number)
            trial = Trial(self, record.number)
            for name, distribution in (fixed_distributions or {}).items():
                trial._suggest(name, distribution)
            return trial

    def tell(self, trial: Union[Trial, int], values: Union[float, Sequence[float], None] = None,
             state: Optional[TrialState] = None, skip_if_finished: bool = False) -> FrozenTrial:
        """The end of a trial of ask(), which may be named by its number. Values that cannot be
        used fail it, with a warning. ValueError: it has ended already, or the arguments do not
        fit."""
        return self._tell(trial, values, state, skip_if_finished, warnings.warn)

    def stop(self) -> None:
        """Lets optimize() start no more trials. RuntimeError: it does not run."""
        if not self._in_loop.here:
            raise RuntimeError('stop: is for objectives and callbacks of optimize()')
        self._stopping = True

    def enqueue_trial(self, params: Dict[str, Any], user_attrs: Optional[Dict[str, Any]] = None,
                      skip_if_exists: bool = False) -> None:
        """The next trial has these parameters; those that are missing are chosen as usual."""
        with self._lock:
            if skip_if_exists and is_repeated(params, self._records.trials):
                _log.info('Trial with params %s already exists. Skipping enqueue.', params)
                return
            self.add_trial(create_trial(state=TrialState.WAITING, user_attrs=user_attrs,
                                        system_attrs={'fixed_params': dict(params)}))

    def add_trial(self, trial: FrozenTrial) -> None:
        """A trial from elsewhere, as create_trial() makes it: the tuner learns from it."""
        trial.validate()
        with self._lock:
            record = self._records.add(trial)
            for name, distribution in record.distributions.items():
                self._engine.note(name, distribution)
            if record.state not in (TrialState.WAITING, TrialState.FAIL):
                self._records.change(record, self._engine.add(record.number))
                for step in sorted(record.intermediate_values):
                    self._engine.report(record.number, step, record.intermediate_values[step])
                if record.state.is_finished():
                    self._end_in_engine(record)

    def add_trials(self, trials: Iterable[FrozenTrial]) -> None:
        for trial in trials:
            self.add_trial(trial)

    # ---- what is known ---------------------------------------------------------------------------

    @property
    def study_name(self) -> str:
        return self._records.name

    @property
    def direction(self) -> StudyDirection:
        """RuntimeError: there are several."""
        if len(self.directions) > 1:
            raise RuntimeError('direction: the study has several objectives; read `directions`')
        return self.directions[0]

    @property
    def directions(self) -> List[StudyDirection]:
        return self._records.directions

    @property
    def trials(self) -> List[FrozenTrial]:
        """Copies, by number."""
        return self.get_trials()

    def get_trials(self, deepcopy: bool = True,
                   states: Optional[Container[TrialState]] = None) -> List[FrozenTrial]:
        """By number. Without a copy they may change, and must not be changed."""
        with self._lock:
            found = [trial for trial in self._records.trials
                     if states is None or trial.state in states]
            return copy.deepcopy(found) if deepcopy else found

    @property
    def best_trial(self) -> FrozenTrial:
        """RuntimeError: there are several objectives. ValueError: no trial is complete."""
        if len(self.directions) > 1:
            raise RuntimeError('best_trial: the study has several objectives; read `best_trials`')
        with self._lock:
            if self._records.best is None:
                raise ValueError('No trials are completed yet.')
            return copy.deepcopy(self._records.best)

    @property
    def best_trials(self) -> List[FrozenTrial]:
        """Those to which no other is better in something and nowhere worse."""
        with self._lock:
            return copy.deepcopy(fronts.front(self._records.trials, self.directions))

    @property
    def best_params(self) -> Dict[str, Any]:
        return self.best_trial.params

    @property
    def best_value(self) -> float:
        return self.best_trial.value

    def trials_dataframe(self, attrs: Tuple[str, ...] = _COLUMNS,
                         multi_index: bool = False) -> Any:
        """A pandas.DataFrame."""
        return dataframes.dataframe(self.trials, attrs, len(self.directions), multi_index)

    @property
    def user_attrs(self) -> Dict[str, Any]:
        return copy.deepcopy(self._records.attributes['user_attrs'])

    def set_user_attr(self, key: str, value: Any) -> None:
        with self._lock:
            self._records.set_attribute('user_attrs', key, value)

    @property
    def system_attrs(self) -> Dict[str, Any]:
        deprecated('system_attrs', 'user_attrs')
        return copy.deepcopy(self._records.attributes['system_attrs'])

    def set_system_attr(self, key: str, value: Any) -> None:
        deprecated('set_system_attr', 'set_user_attr')
        with self._lock:
            self._records.set_attribute('system_attrs', key, value)

    @property
    def sampler(self) -> BaseSampler:
        """May be replaced by one with the same tuner, such as PartialFixedSampler around it.
        ValueError: the tuner is another one."""
        return self._sampler

    @sampler.setter
    def sampler(self, sampler: BaseSampler) -> None:
        if not isinstance(sampler, BaseSampler) or not sampler.is_like(self._sampler):
            raise ValueError('sampler: that of a study stays; give it to create_study()')
        self._sampler = sampler

    @property
    def pruner(self) -> BasePruner:
        """ValueError, if it is set: it is another one."""
        return self._pruner

    @pruner.setter
    def pruner(self, pruner: BasePruner) -> None:
        if not isinstance(pruner, BasePruner) or not pruner.is_like(self._pruner):
            raise ValueError('pruner: that of a study stays; give it to create_study()')
        self._pruner = pruner

    def close(self) -> None:
        """Lets go of the file, so that another study may use it. Not in Optuna. Without it that
        happens when nobody has the study any more."""
        with self._lock:
            self._engine.close()
            self._records.close()

    def __reduce__(self) -> Any:
        raise TypeError('a study cannot be pickled; give it a file (storage=...), and the other '
                        'process load_study()')

    # ---- for trials ------------------------------------------------------------------------------

    def _choose(self, record: FrozenTrial, name: str, distribution: BaseDistribution) -> Any:
        """The value of a parameter that is new to the trial."""
        with self._lock:
            if record.state != TrialState.RUNNING:
                raise RuntimeError(f'trial {record.number} has ended; it has no new parameters')
            self._records.check(name, distribution)
            value = self._known_value(record, name, distribution)
            if value is NOTHING and distribution.single():
                value = distribution.only()
            if value is NOTHING:
                value = self._engine.suggest(record.number, name, distribution)
            self._engine.note(name, distribution)
            self._records.change(record, params={name: value},
                                 distributions={name: distribution})
            return value

    def _known_value(self, record: FrozenTrial, name: str, distribution: BaseDistribution) -> Any:
        fixed = record.system_attrs.get('fixed_params', {})
        value = fixed[name] if name in fixed else self.sampler.choose(
            self._records.trials, record, name, distribution)
        if value is NOTHING:
            return value
        if not distribution.contains(value):
            warnings.warn(f'the value {value!r} of {name!r} is given, but is not in {distribution}',
                          stacklevel=6)
        return distribution.to_external_repr(distribution.to_internal_repr(value))

    def _report(self, record: FrozenTrial, step: int, value: float) -> None:
        with self._lock:
            self._change(record, intermediate_values={step: value})
            self._engine.report(record.number, step, value)

    def _should_prune(self, record: FrozenTrial) -> bool:
        with self._lock:
            return (record.state == TrialState.RUNNING
                    and self._engine.stop_reason(record.number) is not None)

    def _change(self, record: FrozenTrial, **fields: Any) -> None:
        with self._lock:
            if record.state.is_finished():
                raise RuntimeError(f'trial {record.number} has ended, and cannot be changed')
            self._records.change(record, **fields)

    def _tell(self, trial: Union[Trial, int], told: Any, state: Optional[TrialState],
              skip_if_finished: bool, warn: Callable[[str], Any]) -> FrozenTrial:
        with self._lock:
            record = self._record_of(trial)
            if record.state.is_finished() and skip_if_finished:
                _log.info('Skipped telling trial %d with values %s and state %s since trial was '
                          'already finished. Finished trial has values %s and state %s.',
                          record.number, told, state, record.values, record.state)
                return copy.deepcopy(record)
            if record.state != TrialState.RUNNING:
                raise ValueError(f'Cannot tell a {record.state.name} trial.')
            state, values, problem = result_of(record, told, state, len(self.directions))
            if problem is not None:
                warn(problem)
            constraints = None
            try:
                constraints = self._constraints_of(record, state, values)
            finally:
                self._records.end(record, state, values)
                self._end_in_engine(record, constraints)
            return copy.deepcopy(record)

    def _record_of(self, trial: Union[Trial, int]) -> FrozenTrial:
        if isinstance(trial, Trial):
            return self._records.trials[trial.number]
        if not isinstance(trial, int) or isinstance(trial, bool):
            raise TypeError(f'trial: must be a Trial, or its number, got {trial!r:.100}')
        if not 0 <= trial < len(self._records.trials):
            raise ValueError(f'Cannot tell for trial with number {trial} since it has not been '
                             'created.')
        return self._records.trials[trial]

    def _constraints_of(self, record: FrozenTrial, state: TrialState,
                        values: Optional[List[float]]) -> Optional[List[float]]:
        """The largest one: the engine has one limit, however many numbers there are."""
        if self.sampler.constraints_func is None or state == TrialState.FAIL:
            return None
        ended = copy.deepcopy(record)
        ended.state, ended.values = state, values
        found = [float(each) for each in self.sampler.constraints_func(ended)]
        if any(each != each for each in found):
            raise ValueError(f'constraints_func: returned NaN for trial {record.number}')
        self._records.change(record, system_attrs={'constraints': found})
        return [max(found)] if found else None

    def _end_in_engine(self, record: FrozenTrial,
                       constraints: Optional[List[float]] = None) -> None:
        known = record.system_attrs.get('constraints')
        if constraints is None and known and self.sampler.constraints_func is not None:
            constraints = [max(known)]
        if self._engine.runs(record.number):
            self._engine.end(record, _HOW[record.state], record.values, constraints)
