"""attune.compat.optuna beside the real Optuna: tests that hold for both."""
import unittest

import attune.compat.optuna as ours

try:
    import optuna as real
    real.logging.set_verbosity(real.logging.CRITICAL)
except ImportError:
    real = None
ours.logging.set_verbosity(ours.logging.CRITICAL)


def parabola(trial):
    return (trial.suggest_float('x', -5, 5) - 2) ** 2


class Both:
    """Tests that hold for `self.optuna`, whichever it is."""

    def setUp(self):
        self.states = self.optuna.trial.TrialState

    def study(self, **named):
        return self.optuna.create_study(**{
            'sampler': self.optuna.samplers.RandomSampler(seed=1), **named})

    def state_names(self, study):
        return [trial.state.name for trial in study.trials]


def suite_of(loader, kinds):
    """Each test of the classes, which derive from Both, with ours; and with the real one, if it is
    here."""
    suite = unittest.TestSuite()
    for optuna, name in ((ours, 'Ours'), (real, 'Real')):
        for kind in kinds:
            case = type(name + kind.__name__, (kind, unittest.TestCase), {'optuna': optuna})
            if optuna is None:
                case = unittest.skip('python3-optuna is not installed')(case)
            suite.addTests(loader.loadTestsFromTestCase(case))
    return suite
