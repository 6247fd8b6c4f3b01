"""Whether what a trial is told to have ended with can be."""
from __future__ import annotations

import math
from typing import Any, List, Optional, Sequence, Tuple

from .frozen import FrozenTrial
from .states import TrialState


def result_of(trial: FrozenTrial, told: Any, state: Optional[TrialState],
              objectives: int) -> Tuple[TrialState, Optional[List[float]], Optional[str]]:
    """State, values, and why a trial without a state has failed. ValueError: the arguments
    contradict each other."""
    given = told if told is None or isinstance(told, Sequence) else [told]
    if state == TrialState.COMPLETE:
        if given is None:
            raise ValueError('values: must be there for TrialState.COMPLETE')
        problem = _problem(given, objectives)
        if problem is not None:
            raise ValueError(problem)
        return state, [float(each) for each in given], None
    if state in (TrialState.PRUNED, TrialState.FAIL):
        if given is not None:
            raise ValueError(f'values: cannot be there for {state}')
        return state, _last_report(trial) if state == TrialState.PRUNED else None, None
    if state is not None:
        raise ValueError(f'state: a trial cannot be told to be {state!r}')
    problem = _problem(given, objectives)
    if problem is not None:
        return TrialState.FAIL, None, problem
    return TrialState.COMPLETE, [float(each) for each in given], None


def _last_report(trial: FrozenTrial) -> Optional[List[float]]:
    if trial.last_step is None:
        return None
    value = trial.intermediate_values[trial.last_step]
    return None if math.isnan(value) else [value]


def _problem(values: Optional[Sequence[Any]], objectives: int) -> Optional[str]:
    if values is None:
        return 'The value None could not be cast to float.'
    for value in values:
        try:
            number = float(value)
        except (ValueError, TypeError):
            return f'The value {value!r} could not be cast to float.'
        if math.isnan(number):
            return f'The value {value} is not acceptable.'
    if len(values) != objectives:
        return (f'The number of the values {len(values)} did not match the number of the '
                f'objectives {objectives}.')
    return None
