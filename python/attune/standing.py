"""How good a result is, with several objectives and limits: the rule of base/standing.h."""
from __future__ import annotations

import math
from typing import Any, Dict, List, Optional, Tuple, TypeVar

from . import values

# By how much it breaks limits, 0 if it keeps all; then the objectives without one, minimised.
# Smaller is better.
Standing = Tuple[float, ...]
Item = TypeVar('Item')


def of(metrics: values.Metrics, objectives: List[Dict[str, Any]]) -> Optional[Standing]:
    """None: a number of an objective is missing or not finite. A bare number is of the first one."""
    if not isinstance(metrics, dict):
        metrics = {objectives[0].get('metric', 'default'): metrics}
    violation, minimised = 0.0, []
    for objective in objectives:
        value = metrics.get(objective.get('metric', 'default'))
        # True and False are 1 and 0, for attuned too.
        if not isinstance(value, (int, float)):
            return None
        try:
            value = float(value)
        except OverflowError:  # an integer beyond all floats, for attuned infinite
            return None
        if not math.isfinite(value):
            return None
        sign = -1.0 if objective.get('mode') == 'maximize' else 1.0
        limit = objective.get('limit')
        if limit is None:
            minimised.append(sign * value)
        else:
            violation += max(sign * value - sign * limit, 0.0)
    return (violation, *minimised)


def dominates(a: Standing, b: Standing) -> bool:
    """Nowhere worse than b and somewhere better, of two that keep the limits."""
    return a != b and all(x <= y for x, y in zip(a, b))


def trade_offs(ranked: List[Tuple[Standing, Item]]) -> List[Item]:
    """Those that keep the limits and that no other dominates, the best in the first objective first;
    of one objective the best one."""
    kept = sorted((pair for pair in ranked if pair[0][0] == 0), key=lambda pair: pair[0])
    if kept and len(kept[0][0]) == 2:
        return [kept[0][1]]
    front: List[Tuple[Standing, Item]] = []
    for rank, item in kept:  # whoever dominates one stands before it
        # With two objectives the second falls along the front: the last one decides.
        rivals = front[-1:] if len(rank) == 3 else front
        if not any(dominates(rival, rank) for rival, _ in rivals):
            front.append((rank, item))
    return [item for _, item in front]
