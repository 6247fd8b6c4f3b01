"""Whether a configuration is in a study already."""
from __future__ import annotations

import math
import numbers
from typing import Any, Dict, Sequence

from .frozen import FrozenTrial


def is_repeated(params: Dict[str, Any], trials: Sequence[FrozenTrial]) -> bool:
    """An enqueued trial has what it was enqueued with."""
    known = (trial.system_attrs.get('fixed_params', trial.params) for trial in trials)
    return any(params.keys() == other.keys()
               and all(_are_alike(value, other[name]) for name, value in params.items())
               for other in known)


def _are_alike(value: Any, known: Any) -> bool:
    if not isinstance(value, type(known)):
        return False
    if not isinstance(value, numbers.Real):
        return value == known
    return math.isnan(value) or math.isclose(value, known, rel_tol=1e-5)
