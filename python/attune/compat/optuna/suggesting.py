"""The suggest functions, which trials that run and trials that have ended share."""
from __future__ import annotations

import warnings
from typing import Any, Optional, Sequence

from .distributions import (BaseDistribution, CategoricalDistribution, FloatDistribution,
                            IntDistribution)


class Suggesting:
    """Derived classes have _suggest()."""

    def suggest_float(self, name: str, low: float, high: float, *, step: Optional[float] = None,
                      log: bool = False) -> float:
        """From low to high, both included."""
        return float(self._suggest(name, FloatDistribution(low, high, log=log, step=step)))

    def suggest_int(self, name: str, low: int, high: int, step: int = 1, log: bool = False) -> int:
        """From low to high, both included."""
        return int(self._suggest(name, IntDistribution(low, high, log=log, step=step)))

    def suggest_categorical(self, name: str, choices: Sequence[Any]) -> Any:
        return self._suggest(name, CategoricalDistribution(choices))

    def suggest_uniform(self, name: str, low: float, high: float) -> float:
        deprecated('suggest_uniform', 'suggest_float')
        return self.suggest_float(name, low, high)

    def suggest_loguniform(self, name: str, low: float, high: float) -> float:
        deprecated('suggest_loguniform', 'suggest_float(..., log=True)')
        return self.suggest_float(name, low, high, log=True)

    def suggest_discrete_uniform(self, name: str, low: float, high: float, q: float) -> float:
        deprecated('suggest_discrete_uniform', 'suggest_float(..., step=...)')
        return self.suggest_float(name, low, high, step=q)

    def _suggest(self, name: str, distribution: BaseDistribution) -> Any:
        raise NotImplementedError


def deprecated(name: str, instead: str) -> None:
    warnings.warn(f'{name} is deprecated; use {instead}', FutureWarning, stacklevel=3)
