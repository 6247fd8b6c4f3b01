"""A trial as it is or was: what a study knows of it."""
from __future__ import annotations

import datetime
import warnings
from typing import Any, Dict, List, Optional, Sequence

from .distributions import BaseDistribution, check_distribution_compatibility
from .states import TrialState
from .suggesting import Suggesting, deprecated


class FrozenTrial(Suggesting):
    """To be read. suggest_float() and the like give the parameters that it had."""

    def __init__(self, number: int, state: TrialState, value: Optional[float],
                 datetime_start: Optional[datetime.datetime],
                 datetime_complete: Optional[datetime.datetime], params: Dict[str, Any],
                 distributions: Dict[str, BaseDistribution], user_attrs: Dict[str, Any],
                 system_attrs: Dict[str, Any], intermediate_values: Dict[int, float],
                 trial_id: int, *, values: Optional[Sequence[float]] = None) -> None:
        if value is not None and values is not None:
            raise ValueError('value: give it, or values, not both')
        self.number = number
        self.state = state
        self.values = values if value is None else [value]
        self.datetime_start = datetime_start
        self.datetime_complete = datetime_complete
        self.params = params
        self.distributions = distributions
        self.user_attrs = user_attrs
        self.system_attrs = system_attrs
        self.intermediate_values = intermediate_values
        self._trial_id = trial_id

    @property
    def values(self) -> Optional[List[float]]:
        """Of all objectives."""
        return self._values

    @values.setter
    def values(self, values: Optional[Sequence[float]]) -> None:
        self._values = None if values is None else list(values)

    @property
    def value(self) -> Optional[float]:
        """Of one objective. RuntimeError: there are several."""
        self._check_single()
        return self.values[0] if self.values else None

    @value.setter
    def value(self, value: Optional[float]) -> None:
        self._check_single()
        self.values = None if value is None else [value]

    @property
    def last_step(self) -> Optional[int]:
        """The largest step that was reported."""
        return max(self.intermediate_values, default=None)

    @property
    def duration(self) -> Optional[datetime.timedelta]:
        """None: it has not begun, or not ended."""
        if self.datetime_start is None or self.datetime_complete is None:
            return None
        return self.datetime_complete - self.datetime_start

    def report(self, value: float, step: int) -> None:
        """Nothing: the trial has ended."""

    def should_prune(self) -> bool:
        """False: the trial has ended."""
        return False

    def set_user_attr(self, key: str, value: Any) -> None:
        self.user_attrs[key] = value

    def set_system_attr(self, key: str, value: Any) -> None:
        deprecated('set_system_attr', 'set_user_attr')
        self.system_attrs[key] = value

    def validate(self) -> None:
        """ValueError: no trial can be like this."""
        if self.state != TrialState.WAITING and self.datetime_start is None:
            raise ValueError('datetime_start: must be there, unless the trial waits')
        if self.state.is_finished() != (self.datetime_complete is not None):
            raise ValueError('datetime_complete: must be there if the trial has ended, and only '
                             'then')
        if self.state == TrialState.COMPLETE and self.values is None:
            raise ValueError('value: a complete trial must have one')
        if set(self.params) != set(self.distributions):
            raise ValueError(f'params: are {sorted(self.params)}, but distributions are those of '
                             f'{sorted(self.distributions)}')
        for name, value in self.params.items():
            if not self.distributions[name].contains(value):
                raise ValueError(f'params: {value!r} of {name!r} is not in '
                                 f'{self.distributions[name]}')

    def _check_single(self) -> None:
        if self.values is not None and len(self.values) > 1:
            raise RuntimeError('value: the trial has several; see `values`')

    def _suggest(self, name: str, distribution: BaseDistribution) -> Any:
        if name not in self.params:
            raise ValueError(f'the trial has no parameter {name!r}')
        if not distribution.contains(self.params[name]):
            warnings.warn(f'the value {self.params[name]!r} of {name!r} is not in {distribution}',
                          stacklevel=3)
        if name in self.distributions:
            check_distribution_compatibility(self.distributions[name], distribution)
        self.distributions[name] = distribution
        return self.params[name]

    def __eq__(self, other: Any) -> bool:
        return vars(self) == vars(other) if isinstance(other, FrozenTrial) else NotImplemented

    def __lt__(self, other: Any) -> bool:
        return self.number < other.number if isinstance(other, FrozenTrial) else NotImplemented

    def __le__(self, other: Any) -> bool:
        return self.number <= other.number if isinstance(other, FrozenTrial) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it may change

    def __repr__(self) -> str:
        named = ', '.join(f'{name.lstrip("_")}={value!r}' for name, value in vars(self).items())
        return f'FrozenTrial({named}, value=None)'


def create_trial(*, state: TrialState = TrialState.COMPLETE, value: Optional[float] = None,
                 values: Optional[Sequence[float]] = None, params: Optional[Dict[str, Any]] = None,
                 distributions: Optional[Dict[str, BaseDistribution]] = None,
                 user_attrs: Optional[Dict[str, Any]] = None,
                 system_attrs: Optional[Dict[str, Any]] = None,
                 intermediate_values: Optional[Dict[int, float]] = None) -> FrozenTrial:
    """A trial for Study.add_trial(). ValueError: no trial can be like this."""
    now = datetime.datetime.now()
    trial = FrozenTrial(
        number=-1, state=state, value=value, values=values, params=params or {},
        datetime_start=None if state == TrialState.WAITING else now,
        datetime_complete=now if state.is_finished() else None,
        distributions=distributions or {}, user_attrs=user_attrs or {},
        system_attrs=system_attrs or {}, intermediate_values=intermediate_values or {},
        trial_id=-1)
    trial.validate()
    return trial
