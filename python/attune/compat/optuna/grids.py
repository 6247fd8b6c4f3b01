"""Samplers that say themselves what is tried: lists of values, and all that there is."""
from __future__ import annotations

import itertools
import random
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from .distributions import BaseDistribution, CategoricalDistribution
from .frozen import FrozenTrial
from .sampling import BaseSampler
from .states import TrialState


class GridSampler(BaseSampler):
    """Every combination of these values once, in an order that the seed draws; then optimize()
    ends."""

    def __init__(self, search_space: Mapping[str, Sequence[Any]],
                 seed: Optional[int] = None) -> None:
        super().__init__('Random', None, seed)
        self._space = {name: list(values) for name, values in sorted(search_space.items())}
        self._points = list(itertools.product(*self._space.values()))
        self._random = random.Random(seed)

    def begin(self, trials: Sequence[FrozenTrial]) -> Dict[str, Any]:
        left = self._left(trials, running_count=True) or self._left(trials, running_count=False)
        chosen = self._random.choice(left or range(len(self._points)))
        return {'search_space': self._space, 'grid_id': chosen}

    def choose(self, trials: Sequence[FrozenTrial], trial: FrozenTrial, name: str,
               distribution: BaseDistribution) -> Any:
        if 'grid_id' not in trial.system_attrs:
            raise ValueError('GridSampler: enqueue_trial() must give all parameters of the grid')
        if name not in self._space:
            raise ValueError(f'The parameter name, {name}, is not found in the given grid.')
        return self._points[trial.system_attrs['grid_id']][list(self._space).index(name)]

    def is_exhausted(self, trials: Sequence[FrozenTrial]) -> bool:
        return not self._left(trials, running_count=False)

    def _left(self, trials: Sequence[FrozenTrial], running_count: bool) -> List[int]:
        tried = {trial.system_attrs.get('grid_id') for trial in trials
                 if trial.system_attrs.get('search_space') == self._space
                 and (trial.state.is_finished()
                      or running_count and trial.state == TrialState.RUNNING)}
        return [index for index in range(len(self._points)) if index not in tried]


class PartialFixedSampler(BaseSampler):
    """Another sampler, but for parameters that have these values in every trial."""

    def __init__(self, fixed_params: Dict[str, Any], base_sampler: BaseSampler) -> None:
        super().__init__(base_sampler.tuner, base_sampler.arguments, base_sampler.seed,
                         base_sampler.constraints_func)
        self._fixed = dict(fixed_params)
        self._base = base_sampler

    def begin(self, trials: Sequence[FrozenTrial]) -> Dict[str, Any]:
        return self._base.begin(trials)

    def choose(self, trials: Sequence[FrozenTrial], trial: FrozenTrial, name: str,
               distribution: BaseDistribution) -> Any:
        if name in self._fixed:
            return self._fixed[name]
        return self._base.choose(trials, trial, name, distribution)

    def is_exhausted(self, trials: Sequence[FrozenTrial]) -> bool:
        return self._base.is_exhausted(trials)


class BruteForceSampler(BaseSampler):
    """All that the objective can ask for, each combination once; parameters may depend on others.
    Then optimize() ends. ValueError: a range without a step has no end."""

    def __init__(self, seed: Optional[int] = None) -> None:
        super().__init__('Random', None, seed)
        self._random = random.Random(seed)

    def choose(self, trials: Sequence[FrozenTrial], trial: FrozenTrial, name: str,
               distribution: BaseDistribution) -> Any:
        path = _path(trial)
        others = map(_path, _counted(trials, but=trial))
        here = [each for each in others if each[:len(path)] == path]
        all_values = list(_values(name, distribution))
        left = [value for value in all_values
                if not _is_tried([each for each in here if each[len(path):][:1]
                                  and each[len(path)][::2] == (name, value)], len(path) + 1)]
        return self._random.choice(left or all_values)

    def is_exhausted(self, trials: Sequence[FrozenTrial]) -> bool:
        found = [_path(trial) for trial in trials if trial.state.is_finished()]
        return _is_tried(found, 0)


# A trial as the parameters that it has asked for, in their order.
_Path = Tuple[Tuple[str, BaseDistribution, Any], ...]


def _path(trial: FrozenTrial) -> _Path:
    return tuple((name, trial.distributions[name], value) for name, value in trial.params.items())


def _counted(trials: Sequence[FrozenTrial], but: FrozenTrial) -> Iterator[FrozenTrial]:
    return (trial for trial in trials if trial is not but and trial.state != TrialState.WAITING)


def _is_tried(paths: Sequence[_Path], depth: int) -> bool:
    """Whether these, which are alike up to `depth`, are all that can follow."""
    if not paths:
        return False
    longer = [path for path in paths if len(path) > depth]
    if not longer:
        return True
    name, distribution, _ = longer[0][depth]
    return all(_is_tried([path for path in longer if path[depth][::2] == (name, value)], depth + 1)
               for value in _values(name, distribution))


def _values(name: str, distribution: BaseDistribution) -> Iterator[Any]:
    if isinstance(distribution, CategoricalDistribution):
        return iter(distribution.choices)
    if distribution.step is None:
        raise ValueError(f'{name}: BruteForceSampler needs a step; give suggest_float one')
    count = round((distribution.high - distribution.low) / distribution.step) + 1
    return (distribution.low + index * distribution.step for index in range(count))
