"""attune.compat.optuna: what trials ask for, and optimize()."""
import json
import math
import threading
import unittest

from optuna_pair import Both, ours, parabola, real, suite_of


class Suggesting(Both):
    def test_types_and_ranges(self):
        study = self.study()

        def objective(trial):
            for name, value, kind in (
                    ('f', trial.suggest_float('f', 0.5, 1), float),
                    ('log', trial.suggest_float('log', 1e-5, 1, log=True), float),
                    ('step', trial.suggest_float('step', 0, 1, step=0.25), float),
                    ('i', trial.suggest_int('i', 3, 9), int),
                    ('i step', trial.suggest_int('i step', 3, 9, step=3), int),
                    ('i log', trial.suggest_int('i log', 1, 100, log=True), int),
                    ('one', trial.suggest_int('one', 2, 2), int),
                    ('c', trial.suggest_categorical('c', ['a', None, True, 2]), object)):
                self.assertIsInstance(value, kind)
                self.assertEqual(trial.params[name], value)
            self.assertIn(trial.params['step'], (0, 0.25, 0.5, 0.75, 1))
            self.assertIn(trial.params['i step'], (3, 6, 9))
            return trial.params['f']

        study.optimize(objective, n_trials=20)
        trial = study.trials[0]
        self.assertEqual(list(trial.params),
                         ['f', 'log', 'step', 'i', 'i step', 'i log', 'one', 'c'])
        self.assertEqual({name: type(each).__name__ for name, each in trial.distributions.items()},
                         {**dict.fromkeys(('f', 'log', 'step'), 'FloatDistribution'),
                          **dict.fromkeys(('i', 'i step', 'i log', 'one'), 'IntDistribution'),
                          'c': 'CategoricalDistribution'})
        self.assertEqual(trial.distributions['step'].high, 1)

    def test_asked_again(self):
        trial = self.study().ask()
        x = trial.suggest_float('x', 0, 1)
        self.assertEqual(trial.suggest_float('x', 0, 1), x)
        with self.assertWarns(RuntimeWarning):
            self.assertEqual(trial.suggest_float('x', 0, 2), x)
        with self.assertRaises(ValueError):
            trial.suggest_int('x', 0, 1)
        with self.assertRaises(ValueError):
            trial.suggest_float('x', 0.5, 1, log=True)

    def test_one_name_of_two_kinds(self):
        study = self.study()
        study.ask().suggest_float('x', 0, 1)
        study.ask().suggest_categorical('c', [1, 2])
        other = study.ask()
        with self.assertRaises(ValueError):
            other.suggest_int('x', 0, 1)
        with self.assertRaises(ValueError):
            other.suggest_categorical('c', [1, 2, 3])
        self.assertLessEqual(other.suggest_float('x', 3, 4, step=0.5), 4)

    def test_deprecated(self):
        trial = self.study().ask()
        with self.assertWarns(FutureWarning):
            self.assertLessEqual(trial.suggest_uniform('u', 0, 1), 1)
        with self.assertWarns(FutureWarning):
            self.assertLessEqual(trial.suggest_loguniform('l', 0.1, 1), 1)
        with self.assertWarns(FutureWarning):
            self.assertIn(trial.suggest_discrete_uniform('d', 0, 1, 0.5), (0, 0.5, 1))

    def test_ranges_that_cannot_be(self):
        trial = self.study().ask()
        for call in (lambda: trial.suggest_float('x', 1, 0),
                     lambda: trial.suggest_float('x', 0, 1, log=True),
                     lambda: trial.suggest_float('x', 1, 2, log=True, step=1),
                     lambda: trial.suggest_float('x', 0, 1, step=0),
                     lambda: trial.suggest_int('x', 0, 2, log=True),
                     lambda: trial.suggest_int('x', 1, 4, log=True, step=2),
                     lambda: trial.suggest_categorical('x', [])):
            with self.assertRaises(ValueError):
                call()
        with self.assertWarns(UserWarning):
            self.assertIn(trial.suggest_int('n', 0, 5, step=2), (0, 2, 4))
        with self.assertWarns(UserWarning):
            self.assertIn(trial.suggest_float('s', 0, 1, step=0.4), (0, 0.4, 0.8))

    def test_distributions(self):
        kinds = self.optuna.distributions
        for each in (kinds.FloatDistribution(0, 1), kinds.FloatDistribution(0.1, 1, log=True),
                     kinds.FloatDistribution(0, 1, step=0.1), kinds.IntDistribution(1, 9),
                     kinds.IntDistribution(1, 9, log=True), kinds.IntDistribution(1, 9, step=2),
                     kinds.CategoricalDistribution([1, None, 'a'])):
            text = kinds.distribution_to_json(each)
            self.assertEqual(kinds.json_to_distribution(text), each)
            self.assertFalse(each.single())
            other = ours if self.optuna is real else real
            if other is not None:
                again = other.distributions.distribution_to_json(
                    other.distributions.json_to_distribution(text))
                self.assertEqual(json.loads(again), json.loads(text))
        self.assertNotEqual(kinds.FloatDistribution(0, 1), kinds.FloatDistribution(0, 2))
        self.assertNotEqual(kinds.FloatDistribution(0, 1), kinds.IntDistribution(0, 1))
        self.assertTrue(kinds.IntDistribution(1, 1).single())
        self.assertTrue(kinds.CategoricalDistribution(['a']).single())

    def test_a_fixed_trial(self):
        fixed = self.optuna.trial.FixedTrial({'x': 1})
        self.assertEqual(parabola(fixed), 1)
        self.assertEqual(fixed.params, {'x': 1})
        self.assertFalse(fixed.should_prune())
        with self.assertRaises(ValueError):
            fixed.suggest_float('y', 0, 1)

    def test_a_frozen_trial_suggests_what_it_had(self):
        study = self.study()
        study.optimize(parabola, n_trials=3)
        self.assertEqual(parabola(study.best_trial), study.best_value)
        with self.assertRaises(ValueError):
            study.best_trial.suggest_float('y', 0, 1)
        self.assertLess(study.trials[0], study.trials[1])
        self.assertEqual(study.trials[0], study.trials[0])

    def test_values_of_a_frozen_trial(self):
        trial = self.optuna.create_trial(values=(1, 2))
        self.assertEqual(trial.values, [1, 2])
        for change in (lambda: trial.value, lambda: setattr(trial, 'value', 1)):
            with self.assertRaises(RuntimeError):
                change()
        trial.values = (3,)
        self.assertEqual((trial.values, trial.value), ([3], 3))
        trial.value = 4
        self.assertEqual(trial.values, [4])
        trial.values = None
        self.assertIsNone(trial.value)


class Optimizing(Both):
    def test_numbers_and_times(self):
        study = self.study()
        study.optimize(parabola, n_trials=5)
        self.assertEqual([trial.number for trial in study.trials], list(range(5)))
        for trial in study.trials:
            self.assertGreaterEqual(trial.duration.total_seconds(), 0)
            self.assertEqual(trial.duration, trial.datetime_complete - trial.datetime_start)
        self.assertEqual(study.best_trial.value, min(trial.value for trial in study.trials))
        self.assertEqual(study.best_params, study.best_trial.params)

    def test_none_is_complete(self):
        study = self.study()
        for call in (lambda: study.best_trial, lambda: study.best_value,
                     lambda: study.best_params):
            with self.assertRaises(ValueError):
                call()
        self.assertEqual(study.best_trials, [])

    def test_results_that_fail(self):
        study = self.study()
        results = [1.0, None, math.nan, 'a', [1, 2], '2.5', math.inf, [3.0], True]
        it = iter(results)
        study.optimize(lambda trial: next(it), n_trials=len(results) - 4)
        self.assertEqual(self.state_names(study), ['COMPLETE', 'FAIL', 'FAIL', 'FAIL', 'FAIL'])
        self.assertEqual([trial.value for trial in study.trials], [1, None, None, None, None])

    def test_infinities(self):
        study = self.study()
        it = iter([math.inf, -math.inf, [3.0], True])
        study.optimize(lambda trial: next(it), n_trials=4)
        self.assertEqual([trial.value for trial in study.trials], [math.inf, -math.inf, 3, 1])
        self.assertEqual(study.best_trial.number, 1)

    def test_exceptions(self):
        study = self.study()

        def objective(trial):
            raise (KeyError, ArithmeticError)[trial.number % 2]('no luck')

        study.optimize(objective, n_trials=1, catch=KeyError)
        with self.assertRaisesRegex(ArithmeticError, 'no luck'):
            study.optimize(objective, n_trials=9, catch=(KeyError,))
        self.assertEqual(self.state_names(study), ['FAIL', 'FAIL'])
        study.optimize(objective, n_trials=4, catch=[KeyError, ArithmeticError])
        self.assertEqual(len(study.trials), 6)

    def test_interrupted(self):
        study = self.study()

        def objective(trial):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            study.optimize(objective, n_trials=3)
        self.assertEqual(self.state_names(study), ['FAIL'])

    def test_pruned(self):
        study = self.study()

        def objective(trial):
            for step in range(trial.number):
                trial.report(10 * trial.number + step, step)
            raise self.optuna.TrialPruned()

        study.optimize(objective, n_trials=3)
        self.assertEqual(self.state_names(study), ['PRUNED'] * 3)
        self.assertEqual([trial.value for trial in study.trials], [None, 10, 21])
        self.assertEqual(study.trials[2].intermediate_values, {0: 20, 1: 21})
        self.assertEqual(study.trials[2].last_step, 1)

    def test_reports(self):
        study = self.study()
        trial = study.ask()
        trial.report(1, 0)
        with self.assertWarns(UserWarning):
            trial.report(2, 0)
        trial.report(math.nan, 5)
        with self.assertRaises(TypeError):
            trial.report('a', 6)
        with self.assertRaises(ValueError):
            trial.report(1, -1)
        self.assertIs(trial.should_prune(), False)
        study.tell(trial, state=self.states.PRUNED)
        self.assertEqual(list(study.trials[0].intermediate_values), [0, 5])
        self.assertIsNone(study.trials[0].value)

    def test_the_median_pruner(self):
        study = self.study(pruner=self.optuna.pruners.MedianPruner(n_startup_trials=2))

        def objective(trial):
            for step in range(3):
                trial.report(trial.number, step)
                if trial.should_prune():
                    raise self.optuna.TrialPruned()
            return trial.number

        study.optimize(objective, n_trials=6)
        self.assertEqual(self.state_names(study), ['COMPLETE'] * 2 + ['PRUNED'] * 4)

    def test_the_median_pruner_when_larger_is_better(self):
        study = self.study(direction='maximize',
                           pruner=self.optuna.pruners.MedianPruner(n_startup_trials=2))

        def objective(trial):
            trial.report(-trial.number, 0)
            if trial.should_prune():
                raise self.optuna.TrialPruned()
            return -trial.number

        study.optimize(objective, n_trials=4)
        self.assertEqual(self.state_names(study), ['COMPLETE'] * 2 + ['PRUNED'] * 2)
        self.assertEqual(study.best_trial.number, 0)

    def test_the_default_pruner_and_none(self):
        for pruner, expected in ((None, 'PRUNED'), (self.optuna.pruners.NopPruner(), 'COMPLETE')):
            study = self.study(pruner=pruner)

            def objective(trial):
                trial.report(trial.number, 0)
                if trial.should_prune():
                    raise self.optuna.TrialPruned()
                return 1

            study.optimize(objective, n_trials=8)
            self.assertEqual(self.state_names(study)[-1], expected)

    def test_callbacks_and_stop(self):
        study = self.study()
        seen = []

        def callback(of, trial):
            self.assertIs(of, study)
            seen.append((trial.number, trial.state.name))
            if trial.number == 2:
                of.stop()

        study.optimize(parabola, n_trials=10, callbacks=[callback])
        self.assertEqual(seen, [(0, 'COMPLETE'), (1, 'COMPLETE'), (2, 'COMPLETE')])
        with self.assertRaises(RuntimeError):
            study.stop()
        study.optimize(lambda trial: (study.stop(), 1)[1], n_trials=10)
        self.assertEqual(len(study.trials), 4)

    def test_at_most_so_many_in_all(self):
        study = self.study()
        study.optimize(parabola, n_trials=3)
        study.optimize(parabola, n_trials=99,
                       callbacks=[self.optuna.study.MaxTrialsCallback(5, (self.states.COMPLETE,))])
        self.assertEqual(len(study.trials), 5)

    def test_nested(self):
        study = self.study()

        def objective(trial):
            with self.assertRaises(RuntimeError):
                study.optimize(parabola, n_trials=1)
            return 1

        study.optimize(objective, n_trials=1)
        self.assertEqual(self.state_names(study), ['COMPLETE'])

    def test_a_time_limit(self):
        study = self.study()
        study.optimize(parabola, timeout=0.05)
        begun = len(study.trials)
        self.assertGreater(begun, 0)
        study.optimize(parabola, n_trials=2, timeout=60)
        self.assertEqual(len(study.trials), begun + 2)

    def test_threads(self):
        for jobs in (3, -1):
            study = self.study()
            study.optimize(parabola, n_trials=12, n_jobs=jobs)
            self.assertEqual([trial.number for trial in study.trials], list(range(12)))
            self.assertEqual(set(self.state_names(study)), {'COMPLETE'})

    def test_threads_run_at_the_same_time(self):
        both = threading.Barrier(2, timeout=30)
        study = self.study()
        study.optimize(lambda trial: (both.wait(), 1)[1], n_trials=4, n_jobs=2)
        self.assertEqual(set(self.state_names(study)), {'COMPLETE'})

    def test_an_exception_in_a_thread(self):
        study = self.study()

        def objective(trial):
            raise KeyError('no luck')

        with self.assertRaises(KeyError):
            study.optimize(objective, n_trials=20, n_jobs=2)
        self.assertLess(len(study.trials), 20)

    def test_what_the_garbage_collector_and_the_progress_bar_take(self):
        study = self.study()
        study.optimize(parabola, n_trials=2, gc_after_trial=True)
        self.assertEqual(len(study.trials), 2)


def load_tests(loader, _tests, _pattern):
    return suite_of(loader, (Suggesting, Optimizing))


if __name__ == '__main__':
    unittest.main()
