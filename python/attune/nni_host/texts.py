"""JSON as NNI writes it for trials."""
from __future__ import annotations

import enum
import json
from typing import Any

from .errors import HostError


def to_text(value: Any, where: str) -> str:
    """`value` in one line. Converts numpy's and torch's scalars and arrays, and enums.

    HostError: NaN, an infinity, or what JSON does not have; `where` says whose it is.
    """
    try:
        return json.dumps(value, allow_nan=False, default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise HostError(f'{where}: cannot be written as JSON: {error}') from None


def _plain(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        return value.value
    for name in ('tolist', 'item'):
        if callable(getattr(value, name, None)):
            return getattr(value, name)()
    raise TypeError(f'{type(value).__name__} {value!r:.100}')
