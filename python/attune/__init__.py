"""attune: tuning, seen from Python. Standard library only.

A trial:            next_parameters, report, final, checkpoint_dir, save, restore, ...
A function:         run
Asking for trials:  Study
Reading results:    Experiment, of attune run
With Optuna:        optuna.Sampler; without it: compat.optuna
"""
from __future__ import annotations

import importlib
import pathlib
from typing import TYPE_CHECKING, Any, Dict, Optional

from .errors import (DaemonError, ExperimentError, LibraryError, NoMoreTrials, StudyError,
                     WaitForResults)
from .functions import Reporter, TrialFunction, TrialStopped, run
from .best_of import importance, maximize, minimize
from .study import Study
from .study_trial import StudyTrial
from .trial import Trial, TrialError, this_trial

if TYPE_CHECKING:
    from .experiment import Experiment

__all__ = ['DaemonError', 'Experiment', 'ExperimentError', 'LibraryError', 'NoMoreTrials',
           'Reporter', 'Study', 'StudyError', 'StudyTrial', 'Trial', 'TrialError', 'TrialFunction',
           'TrialStopped', 'WaitForResults', 'checkpoint_dir', 'experiment_id', 'final', 'importance',
           'maximize', 'minimize', 'next_parameters', 'output_dir', 'report', 'restore', 'run', 'save',
           'sequence_id', 'trial_id']


def __getattr__(name: str) -> Any:
    # Trials are started often, and have no use for sqlite3, which some Pythons lack.
    if name == 'Experiment':
        from .experiment import Experiment  # pylint: disable=import-outside-toplevel
        return Experiment
    if name in ('compat', 'optuna'):
        return importlib.import_module(f'{__name__}.{name}')
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def next_parameters(defaults: Optional[Dict[str, Any]] = None) -> Optional[Dict[str, Any]]:
    """Trial.next_parameters() of this process."""
    return this_trial().next_parameters(defaults)


def report(metrics: Any) -> None:
    """Trial.report() of this process: an intermediate result."""
    this_trial().report(metrics)


def final(metrics: Any) -> None:
    """Trial.final() of this process: its result."""
    this_trial().final(metrics)


def checkpoint_dir() -> Optional[pathlib.Path]:
    """Trial.checkpoint_dir() of this process."""
    return this_trial().checkpoint_dir()


def save(name: str, data: bytes) -> bool:
    """Trial.save() of this process."""
    return this_trial().save(name, data)


def restore(name: str) -> Optional[bytes]:
    """Trial.restore() of this process."""
    return this_trial().restore(name)


def trial_id() -> str:
    """Trial.trial_id() of this process."""
    return this_trial().trial_id()


def experiment_id() -> str:
    """Trial.experiment_id() of this process."""
    return this_trial().experiment_id()


def sequence_id() -> int:
    """Trial.sequence_id() of this process."""
    return this_trial().sequence_id()


def output_dir() -> pathlib.Path:
    """Trial.output_dir() of this process."""
    return this_trial().output_dir()
