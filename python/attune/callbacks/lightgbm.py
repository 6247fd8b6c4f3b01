"""A callback for lightgbm.train(), lightgbm.cv() and the estimators of lightgbm."""
from __future__ import annotations

from typing import Any, Optional

from .reports import Reports


class LightGBM:
    """Reports each round. A metric has the name of its data and its own: 'valid_0-l2'. Arguments:
    see Reports."""

    def __init__(self, trial: Any = None, metric: Optional[str] = None):
        self.order = 25  # before lightgbm.early_stopping(), whose last round counts, too
        self.before_iteration = False
        self._reports = Reports(trial, metric)

    def __call__(self, env: Any) -> None:
        """TrialStopped, ValueError: see Reports. `env` is a lightgbm.callback.CallbackEnv."""
        self._reports.send({f'{data}-{metric}': value
                            for data, metric, value, *_ in env.evaluation_result_list or ()},
                           env.iteration + 1)
