"""The exceptions of Optuna that a study of attune.compat.optuna raises."""
from __future__ import annotations


class OptunaError(Exception):
    """Any of the others."""


class TrialPruned(OptunaError):
    """The objective raises it: the trial ends, and its last report is its value."""


class StorageInternalError(OptunaError):
    """The file of a study cannot be used."""


class DuplicatedStudyError(OptunaError):
    """The file has a study already, and load_if_exists is not set."""


class ExperimentalWarning(Warning):
    """Never given: there for programs that silence it."""
