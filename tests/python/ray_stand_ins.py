"""The parts of Ray Tune 2 that the searcher uses, with their names and signatures: for tests where
Ray is not installed."""
import copy
import sys
import types


class Searcher:
    FINISHED = 'FINISHED'

    def __init__(self, metric=None, mode=None):
        self._metric = metric
        self._mode = mode
        if metric and mode:
            assert isinstance(metric, type(mode))

    @property
    def metric(self):
        return self._metric

    @property
    def mode(self):
        return self._mode


class Sampler:
    pass


class Uniform(Sampler):
    pass


class LogUniform(Sampler):
    pass


class Normal(Sampler):
    def __init__(self, mean=0.0, sd=0.0):
        self.mean = mean
        self.sd = sd


class Grid(Sampler):
    pass


class Quantized(Sampler):
    def __init__(self, sampler, q):
        self.sampler = sampler
        self.q = q

    def get_sampler(self):
        return self.sampler


class Domain:
    sampler = None
    default_sampler_cls = Uniform

    def get_sampler(self):
        return self.sampler or self.default_sampler_cls()

    def _with(self, sampler):
        new = copy.copy(self)
        new.sampler = sampler
        return new

    def quantized(self, q):
        return self._with(Quantized(self.get_sampler(), q))


class Float(Domain):
    def __init__(self, lower, upper):
        self.lower = lower if lower is not None else float('-inf')
        self.upper = upper if upper is not None else float('inf')


class Integer(Domain):
    def __init__(self, lower, upper):
        self.lower = lower
        self.upper = upper


class Categorical(Domain):
    def __init__(self, categories):
        self.categories = list(categories)


class Function(Domain):
    default_sampler_cls = Sampler

    def __init__(self, func):
        self.func = func


def uniform(lower, upper):
    return Float(lower, upper)._with(Uniform())


def quniform(lower, upper, q):
    return uniform(lower, upper).quantized(q)


def loguniform(lower, upper):
    return Float(lower, upper)._with(LogUniform())


def qloguniform(lower, upper, q):
    return loguniform(lower, upper).quantized(q)


def randint(lower, upper):
    return Integer(lower, upper)._with(Uniform())


def qrandint(lower, upper, q=1):
    return randint(lower, upper).quantized(q)


def lograndint(lower, upper):
    return Integer(lower, upper)._with(LogUniform())


def qlograndint(lower, upper, q):
    return lograndint(lower, upper).quantized(q)


def randn(mean=0.0, sd=1.0):
    return Float(None, None)._with(Normal(mean, sd))


def qrandn(mean, sd, q):
    return randn(mean, sd).quantized(q)


def choice(categories):
    return Categorical(categories)._with(Uniform())


def sample_from(func):
    return Function(func)


def grid_search(values):
    return {'grid_search': values}


def install():
    """Into sys.modules."""
    here = sys.modules[__name__]
    for name in ('ray', 'ray.tune', 'ray.tune.search', 'ray.tune.search.sample'):
        sys.modules[name] = types.ModuleType(name)
    sys.modules['ray'].tune = here
    sys.modules['ray.tune.search'].Searcher = Searcher
    sys.modules['ray.tune.search.sample'].__dict__.update(vars(here))
