"""Where the values of a parameter lie, as Optuna describes it."""
from __future__ import annotations

import decimal
import json
import math
import warnings
from typing import Any, Dict, Optional, Sequence

__all__ = ['BaseDistribution', 'CategoricalDistribution', 'FloatDistribution', 'IntDistribution',
           'check_distribution_compatibility', 'distribution_to_json', 'json_to_distribution']


class BaseDistribution:
    """One of the three below."""

    def to_internal_repr(self, value: Any) -> float:
        """A number for the value. ValueError: it is none of this distribution's type."""
        raise NotImplementedError

    def to_external_repr(self, number: float) -> Any:
        raise NotImplementedError

    def single(self) -> bool:
        """Whether it has one value only."""
        raise NotImplementedError

    def only(self) -> Any:
        """The value of one that is single()."""
        return self.low

    def contains(self, value: Any) -> bool:
        return self._contains(self.to_internal_repr(value))

    def _contains(self, number: float) -> bool:
        raise NotImplementedError

    def _asdict(self) -> Dict[str, Any]:
        return dict(vars(self))

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, BaseDistribution):
            return NotImplemented
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).items()))

    def __repr__(self) -> str:
        named = ', '.join(f'{name}={value!r}' for name, value in self._asdict().items())
        return f'{type(self).__name__}({named})'


class FloatDistribution(BaseDistribution):
    """From low to high, both included; on a logarithmic scale, or in steps from low on."""

    def __init__(self, low: float, high: float, log: bool = False,
                 step: Optional[float] = None) -> None:
        _check(low, high, log, step is not None)
        if log and not low > 0:
            raise ValueError(f'low: must be above 0 with log, got {low}')
        if step is not None and not step > 0:
            raise ValueError(f'step: must be above 0, got {step}')
        self.low, self.high, self.log = float(low), float(high), log
        self.step = None if step is None else float(step)
        if step is not None:
            self.high = _last(self.low, self.high, self.step)

    def single(self) -> bool:
        if self.step is None:
            return self.low == self.high
        return self.high - self.low < self.step * (1 - 1e-8)

    def to_internal_repr(self, value: Any) -> float:
        return _number(value, self.log)

    def to_external_repr(self, number: float) -> float:
        return number

    def _contains(self, number: float) -> bool:
        if self.step is None:
            return self.low <= number <= self.high
        steps = (number - self.low) / self.step
        return self.low <= number <= self.high and abs(steps - round(steps)) < 1e-8


class IntDistribution(BaseDistribution):
    """Integers from low to high, both included."""

    def __init__(self, low: int, high: int, log: bool = False, step: int = 1) -> None:
        _check(low, high, log, step != 1)
        if log and low < 1:
            raise ValueError(f'low: must be at least 1 with log, got {low}')
        if step <= 0:
            raise ValueError(f'step: must be above 0, got {step}')
        self.log, self.step = log, int(step)
        self.low, self.high = int(low), int(high)
        if (self.high - self.low) % self.step:
            self.high = _warned(self, (self.high - self.low) // self.step * self.step + self.low)

    def single(self) -> bool:
        return self.high - self.low < self.step

    def to_internal_repr(self, value: Any) -> float:
        return _number(value, self.log)

    def to_external_repr(self, number: float) -> int:
        return int(number)

    def _contains(self, number: float) -> bool:
        return self.low <= number <= self.high and (number - self.low) % self.step == 0


class CategoricalDistribution(BaseDistribution):
    """One of these: numbers, texts, truth values, None. Others work where there is no file."""

    def __init__(self, choices: Sequence[Any]) -> None:
        if len(choices) == 0:
            raise ValueError('choices: at least one is needed')
        for choice in choices:
            if choice is not None and not isinstance(choice, (bool, int, float, str)):
                warnings.warn(f'choices: {choice!r} is of the type {type(choice).__name__}; a file '
                              'can only have None, truth values, numbers and texts', stacklevel=3)
        self.choices = tuple(choices)

    def single(self) -> bool:
        return len(self.choices) == 1

    def only(self) -> Any:
        return self.choices[0]

    def to_internal_repr(self, value: Any) -> float:
        for index, choice in enumerate(self.choices):
            if _are_equal(choice, value):
                return index
        raise ValueError(f'{value!r} is not in {self.choices}')

    def to_external_repr(self, number: float) -> Any:
        return self.choices[int(number)]

    def _contains(self, number: float) -> bool:
        return 0 <= int(number) < len(self.choices)

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, BaseDistribution):
            return NotImplemented
        return (isinstance(other, CategoricalDistribution)
                and len(self.choices) == len(other.choices)
                and all(map(_are_equal, self.choices, other.choices)))

    __hash__ = BaseDistribution.__hash__


def distribution_to_json(distribution: BaseDistribution) -> str:
    """For json_to_distribution(), and Optuna's."""
    return json.dumps({'name': type(distribution).__name__, 'attributes': distribution._asdict()})


def json_to_distribution(text: str) -> BaseDistribution:
    """ValueError: the text is none."""
    found = json.loads(text)
    for kind in (FloatDistribution, IntDistribution, CategoricalDistribution):
        if kind.__name__ == found.get('name'):
            return kind(**found['attributes'])
    raise ValueError(f'unknown distribution: {text:.200}')


def check_distribution_compatibility(former: BaseDistribution, new: BaseDistribution) -> None:
    """ValueError: they cannot be of one parameter."""
    if type(former) is not type(new):
        raise ValueError('Cannot set different distribution kind to the same parameter name.')
    if isinstance(former, CategoricalDistribution):
        if former != new:
            raise ValueError('CategoricalDistribution does not support dynamic value space.')
    elif former.log != new.log:
        raise ValueError('Cannot set different log configuration to the same parameter name.')


def _check(low: Any, high: Any, log: bool, stepped: bool) -> None:
    if log and stepped:
        raise ValueError('step and log exclude each other; leave one out')
    if low > high:
        raise ValueError(f'low: must be at most high, got low={low} and high={high}')


def _number(value: Any, log: bool) -> float:
    try:
        found = float(value)
    except (ValueError, TypeError):
        raise ValueError(f'{value!r} is not a number') from None
    if math.isnan(found):
        raise ValueError(f'{value!r} is not a number')
    if log and found <= 0:
        raise ValueError(f'{value!r} is not above 0, as log needs it')
    return found


def _last(low: float, high: float, step: float) -> float:
    """The last step that is not above high; in decimals, as they were written."""
    first, end, each = (decimal.Decimal(str(number)) for number in (low, high, step))
    if (end - first) % each == 0:
        return high
    last = float((end - first) // each * each + first)
    warnings.warn(f'high: {high} is no step from {low} on by {step}; {last} is taken', stacklevel=4)
    return last


def _warned(distribution: IntDistribution, last: int) -> int:
    warnings.warn(f'high: {distribution.high} is no step from {distribution.low} on by '
                  f'{distribution.step}; {last} is taken', stacklevel=4)
    return last


def _are_equal(a: Any, b: Any) -> bool:
    return a is b or a == b or (a != a and b != b)
