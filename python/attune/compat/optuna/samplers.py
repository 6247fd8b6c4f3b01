"""Optuna's samplers, as tuners of attune (docs/tuners.md). An argument that has no counterpart is
taken, with a warning that it has no effect."""
from __future__ import annotations

import warnings
from typing import Any, Dict, Optional, Sequence

from .grids import BruteForceSampler, GridSampler, PartialFixedSampler
from .sampling import BaseSampler, Constraints

__all__ = ['AttuneSampler', 'BaseSampler', 'BruteForceSampler', 'CmaEsSampler', 'GPSampler',
           'GridSampler', 'NSGAIISampler', 'PartialFixedSampler', 'QMCSampler', 'RandomSampler',
           'TPESampler']

_INSTEAD = {'NSGAIIISampler': 'NSGAIISampler', 'MOTPESampler': 'TPESampler'}


class AttuneSampler(BaseSampler):
    """Any tuner of attune: what Optuna has no name for, as `auto`."""

    def __init__(self, tuner: str = 'auto', tuner_args: Optional[Dict[str, Any]] = None, *,
                 seed: Optional[int] = None, constraints_func: Constraints = None) -> None:
        super().__init__(tuner, tuner_args, seed, constraints_func)


class RandomSampler(BaseSampler):
    def __init__(self, seed: Optional[int] = None) -> None:
        super().__init__('Random', None, seed)


class TPESampler(BaseSampler):
    """`multivariate`: None is attune's default, which models all parameters together; False models
    each by itself."""

    def __init__(self, *, prior_weight: Optional[float] = None,
                 n_startup_trials: Optional[int] = None, n_ei_candidates: Optional[int] = None,
                 seed: Optional[int] = None, multivariate: Optional[bool] = None,
                 constraints_func: Constraints = None, **others: Any) -> None:
        arguments = _given(n_startup_jobs=n_startup_trials, n_ei_candidates=n_ei_candidates,
                           prior_weight=prior_weight)
        together = multivariate is not False
        settings: Dict[str, Any] = {'multivariate_args' if together else 'tpe_args': arguments}
        if not together:
            settings['multivariate'] = False
        super().__init__('TPE', settings if arguments or not together else None, seed,
                         constraints_func)
        _ignore(self, others, ('consider_prior', 'consider_magic_clip', 'consider_endpoints',
                               'gamma', 'weights', 'group', 'warn_independent_sampling',
                               'constant_liar', 'categorical_distance_func'))


class CmaEsSampler(BaseSampler):
    """`sigma0`: a share of each parameter's range."""

    def __init__(self, x0: Optional[Dict[str, Any]] = None, sigma0: Optional[float] = None, *,
                 seed: Optional[int] = None, popsize: Optional[int] = None,
                 restart_strategy: Optional[str] = None, **others: Any) -> None:
        super().__init__('CMA-ES', _given(sigma=sigma0, population_size=popsize,
                                          restarts=restart_strategy), seed)
        _ignore(self, {**others, **_given(x0=x0)}, (
            'x0', 'n_startup_trials', 'independent_sampler', 'warn_independent_sampling',
            'consider_pruned_trials', 'inc_popsize', 'use_separable_cma', 'with_margin', 'lr_adapt',
            'source_trials'))


class GPSampler(BaseSampler):
    def __init__(self, *, seed: Optional[int] = None, n_startup_trials: Optional[int] = None,
                 constraints_func: Constraints = None, **others: Any) -> None:
        super().__init__('GP', _given(cold_start_num=n_startup_trials), seed, constraints_func)
        _ignore(self, others, ('independent_sampler', 'deterministic_objective',
                               'warn_independent_sampling'))


class NSGAIISampler(BaseSampler):
    def __init__(self, *, population_size: int = 50, mutation_prob: Optional[float] = None,
                 crossover_prob: float = 0.9, swapping_prob: float = 0.5,
                 seed: Optional[int] = None, constraints_func: Constraints = None,
                 **others: Any) -> None:
        super().__init__('NSGAII', _given(
            population_size=population_size, mutation_prob=mutation_prob,
            crossover_prob=crossover_prob, swapping_prob=swapping_prob), seed, constraints_func)
        _ignore(self, others, ('crossover', 'elite_population_selection_strategy',
                               'child_generation_strategy', 'after_trial_strategy'))


class QMCSampler(BaseSampler):
    """A scrambled Sobol sequence."""

    def __init__(self, *, qmc_type: str = 'sobol', seed: Optional[int] = None,
                 **others: Any) -> None:
        if qmc_type != 'sobol':
            raise ValueError(f"QMCSampler: qmc_type must be 'sobol' here, got {qmc_type!r}")
        super().__init__('QMC', None, seed)
        _ignore(self, others, ('scramble', 'independent_sampler', 'warn_asynchronous_seeding',
                               'warn_independent_sampling'))


def __getattr__(name: str) -> Any:
    if name in _INSTEAD:
        raise AttributeError(f'{name} is not part of attune.compat.optuna; the nearest is '
                             f'{_INSTEAD[name]}')
    raise AttributeError(f'{name} is not part of attune.compat.optuna; AttuneSampler(name) is any '
                         'tuner of attune')


def _given(**arguments: Any) -> Dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


def _ignore(sampler: BaseSampler, others: Dict[str, Any], known: Sequence[str]) -> None:
    for name in others:
        if name not in known:
            raise TypeError(f'{type(sampler).__name__}: has no argument {name!r}')
        warnings.warn(f'{type(sampler).__name__}: {name} has no effect here', stacklevel=3)
