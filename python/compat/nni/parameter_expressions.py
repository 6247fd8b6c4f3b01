"""Draws values. `random_state`: a numpy.random.RandomState, or what has its methods."""
from __future__ import annotations

import math
from typing import Any, Sequence

__all__ = ['choice', 'lognormal', 'loguniform', 'normal', 'qlognormal', 'qloguniform', 'qnormal',
           'quniform', 'randint', 'uniform']


def choice(options: Sequence[Any], random_state: Any) -> Any:
    """One of the options."""
    return options[random_state.randint(len(options))]


def randint(lower: int, upper: int, random_state: Any) -> int:
    """A whole number, lower <= x < upper."""
    return random_state.randint(lower, upper)


def uniform(low: float, high: float, random_state: Any) -> float:
    """Between low and high."""
    return random_state.uniform(low, high)


def quniform(low: float, high: float, q: float, random_state: Any) -> float:
    """A multiple of q, and within the bounds."""
    return min(max(_rounded(uniform(low, high, random_state), q), low), high)


def loguniform(low: float, high: float, random_state: Any) -> float:
    """Uniform on the logarithmic scale."""
    return math.exp(random_state.uniform(math.log(low), math.log(high)))


def qloguniform(low: float, high: float, q: float, random_state: Any) -> float:
    """A multiple of q, and within the bounds."""
    return min(max(_rounded(loguniform(low, high, random_state), q), low), high)


def normal(mu: float, sigma: float, random_state: Any) -> float:
    """Normally distributed."""
    return random_state.normal(mu, sigma)


def qnormal(mu: float, sigma: float, q: float, random_state: Any) -> float:
    """A multiple of q."""
    return _rounded(normal(mu, sigma, random_state), q)


def lognormal(mu: float, sigma: float, random_state: Any) -> float:
    """Its logarithm is normally distributed."""
    return math.exp(normal(mu, sigma, random_state))


def qlognormal(mu: float, sigma: float, q: float, random_state: Any) -> float:
    """A multiple of q."""
    return _rounded(lognormal(mu, sigma, random_state), q)


def _rounded(value: float, q: float) -> float:
    return round(value / q) * q
