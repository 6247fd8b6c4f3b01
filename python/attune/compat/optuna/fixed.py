"""A trial without a study: for calling an objective by hand."""
from __future__ import annotations

import datetime
from typing import Any, Dict

from .distributions import BaseDistribution
from .frozen import FrozenTrial
from .states import TrialState


class FixedTrial(FrozenTrial):
    """Its parameters are those that it is made with. ValueError in suggest_float() and the like:
    a parameter is missing."""

    def __init__(self, params: Dict[str, Any], number: int = 0) -> None:
        super().__init__(number, TrialState.RUNNING, None, datetime.datetime.now(), None, {}, {},
                         {}, {}, {}, number)
        self._fixed = params

    def _suggest(self, name: str, distribution: BaseDistribution) -> Any:
        if name not in self._fixed:
            raise ValueError(f'the value of the parameter {name!r} is not given')
        self.params[name] = self._fixed[name]
        return super()._suggest(name, distribution)

    __repr__ = object.__repr__
