"""How far Study.optimize() is: one line of a terminal."""
from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from .study import Study
    from .study_trial import StudyTrial

_EACH = 0.1  # s between two changes of the line


class Progress:
    """A callback of optimize()."""

    def __init__(self, study: 'Study', n: Optional[int], until: Optional[int]):
        ended = sum(trial.status != 'running' for trial in study.trials)
        self._ended = ended
        self._all = until if until is not None else None if n is None else ended + n
        self._shown_at = 0.0
        self._width = 0

    def __call__(self, study: 'Study', trial: 'StudyTrial') -> None:
        self._ended += 1
        now = time.monotonic()
        if now - self._shown_at < _EACH and self._ended != self._all:
            return
        self._shown_at = now
        best = study.best
        line = f'{self._ended}' + (f'/{self._all}' if self._all else '') + ' trials'
        if best is not None:
            line += f', best {study.value(best):.6g} (trial {best.number})'
        print('\r' + line.ljust(self._width), end='', file=sys.stderr, flush=True)
        self._width = len(line)

    def close(self) -> None:
        """Ends the line."""
        if self._width:
            print(file=sys.stderr)
