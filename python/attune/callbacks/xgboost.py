"""A callback for xgboost.train(), xgboost.cv() and the estimators of xgboost."""
from __future__ import annotations

from typing import Any, Optional

from xgboost.callback import TrainingCallback

from .reports import Reports


class XGBoost(TrainingCallback):
    """Reports each round. A metric has the name of its data and its own: 'validation-rmse'; of the
    estimators 'validation_0-rmse'. Arguments: see Reports."""

    def __init__(self, trial: Any = None, metric: Optional[str] = None):
        super().__init__()
        self._reports = Reports(trial, metric)

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """TrialStopped, ValueError: see Reports. False: train on."""
        newest = {f'{data}-{metric}': values[-1] for data, metrics in evals_log.items()
                  for metric, values in metrics.items()}
        # Of xgboost.cv() (mean, deviation).
        self._reports.send({name: value[0] if isinstance(value, tuple) else value
                            for name, value in newest.items()}, epoch + 1)
        return False
