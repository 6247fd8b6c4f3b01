"""A trial that runs: what an objective gets."""
from __future__ import annotations

import copy
import datetime
import warnings
from typing import TYPE_CHECKING, Any, Dict, Optional

from .distributions import BaseDistribution, check_distribution_compatibility
from .suggesting import Suggesting, deprecated

if TYPE_CHECKING:
    from .studies import Study


class Trial(Suggesting):
    """Made by Study.ask() and Study.optimize()."""

    def __init__(self, study: 'Study', number: int) -> None:
        self.study = study
        self._number = number

    @property
    def _record(self) -> Any:
        return self.study._records.trials[self._number]

    def report(self, value: float, step: int) -> None:
        """An intermediate value; see should_prune(). Steps begin at 0. One that was reported before
        is left out, with a warning."""
        if len(self.study.directions) > 1:
            raise NotImplementedError('report: works with one objective')
        try:
            value = float(value)
        except (TypeError, ValueError):
            raise TypeError(f'value: must be a number, got {value!r:.100}') from None
        if step < 0:
            raise ValueError(f'step: must not be below 0, got {step}')
        if step in self._record.intermediate_values:
            warnings.warn(f'step {step} is reported already; the new value is left out',
                          stacklevel=2)
            return
        self.study._report(self._record, int(step), value)

    def should_prune(self) -> bool:
        """Whether the trial should end, by what it has reported: raise TrialPruned then."""
        if len(self.study.directions) > 1:
            raise NotImplementedError('should_prune: works with one objective')
        return self.study._should_prune(self._record)

    def set_user_attr(self, key: str, value: Any) -> None:
        self.study._change(self._record, user_attrs={key: value})

    def set_system_attr(self, key: str, value: Any) -> None:
        deprecated('set_system_attr', 'set_user_attr')
        self.study._change(self._record, system_attrs={key: value})

    @property
    def number(self) -> int:
        """From 0; of each trial another one."""
        return self._number

    @property
    def params(self) -> Dict[str, Any]:
        return copy.deepcopy(self._record.params)

    @property
    def distributions(self) -> Dict[str, BaseDistribution]:
        return copy.deepcopy(self._record.distributions)

    @property
    def user_attrs(self) -> Dict[str, Any]:
        return copy.deepcopy(self._record.user_attrs)

    @property
    def system_attrs(self) -> Dict[str, Any]:
        deprecated('system_attrs', 'user_attrs')
        return copy.deepcopy(self._record.system_attrs)

    @property
    def datetime_start(self) -> Optional[datetime.datetime]:
        return self._record.datetime_start

    def _suggest(self, name: str, distribution: BaseDistribution) -> Any:
        record = self._record
        if name not in record.distributions:
            return self.study._choose(record, name, distribution)
        former = record.distributions[name]
        check_distribution_compatibility(former, distribution)
        if former != distribution:
            warnings.warn(f'{name!r} has the distribution {former} already, and keeps it',
                          RuntimeWarning, stacklevel=3)
        return record.params[name]
