"""Candidates of any kind in a search space, which is JSON."""
from __future__ import annotations

import math
from typing import Any, Dict, Iterable, List, Optional, Tuple

_LARGEST_INTEGER = 2 ** 53  # what JSON keeps exactly


def as_choice(values: Iterable[Any]) -> Tuple[Dict[str, Any], Optional[List[Any]]]:
    """A parameter of the type choice. If JSON cannot hold all of the candidates, they are named
    '0', '1', ... there, and are returned beside it."""
    candidates = [_plain(value) for value in values]
    if all(fits_json(candidate) for candidate in candidates):
        return {'_type': 'choice', '_value': candidates}, None
    # Texts: of numbers some tuners use the order.
    names = [str(index) for index in range(len(candidates))]
    return {'_type': 'choice', '_value': names}, candidates


def fits_json(candidate: Any) -> bool:
    """Whether it is the same after it was written as JSON and read."""
    if isinstance(candidate, float):
        return math.isfinite(candidate)
    if isinstance(candidate, int):
        return abs(candidate) < _LARGEST_INTEGER
    return candidate is None or type(candidate) is str


def _plain(candidate: Any) -> Any:
    """Of a scalar of numpy the plain one."""
    is_scalar = hasattr(candidate, 'dtype') and getattr(candidate, 'shape', None) == ()
    return candidate.item() if is_scalar else candidate
