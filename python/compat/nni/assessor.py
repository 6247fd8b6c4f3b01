"""The base class of assessors."""
from __future__ import annotations

import enum
from typing import Any, List

__all__ = ['AssessResult', 'Assessor']


class AssessResult(enum.Enum):
    """What an assessor thinks of a trial."""
    Good = True
    Bad = False


class Assessor:
    """Stops trials early. Only assess_trial() must be written."""

    def assess_trial(self, trial_job_id: str, trial_history: List[Any]) -> AssessResult:
        """Judges a trial by all its intermediate results, the newest last."""
        raise NotImplementedError('assess_trial() is not implemented')

    def trial_end(self, trial_job_id: str, success: bool) -> None:
        """A trial has ended that had intermediate results."""

    def load_checkpoint(self) -> None:
        """Does nothing, as in NNI."""

    def save_checkpoint(self) -> None:
        """Nobody calls it, as in NNI."""

    def _on_exit(self) -> None:
        pass

    def _on_error(self) -> None:
        pass
