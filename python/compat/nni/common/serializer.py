"""JSON, as tuners and advisors write it."""
from __future__ import annotations

import json
from typing import Any

__all__ = ['dump', 'load']


def dump(obj: Any, **named: Any) -> str:
    """`obj` as JSON; numpy's scalars and arrays as plain numbers."""
    named.setdefault('default', _plain)
    return json.dumps(obj, **named)


def load(string: str = '', **named: Any) -> Any:
    """The inverse of dump()."""
    return json.loads(string, **named)


def _plain(value: Any) -> Any:
    for name in ('tolist', 'item'):
        if callable(getattr(value, name, None)):
            return getattr(value, name)()
    raise TypeError(f'{type(value).__name__} cannot be written as JSON')
