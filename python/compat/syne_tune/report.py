"""Reports as lines of standard output: [tune-metric]: {json}."""
from __future__ import annotations

import json
import sys
import time
from typing import Any

from attune.values import plain

from .constants import ST_WORKER_ITER, ST_WORKER_TIME, ST_WORKER_TIMESTAMP

_LIMIT = 50_000  # bytes, as sys.getsizeof() counts


class Reporter:
    """Called with named metrics: report(epoch=1, loss=0.5).

    `add_cost` has no effect: only Amazon SageMaker knows what a machine costs.
    """

    def __init__(self, add_time: bool = True, add_cost: bool = True):
        self.add_time = add_time
        self.add_cost = add_cost
        self._start = time.perf_counter()
        self._iteration = 0

    def __call__(self, **metrics: Any) -> None:
        """AssertionError, as Syne Tune's: a None, a name that begins with st_, 50,000 bytes or
        more. TypeError: no JSON. What failed is not reported, and does not count."""
        for name, value in metrics.items():
            if name.startswith('st_'):
                raise AssertionError(f'{name}: names of metrics must not start with st_')
            if value is None:
                raise AssertionError(f'{name}: metrics must not be None')
        record = plain(metrics, 'metrics')
        record[ST_WORKER_TIMESTAMP] = time.time()
        if self.add_time:
            record[ST_WORKER_TIME] = time.perf_counter() - self._start
        record[ST_WORKER_ITER] = self._iteration
        text = json.dumps(record)
        if sys.getsizeof(text) >= _LIMIT:
            raise AssertionError(f'the report has {sys.getsizeof(text):,} bytes, and must have '
                                 f'fewer than {_LIMIT:,}')
        self._iteration += 1
        # One write, with the line end: lines of other threads do not come between.
        sys.stdout.write(f'[tune-metric]: {text}\n')
        sys.stdout.flush()
