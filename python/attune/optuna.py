"""attune's tuners as a sampler of Optuna: for optuna.create_study(sampler=...). Needs Optuna 3.

    study = optuna.create_study(sampler=attune.optuna.Sampler('TPE', seed=1))
"""
from __future__ import annotations

import os
import random
import threading
import warnings
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

try:
    import optuna
except ImportError as error:
    raise ImportError('attune.optuna is for programs that use Optuna, which is not installed: '
                      'install it, or import attune.compat.optuna, which needs none') from error

from .optuna_engine import Engine, objectives
from .study import Study

_Trial = optuna.trial.FrozenTrial
_Constraints = Callable[[_Trial], Sequence[float]]
_CONSTRAINTS = 'constraints'  # where Optuna's own samplers keep them, among a trial's attributes
_RESULTS = (optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED)


class Sampler(optuna.samplers.BaseSampler):
    """Proposals of one of attune's tuners, for studies of Optuna.

    tuner, tuner_args, concurrency: as of attune.Study
    seed: the same one and the same calls give the same proposals; None: drawn
    constraints_func: gets a trial that has ended, returns numbers that should be at most 0

    All parameters of a trial are proposed together, when it asks for the first one. Threads of
    one study share what the sampler knows. A copy, and one in another process, knows what the
    study's storage has. StudyError: such a tuner does not exist, or not with these arguments.
    """

    def __init__(self, tuner: str = 'auto', tuner_args: Optional[Dict[str, Any]] = None, *,
                 seed: Optional[int] = None, constraints_func: Optional[_Constraints] = None,
                 concurrency: int = 1) -> None:
        self._arguments = {'tuner': tuner, 'tuner_args': dict(tuner_args or {}),
                           'concurrency': concurrency}
        with Study(seed=seed, **self._arguments) as study:
            self._seed = study.seed
        self._constraints_func = constraints_func
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.RLock()
        self._owner = os.getpid()
        self._engines: Dict[Tuple[int, int], Tuple[Any, Engine]] = {}

    def __getstate__(self) -> Dict[str, Any]:
        left_out = ('_lock', '_owner', '_engines')
        return {name: value for name, value in vars(self).items() if name not in left_out}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        vars(self).update(state)
        self._begin()

    def reseed_rng(self) -> None:
        """Another seed, for studies that this sampler has not proposed anything for. (Those that it
        knows get no proposal twice, from however many threads.)"""
        self._seed = random.SystemRandom().randrange(1 << 31)

    def infer_relative_search_space(self, study: optuna.Study, trial: _Trial) -> Dict[str, Any]:
        """Nothing: which parameters a trial has is only known when it asks for them."""
        return {}

    def sample_relative(self, study: optuna.Study, trial: _Trial,
                        search_space: Dict[str, Any]) -> Dict[str, Any]:
        return {name: self.sample_independent(study, trial, name, distribution)
                for name, distribution in search_space.items()}

    def sample_independent(self, study: optuna.Study, trial: _Trial, param_name: str,
                           param_distribution: Any) -> Any:
        with self._lock:
            engine = self._engine(study)
            if not engine.runs(trial.number):
                engine = self._learn(study, engine)
                engine.ask(trial.number)
            return engine.suggest(trial.number, param_name, param_distribution)

    def after_trial(self, study: optuna.Study, trial: _Trial, state: optuna.trial.TrialState,
                    values: Optional[Sequence[float]]) -> None:
        constraints = None
        try:
            if self._constraints_func is not None and state in _RESULTS:
                constraints = self._constraints_of(study, trial)
        finally:
            with self._lock:
                usable = state in _RESULTS and values is not None
                self._engine(study, constraints).end(
                    trial, 'failed' if state not in _RESULTS else
                    'stopped' if state == optuna.trial.TrialState.PRUNED else 'completed',
                    list(values) if usable else None, constraints)

    def _constraints_of(self, study: optuna.Study, trial: _Trial) -> List[float]:
        found = self._constraints_func(trial)
        if not isinstance(found, (tuple, list)):
            warnings.warn('constraints_func: should return a tuple or a list of numbers, got '
                          f'{type(found).__name__}')
        constraints = [float(each) for each in found]
        if any(each != each for each in constraints):
            raise ValueError(f'constraints_func: returned NaN for trial {trial.number}')
        study._storage.set_trial_system_attr(trial._trial_id, _CONSTRAINTS, tuple(constraints))
        return constraints

    def _engine(self, study: optuna.Study, constraints: Optional[List[float]] = None) -> Engine:
        """That of this study. It is made anew once the number of constraints is known, and in a
        child process; what the storage has is learnt again."""
        if self._owner != os.getpid():
            self._begin()
            self.reseed_rng()
        key = (id(study._storage), study._study_id)
        kept = self._engines.get(key)
        count = len(constraints or ())
        if kept is not None and kept[1].constraints >= count:
            return kept[1]
        maximize = [each == optuna.study.StudyDirection.MAXIMIZE for each in study.directions]
        engine = Engine(Study(objectives=objectives(maximize, count), seed=self._seed,
                              **self._arguments), count)
        self._engines[key] = (study._storage, engine)  # the storage lives on, so its id is its own
        return engine

    def _learn(self, study: optuna.Study, engine: Engine) -> Engine:
        """What others have added to the storage, or this one before it was copied."""
        new = [trial for trial in study.get_trials(deepcopy=False, states=_RESULTS)
               if not engine.knows(trial.number)]
        count = max((len(trial.system_attrs.get(_CONSTRAINTS) or ()) for trial in new), default=0)
        if self._constraints_func is not None and count > engine.constraints:
            engine = self._engine(study, [0.0] * count)
            return self._learn(study, engine)
        for trial in new:
            engine.learn(trial, trial.values, trial.system_attrs.get(_CONSTRAINTS))
        return engine
