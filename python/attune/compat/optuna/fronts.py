"""Which trials are the best."""
from __future__ import annotations

from typing import List, Optional, Sequence

from .frozen import FrozenTrial
from .states import StudyDirection, TrialState


def better(trial: FrozenTrial, best: Optional[FrozenTrial],
           directions: Sequence[StudyDirection]) -> FrozenTrial:
    """Of two that are complete; of equals the one with the smaller number."""
    if best is None:
        return trial
    return min(trial, best, key=lambda each: (_losses(each, directions), each.number))


def front(trials: Sequence[FrozenTrial],
          directions: Sequence[StudyDirection]) -> List[FrozenTrial]:
    """The complete trials to which no other is better in something and nowhere worse."""
    complete = [(trial, _losses(trial, directions)) for trial in trials
                if trial.state == TrialState.COMPLETE]
    return [trial for trial, mine in complete
            if not any(other != mine and all(x <= y for x, y in zip(other, mine))
                       for _, other in complete)]


def _losses(trial: FrozenTrial, directions: Sequence[StudyDirection]) -> List[float]:
    return [-value if direction == StudyDirection.MAXIMIZE else value
            for value, direction in zip(trial.values, directions)]
