"""What a study knows: its trials, and which of them are the best."""
from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

from . import standing, values
from .errors import StudyError
from .study_trial import StudyTrial

if TYPE_CHECKING:
    import pandas


class StudyResults:
    """The part of a Study that only reads; it needs no attuned."""

    _settings: Dict[str, Any]
    _trials: List[StudyTrial]
    _changed: threading.Condition

    @property
    def trials(self) -> List[StudyTrial]:
        """All that were asked for, by number."""
        with self._changed:
            return list(self._trials)

    @property
    def count(self) -> int:
        """len(trials), without a copy."""
        return len(self._trials)

    @property
    def best(self) -> Optional[StudyTrial]:
        """The completed trial that is best in the first objective, the first of equals, among those
        that keep the limits of all others; None: no trial has a finite number of each.

        While no trial keeps the limits: the one that breaks them least, see keeps_limits().
        """
        ranked = self._ranked()
        return min(ranked, key=lambda pair: pair[0])[1] if ranked else None

    @property
    def best_trial(self) -> StudyTrial:
        """best, where there must be one. StudyError: there is none yet."""
        best = self.best
        if best is None:
            raise StudyError('there is no best trial: none has completed with a finite number of '
                             'each objective; run some, or ask for `best`, which is None then')
        return best

    @property
    def best_parameters(self) -> Dict[str, Any]:
        """The parameters of best_trial."""
        return self.best_trial.parameters

    @property
    def best_value(self) -> float:
        """The first objective of best_trial, as it was told."""
        return self.value(self.best_trial)

    @property
    def trade_offs(self) -> List[StudyTrial]:
        """The completed trials that keep the limits and that no other is better than in everything,
        by the first objective: all of the best with several objectives, [best] with one."""
        return standing.trade_offs(self._ranked())

    def keeps_limits(self, trial: StudyTrial) -> bool:
        """Whether it has completed with a finite number of each objective, and breaks no limit."""
        rank = self._rank(trial)
        return rank is not None and rank[0] == 0

    @property
    def maximizes(self) -> bool:
        """Whether larger values of the first objective are better."""
        return self._settings['objectives'][0].get('mode') == 'maximize'

    def dataframe(self) -> 'pandas.DataFrame':
        """A row for each trial: number, status, value, the metrics of its result, its parameters.
        ImportError: pandas is not installed."""
        try:
            import pandas  # pylint: disable=import-outside-toplevel
        except ImportError as error:
            raise ImportError('Study.dataframe() needs pandas, which is not installed: '
                              'pip install pandas, or use trials') from error
        return pandas.DataFrame([self._row(trial) for trial in self.trials])

    def _row(self, trial: StudyTrial) -> Dict[str, Any]:
        metrics = trial.metrics if isinstance(trial.metrics, dict) else {}
        return {'number': trial.number, 'status': trial.status, 'value': self.value(trial),
                **{f'metrics.{name}': value for name, value in metrics.items()},
                **{f'parameters.{name}': value for name, value in trial.parameters.items()}}

    def _repr_html_(self) -> str:
        from .notebook import page  # pylint: disable=import-outside-toplevel
        return page(self)

    @property
    def seed(self) -> int:
        """What makes the tuner's answers repeatable."""
        return self._settings['seed']

    def value(self, trial: StudyTrial) -> float:
        """The first objective of a trial's result; nan: it has none."""
        return math.nan if trial.metrics is None else self._value_of(trial.metrics)

    def _checked(self, metrics: Any) -> values.Metrics:
        value = values.metrics(metrics)
        self._value_of(value)
        return value

    def _value_of(self, value: values.Metrics) -> float:
        if not isinstance(value, dict):
            return float(value)
        name = self._settings['objectives'][0].get('metric', 'default')
        found = value.get(name)
        if not values.is_number(found):
            raise StudyError(f'metrics: {name!r} must be a number, got {found!r:.100}')
        return float(found)

    def _rank(self, trial: StudyTrial) -> Optional[standing.Standing]:
        if trial.status != 'completed' or trial.metrics is None:
            return None
        return standing.of(trial.metrics, self._settings['objectives'])

    def _ranked(self) -> List[Tuple[standing.Standing, StudyTrial]]:
        ranked = ((self._rank(trial), trial) for trial in self.trials)
        return [(rank, trial) for rank, trial in ranked if rank is not None]
