"""Hydra's overrides as a search space of attune, and its points as overrides."""
from __future__ import annotations

from typing import Any, Dict, Iterable, List, Tuple

from hydra.core.override_parser.types import Override, Transformer

from attune import StudyError
from attune.candidates import fits_json


def split(overrides: Iterable[Override]) -> Tuple[Dict[str, Any], List[str]]:
    """The search space, and the overrides that are the same for all trials. Of several for a key the
    last one counts. StudyError: a sweep that cannot be used."""
    last = {override.get_key_element(): override for override in overrides}
    space = {key: _parameter(key, override) for key, override in last.items()
             if override.is_sweep_override()}
    return space, [override.input_line for override in last.values()
                   if not override.is_sweep_override()]


def as_overrides(parameters: Dict[str, Any], space: Dict[str, Any]) -> List[str]:
    """What a launcher gets for a trial."""
    return [f'{key}={_written(value, space[key])}' for key, value in parameters.items()]


def _parameter(key: str, override: Override) -> Dict[str, Any]:
    sweep = override.value()
    if override.is_interval_sweep():
        return _interval(key, sweep.start, sweep.end, 'log' in sweep.tags)
    if override.is_range_sweep():
        steps = list(sweep.range())
        if 'log' in sweep.tags:
            if not steps or sweep.step != 1 or not isinstance(steps[0], int):
                raise StudyError(f'{key}: a range with the tag log must be of integers, with step 1')
            return _interval(key, steps[0], steps[-1], True)
        if sweep.step == 1 and steps and isinstance(steps[0], int):
            return {'_type': 'randint', '_value': [steps[0], steps[-1] + 1]}
        return {'_type': 'choice', '_value': steps}
    candidates = [candidate if _is_plain(candidate) else Transformer.str(candidate)
                  for candidate in override.sweep_iterator()]
    return {'_type': 'choice', '_value': candidates}


def _interval(key: str, low: Any, high: Any, log: bool) -> Dict[str, Any]:
    """Both bounds included; of integers, if both are."""
    if log and low <= 0:
        raise StudyError(f'{key}: low must be above 0 with the tag log, got {low}')
    if isinstance(low, int) and isinstance(high, int):
        if log:
            return {'_type': 'qloguniform', '_value': [low, high, 1]}
        return {'_type': 'randint', '_value': [low, high + 1]}
    return {'_type': 'loguniform' if log else 'uniform', '_value': [low, high]}


def _is_plain(candidate: Any) -> bool:
    """Texts are not: they have quotes and escapes in Hydra's grammar."""
    return fits_json(candidate) and not isinstance(candidate, str)


def _written(value: Any, parameter: Dict[str, Any]) -> str:
    if isinstance(value, str):
        return value  # a candidate, in Hydra's grammar already
    return Transformer.str(int(value) if parameter['_type'] == 'qloguniform' else value)
