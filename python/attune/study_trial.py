"""What a Study hands out."""
from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Tuple

from . import values


@dataclass(eq=False)
class StudyTrial:
    """One trial of a Study. To be read: Study changes it."""

    number: int  # from 0
    parameters: Dict[str, Any]
    status: str = 'running'  # then 'completed', 'failed' or 'stopped'
    metrics: Optional[values.Metrics] = None  # as told
    reports: List[values.Metrics] = field(default_factory=list)
    stop_reason: Optional[str] = None  # why it should end early, once it should
    parameter_id: int = field(default=0, repr=False)
    proposal: str = field(default='', repr=False)  # as attuned wrote it

    @property
    def job(self) -> str:
        """Its name in attuned's messages."""
        return f't{self.number:04}'

    def metric(self, kind: str, sequence: int, value: values.Metrics) -> Tuple[str, str]:
        """The command that reports it; `kind` is PERIODICAL or FINAL."""
        return 'ME', json.dumps({'parameter_id': self.parameter_id, 'trial_job_id': self.job,
                                 'type': kind, 'sequence': sequence, 'value': json.dumps(value)})
