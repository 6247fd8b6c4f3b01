"""What a study knows besides its engine: its trials as Optuna describes them, and attributes."""
from __future__ import annotations

import copy
import datetime
from collections import deque
from typing import Any, Callable, Deque, Dict, List, Optional

from . import fronts
from .attributes import AttributeFile
from .distributions import BaseDistribution, check_distribution_compatibility
from .frozen import FrozenTrial
from .states import StudyDirection, TrialState

_MERGED = ('user_attrs', 'system_attrs', 'intermediate_values', 'params', 'distributions')


class Records:
    """One thread at a time. What changes is in the file, if there is one, before a call returns."""

    def __init__(self, name: str, directions: List[StudyDirection],
                 file: Optional[AttributeFile]) -> None:
        self.name = name
        self.directions = directions
        self.trials: List[FrozenTrial] = []
        self.engine_numbers: Dict[int, int] = {}  # of trials that have begun
        self.attributes: Dict[str, Dict[str, Any]] = {'user_attrs': {}, 'system_attrs': {}}
        self.best: Optional[FrozenTrial] = None  # complete, in the first objective
        self._waiting: Deque[FrozenTrial] = deque()
        self._distributions: Dict[str, BaseDistribution] = {}  # the first of each name
        self._file = file

    def add(self, trial: FrozenTrial, engine_number: Optional[int] = None) -> FrozenTrial:
        """A copy of it, with the next number."""
        for name, distribution in trial.distributions.items():
            self.check(name, distribution)
        found = copy.deepcopy(trial)
        found.number = found._trial_id = len(self.trials)
        fields = {name.lstrip('_'): value for name, value in vars(found).items()
                  if name not in ('number', '_trial_id') and value not in (None, {})}
        if self._file is not None:
            self._file.write_trial(found.number, fields, engine_number)
        self.trials.append(found)
        self._apply(found, engine_number, fields)
        return found

    def change(self, trial: FrozenTrial, engine_number: Optional[int] = None,
               **fields: Any) -> None:
        """Members of a FrozenTrial: dicts are added to, the others replaced."""
        if self._file is not None:
            self._file.write_trial(trial.number, fields, engine_number)
        self._apply(trial, engine_number, fields)

    def set_attribute(self, kind: str, key: str, value: Any) -> None:
        """Of the study; `kind`: user_attrs or system_attrs."""
        if self._file is not None:
            self._file.write_study({kind: {key: value}})
        self.attributes[kind][key] = value

    def close(self) -> None:
        """What changes from now on is an error, if there is a file."""
        if self._file is not None:
            self._file.close()

    def take(self, file: AttributeFile, note: Callable[[str, BaseDistribution], None]) -> None:
        """What a file has, which was written before. `note` hears of parameters in their order."""
        for kind, record in file.read_records():
            if kind == 'study':
                for name, added in record.items():
                    self.attributes[name].update(added)
                continue
            number, engine_number, fields = record
            if number == len(self.trials):
                self.trials.append(FrozenTrial(number, TrialState.WAITING, None, None, None, {}, {},
                                               {}, {}, {}, number))
            self._apply(self.trials[number], engine_number, fields)
            for name, distribution in fields.get('distributions', {}).items():
                note(name, distribution)

    def check(self, name: str, distribution: Any) -> None:
        """ValueError: the study has the parameter with another kind of distribution."""
        if name in self._distributions:
            check_distribution_compatibility(self._distributions[name], distribution)

    def _apply(self, trial: FrozenTrial, engine_number: Optional[int],
               fields: Dict[str, Any]) -> None:
        if engine_number is not None:
            self.engine_numbers[trial.number] = engine_number
        for name, distribution in fields.get('distributions', {}).items():
            self._distributions.setdefault(name, distribution)
        for name, value in fields.items():
            if name in _MERGED:
                getattr(trial, name).update(value)
            else:
                setattr(trial, name, value)
        if fields.get('state') == TrialState.WAITING:
            self._waiting.append(trial)
        elif fields.get('state') == TrialState.COMPLETE:
            self.best = fronts.better(trial, self.best, self.directions[:1])

    def next_waiting(self) -> Optional[FrozenTrial]:
        """The first trial that was enqueued and has not begun."""
        while self._waiting and self._waiting[0].state != TrialState.WAITING:
            self._waiting.popleft()
        return self._waiting[0] if self._waiting else None

    def begin(self, trial: FrozenTrial, engine_number: int) -> None:
        self.change(trial, engine_number, state=TrialState.RUNNING,
                    datetime_start=datetime.datetime.now())

    def end(self, trial: FrozenTrial, state: TrialState, values: Optional[List[float]]) -> None:
        self.change(trial, state=state, values=values, datetime_complete=datetime.datetime.now())
