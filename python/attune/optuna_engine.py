"""A study of attune behind a study of Optuna: the same trials, by Optuna's numbers."""
from __future__ import annotations

import math
from typing import Any, Dict, List, Optional, Sequence, Set

from .errors import WaitForResults
from .study import Study
from .study_distributions import ParameterNames, parameter
from .study_trial import StudyTrial
from .values import Metrics


def objectives(maximize: Sequence[bool], constraints: int) -> List[Dict[str, Any]]:
    """Of a Study. `maximize`: for each objective; `constraints`: how many numbers a trial has that
    should be at most 0."""
    found = [{'metric': f'value{index}', 'mode': 'maximize' if each else 'minimize'}
             for index, each in enumerate(maximize)]
    return found + [{'metric': f'constraint{index}', 'mode': 'minimize', 'limit': 0}
                    for index in range(constraints)]


STEP_ATTR = 'step'  # the metric of a report that is its step; an assessor may have it as step_attr


class Engine:
    """One thread at a time. A trial is what Optuna calls a FrozenTrial."""

    def __init__(self, study: Study, constraints: int) -> None:
        """`study`: without a search space, with objectives() of as many constraints."""
        self.constraints = constraints
        self._study = study
        self._names = ParameterNames()
        self._running: Dict[int, StudyTrial] = {}
        self._suggested: Dict[int, Set[str]] = {}  # of running trials: the engine's names
        self._known: Set[int] = set()  # running here, or learnt

    def knows(self, number: int) -> bool:
        return number in self._known

    def runs(self, number: int) -> bool:
        return number in self._running

    def close(self) -> None:
        self._study.close()

    def ask(self, number: int) -> int:
        """Begins a trial; its number in attune's study."""
        try:
            trial = self._study.ask()
        except WaitForResults:  # Optuna cannot: a drawn one
            trial = self._drawn()
        self._take(number, trial)
        return trial.number

    def add(self, number: int) -> int:
        """Begins a trial whose parameters are known: the tuner is not asked."""
        trial = self._drawn()
        self._take(number, trial)
        return trial.number

    def go_on(self, number: int, own_number: int) -> bool:
        """With a trial of the study's file. False: it has ended there."""
        found = next((each for each in self._study.trials if each.number == own_number), None)
        if found is None or found.status != 'running':
            return False
        self._take(number, found)
        return True

    def fail_others(self) -> None:
        """Ends those running trials of the study's file with which nobody goes on."""
        kept = [trial.number for trial in self._running.values()]
        for trial in self._study.trials:
            if trial.status == 'running' and trial.number not in kept:
                self._study.fail(trial)

    def note(self, name: str, distribution: Any) -> None:
        """A parameter in the order in which the study has met them."""
        self._names.of(name, distribution)

    def report(self, number: int, step: int, value: float) -> None:
        """See stop_reason()."""
        running = self._running[number]
        self._study.report(running, {**self._metrics([value], None), STEP_ATTR: float(step)})

    def reports(self, number: int) -> int:
        """How many a running trial has made."""
        return len(self._running[number].reports)

    def stop_reason(self, number: int) -> Optional[str]:
        """Why a running trial should end. None: it should go on."""
        return self._running[number].stop_reason

    def suggest(self, number: int, name: str, distribution: Any) -> Any:
        """A value for a parameter of a trial that runs. StudyError: the distribution is beyond what
        the engine can search."""
        found = parameter(distribution)
        known_as = self._names.of(name, distribution)
        value = self._study._suggest(self._running[number], known_as, found.declared, None)
        self._suggested[number].add(known_as)
        return found.decode(value)

    def end(self, trial: Any, how: str, values: Optional[Sequence[float]],
            constraints: Optional[Sequence[float]]) -> None:
        """`how`: completed, stopped, failed. `values`: its result, if it has one."""
        running = self._running.pop(trial.number, None)
        if running is None:  # nothing was asked of us for it
            if values is not None:
                self.learn(trial, values, constraints)
            return
        tried = self._tried(running, trial)
        if how == 'failed' or not tried:
            self._study.fail(running)
        elif values is None:
            self._study.stop(running)
        elif how == 'stopped':
            # The last report is the result of a stopped trial.
            told = running.reports and running.reports[-1]['value0'] == values[0]
            if constraints or not told:
                self._study.report(running, self._metrics(values, constraints))
            self._study.stop(running)
        else:
            self._study.tell(running, self._metrics(values, constraints))

    def learn(self, trial: Any, values: Optional[Sequence[float]],
              constraints: Optional[Sequence[float]]) -> None:
        """A result that somebody else has found. One that cannot be used is left out: of values
        that are not finite, or outside of their distributions."""
        self._known.add(trial.number)
        if values is None or not all(map(math.isfinite, values)):
            return
        try:
            parameters = {}
            for name, value in trial.params.items():
                distribution = trial.distributions[name]
                found, known_as = parameter(distribution), self._names.of(name, distribution)
                parameters[known_as] = found.encode(value)
                self._study.declare({known_as: found.as_dict()})
            self._study.import_results([{'parameters': parameters,
                                         'value': self._metrics(values, constraints)}])
        except ValueError:  # StudyError is one
            pass

    def _drawn(self) -> StudyTrial:
        self._study.enqueue({})
        return self._study.ask()

    def _take(self, number: int, trial: StudyTrial) -> None:
        self._running[number] = trial
        self._suggested[number] = set(trial.parameters)
        self._known.add(number)

    def _tried(self, running: StudyTrial, trial: Any) -> bool:
        """Tells the tuner which values the trial has that it was not asked for: enqueued ones, and
        ranges of one value. False: one is outside of its distribution."""
        suggested = self._suggested.pop(trial.number)
        for name, value in trial.params.items():
            distribution = trial.distributions[name]
            known_as = self._names.of(name, distribution)
            if known_as in suggested:
                continue
            found = parameter(distribution)
            try:
                self._study._give(running, known_as, found.declared, found.encode(value))
            except ValueError:  # StudyError is one
                return False
        return True

    def _metrics(self, values: Sequence[float], constraints: Optional[Sequence[float]]) -> Metrics:
        found = {f'value{index}': float(value) for index, value in enumerate(values)}
        found.update({f'constraint{index}': float(value)
                      for index, value in enumerate((constraints or ())[:self.constraints])})
        return found
