"""attune's tuners inside of Optuna's own studies."""
import copy
import math
import multiprocessing
import os
import pickle
import re
import subprocess
import tempfile
import unittest
import warnings

import attune

try:
    import optuna
    from attune.optuna import Sampler
    from optuna.distributions import (CategoricalDistribution, FloatDistribution, IntDistribution)
    from optuna.trial import TrialState
    optuna.logging.set_verbosity(optuna.logging.ERROR)
except ImportError:
    optuna = None

TUNERS = ('auto', 'TPE', 'GP', 'CMA-ES', 'Random', 'QMC', 'SMAC', 'Evolution', 'GridSearch')


def parabola(trial):
    return (trial.suggest_float('x', -5, 5) - 2) ** 2


def branching(trial):
    """The best is 'b' with y at 1."""
    if trial.suggest_categorical('kind', ['a', 'b', None]) != 'b':
        return 3 + abs(trial.suggest_float('x', -5, 5))
    return abs(trial.suggest_float('y', -5, 5) - 1) + trial.suggest_int('n', 0, 3)


def first_values(sampler):
    study = optuna.create_study(sampler=sampler)
    study.optimize(parabola, n_trials=3)
    return [trial.params['x'] for trial in study.trials]


def send_first_values(sampler, end):
    end.send(first_values(sampler))


@unittest.skipIf(optuna is None, 'python3-optuna is not installed')
class SamplerCase(unittest.TestCase):
    def study(self, tuner='TPE', *, seed=1, constraints_func=None, **named):
        sampler = Sampler(tuner, seed=seed, constraints_func=constraints_func)
        return optuna.create_study(sampler=sampler, **named)


class Values(SamplerCase):
    """What is sampled lies in its distribution, and is a plain value of its type."""

    def sampled(self, tuner, distribution, count=30):
        study = self.study(tuner)
        found = []
        for _ in range(count):
            trial = study.ask({'x': distribution})
            found.append(trial.params['x'])
            study.tell(trial, len(found) % 7)
        self.assertTrue(all(distribution._contains(distribution.to_internal_repr(value))
                            for value in found), (tuner, distribution, found))
        return found

    def test_numbers(self):
        for tuner in TUNERS:
            for distribution in (
                    FloatDistribution(-1, 1), FloatDistribution(1e-7, 1, log=True),
                    FloatDistribution(-10, 10, step=0.1), FloatDistribution(-10.2, 10.2, step=0.1),
                    IntDistribution(-10, 10), IntDistribution(-10, 10, step=2),
                    IntDistribution(1, 100, log=True), IntDistribution(3, 9, step=3)):
                with self.subTest(tuner=tuner, distribution=distribution):
                    found = self.sampled(tuner, distribution)
                    whole = isinstance(distribution, IntDistribution)
                    self.assertEqual({type(value) for value in found}, {int if whole else float})
                    self.assertGreater(len(set(found)), 2)

    def test_choices(self):
        for choices in ((1, 2, 3), ('a', 'b'), (None, True, 'a', 2, 1.5), (1, True, 1.0, '1'),
                        (1, float('inf'), float('nan'))):
            found = self.sampled('Random', CategoricalDistribution(choices), 60)
            self.assertEqual({(type(each), repr(each)) for each in found},
                             {(type(each), repr(each)) for each in choices})

    def test_choices_that_json_lacks(self):
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            found = self.sampled('TPE', CategoricalDistribution([(1, 2), (3,)]))
        self.assertEqual(set(found), {(1, 2), (3,)})

    def test_all_steps_are_reached(self):
        found = self.sampled('Random', FloatDistribution(0.1, 0.7, step=0.2), 60)
        self.assertEqual([round(value, 9) for value in sorted(set(found))], [0.1, 0.3, 0.5, 0.7])

    def test_ranges_of_one_value(self):
        study = self.study('auto')

        def objective(trial):
            trial.suggest_float('f', 2, 2)
            trial.suggest_int('i', 3, 3)
            trial.suggest_categorical('c', ['only'])
            return trial.suggest_float('x', 0, 1)

        study.optimize(objective, n_trials=15)
        for trial in study.trials:
            self.assertEqual({**trial.params, 'x': 0}, {'f': 2, 'i': 3, 'c': 'only', 'x': 0})

    def test_huge_integers(self):
        found = self.sampled('Random', IntDistribution(-2 ** 60, 2 ** 60))
        self.assertGreater(max(found), 2 ** 53)

    def test_one_name_with_other_distributions(self):
        study = self.study()
        for low, high in ((0, 10), (5, 20), (-3, 1)):
            study.optimize(lambda trial: trial.suggest_float('x', low, high)
                           + trial.suggest_int('n', low, high, step=1)
                           + trial.suggest_float('s', low, high, step=0.5), n_trials=8)
            for trial in study.trials[-8:]:
                self.assertTrue(low <= min(trial.params.values()))
                self.assertTrue(high >= max(trial.params.values()))
        study.optimize(lambda trial: trial.suggest_float('x', 0, 10, step=0.5), n_trials=3)
        self.assertTrue(all(trial.params['x'] % 0.5 == 0 for trial in study.trials[-3:]))

    def test_bounds_that_follow_another_parameter(self):
        study = self.study('GP')

        def objective(trial):
            high = trial.suggest_int('high', 1, 10)
            return trial.suggest_float('x', 0, high) + trial.suggest_int('n', -high, high)

        study.optimize(objective, n_trials=30)
        self.assertTrue(all(trial.params['x'] <= trial.params['high'] for trial in study.trials))
        self.assertLess(study.best_value, 0)


class Studies(SamplerCase):
    def test_it_finds_the_best(self):
        for tuner in ('auto', 'TPE', 'GP', 'CMA-ES'):
            study = self.study(tuner)
            study.optimize(parabola, n_trials=40)
            self.assertLess(study.best_value, 0.05, tuner)

    def test_every_tuner_can_be_used(self):
        listed = subprocess.check_output([os.environ['ATTUNED'], '--list'], text=True)
        names = re.findall(r'(?m)^  ([A-Za-z][\w-]*)', listed.split('Assessors')[0])
        self.assertGreater(len(names), 25)
        # Batch has a list of whole configurations, PPO takes choices only.
        for name in set(names) - {'Batch', 'PPO'}:
            study = self.study(name)
            study.optimize(branching, n_trials=15, n_jobs=2)
            self.assertEqual({trial.state for trial in study.trials}, {TrialState.COMPLETE}, name)

    def test_it_maximises(self):
        study = self.study('GP', direction='maximize')
        study.optimize(lambda trial: -parabola(trial), n_trials=25)
        self.assertGreater(study.best_value, -0.05)

    def test_it_finds_the_branch(self):
        study = self.study()
        study.optimize(branching, n_trials=80)
        self.assertEqual(study.best_params['kind'], 'b')
        self.assertLess(study.best_value, 0.3)
        self.assertEqual({tuple(trial.params) for trial in study.trials},
                         {('kind', 'x'), ('kind', 'y', 'n')})

    def test_the_same_seed_gives_the_same_trials(self):
        self.assertEqual(first_values(Sampler('TPE', seed=3)), first_values(Sampler('TPE', seed=3)))
        self.assertNotEqual(first_values(Sampler('TPE', seed=3)),
                            first_values(Sampler('TPE', seed=4)))
        self.assertNotEqual(first_values(Sampler('TPE')), first_values(Sampler('TPE')))

    def test_one_sampler_has_many_studies(self):
        sampler = Sampler('TPE', seed=3)
        self.assertEqual(first_values(sampler), first_values(sampler))

    def test_copies(self):
        sampler = Sampler('TPE', seed=3)
        expected = first_values(sampler)
        for other in (copy.deepcopy(sampler), copy.copy(sampler),
                      pickle.loads(pickle.dumps(sampler))):
            self.assertEqual(first_values(other), expected)

    def test_another_seed(self):
        sampler = Sampler('TPE', seed=3)
        expected = first_values(sampler)
        sampler.reseed_rng()
        self.assertNotEqual(first_values(sampler), expected)

    def test_in_a_forked_child(self):
        sampler = Sampler('TPE', seed=3)
        expected = first_values(sampler)
        here, there = multiprocessing.Pipe()
        child = multiprocessing.get_context('fork').Process(target=send_first_values,
                                                            args=(sampler, there))
        child.start()
        found = here.recv()
        child.join()
        self.assertEqual(len(found), 3)
        self.assertNotEqual(found, expected)  # children of one seed would all do the same

    def test_results_that_are_none(self):
        study = self.study('GP')
        results = iter([1.0, math.nan, math.inf, -math.inf, None, 'x'] * 4)
        study.optimize(lambda trial: (trial.suggest_float('x', 0, 1), next(results))[1],
                       n_trials=24)
        self.assertEqual({trial.state for trial in study.trials},
                         {TrialState.COMPLETE, TrialState.FAIL})

    def test_exceptions(self):
        study = self.study()

        def objective(trial):
            if trial.suggest_float('x', 0, 1) > 0.5:
                raise KeyError('no luck')
            return trial.params['x']

        study.optimize(objective, n_trials=40, catch=(KeyError,))
        self.assertLess(study.best_value, 0.1)

    def test_several_objectives(self):
        for tuner in ('TPE', 'GP', 'NSGAII', 'Random'):
            study = self.study(tuner, directions=['minimize', 'maximize'])
            study.optimize(lambda trial: (trial.suggest_float('x', 0, 1) ** 2,
                                          -(trial.params['x'] - 1) ** 2), n_trials=20)
            self.assertGreater(len(study.best_trials), 2, tuner)

    def test_pruned(self):
        study = self.study(pruner=optuna.pruners.MedianPruner(n_startup_trials=3))

        def objective(trial):
            x = trial.suggest_float('x', 0, 1)
            for step in range(4):
                trial.report(x + step, step)
                if trial.should_prune():
                    raise optuna.TrialPruned()
            return x

        study.optimize(objective, n_trials=40)
        states = {trial.state for trial in study.trials}
        self.assertEqual(states, {TrialState.COMPLETE, TrialState.PRUNED})
        self.assertLess(study.best_value, 0.05)

    def test_hyperband(self):
        study = self.study(pruner=optuna.pruners.HyperbandPruner(max_resource=9))

        def objective(trial):
            x = trial.suggest_float('x', 0, 1)
            for step in range(9):
                trial.report(x, step)
                if trial.should_prune():
                    raise optuna.TrialPruned()
            return x

        study.optimize(objective, n_trials=40)
        self.assertLess(study.best_value, 0.1)

    def test_threads(self):
        study = self.study('auto')
        study.optimize(branching, n_trials=40, n_jobs=4)
        self.assertEqual(len(study.trials), 40)
        self.assertEqual({trial.state for trial in study.trials}, {TrialState.COMPLETE})
        self.assertEqual([trial.number for trial in study.trials], list(range(40)))

    def test_tuners_that_wait(self):
        study = self.study('Hyperband')
        trials = [study.ask() for _ in range(30)]
        for trial in trials:
            study.tell(trial, trial.suggest_float('x', 0, 1))
        self.assertEqual({trial.state for trial in study.trials}, {TrialState.COMPLETE})

    def test_wrapped_by_another_sampler(self):
        base = Sampler('GP', seed=1)
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            sampler = optuna.samplers.PartialFixedSampler({'y': 0.5}, base)
        study = optuna.create_study(sampler=sampler)
        study.optimize(lambda trial: abs(trial.suggest_float('x', 0, 1) - 0.3)
                       + trial.suggest_float('y', 0, 1), n_trials=20)
        self.assertEqual({trial.params['y'] for trial in study.trials}, {0.5})
        self.assertLess(study.best_value, 0.55)

    def test_sample_relative(self):
        study = self.study()
        trial = study.ask()
        frozen = study.trials[0]
        space = {'x': FloatDistribution(0, 1), 'n': IntDistribution(3, 5)}
        found = study.sampler.sample_relative(study, frozen, space)
        self.assertEqual(list(found), ['x', 'n'])
        self.assertTrue(0 <= found['x'] <= 1 and found['n'] in (3, 4, 5))
        self.assertEqual(study.sampler.infer_relative_search_space(study, frozen), {})
        study.tell(trial, 1)

    def test_what_cannot_be(self):
        with self.assertRaisesRegex(attune.StudyError, 'did you mean "TPE"'):
            Sampler('TPEE')
        with self.assertRaisesRegex(attune.StudyError, 'nonsense'):
            Sampler('GP', {'nonsense': 1})


class Knowledge(SamplerCase):
    """What the tuner learns, seen in what GP proposes next: near 0.7."""

    def assert_learnt(self, study):
        x = study.ask().suggest_float('x', 0, 1)
        self.assertAlmostEqual(x, 0.7, delta=0.15)

    def test_enqueued_trials(self):
        study = self.study('GP')
        for k in range(21):
            study.enqueue_trial({'x': k / 20})
        study.optimize(lambda trial: abs(trial.suggest_float('x', 0, 1) - 0.7), n_trials=21)
        self.assertEqual([trial.params['x'] for trial in study.trials], [k / 20 for k in range(21)])
        self.assert_learnt(study)

    def test_enqueued_in_part(self):
        study = self.study('GP')
        for k in range(21):
            study.enqueue_trial({'x': k / 20, 'kind': ['a', 'b'][k % 2]})

        def objective(trial):
            trial.suggest_float('free', 0, 1)
            trial.suggest_categorical('kind', ['a', 'b'])
            return abs(trial.suggest_float('x', 0, 1) - 0.7)

        study.optimize(objective, n_trials=21)
        self.assertEqual([trial.params['kind'] for trial in study.trials[:3]], ['a', 'b', 'a'])
        self.assertGreater(len({trial.params['free'] for trial in study.trials}), 5)
        trial = study.ask()
        trial.suggest_float('free', 0, 1)
        self.assertAlmostEqual(trial.suggest_float('x', 0, 1), 0.7, delta=0.15)

    def test_an_enqueued_value_out_of_range(self):
        study = self.study('GP')
        study.enqueue_trial({'x': 9})
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            study.optimize(lambda trial: trial.suggest_float('x', 0, 1), n_trials=5)
        self.assertEqual(study.trials[0].params['x'], 9)
        self.assertTrue(all(trial.params['x'] <= 1 for trial in study.trials[1:]))

    def test_added_trials(self):
        study = self.study('GP')
        study.add_trials([optuna.trial.create_trial(
            params={'x': k / 20}, distributions={'x': FloatDistribution(0, 1)},
            value=abs(k / 20 - 0.7)) for k in range(21)])
        self.assert_learnt(study)

    def test_added_trials_that_were_pruned_or_failed(self):
        study = self.study('GP')
        space = {'x': FloatDistribution(0, 1)}
        study.add_trials([optuna.trial.create_trial(
            state=TrialState.PRUNED, params={'x': k / 20}, distributions=space,
            intermediate_values={0: abs(k / 20 - 0.7)}, value=abs(k / 20 - 0.7))
            for k in range(21)])
        study.add_trial(optuna.trial.create_trial(state=TrialState.FAIL, params={'x': 0.1},
                                                  distributions=space))
        self.assert_learnt(study)

    def test_trials_of_another_process(self):
        with tempfile.TemporaryDirectory() as folder:
            storage = f'sqlite:///{folder}/study.db'
            mine = self.study('GP', storage=storage, study_name='s')
            mine.optimize(lambda trial: abs(trial.suggest_float('x', 0, 1) - 0.7), n_trials=2)
            other = optuna.load_study(study_name='s', storage=storage,
                                      sampler=optuna.samplers.RandomSampler(seed=1))
            for k in range(21):
                other.enqueue_trial({'x': k / 20})
            other.optimize(lambda trial: abs(trial.suggest_float('x', 0, 1) - 0.7), n_trials=21)
            self.assert_learnt(mine)

    def test_a_copy_learns_from_the_storage(self):
        study = self.study('GP')
        for k in range(21):
            study.enqueue_trial({'x': k / 20})
        study.optimize(lambda trial: abs(trial.suggest_float('x', 0, 1) - 0.7), n_trials=21)
        study.sampler = pickle.loads(pickle.dumps(study.sampler))
        self.assert_learnt(study)


class Constraints(SamplerCase):
    """x is to be as small as possible, and at least 0.6."""

    @staticmethod
    def limit(trial):
        return (0.6 - trial.params['x'], -1)

    def test_they_are_kept(self):
        study = self.study('GP', constraints_func=self.limit)
        study.optimize(lambda trial: trial.suggest_float('x', 0, 1), n_trials=30)
        self.assertEqual(study.trials[0].system_attrs['constraints'],
                         (0.6 - study.trials[0].params['x'], -1))
        later = [trial.params['x'] for trial in study.trials[15:]]
        kept = [x for x in later if x >= 0.6]
        self.assertGreater(len(kept), 5, later)
        self.assertLess(min(kept), 0.65, later)

    def test_several_objectives_and_threads(self):
        study = self.study('TPE', constraints_func=self.limit, directions=['minimize', 'minimize'])
        study.optimize(lambda trial: (trial.suggest_float('x', 0, 1), -trial.params['x']),
                       n_trials=30, n_jobs=3)
        self.assertEqual(len(study.trials), 30)

    def test_what_cannot_be(self):
        study = self.study(constraints_func=lambda trial: (math.nan,))
        with self.assertRaisesRegex(ValueError, 'returned NaN for trial 0'):
            study.optimize(parabola, n_trials=1)
        study = self.study(constraints_func=lambda trial: [1].__iter__())
        with self.assertWarnsRegex(UserWarning, 'a tuple or a list'):
            study.optimize(parabola, n_trials=1)


if __name__ == '__main__':
    unittest.main()
