"""Search spaces as scikit-learn's users write them, for attune.sklearn.SearchCV."""
from __future__ import annotations

from typing import Any, Dict, List, Mapping

from .candidates import as_choice
from .errors import StudyError

_DISTRIBUTIONS = {'uniform': 'uniform', 'loguniform': 'loguniform', 'reciprocal': 'loguniform',
                  'randint': 'randint'}


class Space:
    """`native` is what a Study gets; parameters() turns its points into those of set_params().

    `given` has for each parameter a list of candidates (of any kind), a distribution of
    scipy.stats (uniform, loguniform, randint), or a dict with _type and _value as in
    docs/search-space.md. StudyError: something else, and what to do.
    """

    def __init__(self, given: Mapping[str, Any]):
        if not isinstance(given, Mapping):
            raise StudyError(f'space: must be a dict of parameters, got {given!r:.100}; for '
                             'alternatives use a choice with options (docs/search-space.md)')
        self._named: Dict[str, List[Any]] = {}  # candidates of choices whose points are names
        self.native = {name: self._native(name, value) for name, value in given.items()}

    def parameters(self, point: Mapping[str, Any]) -> Dict[str, Any]:
        """For set_params(). Of an option with a _name the name is the value of its choice, and
        what belongs to the option stands beside it."""
        found: Dict[str, Any] = {}
        for name, value in point.items():
            if name in self._named:
                found[name] = self._named[name][int(value)]
            elif isinstance(value, dict) and '_name' in value:
                found[name] = value['_name']
                found.update(self.parameters({key: item for key, item in value.items()
                                              if key != '_name'}))
            else:
                found[name] = value
        return found

    def _native(self, name: str, value: Any) -> Dict[str, Any]:
        if isinstance(value, Mapping):
            if '_type' not in value:
                raise StudyError(f'space: {name}: a dict needs _type and _value; for candidates '
                                 'give a list')
            return dict(value)
        if hasattr(value, 'rvs'):
            return _of_distribution(name, value)
        if isinstance(value, str) or not hasattr(value, '__len__'):
            raise StudyError(f'space: {name}: must be a list of candidates, a distribution of '
                             f'scipy.stats, or a dict with _type and _value, got {value!r:.100}')
        native, candidates = as_choice(value)
        if candidates is not None:
            self._named[name] = candidates
        return native


def _of_distribution(name: str, value: Any) -> Dict[str, Any]:
    kind = getattr(getattr(value, 'dist', None), 'name', type(value).__name__)
    if kind not in _DISTRIBUTIONS:
        raise StudyError(f'space: {name}: the distribution {kind!r} is not known here; take uniform, '
                         'loguniform or randint of scipy.stats, a type of docs/search-space.md, or '
                         'a list of drawn values: list(distribution.rvs(100))')
    low, high = (bound.item() for bound in map(_as_array, value.support()))
    if kind == 'randint':
        low, high = int(low), int(high) + 1  # support() has the last value
    elif _DISTRIBUTIONS[kind] == 'loguniform' and _location(value) != 0:
        raise StudyError(f'space: {name}: a loguniform that is moved by loc is not known here; '
                         'leave loc out')
    return {'_type': _DISTRIBUTIONS[kind], '_value': [low, high]}


def _as_array(value: Any) -> Any:
    import numpy  # with scikit-learn, it is there
    return numpy.asarray(value)


def _location(value: Any) -> float:
    return value.kwds.get('loc', value.args[2] if len(value.args) > 2 else 0)
