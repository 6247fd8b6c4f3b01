"""What a Study says when it was given something that it cannot use."""


class StudyError(ValueError):
    """An argument cannot be used; the message names it and says what to do. Nothing has changed."""


class NoMoreTrials(Exception):
    """The tuner has proposed everything that it ever will."""


class WaitForResults(Exception):
    """The tuner can propose nothing before a trial that runs has ended or reported."""


class ExperimentError(ValueError):
    """The store of an experiment cannot be read; the message names the file and says what to do."""
