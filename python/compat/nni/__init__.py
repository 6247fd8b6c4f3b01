"""NNI for machines without NNI, written from its protocol, for attune: the calls of trials, and the
base classes of tuners, assessors and advisors, which attune.nni_host runs.

Put on PYTHONPATH together with the package attune, and only where `import nni` fails otherwise.
Trials without a manager: no parameters, and reports are printed, as in NNI.
"""
from __future__ import annotations

import warnings
from typing import Any, Dict, Optional

from attune.trial import Trial
from attune.values import plain

from .common.serializer import dump, load

__all__ = ['NoMoreTrialError', 'dump', 'get_current_parameter', 'get_experiment_id', 'get_next_parameter',
           'get_next_parameters', 'get_sequence_id', 'get_trial_id', 'load', 'report_final_result',
           'report_intermediate_result']


class NoMoreTrialError(Exception):
    """A tuner has no parameters, perhaps only for now."""


class _State:
    def __init__(self) -> None:
        self.trial = Trial()
        self.parameters: Optional[Dict[str, Any]] = None


_state = _State()


def get_next_parameter() -> Optional[Dict[str, Any]]:
    """The parameters to try; None when there are no more, or from the second call on."""
    if not _state.trial.managed:
        warnings.warn('no manager has started this program: there are no parameters',
                      RuntimeWarning, stacklevel=2)
        _state.parameters = {}
    else:
        _state.parameters = _state.trial.next_parameters()
    return _state.parameters


get_next_parameters = get_next_parameter


def get_current_parameter(tag: Optional[str] = None) -> Any:
    """What get_next_parameter() has returned last, or the parameter `tag` of it."""
    if _state.parameters is None or tag is None:
        return _state.parameters
    return _state.parameters[tag]


def report_intermediate_result(metric: Any) -> None:
    """A number, or a dict whose 'default' is one; any other JSON value is passed on."""
    _report('PERIODICAL', metric)


def report_final_result(metric: Any) -> None:
    """As report_intermediate_result()."""
    _report('FINAL', metric)


def _report(kind: str, metric: Any) -> None:
    # An AssertionError, as NNI's: not an assert, which python -O drops.
    if _state.trial.managed and _state.parameters is None:
        raise AssertionError('nni.get_next_parameter() has to be called before results are '
                             'reported')
    _state.trial.append(kind, plain(metric, 'metric'))


def get_experiment_id() -> str:
    """'STANDALONE' without a manager."""
    return _state.trial.experiment_id()


def get_trial_id() -> str:
    """'STANDALONE' without a manager."""
    return _state.trial.trial_id()


def get_sequence_id() -> int:
    """The number of this trial in its experiment, from 0."""
    return _state.trial.sequence_id()
