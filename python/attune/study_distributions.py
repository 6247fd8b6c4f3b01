"""Distributions, as Optuna describes parameters, in a study without a search space.

A distribution is any object with `choices`, or with `low`, `high`, `step` and `log`; integer bounds
make an integer. This module imports none: Optuna's own and those of attune.compat.optuna will do.
"""
from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, Dict, List, Tuple

_MOST = 2 ** 53 - 1  # what the engine takes for an integer
_SCALARS = (bool, int, float, str, type(None))


@dataclass(frozen=True)
class Parameter:
    """One parameter of the engine, in the bounds of one distribution."""

    declared: str  # what stands behind a name in a search space (docs/search-space.md), JSON
    distribution: Any

    def as_dict(self) -> Dict[str, Any]:
        return json.loads(self.declared)

    def encode(self, value: Any) -> Any:
        """A value as the engine has it. ValueError: it is none of the choices."""
        return _encode(self.distribution, value)

    def decode(self, value: Any) -> Any:
        """What the engine has chosen, as a value in the bounds and on the steps."""
        return _decode(self.distribution, value)


class ParameterNames:
    """What a study's parameters are called in the engine, whose types never change: a name that
    comes with other choices, another step or scale is another parameter there. Only bounds may
    differ. The same calls in the same order give the same names."""

    def __init__(self) -> None:
        self._kinds: Dict[str, List[Tuple[Any, ...]]] = {}

    def of(self, name: str, distribution: Any) -> str:
        """The engine's name for it."""
        kind = _kind(distribution)
        kinds = self._kinds.setdefault(name, [])
        if kind not in kinds:
            kinds.append(kind)
        index = kinds.index(kind)
        return name if index == 0 else f'{name} ({index + 1})'


def parameter(distribution: Any) -> Parameter:
    """The engine's parameter for a distribution."""
    return Parameter(json.dumps(_declared(distribution)), distribution)


def is_categorical(distribution: Any) -> bool:
    return hasattr(distribution, 'choices')


def is_integer(distribution: Any) -> bool:
    return isinstance(distribution.low, int)


def _kind(distribution: Any) -> Tuple[Any, ...]:
    if is_categorical(distribution):
        return ('choice', *(f'{type(each).__name__} {each!r}' for each in distribution.choices))
    declared = _declared(distribution)
    return (declared['_type'], is_integer(distribution), distribution.step)


def _declared(distribution: Any) -> Dict[str, Any]:
    if is_categorical(distribution):
        choices = distribution.choices
        plain = _are_plain(choices)
        return {'_type': 'choice', '_value': list(choices) if plain else list(range(len(choices)))}
    low, high = distribution.low, distribution.high
    if _is_stepped(distribution):
        first = _first_step(distribution)
        return {'_type': 'randint', '_value': [first, first + _last_step(distribution) + 1]}
    if not is_integer(distribution):
        return {'_type': 'loguniform' if distribution.log else 'uniform', '_value': [low, high]}
    if distribution.log:
        return {'_type': 'qloguniform', '_value': [low, high, 1]}
    if max(abs(low), abs(high)) >= _MOST:
        return {'_type': 'uniform', '_value': [float(low), float(high)]}
    return {'_type': 'randint', '_value': [low, high + 1]}


def _encode(distribution: Any, value: Any) -> Any:
    if is_categorical(distribution):
        choices = distribution.choices
        index = _index_of(choices, value)
        return choices[index] if _are_plain(choices) else index
    if _is_stepped(distribution):
        return _first_step(distribution) + round((value - distribution.low) / distribution.step)
    if is_integer(distribution) and _declared(distribution)['_type'] == 'randint':
        return int(value)
    return float(value)


def _decode(distribution: Any, value: Any) -> Any:
    if is_categorical(distribution):
        choices = distribution.choices
        return choices[_index_of(choices, value)] if _are_plain(choices) else choices[value]
    low, high = distribution.low, distribution.high
    if _is_stepped(distribution):
        value = low + (value - _first_step(distribution)) * distribution.step
    elif is_integer(distribution):
        value = round(value)
    kind = int if is_integer(distribution) else float
    return kind(min(max(value, low), high))


def _is_stepped(distribution: Any) -> bool:
    """Its values are numbered: then they keep their order, and bounds may change."""
    each_integer = is_integer(distribution) and distribution.step == 1
    return distribution.step is not None and not each_integer


def _first_step(distribution: Any) -> int:
    # The same for ranges with the same steps, wherever they begin; 1e-9: 0.3 / 0.1 is below 3.
    return math.floor(distribution.low / distribution.step + 1e-9)


def _last_step(distribution: Any) -> int:
    """Counted from 0."""
    return math.floor((distribution.high - distribution.low) / distribution.step + 1e-9)


def _are_plain(choices: Any) -> bool:
    """Whether JSON has all of them as they are; else their places stand for them."""
    return all(type(each) in _SCALARS and (type(each) is not float or math.isfinite(each))
               for each in choices)


def _index_of(choices: Any, value: Any) -> int:
    """Of True, 1 and 1.0 the one of this type, if there is one."""
    for index, choice in enumerate(choices):
        if type(choice) is type(value) and choice == value:
            return index
    for index, choice in enumerate(choices):
        if choice is value or choice == value or (choice != choice and value != value):
            return index
    raise ValueError(f'{value!r} is none of the choices {tuple(choices)!r}')
