"""Trials as a table of pandas."""
from __future__ import annotations

from typing import Any, Dict, List, Sequence, Tuple

from .frozen import FrozenTrial
from .states import TrialState


def dataframe(trials: Sequence[FrozenTrial], attrs: Sequence[str], objectives: int,
              multi_index: bool) -> Any:
    """A row for each trial. ImportError: pandas is not installed."""
    try:
        import pandas  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise ImportError('trials_dataframe needs pandas; install it, or read '
                          'study.trials') from error
    if not trials:
        return pandas.DataFrame()
    if objectives > 1:
        attrs = ['values' if name == 'value' else name for name in attrs]
    rows = [{key: value for name in attrs for key, value in _cells(trial, name, objectives).items()}
            for trial in trials]
    columns = [key for name in attrs
               for key in sorted({key for row in rows for key in row if key[0] == _title(name)},
                                 key=lambda key: (str(type(key[1])), key[1]))]
    table = pandas.DataFrame(rows, columns=pandas.MultiIndex.from_tuples(columns))
    if not multi_index:
        table.columns = ['_'.join(str(part) for part in key if part != '') for key in columns]
    return table


def _title(name: str) -> str:
    return name.lstrip('_')


def _cells(trial: FrozenTrial, name: str, objectives: int) -> Dict[Tuple[str, Any], Any]:
    title, value = _title(name), getattr(trial, name)
    if isinstance(value, dict):
        return {(title, key): each for key, each in value.items()}
    if name == 'values':
        each: List[Any] = value or [None] * objectives
        return {(title, index): one for index, one in enumerate(each)}
    return {(title, ''): value.name if isinstance(value, TrialState) else value}
