"""What a trial is doing, and what a study looks for."""
from __future__ import annotations

import enum


class TrialState(enum.IntEnum):
    RUNNING = 0
    COMPLETE = 1
    PRUNED = 2
    FAIL = 3
    WAITING = 4  # enqueued

    __str__ = enum.Enum.__str__  # of all Pythons the same

    def __repr__(self) -> str:
        return str(self)

    def is_finished(self) -> bool:
        return self not in (TrialState.RUNNING, TrialState.WAITING)


class StudyDirection(enum.IntEnum):
    NOT_SET = 0
    MINIMIZE = 1
    MAXIMIZE = 2
