"""Optuna's pruners, as assessors of attune (docs/assessors.md)."""
from __future__ import annotations

import numbers
import warnings
from typing import Any, Dict, Optional, Union

from ...optuna_engine import STEP_ATTR
from ...study import Study

__all__ = ['BasePruner', 'HyperbandPruner', 'MedianPruner', 'NopPruner', 'PatientPruner',
           'PercentilePruner', 'SuccessiveHalvingPruner', 'ThresholdPruner', 'WilcoxonPruner']


class BasePruner:
    """An assessor and its arguments; no assessor if the name is None. StudyError: it does not exist
    with these arguments."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if 'prune' in vars(cls):
            raise TypeError(f'{cls.__name__}: pruners of your own would not be asked here; use '
                            'them with the real Optuna')

    def __init__(self, assessor: Optional[str], **arguments: Any) -> None:
        self.assessor = assessor
        self.arguments: Dict[str, Any] = arguments
        Study(**self.engine_arguments()).close()  # says what is wrong

    def engine_arguments(self) -> Dict[str, Any]:
        """Arguments of attune.Study."""
        if self.assessor is None:
            return {}
        return {'assessor': self.assessor,
                'assessor_args': {**self.arguments, 'step_attr': STEP_ATTR}}

    def is_like(self, other: 'BasePruner') -> bool:
        return self.engine_arguments() == other.engine_arguments()

    def __repr__(self) -> str:
        named = ', '.join(f'{name}={value!r}' for name, value in self.arguments.items())
        return f'{type(self).__name__}({named})'


class NopPruner(BasePruner):
    """Prunes nothing."""

    def __init__(self) -> None:
        super().__init__(None)


class MedianPruner(BasePruner):
    def __init__(self, n_startup_trials: int = 5, n_warmup_steps: int = 0, interval_steps: int = 1,
                 *, n_min_trials: int = 1) -> None:
        super().__init__('MedianPruner', n_startup_trials=n_startup_trials,
                         n_warmup_steps=n_warmup_steps, interval_steps=interval_steps,
                         n_min_trials=n_min_trials)


class PercentilePruner(BasePruner):
    def __init__(self, percentile: float, n_startup_trials: int = 5, n_warmup_steps: int = 0,
                 interval_steps: int = 1, *, n_min_trials: int = 1) -> None:
        super().__init__('Percentile', percentile=percentile, n_startup_trials=n_startup_trials,
                         n_warmup_steps=n_warmup_steps, interval_steps=interval_steps,
                         n_min_trials=n_min_trials)


class SuccessiveHalvingPruner(BasePruner):
    """`min_resource`: 'auto' is 1."""

    def __init__(self, min_resource: Union[str, int] = 'auto', reduction_factor: int = 4,
                 min_early_stopping_rate: int = 0, bootstrap_count: int = 0) -> None:
        if min_resource == 'auto' and bootstrap_count:
            raise ValueError("bootstrap_count: needs a number as min_resource, not 'auto'")
        super().__init__('SuccessiveHalving',
                         min_resource=1 if min_resource == 'auto' else min_resource,
                         reduction_factor=reduction_factor, bootstrap_count=bootstrap_count,
                         min_early_stopping_rate=min_early_stopping_rate)


class HyperbandPruner(BasePruner):
    """`max_resource`: the last step of a full trial; 'auto' is 81, with a warning."""

    def __init__(self, min_resource: int = 1, max_resource: Union[str, int] = 'auto',
                 reduction_factor: int = 3, bootstrap_count: int = 0) -> None:
        if max_resource == 'auto' and bootstrap_count:
            raise ValueError("bootstrap_count: needs a number as max_resource, not 'auto'")
        if max_resource == 'auto':
            max_resource = 81
            warnings.warn("HyperbandPruner: max_resource='auto' is 81 here; give the last step "
                          'of a full trial', stacklevel=2)
        super().__init__('HyperbandPruner', min_resource=min_resource, max_resource=max_resource,
                         reduction_factor=reduction_factor, bootstrap_count=bootstrap_count)


class ThresholdPruner(BasePruner):
    def __init__(self, lower: Optional[float] = None, upper: Optional[float] = None,
                 n_warmup_steps: int = 0, interval_steps: int = 1) -> None:
        if lower is None and upper is None:
            raise TypeError('ThresholdPruner: lower or upper must be given')
        for bound in (lower, upper):
            if bound is not None and not isinstance(bound, numbers.Real):
                raise TypeError(f'ThresholdPruner: a bound must be a number, got {bound!r:.100}')
        super().__init__('Threshold', lower=lower, upper=upper, n_warmup_steps=n_warmup_steps,
                         interval_steps=interval_steps)


class PatientPruner(BasePruner):
    """The wrapped pruner has its default arguments."""

    def __init__(self, wrapped_pruner: Optional[BasePruner], patience: int,
                 min_delta: float = 0.0) -> None:
        arguments: Dict[str, Any] = {'patience': patience, 'min_delta': min_delta}
        if wrapped_pruner is not None and wrapped_pruner.assessor is not None:
            plain = {'MedianPruner': MedianPruner}.get(wrapped_pruner.assessor)
            if plain is None or wrapped_pruner.arguments != plain().arguments:
                raise ValueError('PatientPruner: can wrap None, and MedianPruner() with its '
                                 f'defaults, got {wrapped_pruner!r}')
            arguments['wrapped'] = wrapped_pruner.assessor
        super().__init__('Patient', **arguments)


class WilcoxonPruner(BasePruner):
    def __init__(self, *, p_threshold: float = 0.1, n_startup_steps: int = 2) -> None:
        super().__init__('Wilcoxon', p_threshold=p_threshold, n_startup_steps=n_startup_steps)
