"""Functions that can be tuned: their shapes, and what runs them. After Ray Tune's function API."""
from __future__ import annotations

import contextlib
import inspect
import logging
import os
import pathlib
import shutil
import tempfile
from typing import Any, Callable, Dict, Iterator, Optional

from . import values
from .trial import Trial, this_trial

_logger = logging.getLogger('attune')

SHAPES = ('f(config)', 'f(config, reporter)', 'f(config, checkpoint_dir=None)',
          'f(config, reporter, checkpoint_dir=None)')
_PREFIX, _DRAFT = 'checkpoint_', '.draft-'


class TrialStopped(BaseException):
    """Thrown by report() when the trial is to end now: it unwinds the function.

    No Exception, so that a function that catches those lets it pass.
    """


class Reporter:
    """What a function talks to. Used by the thread that runs it, and by no other at a time.

    `send` takes one intermediate result, and throws TrialStopped when it was the last.
    `folder`: where checkpoints are kept; None: nowhere, what is saved is thrown away.
    """

    def __init__(self, send: Callable[[values.Metrics], None], trial_id: str, trial_name: str,
                 logdir: Optional[pathlib.Path], folder: Optional[pathlib.Path] = None):
        self.trial_id = trial_id
        self.trial_name = trial_name
        self.logdir = logdir  # for files of the trial; None: there is none
        self.last_report: Optional[values.Metrics] = None
        self._send = send
        self._folder = folder

    def report(self, metrics: Any = None, /, **named: Any) -> None:
        """One intermediate result: a number, a dict, or named values.

        TypeError: anything else, or both. TrialStopped: end now.
        """
        if (metrics is None) != bool(named):
            raise TypeError('report() takes a number, a dict, or named values: one of them')
        value = values.metrics(named if metrics is None else metrics)
        self.last_report = value
        self._send(value)

    __call__ = report  # as Ray's older functions call it

    @contextlib.contextmanager
    def checkpoint_dir(self, step: int) -> Iterator[pathlib.Path]:
        """An empty folder to write the checkpoint of `step` into; it counts when the block ends.

        It is then the folder that a function gets as checkpoint_dir when it goes on, named
        checkpoint_<step>; the two newest are kept. A block that raises leaves all as it was.
        ValueError: a negative step, or one that is not beyond the newest. OSError: the disk.
        """
        if step < 0:
            raise ValueError(f'the step of a checkpoint must not be negative, got {step}')
        newest = latest_checkpoint(self._folder)
        if newest is not None and step <= _step(newest):
            raise ValueError(f'step {step} is not beyond the newest checkpoint, {newest.name}')
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
        draft = pathlib.Path(tempfile.mkdtemp(prefix=_DRAFT, dir=self._folder))
        try:
            yield draft
            if self._folder is not None:
                os.rename(draft, self._folder / f'{_PREFIX}{step}')
                # The former one stays: whoever copies the folder now may have seen only that.
                for old in sorted(_checkpoints(self._folder), key=_step)[:-2]:
                    shutil.rmtree(old)
        finally:
            shutil.rmtree(draft, ignore_errors=True)  # renamed, or of no use


def _step(checkpoint: pathlib.Path) -> int:
    return int(checkpoint.name[len(_PREFIX):])


def _checkpoints(folder: Optional[pathlib.Path]) -> list:
    if folder is None:
        return []
    return [path for path in folder.glob(_PREFIX + '*')
            if path.name[len(_PREFIX):].isdecimal() and path.is_dir()]


def latest_checkpoint(folder: Optional[pathlib.Path]) -> Optional[pathlib.Path]:
    """The newest whole checkpoint that a Reporter has left in `folder`."""
    return max(_checkpoints(folder), key=_step, default=None)


class TrialFunction:
    """A function of one of SHAPES, checked here; ValueError: another one.

    A first parameter of any name counts as config; others are known by their names, and those
    that have defaults may have any. It returns nothing, a number or a dict; a generator yields
    them, and each is a report. `keeps_checkpoints`: whether its host does; if so, a function that
    cannot go on from one gets a warning.
    """

    def __init__(self, function: Callable[..., Any], keeps_checkpoints: bool = True):
        self.name = getattr(function, '__name__', type(function).__name__)
        self._function = function
        self._with_reporter, self.can_checkpoint = _shape_of(function, self.name)
        if keeps_checkpoints and not self.can_checkpoint:
            _logger.warning(
                'Function checkpointing is disabled: %s() starts anew after a pause. '
                'To go on, let it accept checkpoint_dir=None.', self.name)

    def __call__(self, config: Dict[str, Any], reporter: Reporter,
                 checkpoint_dir: Optional[pathlib.Path] = None) -> Optional[values.Metrics]:
        """The final result: what the function returned, else what it reported last.

        None: neither. What the function raises passes; TypeError: it returned something else.
        """
        arguments: Dict[str, Any] = {}
        if self._with_reporter:
            arguments['reporter'] = reporter
        if self.can_checkpoint:
            # Text, as Ray has it: functions join it with os.path.
            arguments['checkpoint_dir'] = str(checkpoint_dir) if checkpoint_dir else None
        result = self._function(config, **arguments)
        if inspect.isgenerator(result):
            result = _report_each(result, reporter)
        return reporter.last_report if result is None else values.metrics(result)


def _report_each(generator: Any, reporter: Reporter) -> Any:
    """Reports what is yielded, returns what is returned."""
    with contextlib.closing(generator):
        while True:
            try:
                metrics = next(generator)
            except StopIteration as end:
                return end.value
            reporter.report(metrics)


def _shape_of(function: Callable[..., Any], name: str) -> tuple:
    """(takes a reporter, takes a checkpoint_dir)."""
    listed = ', '.join(SHAPES)
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise ValueError(f'{function!r} cannot be tuned: its parameters cannot be known. '
                         f'A function to tune is one of {listed}') from error
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise ValueError(f'{name}{signature} cannot be tuned: it is asynchronous. '
                         f'A function to tune is one of {listed}')
    others = list(signature.parameters)[1:]
    shape = 'reporter' in others, 'checkpoint_dir' in others
    given = [word for word, takes in zip(('reporter', 'checkpoint_dir'), shape) if takes]
    try:
        signature.bind({}, **dict.fromkeys(given))
    except TypeError:
        raise ValueError(
            f'Unknown argument found in {name}{signature}: it must take config by position, and '
            "any other argument without a default must be 'reporter' or 'checkpoint_dir'. "
            f'A function to tune is one of {listed}') from None
    return shape


def run(function: Callable[..., Any], defaults: Optional[Dict[str, Any]] = None,
        trial: Optional[Trial] = None) -> Optional[values.Metrics]:
    """Runs the function as the trial that this process is, and reports its result, which is
    returned too; None: there was nothing to try.

    The checkpoint that the function gets is the newest one of Reporter.checkpoint_dir(); without
    any, the trial's checkpoint folder when something else lies in it. ValueError: the shape of
    the function. RuntimeError: it has neither returned nor reported anything.
    """
    wrapped = TrialFunction(function)
    trial = trial or this_trial()
    config = trial.next_parameters(defaults)
    if config is None:
        return None
    folder = trial.checkpoint_dir()
    if folder is not None:
        for left in folder.glob(_DRAFT + '*'):  # by an attempt that was killed
            shutil.rmtree(left, ignore_errors=True)
    reporter = Reporter(trial.report, trial.trial_id(), f'{wrapped.name}_{trial.trial_id()}',
                        trial.output_dir(), folder)
    result = wrapped(config, reporter, _checkpoint_of(folder))
    if result is None:
        result = trial.last_report  # by attune.report()
    if result is None:
        raise RuntimeError(f'{wrapped.name}() ran to its end without reporting or returning a '
                           'result')
    trial.final(result)
    return result


def _checkpoint_of(folder: Optional[pathlib.Path]) -> Optional[pathlib.Path]:
    newest = latest_checkpoint(folder)
    if newest is not None or folder is None or not folder.is_dir():
        return newest
    has_files = any(not path.name.startswith('.') for path in folder.iterdir())
    return folder if has_files else None  # as attune.save() leaves it
