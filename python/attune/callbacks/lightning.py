"""A callback for the Trainer of Lightning."""
from __future__ import annotations

from typing import Any, Optional

from .reports import Reports, base_class


class Lightning(base_class('lightning.pytorch', 'pytorch_lightning')):  # type: ignore[misc]
    """Reports after each validation what the model has logged. Arguments: see Reports."""

    def __init__(self, trial: Any = None, metric: Optional[str] = None):
        super().__init__()
        self._reports = Reports(trial, metric)

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        """TrialStopped, ValueError: see Reports."""
        if not trainer.sanity_checking and trainer.is_global_zero:
            self._reports.send(dict(trainer.callback_metrics), trainer.current_epoch + 1)
