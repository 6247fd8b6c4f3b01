"""Hosts a subclass of nni.assessor.Assessor."""
from __future__ import annotations

from typing import Any, Dict, List

from .errors import HostError, call, finish
from .loading import Loaded
from .results import Json, Results, job_id


class AssessorHost:
    """One assessor."""

    def __init__(self, loaded: Loaded, arguments: Json, results: Results):
        self._name = loaded.name
        self._results = results
        self._histories: Dict[int, List[Any]] = {}
        self._assessor = call(self._name, loaded.type, **arguments)

    def assess(self, trial: int, begin: int, reports: List[Json]) -> Json:
        """A decision about the trial. `reports`: those from index `begin` on."""
        history = self._histories.setdefault(trial, [])
        history[begin:] = [self._results.value(metrics) for metrics in reports]
        where = f'{self._name}.assess_trial'
        result = call(where, self._assessor.assess_trial, job_id(trial), list(history))
        good = getattr(result, 'name', None) if not isinstance(result, bool) else (
            'Good' if result else 'Bad')
        if good not in ('Good', 'Bad'):
            raise HostError(f'{where}: AssessResult.Good or AssessResult.Bad expected, not '
                            f'{result!r:.100}')
        if good == 'Good':
            return {'action': 'keep_going'}
        return {'action': 'stop', 'reason': f'{self._name} found it bad after report '
                                            f'{len(history) - 1}'}

    def trial_end(self, trial: int, end: str) -> None:
        """A trial that had reports has ended."""
        self._histories.pop(trial, None)
        call(f'{self._name}.trial_end', self._assessor.trial_end, job_id(trial),
             end == 'completed')

    def close(self) -> None:
        """The last call. NNI's base classes have a hook for it."""
        finish(self._name, self._assessor)
