"""What may be reported, as plain JSON values."""
from __future__ import annotations

import decimal
import fractions
from typing import Any, Dict, Union

Metrics = Union[int, float, Dict[str, Any]]

_SCALARS = (bool, int, float, str, type(None))


def plain(value: Any, where: str = 'the value') -> Any:
    """`value` as what json.dumps() can write; `where` names it in the error.

    Converts numpy's and torch's scalars and arrays (anything with tolist() or item()), Decimal,
    Fraction, tuples. NaN and infinities stay. TypeError: anything else, keys that are no strings,
    values that contain themselves.
    """
    try:
        return _plain(value, where)
    except RecursionError:
        raise TypeError(f'{where}: contains itself, or is nested too deeply') from None


def _plain(value: Any, where: str) -> Any:
    if isinstance(value, _SCALARS):
        # A subclass may print as anything (enum, numpy.float64): the plain number is meant.
        for kind in (bool, int, float, str):
            if isinstance(value, kind):
                return kind(value)
        return None
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f'{where}: keys must be strings, got {key!r}')
        return {str(key): _plain(item, f'{where}[{key!r}]') for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, f'{where}[{index}]') for index, item in enumerate(value)]
    if isinstance(value, (decimal.Decimal, fractions.Fraction)):
        return float(value)
    for name in ('tolist', 'item'):
        if callable(getattr(value, name, None)):
            return _plain(getattr(value, name)(), where)
    raise TypeError(f'{where}: cannot be written as JSON: {type(value).__name__}')


def is_number(value: Any) -> bool:
    """Of plain values; NaN and infinities are, truth values are not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def metrics(value: Any) -> Metrics:
    """`value` as what can be reported: a number, or an object of named values, not empty.

    An array of one element counts as its element. TypeError: anything else.
    """
    result = plain(value, 'metrics')
    while isinstance(result, list) and len(result) == 1:
        result = result[0]
    if not is_number(result) and not (isinstance(result, dict) and result):
        raise TypeError(f'metrics: must be a number, or a dict of named values, got {value!r:.100}')
    return result
