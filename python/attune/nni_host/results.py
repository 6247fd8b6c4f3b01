"""What trials report, as NNI's classes are told it."""
from __future__ import annotations

from typing import Any, Dict, Optional

Json = Dict[str, Any]


class Results:
    """Knows which metric counts. NNI's classes look for it under the name "default"."""

    def __init__(self, context: Optional[Json] = None):
        objectives = (context or {}).get('objectives') or [{}]
        self._objective = objectives[0].get('metric', 'default')

    def of(self, outcome: Json) -> Any:
        """The value of an outcome; None: it has no result."""
        if outcome.get('loss') is None or not outcome.get('metrics'):
            return None
        return self.value(outcome['metrics'])

    def value(self, metrics: Json) -> Any:
        """A number if nothing else was reported, else all by name."""
        if list(metrics) == [self._objective]:
            return metrics[self._objective]
        if 'default' not in metrics and self._objective in metrics:
            return {'default': metrics[self._objective], **metrics}
        return metrics


def job_id(trial: int) -> str:
    """NNI's classes use the name of a job only as a key."""
    return f'trial{trial}'
