"""What all callbacks do with the metrics of a round."""
from __future__ import annotations

import importlib
import sys
from typing import Any, Dict, Optional

from ..functions import TrialStopped
from ..trial import this_trial


class Reports:
    """Sends the metrics of each round to a trial.

    trial: that of a function of Study.optimize(), or its reporter; None: the trial of `attune run`
        that this process is
    metric: the name of the one that counts; None: there is only one
    """

    def __init__(self, trial: Any, metric: Optional[str]):
        self._trial = trial
        self._metric = metric

    def send(self, metrics: Dict[str, Any], iteration: int) -> None:
        """All metrics, with the one that counts as `default`, too. `iteration` counts from 1.

        TrialStopped: the trial is to end. (A manager ends the process instead.) ValueError: no such
        metric, or it is not clear which one counts.
        """
        name = self._metric
        if name is None and len(metrics) == 1:
            name = next(iter(metrics))
        if name not in metrics:
            what = 'say which one counts' if name is None else f'there is no {name!r}'
            raise ValueError(f'metric: {what}; this round has {sorted(metrics)}')
        report = {**metrics, 'default': metrics[name], 'training_iteration': iteration}
        if self._trial is None:
            this_trial().report(report)
        elif not hasattr(self._trial, 'should_prune'):
            self._trial.report(report)  # a Reporter, which raises by itself
        else:
            self._trial.report(report, iteration)
            if self._trial.should_prune():
                raise TrialStopped(self._trial.stop_reason)


def base_class(*modules: str) -> type:
    """`Callback` of the first module that is loaded already, else of the first that there is.
    ImportError: none of them."""
    for name in sorted(modules, key=lambda each: each not in sys.modules):
        try:
            return importlib.import_module(name).Callback
        except ModuleNotFoundError as error:
            if not name.startswith(error.name or ' '):
                raise  # something that the framework needs
    raise ImportError(f'none of these is installed: {", ".join(modules)}')
