"""A callback for fit() of Keras."""
from __future__ import annotations

from typing import Any, Dict, Optional

from .reports import Reports, base_class


class Keras(base_class('keras.callbacks', 'tensorflow.keras.callbacks')):  # type: ignore[misc]
    """Reports each epoch. Metrics have the names of Keras: 'loss', 'val_accuracy'. Arguments: see
    Reports."""

    def __init__(self, trial: Any = None, metric: Optional[str] = None):
        super().__init__()
        self._reports = Reports(trial, metric)

    def on_epoch_end(self, epoch: int, logs: Optional[Dict[str, Any]] = None) -> None:
        """TrialStopped, ValueError: see Reports."""
        self._reports.send(dict(logs or {}), epoch + 1)
