"""Trials for programs that run several at a time and wait for all of them."""
from __future__ import annotations

from typing import List

from .errors import NoMoreTrials
from .study import Study
from .study_trial import StudyTrial


def next_batch(study: Study, size: int, until: int) -> List[StudyTrial]:
    """At most `size` trials, and no more than the study then has `until` in all. None: that is
    reached, or the tuner has no more.

    First come, one by one, those that ran when the program ended which had the study's file before.
    WaitForResults: as Study.ask().
    """
    left_over = study._take_left_over()
    if left_over is not None:
        return [left_over]
    size = min(size, until - study.count)
    if size < 1:
        return []
    try:
        return study.ask(size)
    except NoMoreTrials:
        return []
