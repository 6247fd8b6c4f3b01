"""What attune says when it cannot do what was asked for."""


class StudyError(ValueError):
    """An argument cannot be used; the message names it and says what to do. Nothing has changed."""


class NoMoreTrials(Exception):
    """The tuner has proposed everything that it ever will."""


class WaitForResults(Exception):
    """The tuner can propose nothing before a trial that runs has ended or reported."""


class DaemonError(RuntimeError):
    """attuned cannot be used any more, or was not found; the message is its own where it has said
    why."""


class LibraryError(RuntimeError):
    """libattune_study.so was not found, or is of another version."""


class ExperimentError(ValueError):
    """The store of an experiment cannot be read; the message names the file and says what to do."""
