"""One call from a function to its best parameters."""
from __future__ import annotations

from typing import Any, Callable, Dict, Optional

from .errors import StudyError
from .study import Study
from .study_trial import StudyTrial


def minimize(function: Callable[..., Any], space: Optional[Dict[str, Any]], n: int,
             **named: Any) -> StudyTrial:
    """The best of n trials of the function. With a search space it gets the parameters, with None
    the trial. `named`: of Study() and of optimize(). With `file` that goes on, n is the number of
    all its trials. StudyError: an argument cannot be used; no trial has completed."""
    return _best_of(function, space, n, False, named)


def importance(study: Study, metric: Optional[str] = None) -> Dict[str, float]:
    """Study.importance()."""
    return study.importance(metric)


def maximize(function: Callable[..., Any], space: Optional[Dict[str, Any]], n: int,
             **named: Any) -> StudyTrial:
    """As minimize(); larger values are better."""
    return _best_of(function, space, n, True, named)


_OF_OPTIMIZE = ('workers', 'processes', 'timeout', 'catch', 'callbacks', 'progress')


def _best_of(function: Callable[..., Any], space: Optional[Dict[str, Any]], n: int, larger: bool,
             named: Dict[str, Any]) -> StudyTrial:
    if 'maximize' in named:
        raise StudyError('maximize: the name of the function says it; leave it out')
    how = {name: named.pop(name) for name in _OF_OPTIMIZE if name in named}
    objectives = named.get('objectives')
    if not objectives:
        named['maximize'] = larger
    elif (objectives[0].get('mode') == 'maximize') != larger:
        raise StudyError('objectives: the mode of the first one is not that of the function')
    with Study(space, **named) as study:
        study.optimize(function, until=n, **how)
        return study.best_trial
