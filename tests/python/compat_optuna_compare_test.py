"""One program with attune.compat.optuna and with the real Optuna: the same trials and ends."""
import itertools
import random
import unittest
import warnings

from optuna_pair import ours, real


def network(trial, optuna):
    """A training with a branch, reports, failures."""
    lr = trial.suggest_float('lr', 1e-4, 1, log=True)
    layers = trial.suggest_int('layers', 1, 3)
    units = [trial.suggest_int(f'units {layer}', 8, 64, step=8) for layer in range(layers)]
    if trial.suggest_categorical('optimizer', ['sgd', 'adam', None]) == 'sgd':
        trial.suggest_float('momentum', 0, 1, step=0.25)
    trial.set_user_attr('size', sum(units))
    for epoch in range(4):
        trial.report(lr + layers + 1 / (1 + epoch), epoch)
        if trial.should_prune():
            raise optuna.TrialPruned()
    if trial.number == 5:
        raise ValueError('no luck')
    return None if trial.number == 6 else lr + layers


POINTS = [{'lr': 0.1 * (1 + k % 7), 'layers': 1 + k % 3, 'units 0': 8, 'units 1': 16, 'units 2': 24,
           'optimizer': ['sgd', 'adam', None][k % 3], 'momentum': 0.25} for k in range(20)]


@unittest.skipIf(real is None, 'python3-optuna is not installed')
class Comparison(unittest.TestCase):
    """The same program with both."""

    def run_with(self, optuna, points):
        study = optuna.create_study(direction='maximize', study_name='network',
                                    sampler=optuna.samplers.TPESampler(seed=1),
                                    pruner=optuna.pruners.MedianPruner(n_startup_trials=4,
                                                                       n_warmup_steps=1))
        for point in points:
            study.enqueue_trial(point)
        study.optimize(lambda trial: network(trial, optuna), n_trials=20, catch=(ValueError,))
        return study

    def test_with_the_same_points(self):
        one, other = self.run_with(ours, POINTS), self.run_with(real, POINTS)
        for mine, theirs in zip(one.trials, other.trials):
            for name in ('number', 'value', 'values', 'params', 'user_attrs', 'system_attrs',
                         'intermediate_values', 'last_step'):
                self.assertEqual(getattr(mine, name), getattr(theirs, name), (name, mine.number))
            self.assertEqual(mine.state.name, theirs.state.name, mine.number)
            self.assertEqual([repr(each) for each in mine.params.values()],
                             [repr(each) for each in theirs.params.values()])
            self.assertEqual([vars(each) for each in mine.distributions.values()],
                             [vars(each) for each in theirs.distributions.values()])
        self.assertEqual({trial.state.name for trial in one.trials}, {'COMPLETE', 'PRUNED', 'FAIL'})
        self.assertEqual(one.best_trial.number, other.best_trial.number)
        self.assertEqual((one.best_params, one.best_value), (other.best_params, other.best_value))

    def test_with_points_of_their_own(self):
        types = []
        for optuna in (ours, real):
            study = self.run_with(optuna, [])
            self.assertEqual(len(study.trials), 20)
            types.append({name: type(value).__name__ for trial in study.trials
                          for name, value in trial.params.items() if name != 'optimizer'})
        self.assertEqual(*types)


# The step of a trial's report, by the numbers of both.
STEPS = (lambda trial, index: index,
         lambda trial, index: 1 + index,
         lambda trial, index: 5 * index + 2 * (trial % 2),
         lambda trial, index: 7 * index % 20)


@unittest.skipIf(real is None, 'python3-optuna is not installed')
class Pruners(unittest.TestCase):
    """Both prune the same trials at the same steps."""

    def ends(self, optuna, make, direction, step_of):
        drawn = random.Random(3)
        study = optuna.create_study(direction=direction, pruner=make(optuna.pruners),
                                    sampler=optuna.samplers.RandomSampler(seed=1))

        def objective(trial):
            base = drawn.random()
            for index in range(20):
                value = base + drawn.gauss(0, 0.2) / (1 + index)
                trial.report(value, step_of(trial.number, index))
                if trial.should_prune():
                    raise optuna.TrialPruned()
            return value

        study.optimize(objective, n_trials=40)
        return [(trial.state.name, trial.last_step, trial.value) for trial in study.trials]

    def test_each(self):
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')  # some are experimental in Optuna
            for make in (lambda of: of.MedianPruner(3, 2, 2),
                         lambda of: of.PercentilePruner(25, 3, 1, 1, n_min_trials=2),
                         lambda of: of.SuccessiveHalvingPruner(2, 3, 1, bootstrap_count=1),
                         lambda of: of.ThresholdPruner(0.1, 0.9, 2, 2),
                         lambda of: of.PatientPruner(None, 2, 0.05),
                         lambda of: of.PatientPruner(of.MedianPruner(), 2)):
                for direction, step_of in itertools.product(('minimize', 'maximize'), STEPS):
                    mine = self.ends(ours, make, direction, step_of)
                    self.assertEqual(mine, self.ends(real, make, direction, step_of))
                    self.assertIn('PRUNED', [state for state, _, _ in mine])


if __name__ == '__main__':
    unittest.main()
