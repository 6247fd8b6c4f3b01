"""What trials and tuners commonly take from nni.utils."""
from __future__ import annotations

import argparse
import enum
from typing import Any, Dict, Iterable, List, Optional, Union

__all__ = ['ClassArgsValidator', 'OptimizeMode', 'extract_scalar_history', 'extract_scalar_reward',
           'merge_parameter']

Base = Union[argparse.Namespace, Dict[str, Any]]


def merge_parameter(base_params: Base, override_params: Optional[Dict[str, Any]]) -> Base:
    """Writes the parameters over those of `base_params`, which is changed and returned.

    ValueError: a parameter that `base_params` does not have. TypeError: a value of another type
    than there, except where that is None, and a whole number for a real one.
    """
    base = base_params if isinstance(base_params, dict) else vars(base_params)
    for name, value in (override_params or {}).items():
        if name not in base:
            raise ValueError(f'{name!r} is not among the parameters: {", ".join(base)}')
        old = base[name]
        fits = old is None or type(value) is type(old) or (
            type(old) is float and type(value) is int)
        if not fits:
            raise TypeError(f'{name!r} is a {type(old).__name__}, and got {value!r}')
        base[name] = value
    return base_params


class OptimizeMode(enum.Enum):
    """Whether small or large results are good."""
    Minimize = 'minimize'
    Maximize = 'maximize'


def extract_scalar_reward(value: Any, scalar_key: str = 'default') -> Any:
    """The number of a result: itself, or what stands under `scalar_key` of a dict.

    RuntimeError: neither.
    """
    number = value.get(scalar_key) if isinstance(value, dict) else value
    if not isinstance(number, (int, float)):
        raise RuntimeError(f'Incorrect final result: a number or a dict with a number under '
                           f'{scalar_key!r} expected, not {value!r}')
    return number


def extract_scalar_history(trial_history: Iterable[Any], scalar_key: str = 'default') -> List[Any]:
    """extract_scalar_reward() of each."""
    return [extract_scalar_reward(value, scalar_key) for value in trial_history]


class ClassArgsValidator:
    """NNI's launcher lets a subclass check the classArgs; attune leaves that to the constructor."""

    def validate_class_args(self, **kwargs: Any) -> None:
        """Raises an exception if the arguments are wrong."""
