"""Trials of Study.optimize() in processes of their own.

A process is started for each worker, and runs one trial after the other. What a trial asks for and
reports goes through a pipe to the worker's thread here, which asks the study.
"""
from __future__ import annotations

import multiprocessing
import signal
import threading
from multiprocessing.connection import Connection
from typing import Any, Callable, List, Optional

from . import values
from .functions import TrialFunction
from .study_trial import StudyTrial


class Processes:
    """One process for each thread that calls run(); all of them end with the `with` block."""

    def __init__(self, function: Callable[..., Any]):
        self._function = function
        # Not forked: threads run here, and whoever holds a lock is not in a forked child.
        self._context = multiprocessing.get_context('spawn')
        self._mine = threading.local()
        self._all: List['_Process'] = []

    def __enter__(self) -> 'Processes':
        return self

    def __exit__(self, *_: Any) -> None:
        for process in self._all:
            process.close()

    def run(self, trial: StudyTrial) -> Optional[values.Metrics]:
        """The function's result for this trial. What the function raises is raised; RuntimeError:
        its process has died. TrialStopped: it is to end."""
        process = getattr(self._mine, 'process', None)
        if process is None or not process.is_alive():
            process = self._mine.process = _Process(self._context, self._function)
            self._all.append(process)
        return process.run(trial)


class _Process:
    def __init__(self, context: Any, function: Callable[..., Any]):
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, function), daemon=True)
        self._process.start()
        theirs.close()

    def is_alive(self) -> bool:
        return self._process.is_alive() and not self._pipe.closed

    def run(self, trial: StudyTrial) -> Optional[values.Metrics]:
        study = trial.study
        try:
            self._pipe.send((trial.number, trial.parameters, study.grows))
            while True:
                what, *arguments = self._pipe.recv()
                if what == 'result':
                    return arguments[0]
                if what == 'raise':
                    raise arguments[0]
                try:
                    if what == 'report':
                        study.report(trial, *arguments)
                        answer = trial.stop_reason
                    else:
                        answer = study._suggest(trial, *arguments)
                except ValueError as error:
                    self._pipe.send((False, error))
                else:
                    self._pipe.send((True, answer))
        except (EOFError, BrokenPipeError, ConnectionResetError):
            self._process.join()
            raise RuntimeError(f'the process of trial {trial.number} has died (exit code '
                               f'{self._process.exitcode})') from None

    def close(self) -> None:
        self._pipe.close()  # which ends it
        self._process.join()


def _serve(pipe: Connection, function: Callable[..., Any]) -> None:
    """What a process does until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program that has the study
    from .optimize import run_trial  # here: it needs this module
    wrapped = TrialFunction(function, keeps_checkpoints=False)
    study = _FarStudy(pipe)
    while True:
        try:
            number, parameters, study.grows = pipe.recv()
        except (EOFError, OSError):
            return
        trial = StudyTrial(number, parameters, owner=study)
        try:
            answer = ('result', run_trial(wrapped, trial))
        except BaseException as error:
            answer = ('raise', error)
        try:
            pipe.send(answer)
        except (BrokenPipeError, ConnectionResetError):
            return
        except Exception as error:  # it cannot be pickled
            pipe.send(('raise', RuntimeError(f'{answer[1]!r:.1000} (not sent: {error})')))


class _FarStudy:
    """In a trial's process what its study is elsewhere."""

    grows = False  # of the trial that runs

    def __init__(self, pipe: Connection):
        self._pipe = pipe

    def report(self, trial: StudyTrial, metrics: Any) -> bool:
        """Study.report()."""
        value = values.metrics(metrics)
        trial.stop_reason = self._ask('report', value)
        trial.reports.append(value)
        return trial.stop_reason is None

    def _suggest(self, trial: StudyTrial, name: str, declared: str, kind: Optional[type]) -> Any:
        if not self.grows and name in trial.parameters:
            return trial.parameters[name]
        value = trial.parameters[name] = self._ask('suggest', name, declared, kind)
        return value

    def _ask(self, *question: Any) -> Any:
        self._pipe.send(question)
        fine, answer = self._pipe.recv()
        if not fine:
            raise answer
        return answer
