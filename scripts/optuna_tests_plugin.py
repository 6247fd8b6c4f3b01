"""pytest's plug-in of optuna_tests.py: puts attune where the tests expect Optuna."""
import importlib.machinery
import os
import pathlib
import sys
import tempfile
import types

import pytest

PART = os.environ['OPTUNA_TESTS_PART']


def left_out():
    """(file, test, its parameters or None, why) of each line for this part."""
    for line in pathlib.Path(__file__).with_name('optuna_tests_left_out.txt').open():
        parts, _, rest = line.strip().partition(' ')
        if not rest or parts.startswith('#') or PART not in parts.split(','):
            continue
        test, _, why = rest.strip().partition(': ')
        file, _, name = test.partition('::')
        name, _, parameters = name.partition('[')
        yield file, name, parameters.rstrip(']') or None, why


def pytest_collection_modifyitems(items):
    unused = set(left_out())
    for item in items:
        for line in left_out():
            file, name, parameters, why = line
            if (item.path.name, item.originalname) == (file, name) and (
                    parameters is None or item.callspec.id == parameters):
                item.add_marker(pytest.mark.skip(reason=why))
                unused.discard(line)
    collected = {item.path.name for item in items}
    for file, name, *_ in unused:
        if file in collected:
            raise pytest.UsageError(f'optuna_tests_left_out.txt: there is no {file}::{name}')


# ---- studies: the samplers that studies have by default, and in most tests, are attune's


def put_samplers():
    sys.modules['fakeredis'] = types.ModuleType('fakeredis')  # optuna.testing imports it
    import attune.optuna
    import optuna
    from optuna.testing import storages
    storages.STORAGE_MODES[:] = ['inmemory', 'sqlite', 'journal']

    def __init__(self, *, seed=None, constraints_func=None, **_):
        attune.optuna.Sampler.__init__(self, seed=seed, constraints_func=constraints_func)

    members = {'__init__': __init__, '__module__': 'optuna.samplers'}  # pickle looks there
    for name in ('TPESampler', 'RandomSampler', 'NSGAIISampler'):
        setattr(optuna.samplers, name,
                type(name, (attune.optuna.Sampler,), members))


# ---- compat: what the tests import from Optuna is attune.compat.optuna's


class Missing:
    """What it does not have. A test that uses it is skipped."""

    def __init__(self, name):
        self._name = name

    def _skip(self, *_, **__):
        pytest.skip(f'{self._name} is not part of attune.compat.optuna')

    __call__ = __enter__ = __iter__ = _skip

    def __getattr__(self, name):
        if name.startswith('_') or name == 'pytestmark':  # pytest looks for these
            raise AttributeError(name)
        self._skip()

    def __mro_entries__(self, _):
        return (object,)


def complete(module, name):
    """Whatever is missing in the module is a Missing."""
    def get(attribute):
        if attribute.startswith('__'):
            raise AttributeError(attribute)
        return Missing(f'{name}.{attribute}')

    module.__getattr__ = get
    module.__path__ = []
    return module


class Finder:
    """Finds Optuna's private modules, in which everything is missing."""

    @staticmethod
    def find_spec(name, *_):
        parent, _, last = name.rpartition('.')
        if parent in ('optuna', 'optuna.testing') or (
                parent.startswith('optuna.') and last.startswith('_')):
            return importlib.machinery.ModuleSpec(name, Finder)
        return None

    @staticmethod
    def create_module(spec):
        return complete(types.ModuleType(spec.name), spec.name)

    @staticmethod
    def exec_module(_):
        pass


class StorageSupplier:
    """Of optuna.testing: storage=None, or the path of a file."""

    def __init__(self, mode, **arguments):
        if arguments:
            pytest.skip('a storage with arguments')
        self._mode = mode

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory()
        return None if self._mode == 'inmemory' else os.path.join(self._folder.name, 'a.study')

    def __exit__(self, *_):
        self._folder.cleanup()


class Storage:
    """study._storage, by which many tests make a trial."""

    def __init__(self, study):
        self._study = study

    def create_new_trial(self, _):
        return self._study.ask().number

    def get_trial(self, number):
        return self._study.trials[number]

    def set_trial_system_attr(self, number, key, value):
        self._study._change(self._study._records.trials[number], system_attrs={key: value})

    def __getattr__(self, name):
        pytest.skip(f'a storage: {name}')


def put_compat():
    import attune.compat.optuna as ours
    from attune.compat.optuna import optimizing, sampling

    for name in ('distributions', 'exceptions', 'logging', 'pruners', 'samplers', 'study', 'trial'):
        sys.modules['optuna.' + name] = complete(getattr(ours, name), 'optuna.' + name)
    sys.modules['optuna'] = complete(ours, 'optuna')
    sys.modules['optuna.study.study'] = ours.study
    sys.meta_path.insert(0, Finder)

    def module(name, **members):
        made = complete(types.ModuleType(name), name)
        vars(made).update(members)
        sys.modules[name] = made
        parent, _, last = name.rpartition('.')
        setattr(sys.modules[parent], last, made)

    def fail_objective(_):
        raise ValueError

    def pruned_objective(_):
        raise ours.TrialPruned

    class DeterministicSampler(sampling.BaseSampler):
        def __init__(self, params):
            super().__init__('Random', None, None)
            self._params = params

        def choose(self, _trials, _trial, name, _distribution):
            return self._params.get(name, sampling.NOTHING)

    module('optuna.testing')
    module('optuna.testing.objectives', fail_objective=fail_objective,
           pruned_objective=pruned_objective)
    module('optuna.testing.samplers', DeterministicSampler=DeterministicSampler)
    module('optuna.testing.storages', STORAGE_MODES=['inmemory', 'file'],
           StorageSupplier=StorageSupplier)
    module('optuna.study._optimize', _run_trial=optimizing._run, gc=optimizing.gc)

    # Private doors of Optuna's, which tests use for what users do otherwise.
    ours.Study._storage = property(Storage)
    ours.Study._study_id = 0
    ours.Study._is_multi_objective = lambda self: len(self.directions) > 1
    ours.Trial._trial_id = property(lambda self: self.number)
    ours.Trial.storage = property(lambda self: Storage(self.study))
    ours.trial.FrozenTrial._validate = ours.trial.FrozenTrial.validate

    def sample_independent(_, study, trial, name, distribution):
        return study._choose(study._records.trials[trial.number], name, distribution)

    def sample_relative(_, study, trial, space):
        return {name: sample_independent(_, study, trial, name, each)
                for name, each in space.items()}

    def own(cls):
        cls.__new__ = Missing(f'{cls.__name__}, a sampler or pruner of the test')._skip

    sampling.BaseSampler.__init_subclass__ = classmethod(own)
    ours.pruners.BasePruner.__init_subclass__ = classmethod(own)
    sampling.BaseSampler.sample_independent = sample_independent
    sampling.BaseSampler.sample_relative = sample_relative

    def reset():
        ours.logging.disable_default_handler()
        ours.logging.enable_default_handler()
        ours.logging.disable_propagation()

    ours.logging._reset_library_root_logger = reset


if PART == 'studies':
    put_samplers()
elif PART == 'compat':
    put_compat()
