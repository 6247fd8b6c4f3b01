"""For Study.optimize(callbacks=...)."""
from __future__ import annotations

from typing import TYPE_CHECKING, Container, Optional

from .frozen import FrozenTrial
from .states import TrialState

if TYPE_CHECKING:
    from .studies import Study


class MaxTrialsCallback:
    """Ends optimize() once the study has so many trials in all, of these states (None: of any)."""

    def __init__(self, n_trials: int,
                 states: Optional[Container[TrialState]] = (TrialState.COMPLETE,)) -> None:
        self._most = n_trials
        self._states = states

    def __call__(self, study: 'Study', trial: FrozenTrial) -> None:
        if len(study.get_trials(deepcopy=False, states=self._states)) >= self._most:
            study.stop()
