"""Search spaces of Ray Tune, for attune.ray.Searcher."""
from __future__ import annotations

import math
from typing import Any, Dict, Iterator, List, Mapping, Tuple

from ray.tune.search.sample import (Categorical, Domain, Float, Integer, LogUniform, Normal,
                                    Quantized, Uniform)

from .candidates import as_choice
from .errors import StudyError


class Space:
    """`native` is what a Study gets. A parameter below others has all their names: 'model/lr'.

    `given` is a config of Ray Tune; what is no Domain is left to Ray. StudyError: grid_search(),
    sample_from(), or a Domain that is not known here.
    """

    def __init__(self, given: Mapping[str, Any]):
        self.native: Dict[str, Any] = {}
        self._named: Dict[str, List[Any]] = {}  # candidates of choices whose points are names
        self._integers = set()  # what a Study gives as reals
        for name, value in _flat(given):
            if isinstance(value, Domain):
                self.native[name] = self._parameter(name, value)

    def config(self, point: Mapping[str, Any]) -> Dict[str, Any]:
        """A point of the Study as a config: nested dicts."""
        found: Dict[str, Any] = {}
        for name, value in point.items():
            *parents, last = name.split('/')
            place = found
            for parent in parents:
                place = place.setdefault(parent, {})
            if name in self._named:
                value = self._named[name][int(value)]
            place[last] = int(value) if name in self._integers else value
        return found

    def point(self, config: Mapping[str, Any]) -> Dict[str, Any]:
        """The other way; what is no parameter is left out. ValueError: not a candidate."""
        return {name: str(self._named[name].index(value)) if name in self._named else value
                for name, value in _flat(config) if name in self.native}

    def _parameter(self, name: str, domain: Any) -> Dict[str, Any]:
        sampler, step = domain.get_sampler(), None
        if isinstance(sampler, Quantized):
            sampler, step = sampler.get_sampler(), sampler.q
        if isinstance(domain, Categorical) and isinstance(sampler, Uniform):
            native, candidates = as_choice(domain.categories)
            if candidates is not None:
                self._named[name] = candidates
            return native
        if isinstance(domain, Integer) and isinstance(sampler, (Uniform, LogUniform)):
            # Ray: the upper bound is excluded, unless there is a step.
            low, high = _multiples(domain.lower, domain.upper - (step is None), step or 1)
            if isinstance(sampler, Uniform) and step in (None, 1):
                return {'_type': 'randint', '_value': [low, high + 1]}
            self._integers.add(name)
            kind = 'quniform' if isinstance(sampler, Uniform) else 'qloguniform'
            return {'_type': kind, '_value': [low, high, step or 1]}
        if isinstance(domain, Float):
            bounds = [domain.lower, domain.upper]
            for kind, each in (('uniform', Uniform), ('loguniform', LogUniform), ('normal', Normal)):
                if not isinstance(sampler, each):
                    continue
                if each is Normal:
                    bounds = [sampler.mean, sampler.sd]
                if step is None:
                    return {'_type': kind, '_value': bounds}
                return {'_type': f'q{kind}', '_value': [*bounds, step]}
        raise StudyError(f'{name}: {type(domain).__name__} with {type(sampler).__name__} is not known '
                         'here; take choice, uniform, loguniform, randint, lograndint, randn, or '
                         'one of these with a q')


def _multiples(low: int, high: int, step: int) -> Tuple[int, int]:
    """The first and the last multiple of the step between the bounds."""
    return math.ceil(low / step) * step, math.floor(high / step) * step


def _flat(config: Mapping[str, Any], prefix: str = '') -> Iterator[Tuple[str, Any]]:
    for name, value in config.items():
        if isinstance(value, Mapping) and set(value) == {'grid_search'}:
            raise StudyError(f'{prefix}{name}: grid_search is not known here; take choice')
        if isinstance(value, Mapping):
            yield from _flat(value, f'{prefix}{name}/')
        else:
            yield f'{prefix}{name}', value
