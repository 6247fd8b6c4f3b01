"""Writes a tuner or an assessor of attune as a class. docs/plugin-protocol.md.

    from attune import plugin

    class Corners(plugin.Tuner):
        def ask(self, trial): ...
        def tell(self, outcome): ...

    plugin.serve(Corners)
"""
from __future__ import annotations

import json
import os
import traceback
from typing import Any, Dict, List, NamedTuple, Optional, Type, Union

from . import values
from .plugin_lines import Lines
from .plugin_space import Dimension, Space

__all__ = ['Algorithm', 'Assessor', 'Dimension', 'EXHAUSTED', 'NOT_YET', 'Outcome', 'Space',
           'Tuner', 'serve']

Json = Dict[str, Any]
EXHAUSTED, NOT_YET = 'exhausted', 'not_yet'  # answers of ask()


class Outcome(NamedTuple):
    """How a trial ended."""
    id: int  # -1: imported, nobody asked for it
    parameters: Json
    loss: Optional[float]  # to be minimised, whatever the experiment says; None: no usable result
    end: str  # completed, failed, stopped, diverged, imported
    metrics: Json  # as reported; None for NaN and infinities
    budget: Optional[float] = None
    extra: Optional[Json] = None


class Algorithm:
    """What tuners and assessors share. A class that has save() and load() saves its state."""
    name = ''  # default: the name of the class
    summary = ''  # default: the first line of the class's documentation
    arguments: List[Json] = []  # {'name': ..., 'type': ..., 'default': ..., 'help': ...}
    optimize_mode = 'minimize'  # the default of the argument of that name

    def __init__(self, space: Space, arguments: Json, seed: int, context: Json):
        """Made for each search space anew. `space` of an assessor is empty."""
        self.space, self.given, self.seed, self.context = space, arguments, seed, context


class Tuner(Algorithm):
    """Proposes configurations. A class with report() gets intermediate results."""

    def ask(self, trial: int) -> Union[str, Json]:
        """Parameters for a new trial, EXHAUSTED (for ever), or NOT_YET."""
        raise NotImplementedError

    def tell(self, outcome: Outcome) -> None:
        """The result of a trial, or an imported one."""

    def adopt(self, trial: int, parameters: Json) -> None:
        """A trial runs that this object has not proposed."""

    def withdraw(self, trial: int) -> None:
        """The proposal for this id is not carried out: it breaks a constraint."""

    def skip_ahead(self) -> None:
        """Proposals were lost: draw other numbers than these from now on."""


class Assessor(Algorithm):
    """Stops bad trials early."""

    def assess(self, trial: int, reports: List[Json]) -> Optional[str]:
        """Why the trial shall stop, or None. `reports`: all of it, the last one is new."""
        raise NotImplementedError

    def trial_end(self, trial: int, end: str) -> None:
        """A trial that had reports has ended."""


def serve(*classes: Type[Algorithm]) -> None:
    """Answers attuned until it has no more requests. What the classes print goes to stderr, which
    attuned logs, and they read an empty input."""
    _Server(classes).run(Lines())


class _Server:
    # Each operation takes the members of its request by their names, and ignores those of a later
    # protocol. pylint: disable=redefined-builtin
    def __init__(self, classes: Any):
        self._classes = classes
        self._algorithm: Any = None
        self._reports: Dict[int, List[Json]] = {}

    def run(self, lines: Lines) -> None:
        for request in lines.requests():
            if request['op'] == 'exit':
                return
            try:
                text = json.dumps(values.plain(self._reply(request), 'the answer'))
            except Exception as error:  # pylint: disable=broad-except
                traceback.print_exc()
                text = json.dumps({'error': _what(error)})
            lines.reply(text)

    def _reply(self, request: Json) -> Json:
        operation = getattr(self, '_' + request.pop('op'), None)
        return (operation(**request) if operation else None) or {}

    def _describe(self, **_: Any) -> Json:
        return {'protocol': 1, 'algorithms': [_description(each) for each in self._classes]}

    def _init(self, kind: str, name: str, arguments: Json, seed: int, context: Json,
              space: Optional[Json] = None, **_: Any) -> None:
        base = Tuner if kind == 'tuner' else Assessor
        made = next(each for each in self._classes
                    if issubclass(each, base) and (each.name or each.__name__) == name)
        self._reports = {}
        self._algorithm = made(Space(space or {}), arguments, seed, context)

    def _ask(self, ids: List[int], **_: Any) -> Json:
        answers = [self._algorithm.ask(trial) for trial in ids]
        return {'answers': [each if isinstance(each, str) else {'parameters': each}
                            for each in answers]}

    def _tell(self, outcomes: List[Json], **_: Any) -> None:
        for each in outcomes:
            known = {name: each[name] for name in Outcome._fields if name in each}
            self._algorithm.tell(Outcome(**known))

    def _adopt(self, id: int, parameters: Json, **_: Any) -> None:
        self._algorithm.adopt(id, parameters)

    def _withdraw(self, id: int, **_: Any) -> None:
        self._algorithm.withdraw(id)

    def _report(self, id: int, step: int, metrics: Json, **_: Any) -> Json:
        return {'decisions': self._algorithm.report(id, step, metrics) or []}

    def _skip_ahead(self, **_: Any) -> None:
        self._algorithm.skip_ahead()

    def _save(self, **_: Any) -> Json:
        return {'state': self._algorithm.save()}

    def _load(self, state: Any, **_: Any) -> None:
        self._reports = {}  # attuned sends them again
        self._algorithm.load(state)

    def _assess(self, id: int, reports: List[Json], **place: Any) -> Json:
        history = self._reports.setdefault(id, [])
        history[place['from']:] = reports
        reason = self._algorithm.assess(id, list(history))
        return {} if reason is None else {'action': 'stop', 'reason': reason}

    def _trial_end(self, id: int, end: str, **_: Any) -> None:
        self._reports.pop(id, None)
        self._algorithm.trial_end(id, end)


def _description(made: Type[Algorithm]) -> Json:
    documentation = (made.__doc__ or '').strip().splitlines() or ['']
    return {'kind': 'tuner' if issubclass(made, Tuner) else 'assessor',
            'name': made.name or made.__name__, 'summary': made.summary or documentation[0],
            'arguments': made.arguments, 'optimize_mode': made.optimize_mode,
            'wants_reports': hasattr(made, 'report'),
            'saves': hasattr(made, 'save') and hasattr(made, 'load')}


def _what(error: Exception) -> str:
    """As the last line of a traceback, with the place."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    text = ' '.join(''.join(traceback.format_exception_only(type(error), error)).split())
    return f'{text} ({os.path.basename(frame.filename)}:{frame.lineno})'
