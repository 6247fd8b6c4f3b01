"""The parts of Hydra 1.3 that the sweeper uses, with their names and signatures, and a small grammar:
for tests where Hydra is not installed."""
import enum
import sys
import types
from dataclasses import dataclass, field

from omegaconf import OmegaConf


@dataclass
class Sweep:
    tags: set = field(default_factory=set)


@dataclass
class ChoiceSweep(Sweep):
    list: list = field(default_factory=list)


@dataclass
class RangeSweep(Sweep):
    start: float = 0
    stop: float = 0
    step: float = 1

    def range(self):
        if isinstance(self.step, int) and isinstance(self.start, int):
            return range(self.start, self.stop, self.step)
        count = int((self.stop - self.start) / self.step + 0.999)
        return iter([self.start + index * self.step for index in range(count)])


@dataclass
class IntervalSweep(Sweep):
    start: float = 0
    end: float = 0


class Transformer:
    @staticmethod
    def str(x):
        if x is None:
            return 'null'
        if isinstance(x, list):
            return '[' + ','.join(map(Transformer.str, x)) + ']'
        return str(x).replace(' ', '\\ ')


@dataclass
class Override:
    key: str
    _value: object
    input_line: str

    def get_key_element(self):
        return self.key

    def value(self):
        return self._value

    def is_sweep_override(self):
        return isinstance(self._value, Sweep)

    def is_interval_sweep(self):
        return isinstance(self._value, IntervalSweep)

    def is_range_sweep(self):
        return isinstance(self._value, RangeSweep)

    def sweep_iterator(self, transformer=lambda x: x):
        return map(transformer, self._value.list)


class _Words(dict):
    """Names that are no functions are texts."""

    def __missing__(self, name):
        return name


def _integers(sweep):
    sweep.start, sweep.end = int(sweep.start), int(sweep.end)
    return sweep


def _tagged(*arguments):
    arguments[-1].tags = set(arguments[:-1])
    return arguments[-1]


_GRAMMAR = _Words({
    'interval': lambda start, end: IntervalSweep(start=float(start), end=float(end)),
    'range': lambda start, stop, step=1: RangeSweep(start=start, stop=stop, step=step),
    'choice': lambda *items: ChoiceSweep(list=list(items)), 'int': _integers, 'tag': _tagged,
    'true': True, 'false': False, 'null': None})


class OverridesParser:
    @classmethod
    def create(cls, config_loader=None):
        return cls()

    def parse_overrides(self, overrides):
        found = []
        for line in overrides:
            key, text = line.split('=', 1)
            value = eval(text, {}, _GRAMMAR)
            found.append(Override(key, ChoiceSweep(list=list(value)) if isinstance(value, tuple)
                                  else value, line))
        return found


class JobStatus(enum.Enum):
    UNKNOWN = 0
    COMPLETED = 1
    FAILED = 2


@dataclass
class JobReturn:
    status: JobStatus = JobStatus.UNKNOWN
    _return_value: object = None

    @property
    def return_value(self):
        if self.status == JobStatus.COMPLETED:
            return self._return_value
        raise self._return_value


class Launcher:
    def __init__(self, task_function, config):
        self.launched = []
        self._task, self._config = task_function, config

    def launch(self, job_overrides, initial_job_idx):
        self.launched.append((initial_job_idx, [list(job) for job in job_overrides]))
        found = []
        for job in job_overrides:
            given = OmegaConf.from_dotlist([each.lstrip('+') for each in job])
            try:
                found.append(JobReturn(JobStatus.COMPLETED,
                                       self._task(OmegaConf.merge(self._config, given))))
            except Exception as error:
                found.append(JobReturn(JobStatus.FAILED, error))
        return found


class Plugins:
    @classmethod
    def instance(cls):
        return cls()

    def instantiate_launcher(self, *, hydra_context, task_function, config):
        return Launcher(task_function, config)


class ConfigStore:
    nodes = {}

    @classmethod
    def instance(cls):
        return cls()

    def store(self, name, node, group=None, package='_group_', provider=None):
        self.nodes[group, name] = node


def install():
    """Into sys.modules."""
    here = sys.modules[__name__]
    for name, parts in (('hydra', ()), ('hydra.core', ()), ('hydra.plugins', ()),
                        ('hydra.core.override_parser', ()),
                        ('hydra.core.override_parser.overrides_parser', ['OverridesParser']),
                        ('hydra.core.override_parser.types', ['Override', 'Transformer']),
                        ('hydra.core.plugins', ['Plugins']), ('hydra.core.utils', ['JobReturn']),
                        ('hydra.core.config_store', ['ConfigStore']),
                        ('hydra.plugins.launcher', ['Launcher'])):
        module = sys.modules[name] = types.ModuleType(name)
        for part in parts:
            setattr(module, part, getattr(here, part))
    sys.modules['hydra.plugins.sweeper'] = types.ModuleType('hydra.plugins.sweeper')
    sys.modules['hydra.plugins.sweeper'].Sweeper = object
    sys.modules['hydra.types'] = types.ModuleType('hydra.types')
    sys.modules['hydra.types'].HydraContext = sys.modules['hydra.types'].TaskFunction = object
