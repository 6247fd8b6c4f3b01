"""What trials commonly take from nni.utils."""
from __future__ import annotations

import argparse
from typing import Any, Dict, Optional, Union

__all__ = ['merge_parameter']

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
