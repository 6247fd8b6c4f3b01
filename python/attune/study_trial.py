"""What a Study hands out."""
from __future__ import annotations

import json
import math
import weakref
from dataclasses import InitVar, dataclass, field
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple

from . import values
from .errors import StudyError

if TYPE_CHECKING:
    from .study import Study

_MOST_STEPS = 1000  # of a range with a step: so many candidates


@dataclass(eq=False)
class StudyTrial:
    """One trial of a Study. To be read: Study changes it. The functions are for the objective of a
    study without a search space, which gets the trial."""

    number: int  # from 0
    parameters: Dict[str, Any]
    status: str = 'running'  # then 'completed', 'failed' or 'stopped'
    metrics: Optional[values.Metrics] = None  # as told
    reports: List[values.Metrics] = field(default_factory=list)
    stop_reason: Optional[str] = None  # why it should end early, once it should
    owner: InitVar[Optional['Study']] = None

    def __post_init__(self, owner: Optional['Study']) -> None:
        # Weak: a study that nobody uses any more lets go of its file at once.
        self._study = (lambda: None) if owner is None else weakref.ref(owner)

    @property
    def study(self) -> 'Study':
        """StudyError: it is gone."""
        found = self._study()
        if found is None:
            raise StudyError(f'the study of trial {self.number} is gone; keep it in a variable')
        return found

    @property
    def job(self) -> str:
        """Its name in messages."""
        return f't{self.number:04}'

    def suggest_float(self, name: str, low: float, high: float, *, step: Optional[float] = None,
                      log: bool = False) -> float:
        """A number from low to high, both included; with `step` one of low, low + step, ...; with
        `log` each power of ten counts alike. Asked again for the name it gives the same value.

        StudyError: no such range, or the study knows the name with another type or step.
        """
        low, high = _bounds(name, low, high, log)
        if step is not None:
            return float(self._one_of(name, _steps(name, low, high, step, log)))
        kind = 'loguniform' if log else 'uniform'
        return float(self._suggest(name, f'{{"_type":"{kind}","_value":[{low!r},{high!r}]}}'))

    def suggest_int(self, name: str, low: int, high: int, *, step: int = 1,
                    log: bool = False) -> int:
        """An integer from low to high, both included; otherwise as suggest_float()."""
        for bound in (low, high, step):
            if isinstance(bound, bool) or not isinstance(bound, int):
                raise TypeError(f'{name}: bounds and step must be integers, got {bound!r:.100}')
        _bounds(name, low, high, log)
        if step != 1:
            return int(self._one_of(name, _steps(name, low, high, step, log)))
        if log:
            declared = f'{{"_type":"qloguniform","_value":[{low},{high},1]}}'
        else:
            declared = f'{{"_type":"randint","_value":[{low},{high + 1}]}}'
        return self._suggest(name, declared, int)  # a float in the engine, if log

    def suggest_categorical(self, name: str, choices: Sequence[Any]) -> Any:
        """One of `choices`: numbers, texts, truth values, None. StudyError: something else, or the
        study knows the name with other choices."""
        for choice in choices:
            if not isinstance(choice, (bool, int, float, str, type(None))):
                raise StudyError(f'{name}: choices must be numbers, texts, True, False or None, got '
                                 f'{choice!r:.100}; name it by a text')
        return self._one_of(name, list(choices))

    def report(self, metrics: Any, step: Optional[int] = None) -> None:
        """An intermediate result; see should_prune(). `step`: one that is not above the last one is
        left out, as it was reported before."""
        if step is not None:
            if step <= getattr(self, '_last_step', -math.inf):
                return
            self._last_step = step
        self.study.report(self, metrics)

    def should_prune(self) -> bool:
        """Whether the trial should end, by what it has reported: raise TrialStopped then."""
        return self.stop_reason is not None

    def _one_of(self, name: str, candidates: List[Any]) -> Any:
        if not candidates:
            raise StudyError(f'{name}: there is nothing to choose from')
        return self._suggest(name, json.dumps({'_type': 'choice', '_value': candidates}))

    def _suggest(self, name: str, declared: str, kind: Optional[type] = None) -> Any:
        return self.study._suggest(self, name, declared, kind)


@dataclass(eq=False)
class DaemonTrial(StudyTrial):
    """One trial of a Study that has an attuned."""

    parameter_id: int = field(default=0, repr=False)
    proposal: str = field(default='', repr=False)  # as attuned wrote it

    def metric(self, kind: str, sequence: int, value: values.Metrics) -> Tuple[str, str]:
        """The command that reports it; `kind` is PERIODICAL or FINAL."""
        return 'ME', json.dumps({'parameter_id': self.parameter_id, 'trial_job_id': self.job,
                                 'type': kind, 'sequence': sequence, 'value': json.dumps(value)})

    def record(self) -> Dict[str, Any]:
        """As a file has it: arguments of DaemonTrial()."""
        return {name: value for name, value in vars(self).items()
                if not name.startswith('_')}


def _bounds(name: str, low: Any, high: Any, log: bool) -> Tuple[float, float]:
    if not isinstance(name, str) or not name:
        raise TypeError(f'the name of a parameter must be a text, got {name!r:.100}')
    try:
        found = float(low), float(high)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f'{name}: bounds must be numbers, got {low!r:.50} and {high!r:.50}') from None
    if not (math.isfinite(found[0]) and math.isfinite(found[1])) or found[0] > found[1]:
        raise StudyError(f'{name}: low must be at most high, both finite, got {low!r} and {high!r}')
    if log and found[0] <= 0:
        raise StudyError(f'{name}: low must be above 0 with log, got {low!r}')
    return found


def _steps(name: str, low: Any, high: Any, step: Any, log: bool) -> List[Any]:
    if log:
        raise StudyError(f'{name}: step and log exclude each other; leave one out')
    if not step > 0:
        raise StudyError(f'{name}: step must be above 0, got {step!r}')
    count = int((high - low) / step + 1e-9) + 1
    if count > _MOST_STEPS:
        raise StudyError(f'{name}: {count:,} steps, more than {_MOST_STEPS:,}; make them larger, or '
                         'leave them out')
    return [low + index * step for index in range(count)]
