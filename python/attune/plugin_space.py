"""A search space as three kinds of numbers, for algorithms that know no others."""
from __future__ import annotations

import json
import math
import statistics
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Union

Json = Dict[str, Any]
Number = Union[int, float]

# Quantiles of 0 and 1 are infinitely far away.
_LOWEST = 1e-12


class Dimension(NamedTuple):
    """A number to be drawn."""
    path: str  # unique in the space: "layer0.conv.size"
    kind: str  # 'index': of an alternative, in no order; 'integer'; 'real'
    low: Number
    high: Number  # inclusive
    log: bool = False  # a real on a logarithmic scale, low > 0


Pick = Callable[[Dimension], Number]


class Space:
    """A search space in NNI's form.

    Each parameter becomes one dimension: a choice an index; randint an integer; uniform and
    loguniform, also those with steps, a real, which is rounded; a normal its quantile, a real in
    [0, 1]. An input_choice becomes one real for each candidate, and the largest ones are chosen.
    """

    def __init__(self, declaration: Json):
        self.declaration = declaration

    def parameters(self, pick: Pick) -> Json:
        """Parameters as attune wants them. Calls `pick` for each dimension that they have."""
        return _build(self.declaration, '', pick)

    def numbers(self, parameters: Json) -> Dict[str, Number]:
        """The inverse: path -> number. parameters() of these numbers gives the same again."""
        return dict(_take(self.declaration, '', parameters))


def _build(members: Json, prefix: str, pick: Pick) -> Json:
    built = {}
    for name, declared in members.items():
        if name != '_name':  # of an option
            built[name] = _value(declared['_type'], declared['_value'], prefix + name, pick)
    return built


def _value(kind: str, given: Any, path: str, pick: Pick) -> Any:
    if kind == 'input_choice':
        candidates, chosen = given['candidates'], given['n_chosen']
        scores = [pick(_score(path, i)) for i in range(len(candidates))]
        indices = sorted(sorted(range(len(candidates)), key=lambda i: -scores[i])[:chosen])
        return {'_value': [candidates[i] for i in indices], '_idx': indices}
    number = pick(_dimension(kind, given, path))
    if kind == 'layer_choice':
        return {'_value': given[int(number)], '_idx': int(number)}
    if kind == 'choice':
        option = given[int(number)]
        if not _nested(given):
            return option
        return {'_name': option['_name'], **_build(option, f'{path}.{option["_name"]}.', pick)}
    if kind == 'randint':
        return int(number)
    low, high = given[:2]
    if kind.endswith('uniform'):
        return min(max(_stepped(float(number), given), low), high)
    mu, sigma = float(low), float(high)
    quantile = min(max(number, _LOWEST), 1 - _LOWEST)
    value = statistics.NormalDist(mu, sigma).inv_cdf(quantile) if sigma > 0 else mu
    return _stepped(math.exp(value) if 'log' in kind else value, given)


def _take(members: Json, prefix: str, values: Json) -> Iterator[Any]:
    for name, declared in members.items():
        if name == '_name':
            continue
        kind, given, path, value = declared['_type'], declared['_value'], prefix + name, values[name]
        if kind == 'input_choice':
            for i in range(len(given['candidates'])):
                yield _score(path, i).path, 0.75 if i in value['_idx'] else 0.25
        elif kind == 'layer_choice':
            yield path, value['_idx']
        elif kind == 'choice' and _nested(given):
            index = _index([option['_name'] for option in given], value['_name'])
            yield path, index
            yield from _take(given[index], f'{path}.{value["_name"]}.', value)
        elif kind == 'choice':
            yield path, _index(given, value)
        elif kind.endswith('normal'):
            yield path, _quantile(value, given, 'log' in kind)
        else:
            yield path, value


def _dimension(kind: str, given: Any, path: str) -> Dimension:
    if kind in ('choice', 'layer_choice'):
        return Dimension(path, 'index', 0, len(given) - 1)
    if kind == 'randint':
        return Dimension(path, 'integer', int(given[0]), int(given[1]) - 1)
    if kind.endswith('uniform'):
        return Dimension(path, 'real', float(given[0]), float(given[1]), 'log' in kind)
    return Dimension(path, 'real', 0.0, 1.0)


def _score(path: str, index: int) -> Dimension:
    return Dimension(f'{path}[{index}]', 'real', 0.0, 1.0)


def _quantile(value: float, given: List[float], log: bool) -> float:
    mu, sigma = given[:2]
    if sigma == 0:
        return 0.5
    if log and value <= 0:  # a small number, rounded
        return 0.0
    return statistics.NormalDist(mu, sigma).cdf(math.log(value) if log else value)


def _stepped(value: float, given: List[float]) -> float:
    return round(value / given[2]) * given[2] if len(given) > 2 else value


def _nested(options: List[Any]) -> bool:
    return all(isinstance(option, dict) and '_name' in option for option in options)


def _index(candidates: List[Any], value: Any) -> int:
    # 1, 1.0 and True are equal in Python, and different candidates.
    texts = [json.dumps(each, sort_keys=True) for each in candidates]
    text = json.dumps(value, sort_keys=True)
    return texts.index(text) if text in texts else candidates.index(value)
