"""Samplers and pruners of attune.compat.optuna: their arguments, and what is only there."""
import unittest
import warnings

import attune.compat.optuna as optuna

optuna.logging.set_verbosity(optuna.logging.CRITICAL)


def objective(trial):
    x = trial.suggest_float('x', -5, 5)
    trial.suggest_categorical('c', ['a', None, 2, True, 1.5])
    trial.suggest_int('n', 0, 10, step=5)
    trial.set_user_attr('twice', 2 * x)
    for step in range(3):
        trial.report(x * x + step, step)
        if trial.should_prune():
            raise optuna.TrialPruned()
    return x * x


class Samplers(unittest.TestCase):
    def test_arguments(self):
        samplers = optuna.samplers
        for sampler, tuner, arguments in (
                (samplers.TPESampler(), 'TPE', {}),
                (samplers.TPESampler(n_startup_trials=5, multivariate=True), 'TPE',
                 {'multivariate_args': {'n_startup_jobs': 5}}),
                (samplers.TPESampler(multivariate=False, n_ei_candidates=9), 'TPE',
                 {'multivariate': False, 'tpe_args': {'n_ei_candidates': 9}}),
                (samplers.CmaEsSampler(sigma0=0.1, popsize=8, restart_strategy='ipop'), 'CMA-ES',
                 {'sigma': 0.1, 'population_size': 8, 'restarts': 'ipop'}),
                (samplers.GPSampler(n_startup_trials=4), 'GP', {'cold_start_num': 4}),
                (samplers.NSGAIISampler(population_size=8), 'NSGAII',
                 {'population_size': 8, 'crossover_prob': 0.9, 'swapping_prob': 0.5}),
                (samplers.QMCSampler(), 'QMC', {}), (samplers.RandomSampler(), 'Random', {}),
                (samplers.AttuneSampler('SMAC', {'n_trees': 5}), 'SMAC', {'n_trees': 5})):
            self.assertEqual((sampler.tuner, sampler.arguments), (tuner, arguments))
            study = optuna.create_study(sampler=sampler)
            study.optimize(objective, n_trials=12)
            self.assertEqual(len(study.trials), 12)

    def test_the_seed(self):
        def run(seed):
            study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
            study.optimize(objective, n_trials=20)
            return [trial.params for trial in study.trials]

        self.assertEqual(run(1), run(1))
        self.assertNotEqual(run(1), run(2))

    def test_arguments_without_effect(self):
        with self.assertWarnsRegex(UserWarning, 'TPESampler: gamma has no effect'):
            optuna.samplers.TPESampler(gamma=len)
        with self.assertRaisesRegex(TypeError, "no argument 'gama'"):
            optuna.samplers.TPESampler(gama=1)
        with self.assertWarnsRegex(UserWarning, 'CmaEsSampler: x0'):
            optuna.samplers.CmaEsSampler(x0={'x': 1})

    def test_constraints(self):
        sampler = optuna.samplers.GPSampler(
            seed=1, constraints_func=lambda trial: (0.6 - trial.params['x'], -1))
        study = optuna.create_study(sampler=sampler)
        study.optimize(lambda trial: trial.suggest_float('x', 0, 1), n_trials=30)
        later = [trial.params['x'] for trial in study.trials[15:]]
        self.assertGreater(sum(x >= 0.6 for x in later), 5, later)
        self.assertLess(min(x for x in later if x >= 0.6), 0.65)
        self.assertEqual(study.trials[0].system_attrs['constraints'],
                         [0.6 - study.trials[0].params['x'], -1])

    def test_choices_that_json_lacks(self):
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            study = optuna.create_study()
            study.optimize(lambda trial: trial.suggest_categorical('c', [(1,), (2, 3)])[0],
                           n_trials=10)
        self.assertEqual(study.best_params, {'c': (1,)})

    def test_the_tuner_learns_what_is_enqueued_and_added(self):
        study = optuna.create_study(sampler=optuna.samplers.GPSampler(seed=1))
        space = {'x': optuna.distributions.FloatDistribution(0, 1)}
        for k in range(0, 21, 2):
            study.enqueue_trial({'x': k / 20})
            study.add_trial(optuna.create_trial(params={'x': (k + 1) / 21}, distributions=space,
                                                value=abs((k + 1) / 21 - 0.7)))
        study.optimize(lambda trial: abs(trial.suggest_float('x', 0, 1) - 0.7), n_trials=11)
        self.assertAlmostEqual(study.ask().suggest_float('x', 0, 1), 0.7, delta=0.15)

    def test_what_cannot_be(self):
        for name in ('NSGAIIISampler', 'Nonsense'):
            with self.assertRaisesRegex(AttributeError, 'not part of attune.compat.optuna'):
                getattr(optuna.samplers, name)
        with self.assertRaisesRegex(ValueError, 'sobol'):
            optuna.samplers.QMCSampler(qmc_type='halton')
        with self.assertRaisesRegex(TypeError, 'sampler: must be'):
            optuna.create_study(sampler='TPE')
        with self.assertRaisesRegex(ValueError, 'needs a step'):
            optuna.create_study(sampler=optuna.samplers.BruteForceSampler()).optimize(
                lambda trial: trial.suggest_float('x', 0, 1), n_trials=1)

    def test_the_sampler_of_a_study_stays(self):
        study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1))
        for other in (optuna.samplers.RandomSampler(seed=1), optuna.samplers.TPESampler(seed=2),
                      optuna.samplers.TPESampler(n_startup_trials=3), None):
            with self.assertRaisesRegex(ValueError, 'sampler: that of a study stays'):
                study.sampler = other
        study.sampler = optuna.samplers.TPESampler(seed=1)

    def test_of_ones_own(self):
        with self.assertRaisesRegex(TypeError, 'samplers of your own'):
            class _Own(optuna.samplers.RandomSampler):
                def sample_independent(self, study, trial, name, distribution):
                    return 1

    def test_wrong_arguments(self):
        for make in (lambda: optuna.samplers.AttuneSampler('Nonsense'),
                     lambda: optuna.samplers.NSGAIISampler(population_size=0)):
            with self.assertRaises(ValueError):
                make()


class Pruners(unittest.TestCase):
    def test_all_can_be_used(self):
        pruners = optuna.pruners
        for pruner in (pruners.MedianPruner(2, 1, 2, n_min_trials=2),
                       pruners.PercentilePruner(25.0), pruners.SuccessiveHalvingPruner(),
                       pruners.WilcoxonPruner(),
                       pruners.HyperbandPruner(max_resource=9), pruners.NopPruner(),
                       pruners.ThresholdPruner(upper=20), pruners.PatientPruner(None, 1),
                       pruners.PatientPruner(pruners.MedianPruner(), patience=1, min_delta=0.1)):
            study = optuna.create_study(pruner=pruner,
                                        sampler=optuna.samplers.RandomSampler(seed=1))
            study.optimize(objective, n_trials=30)
            self.assertEqual(len(study.trials), 30, pruner)

    def test_what_differs(self):
        with self.assertWarnsRegex(UserWarning, '81'):
            optuna.pruners.HyperbandPruner()
        with self.assertRaises(TypeError):
            optuna.pruners.ThresholdPruner()
        with self.assertRaisesRegex(ValueError, 'can wrap'):
            optuna.pruners.PatientPruner(optuna.pruners.MedianPruner(9), 1)

    def test_the_pruner_of_a_study_stays(self):
        study = optuna.create_study()
        study.pruner = optuna.pruners.MedianPruner()
        for other in (optuna.pruners.NopPruner(), optuna.pruners.MedianPruner(9), None):
            with self.assertRaisesRegex(ValueError, 'pruner: that of a study stays'):
                study.pruner = other

    def test_of_ones_own(self):
        with self.assertRaisesRegex(TypeError, 'pruners of your own'):
            class _Own(optuna.pruners.BasePruner):
                def prune(self, study, trial):
                    return False


if __name__ == '__main__':
    unittest.main()
