#!/usr/bin/env python3
"""Optuna reads what attune exports, and attune goes on with what Optuna has begun:
ATTUNE [unittest's arguments]. Needs Debian's python3-optuna; exits with 77 without it.
"""
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import optuna
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
except ImportError:
    print('skipped: no Optuna; install python3-optuna')
    sys.exit(77)

try:
    import pandas
except ImportError:
    pandas = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEADLINE = 300
optuna.logging.set_verbosity(optuna.logging.ERROR)

SPACE = {
    'x': {'_type': 'uniform', '_value': [0, 1]},
    'lr': {'_type': 'loguniform', '_value': [0.0001, 0.1]},
    'd': {'_type': 'quniform', '_value': [0, 1, 0.1]},
    'k': {'_type': 'randint', '_value': [1, 9]},
    'u': {'_type': 'qloguniform', '_value': [1, 128, 1]},
    'c': {'_type': 'choice', '_value': [None, True, 2, 2.5, 'text']},
    'opt': {'_type': 'choice', '_value': [
        {'_name': 'adam'},
        {'_name': 'sgd', 'momentum': {'_type': 'uniform', '_value': [0, 0.99]}}]}}
DISTRIBUTIONS = {
    'x': FloatDistribution(0, 1), 'lr': FloatDistribution(0.0001, 0.1, log=True),
    'd': FloatDistribution(0, 1, step=0.1), 'k': IntDistribution(1, 8),
    'u': IntDistribution(1, 128, log=True),
    'c': CategoricalDistribution([None, True, 2, 2.5, 'text']),
    'opt': CategoricalDistribution(['adam', 'sgd']), 'opt.sgd.momentum': FloatDistribution(0, 0.99)}
# Some trials fail, some say NaN, some are stopped early.
TRIAL = '''
import os, sys
import attune
p = attune.next_parameters()
number = int(os.environ['NNI_TRIAL_SEQ_ID'])
if number == 3:
    sys.exit(3)
if number == 5:
    attune.final(float('nan'))
    sys.exit()
value = (p['x'] - 0.3) ** 2 + p['k'] * 0.01 + (p['opt'].get('momentum', 0.5) - 0.5) ** 2
for step in range(3):
    attune.report(value + 1 / (step + 1))
attune.final(value)
'''
TRADE_OFFS = '''
import attune
p = attune.next_parameters()
attune.final({'loss': p['x'], 'size': 1 - p['x'], 'seconds': p['y']})
'''


def open_study(path):
    storage = optuna.storages.JournalStorage(optuna.storages.JournalFileStorage(str(path)))
    [summary] = optuna.get_all_study_summaries(storage)
    return optuna.load_study(study_name=summary.study_name, storage=storage)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def attune(self, *arguments):
        """What the command has printed: (standard output, standard error)."""
        environment = {**os.environ, 'PYTHONPATH': str(ROOT / 'python'),
                       'PATH': f'{pathlib.Path(sys.executable).parent}:{os.environ["PATH"]}'}
        done = subprocess.run([ATTUNE, *arguments], cwd=self.folder, env=environment,
                              timeout=DEADLINE, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, done.stderr

    def run_experiment(self, trial, **file):
        (self.folder / 'trial.py').write_text(trial)
        (self.folder / 'e.json').write_text(json.dumps(
            {'trialCommand': f'{sys.executable} -B trial.py', 'trialConcurrency': 2, **file}))
        self.attune('run', 'e.json', '--seed', '1', '--quiet')

    def exported(self):
        _, losses = self.attune('export', '--format', 'optuna', '-o', 'study.log')
        return open_study(self.folder / 'study.log'), losses

    def trials(self):
        return json.loads(self.attune('trials', '--json')[0])


class Export(Case):
    def test_everything_of_a_trial(self):
        self.run_experiment(
            TRIAL, searchSpace=SPACE, maxTrialNumber=24, experimentName='parabola',
            decisions='in-step',
            tuner={'name': 'TPE', 'classArgs': {'optimize_mode': 'minimize'}},
            assessor={'name': 'Threshold', 'classArgs': {'upper': 0.7, 'n_warmup_steps': 1}})
        study, losses = self.exported()
        ours = self.trials()
        self.assertEqual(study.study_name, 'parabola')
        self.assertEqual(len(study.trials), 24)
        states = {'succeeded': 'COMPLETE', 'failed': 'FAIL', 'early_stopped': 'PRUNED'}
        for mine, trial in zip(ours, study.trials):
            trial._validate()
            expected = states[mine['status']]
            if mine['status'] == 'succeeded' and mine['score'] is None:
                expected = 'FAIL'
            self.assertEqual(trial.state.name, expected)
            if expected == 'COMPLETE':
                self.assertEqual(trial.value, mine['score'])
            parameters = dict(mine['parameters'])
            option = parameters.pop('opt')
            parameters['opt'] = option['_name']
            if 'momentum' in option:
                parameters['opt.sgd.momentum'] = option['momentum']
            self.assertEqual(trial.params, parameters)
            self.assertEqual(trial.distributions, {name: DISTRIBUTIONS[name] for name in parameters})
            shown = json.loads(self.attune('show', mine['trial_job_id'], '--json')[0])
            curve = {each['sequence']: each['score'] for each in shown['report_list']
                     if each['type'] == 'periodical' and not each['late'] and not each['ignored']}
            self.assertEqual(trial.intermediate_values, curve)
            self.assertEqual(trial.user_attrs['attune:job_id'], mine['trial_job_id'])
        found = {trial.state.name for trial in study.trials}
        self.assertEqual(found, {'COMPLETE', 'FAIL', 'PRUNED'})
        [best] = json.loads(self.attune('best', '--json')[0])
        self.assertEqual(study.best_trial.number, best['sequence'])
        self.assertEqual(study.best_value, best['score'])
        self.assertEqual(study.user_attrs['attune:search_space'], SPACE)
        self.assertIn('finite number', losses)

    def test_optuna_goes_on(self):
        self.run_experiment(TRIAL, searchSpace=SPACE, maxTrialNumber=12)
        study, _ = self.exported()
        best = study.best_value

        def objective(trial):
            x, k = trial.suggest_float('x', 0, 1), trial.suggest_int('k', 1, 8)
            trial.suggest_float('d', 0, 1, step=0.1)
            trial.suggest_int('u', 1, 128, log=True)
            momentum = 0.5
            if trial.suggest_categorical('opt', ['adam', 'sgd']) == 'sgd':
                momentum = trial.suggest_float('opt.sgd.momentum', 0, 0.99)
            return (x - 0.3) ** 2 + k * 0.01 + (momentum - 0.5) ** 2

        study.optimize(objective, n_trials=10)
        again = open_study(self.folder / 'study.log')
        self.assertEqual(len(again.trials), 22)
        self.assertLessEqual(again.best_value, best)

    @unittest.skipIf(pandas is None, 'no pandas; install python3-pandas')
    def test_data_frames(self):
        self.run_experiment(TRIAL, searchSpace=SPACE, maxTrialNumber=8)
        study, _ = self.exported()
        self.attune('export', '-o', 'trials.csv')
        self.attune('export', '--format', 'jsonl', '-o', 'trials.jsonl')
        # By default pandas is not exact in the last digit.
        csv = pandas.read_csv(self.folder / 'trials.csv', float_precision='round_trip')
        lines = pandas.read_json(self.folder / 'trials.jsonl', lines=True)
        optunas = study.trials_dataframe()
        mine = self.trials()
        for frame in (csv, lines):
            self.assertEqual(frame['trial_job_id'].tolist(),
                             [trial['trial_job_id'] for trial in mine])
            self.assertEqual(frame['status'].tolist(), [trial['status'] for trial in mine])
            self.assertEqual(frame['score'].dtype, float)
            for column, expected in (
                    ('parameters.x', [trial['parameters']['x'] for trial in mine]),
                    ('score', optunas['value'].dropna().tolist())):
                found = frame[column].dropna().tolist()
                self.assertEqual(len(found), len(expected))
                for a, b in zip(found, expected):
                    self.assertTrue(a == b if frame is csv else math.isclose(a, b))
            self.assertTrue((frame['ended'] >= frame['started']).all())

    def test_several_objectives_and_a_limit(self):
        self.run_experiment(
            TRADE_OFFS, maxTrialNumber=10, tuner={'name': 'Random'},
            searchSpace={name: {'_type': 'uniform', '_value': [0, 1]} for name in 'xy'},
            objectives=[{'metric': 'loss'}, {'metric': 'size', 'mode': 'maximize'},
                        {'metric': 'seconds', 'limit': 0.5}])
        study, _ = self.exported()
        self.assertEqual([each.name for each in study.directions], ['MINIMIZE', 'MAXIMIZE'])
        for mine, trial in zip(self.trials(), study.trials, strict=True):
            self.assertEqual(trial.values, [mine['final']['loss'], mine['final']['size']])
            [excess] = trial.system_attrs['constraints']
            self.assertTrue(math.isclose(excess, mine['final']['seconds'] - 0.5))
            self.assertEqual(excess <= 0, mine['violation'] == 0)


def suggest_all(trial):
    """Every kind of parameter; some only with some choices."""
    x = trial.suggest_float('x', -1, 1)
    trial.suggest_float('lr', 1e-4, 0.1, log=True)
    trial.suggest_float('drop', 0.05, 0.55, step=0.1)
    trial.suggest_int('width', 16, 128, step=16)
    trial.suggest_int('units', 8, 512, log=True)
    trial.suggest_categorical('flag', [True, False, None, 2, 0.5])
    loss = x * x + trial.suggest_int('layers', 1, 3) * 0.1
    if trial.suggest_categorical('opt', ['adam', 'sgd', 'rms']) != 'adam':
        loss += (trial.suggest_float('momentum', 0, 1) - 0.5) ** 2
        if trial.params['opt'] == 'sgd' and trial.suggest_categorical('nest', ['a', 'b']) == 'b':
            loss += trial.suggest_float('deep', 0, 1)
    return loss


def pruned(trial):
    loss = suggest_all(trial)
    if trial.number % 9 == 4:
        raise ValueError
    for step in range(3):
        trial.report(loss + 1 / (step + 1), step)
        if trial.should_prune():
            raise optuna.TrialPruned
    return loss


def with_constraint(trial):
    x, y = trial.suggest_float('x', 0, 1), trial.suggest_float('y', 0, 1)
    trial.set_user_attr('excess', y - 0.5)
    return x, 1 - x


GO_ON = '''
import attune
p = attune.next_parameters()
attune.final(p['x'] ** 2 + p['layers'] * 0.1)
'''


class Import(Case):
    def study(self, objective, **options):
        storage = optuna.storages.JournalStorage(
            optuna.storages.JournalFileStorage(str(self.folder / 'study.log')))
        study = optuna.create_study(study_name='net', storage=storage, **options)
        study.optimize(objective, n_trials=40, catch=(ValueError,))
        return study

    def adopt_and_run(self, trial, trials=3):
        """Messages of adopt, the messages of run, the rows."""
        (self.folder / 'trial.py').write_text(trial)
        _, losses = self.attune('adopt', 'study.log', '-o', 'net.yaml', '--command',
                                f'{sys.executable} -B trial.py')
        _, messages = self.attune('run', 'net.yaml', '--import', 'net.jsonl', '--seed', '1',
                                  '--max-trials', str(trials))
        lines = (self.folder / 'net.jsonl').read_text().splitlines()
        return losses, messages, [json.loads(line) for line in lines]

    def test_a_study_goes_on(self):
        study = self.study(pruned, sampler=optuna.samplers.TPESampler(seed=1),
                           pruner=optuna.pruners.MedianPruner(n_startup_trials=3))
        losses, messages, rows = self.adopt_and_run(GO_ON)
        state = optuna.trial.TrialState
        told = study.get_trials(states=[state.COMPLETE, state.PRUNED])
        self.assertIn('PRUNED', [trial.state.name for trial in told])
        self.assertIn(f'{len(told)} results imported\n', messages)  # none was left out
        self.assertEqual(len(rows), 40)
        self.assertIn('failed', losses)
        for row, trial in zip(rows, study.trials):
            self.assertEqual(row.get('value'), trial.value)
            self.assertEqual({int(step): value for step, value in row.get('reports', {}).items()},
                             trial.intermediate_values)
            parameters = dict(row['parameters'])
            option = parameters.pop('opt')
            name = option.pop('_name')
            nested = option.pop('nest', None)
            if isinstance(nested, dict):
                option['nest'] = nested.pop('_name')
                option.update(nested)
            elif nested is not None:
                option['nest'] = nested
            for key, value in {**parameters, **option, 'opt': name}.items():
                if key == 'drop':  # on a grid of ours
                    self.assertAlmostEqual(value, trial.params[key])
                else:
                    self.assertEqual(value, trial.params[key])
            self.assertEqual(len(parameters) + len(option) + 1, len(trial.params))
        _, left_out = self.attune('export', '--format', 'optuna')
        self.assertIn(f'{len(told)} imported results are no trials', left_out)
        # What Optuna had found is known: the new trials are near to it.
        for trial in self.trials():
            self.assertLess(abs(trial['parameters']['x']), 0.5)

    def test_several_objectives_and_a_constraint(self):
        study = self.study(
            with_constraint, directions=['minimize', 'maximize'],
            sampler=optuna.samplers.NSGAIISampler(
                seed=1, constraints_func=lambda trial: [trial.user_attrs['excess']]))
        _, messages, rows = self.adopt_and_run(
            'import attune\np = attune.next_parameters()\nattune.final({"values_0": p["x"],'
            ' "values_1": 1 - p["x"], "constraint_0": p["y"] - 0.5})\n')
        self.assertIn('40 results imported\n', messages)
        for row, trial in zip(rows, study.trials, strict=True):
            self.assertEqual(row['value'], {'values_0': trial.values[0],
                                            'values_1': trial.values[1],
                                            'constraint_0': trial.user_attrs['excess']})

    def test_there_and_back(self):
        self.run_experiment(TRIAL, searchSpace=SPACE, maxTrialNumber=12)
        self.exported()
        self.attune('adopt', 'study.log', '-o', 'again.yaml', '--command', 'true')
        rows = [json.loads(line) for line in
                (self.folder / 'again.jsonl').read_text().splitlines()]
        for row, trial in zip(rows, self.trials(), strict=True):
            self.assertEqual(row['parameters'], trial['parameters'])
            self.assertEqual(row.get('value'), trial['score'])
        _, messages = self.attune('run', 'again.yaml', '--import', 'again.jsonl', '--dry-run')
        self.assertIn('10 results could be imported\n', messages)


if __name__ == '__main__':
    ATTUNE = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main(warnings='ignore')
