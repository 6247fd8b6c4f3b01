#!/usr/bin/env python3
"""attune importance against Optuna's evaluator on the same trials: ATTUNE [unittest's arguments].
Needs Debian's python3-optuna and python3-sklearn; exits with 77 without them.
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import optuna
    import sklearn  # noqa: F401
    from optuna.importance import FanovaImportanceEvaluator
except ImportError:
    print('skipped: no Optuna or scikit-learn; install python3-optuna and python3-sklearn')
    sys.exit(77)

DEADLINE = 300
optuna.logging.set_verbosity(optuna.logging.ERROR)

SPACE = {
    'x': {'_type': 'uniform', '_value': [-1, 1]},
    'lr': {'_type': 'loguniform', '_value': [1e-4, 1]},
    'k': {'_type': 'randint', '_value': [1, 9]},
    'act': {'_type': 'choice', '_value': ['relu', 'tanh', 'gelu']},
    'nothing': {'_type': 'uniform', '_value': [0, 1]}}


def on_log_scales(study):
    """The same trials, with the logarithm in place of each parameter that has a logarithmic scale. Optuna's evaluator
    averages over such a parameter itself; attune averages over the scale on which it is searched."""
    def scaled(name, trial):
        distribution = trial.distributions[name]
        if not getattr(distribution, 'log', False):
            return trial.params[name], distribution
        low, high = math.log(distribution.low), math.log(distribution.high)
        return math.log(trial.params[name]), optuna.distributions.FloatDistribution(low, high)

    copy = optuna.create_study()
    for trial in study.trials:
        both = {name: scaled(name, trial) for name in trial.params}
        copy.add_trial(optuna.create_trial(
            value=trial.value, params={name: value for name, (value, _) in both.items()},
            distributions={name: distribution for name, (_, distribution) in both.items()}))
    return copy


def shares_of(variances):
    return {name: each / sum(variances.values()) for name, each in variances.items()}


class Fanova(unittest.TestCase):
    def shares(self, result, trials=300):
        """{parameter: share of the importance} by attune and by Optuna. `result` is an expression of awk."""
        with tempfile.TemporaryDirectory() as folder:
            self.folder = pathlib.Path(folder)
            file = {'searchSpace': SPACE, 'maxTrialNumber': trials, 'trialConcurrency': 2,
                    'tuner': {'name': 'Random'}, 'report': {'regex': 'score: (?<default>.*)'},
                    'trialCommand': "awk -v x={x} -v lr={lr} -v k={k} -v act={act} -v n={nothing} "
                                    f"'BEGIN {{{{ printf \"score: %.9f\\n\", {result} }}}}'"}
            (self.folder / 'e.json').write_text(json.dumps(file))
            self.attune('run', 'e.json', '--seed', '3', '--quiet')
            ours = json.loads(self.attune('importance', '--method', 'fanova', '--json'))
            self.attune('export', '--format', 'optuna', '-o', 'study.log')
            storage = optuna.storages.JournalStorage(
                optuna.storages.JournalFileStorage(str(self.folder / 'study.log')))
            [summary] = optuna.get_all_study_summaries(storage)
            study = on_log_scales(optuna.load_study(study_name=summary.study_name, storage=storage))
            self.assertEqual(len(study.trials), trials)
            optunas = FanovaImportanceEvaluator(seed=1).evaluate(study)
        return ({one['parameter']: one['share'] for one in ours['parameters']},
                dict(optunas))

    def attune(self, *arguments):
        done = subprocess.run([ATTUNE, *arguments], cwd=self.folder, timeout=DEADLINE,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def check(self, result, exact):
        """`exact`: the shares, computed from the variances of the summands."""
        ours, optunas = self.shares(result)
        self.assertEqual(set(ours), set(optunas))
        self.assertAlmostEqual(sum(ours.values()), 1, places=3)
        for name in SPACE:
            told = f'{name}: {ours} {optunas}'
            # Both are estimates by forests of 64 trees.
            self.assertAlmostEqual(ours[name], optunas[name], delta=0.1, msg=told)
            self.assertAlmostEqual(ours[name], exact.get(name, 0), delta=0.05, msg=told)

    def test_a_sum(self):
        of_lr = math.log(1e-4) ** 4 * (1 / 5 - 1 / 9) / 40 ** 2
        variances = {'x': 9 * (1 / 5 - 1 / 9), 'lr': of_lr, 'k': 0.1 ** 2 * (8 ** 2 - 1) / 12}
        self.check('3 * x * x + log(lr) * log(lr) / 40 + 0.1 * k', shares_of(variances))

    def test_categories(self):
        variances = {'act': 2 / 9, 'x': 0.5 ** 2 / 3, 'k': 0.1 ** 2 * (8 ** 2 - 1) / 12}
        self.check('(act == "tanh" ? 1 : 0) + 0.5 * x + 0.1 * k', shares_of(variances))


if __name__ == '__main__':
    ATTUNE = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
