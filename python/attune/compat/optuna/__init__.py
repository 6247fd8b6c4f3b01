"""Optuna's interface on attune's engine; Optuna need not be installed (docs/optuna.md).

    import attune.compat.optuna as optuna
"""
from typing import Any

from . import distributions, exceptions, logging, pruners, samplers, study, trial
from .exceptions import TrialPruned
from .frozen import create_trial
from .live import Trial
from .making import create_study, delete_study, load_study
from .studies import Study

__all__ = ['Study', 'Trial', 'TrialPruned', 'create_study', 'create_trial', 'delete_study',
           'distributions', 'exceptions', 'load_study', 'logging', 'pruners', 'samplers', 'study',
           'trial']

_INSTEAD = {
    'visualization': 'study.trials_dataframe() has what is drawn there',
    'storages': 'storage= is the path of a file',
    'integration': 'report and should_prune in the objective',
    'get_all_study_summaries': 'one file has one study',
    'copy_study': 'create_study(), and add_trials(other.trials)',
}


def __getattr__(name: str) -> Any:
    cure = _INSTEAD.get(name, 'the real Optuna with attune.optuna.Sampler')
    raise AttributeError(f'{name} is not part of attune.compat.optuna; instead: {cure}')
