"""attune.callbacks: XGBoost with the real one; LightGBM, Keras and Lightning, which Debian has not,
with stand-ins that call as they do."""
import collections
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

import attune
from attune.callbacks.reports import base_class
from support import StudyCase, TrialCase, run_with

xgboost = None
if run_with('xgboost'):
    import numpy
    import xgboost

ROOT = pathlib.Path(__file__).resolve().parents[2]
MEDIAN = {'assessor': 'Medianstop', 'assessor_args': {'start_step': 2}}
CallbackEnv = collections.namedtuple(  # lightgbm.callback.CallbackEnv
    'CallbackEnv', ['model', 'params', 'iteration', 'begin_iteration', 'end_iteration',
                    'evaluation_result_list'])


def boost(callback, losses):
    """As lightgbm.train() calls it."""
    callback.__dict__.setdefault('order', -1)
    for iteration, loss in enumerate(losses):
        results = [('valid_0', 'l2', loss, False), ('valid_0', 'auc', 1 - loss, True)]
        callback(CallbackEnv(None, {}, iteration, 0, len(losses), results))


class KerasCallback:
    """keras.callbacks.Callback."""

    def __init__(self):
        self.params = None
        self._model = None

    def set_params(self, params):
        self.params = params

    def set_model(self, model):
        self._model = model

    def on_epoch_begin(self, epoch, logs=None):
        pass

    def on_epoch_end(self, epoch, logs=None):
        pass


class LightningCallback:
    """lightning.pytorch.callbacks.Callback, as far as it matters here."""

    def on_validation_end(self, trainer, pl_module):
        pass


def modules(name, callback):
    """sys.modules with a package `name` whose Callback this is; and ours imported anew."""
    parts = name.split('.')
    found = {'.'.join(parts[:count]): types.ModuleType(parts[count - 1])
             for count in range(1, len(parts) + 1)}
    found[name].Callback = callback
    return mock.patch.dict(sys.modules, found)


class Reporting(StudyCase):
    attuned = None

    def study(self, *arguments, **named):
        return super().study(*(arguments or (None,)), **named)

    def with_losses(self, run, **named):
        """A study whose trials learn faster or slower. run(trial, losses)."""
        study = self.study(**{**MEDIAN, **named})

        def function(trial):
            rate = trial.suggest_float('rate', 0, 1)
            run(trial, [(1 - rate) ** step for step in range(1, 8)])
            return trial.reports[-1]['default']

        study.optimize(function, 25)
        self.assertTrue(any(trial.status == 'stopped' for trial in study.trials))
        self.assertTrue(any(trial.status == 'completed' for trial in study.trials))
        for trial in study.trials:
            if trial.status == 'completed':
                self.assertEqual([report['training_iteration'] for report in trial.reports],
                                 [1, 2, 3, 4, 5, 6, 7])
            else:
                self.assertTrue(trial.stop_reason)
        return study

    def test_lightgbm(self):
        def run(trial, losses):
            boost(attune.callbacks.LightGBM(trial, 'valid_0-l2'), losses)

        report = self.with_losses(run).trials[0].reports[0]
        self.assertEqual(set(report), {'valid_0-l2', 'valid_0-auc', 'default', 'training_iteration'})
        self.assertEqual(report['default'], report['valid_0-l2'])
        self.assertEqual(attune.callbacks.LightGBM().order, 25)

    def test_of_lightgbm_cv(self):
        trial = self.study().ask()
        callback = attune.callbacks.LightGBM(trial)
        callback(CallbackEnv(None, {}, 0, 0, 1, [('cv_agg', 'valid l2', 0.5, False, 0.1)]))
        self.assertEqual(trial.reports[0]['cv_agg-valid l2'], 0.5)

    def test_keras(self):
        def run(trial, losses):
            callback = attune.callbacks.Keras(trial, metric='val_loss')
            callback.set_params({'epochs': len(losses)})
            for epoch, loss in enumerate(losses):
                callback.on_epoch_begin(epoch)
                callback.on_epoch_end(epoch, {'loss': loss / 2, 'val_loss': loss})

        for name in ('keras.callbacks', 'tensorflow.keras.callbacks'):
            with self.subTest(name=name), modules(name, KerasCallback):
                self.with_losses(run)
                self.assertIsInstance(attune.callbacks.Keras(), KerasCallback)

    def test_lightning(self):
        def run(trial, losses):
            callback = attune.callbacks.Lightning(trial, 'val_loss')
            trainer = types.SimpleNamespace(sanity_checking=True, is_global_zero=True,
                                            current_epoch=0, callback_metrics={})
            callback.on_validation_end(trainer, None)
            trainer.sanity_checking = False
            for trainer.current_epoch, loss in enumerate(losses):
                trainer.callback_metrics = {'val_loss': loss}
                callback.on_validation_end(trainer, None)

        for name in ('lightning.pytorch', 'pytorch_lightning'):
            with self.subTest(name=name), modules(name, LightningCallback):
                self.with_losses(run)

    def test_the_framework_that_is_loaded_counts(self):
        with modules('second', int):
            self.assertIs(base_class('lib2to3.main', 'second'), int)  # the first one is not loaded
        with self.assertRaisesRegex(ImportError, 'none of these is installed: no_one, no_other'):
            base_class('no_one', 'no_other')
        with self.assertRaises(AttributeError):
            attune.callbacks.Sonnet

    def test_metrics_that_are_not_clear(self):
        trial = self.study().ask()
        with self.assertRaisesRegex(ValueError, r"say which one counts; .*\['valid_0-auc', 'valid_0"):
            boost(attune.callbacks.LightGBM(trial), [1])
        with self.assertRaisesRegex(ValueError, "there is no 'l2'; this round has"):
            boost(attune.callbacks.LightGBM(trial, 'l2'), [1])
        self.assertEqual(trial.reports, [])

    def test_of_a_function_with_a_reporter(self):
        study = self.study({'rate': {'_type': 'uniform', '_value': [0, 1]}}, **MEDIAN)

        def function(config, reporter):
            boost(attune.callbacks.LightGBM(reporter, 'valid_0-l2'),
                  [(1 - config['rate']) ** step for step in range(1, 8)])

        study.optimize(function, 25)
        self.assertEqual({trial.status for trial in study.trials}, {'stopped', 'completed'})

    def test_nothing_is_imported_before_it_is_named(self):
        code = ('import sys, attune, attune.callbacks; '
                'print([name for name in sys.modules if name.startswith("attune.callbacks.") or '
                'name in ("xgboost", "numpy", "sklearn", "keras", "lightgbm")])')
        self.assertEqual(subprocess.check_output([sys.executable, '-B', '-c', code], text=True),
                         '[]\n')


class Managed(TrialCase):
    def test_it_reports_to_the_manager(self):
        trial = attune.Trial(self.environment)
        trial.next_parameters()
        with mock.patch('attune.callbacks.reports.this_trial', lambda: trial):
            boost(attune.callbacks.LightGBM(metric='valid_0-l2'), [0.5, 0.25])
        self.assertEqual(self.values(), [
            ('PERIODICAL', 0, {'valid_0-l2': 0.5, 'valid_0-auc': 0.5, 'default': 0.5,
                               'training_iteration': 1}),
            ('PERIODICAL', 1, {'valid_0-l2': 0.25, 'valid_0-auc': 0.75, 'default': 0.25,
                               'training_iteration': 2})])


@unittest.skipIf(xgboost is None, 'needs xgboost (Debian: python3-xgboost)')
class XGBoost(StudyCase):
    attuned = None

    def setUp(self):
        random = numpy.random.RandomState(0)
        X = random.uniform(size=(200, 4))
        y = X[:, 0] + X[:, 1] ** 2
        self.X, self.y = X, y
        self.train = xgboost.DMatrix(X[:150], y[:150])
        self.valid = xgboost.DMatrix(X[150:], y[150:])

    def fit(self, trial, callback):
        return xgboost.train({'eta': trial.suggest_float('eta', 1e-4, 1, log=True), 'nthread': 1},
                             self.train, 10, evals=[(self.valid, 'valid')], callbacks=[callback],
                             verbose_eval=False)

    def test_trials_end_early(self):
        study = StudyCase.study(self, None, **MEDIAN)

        def function(trial):
            self.fit(trial, attune.callbacks.XGBoost(trial, 'valid-rmse'))
            return trial.reports[-1]['valid-rmse']

        study.optimize(function, 20)
        self.assertEqual({trial.status for trial in study.trials}, {'stopped', 'completed'})
        lengths = {len(trial.reports) for trial in study.trials if trial.status == 'stopped'}
        self.assertLess(max(lengths), 10)
        self.assertGreater(study.best_parameters['eta'], 0.1)

    def test_cv_and_estimators(self):
        study = StudyCase.study(self, None)
        trial = study.ask()
        xgboost.cv({'nthread': 1}, self.train, 3, nfold=2, verbose_eval=False,
                   callbacks=[attune.callbacks.XGBoost(trial, 'test-rmse')])
        self.assertEqual(len(trial.reports), 3)
        self.assertIsInstance(trial.reports[0]['test-rmse'], float)
        trial = study.ask()
        xgboost.XGBRegressor(n_estimators=3, n_jobs=1,
                             callbacks=[attune.callbacks.XGBoost(trial)]).fit(
            self.X, self.y, eval_set=[(self.X, self.y)], verbose=False)
        self.assertEqual(list(trial.reports[0])[0], 'validation_0-rmse')

    def test_it_can_be_pickled(self):
        pickle.loads(pickle.dumps(attune.callbacks.XGBoost(metric='valid-rmse')))

    def test_under_attune_run(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / 'train.py').write_text('''
import attune, attune.callbacks, numpy, xgboost
parameters = attune.next_parameters()
X = numpy.random.RandomState(0).uniform(size=(100, 3))
data, log = xgboost.DMatrix(X, X[:, 0]), {}
xgboost.train({'eta': parameters['eta'], 'nthread': 1}, data, 8, evals=[(data, 'train')],
              callbacks=[attune.callbacks.XGBoost()], evals_result=log, verbose_eval=False)
attune.final(log['train']['rmse'][-1])
''')
            (folder / 'experiment.json').write_text(json.dumps({
                'trialCommand': f'exec {sys.executable} -B {folder}/train.py', 'seed': 1,
                'searchSpace': {'eta': {'_type': 'choice', '_value': [0.3, 0.2, 0.1, 0.01]}},
                'tuner': {'name': 'GridSearch'}, 'trialConcurrency': 1, 'decisions': 'in-step',
                'assessor': {'name': 'Medianstop', 'classArgs': {
                    'start_step': 2, 'optimize_mode': 'minimize'}}}))
            done = subprocess.run(
                [os.environ['ATTUNE'], 'run', 'experiment.json', '--quiet', '--daemon',
                 os.environ['ATTUNED']], cwd=folder, capture_output=True, text=True, timeout=300,
                env={**os.environ, 'PYTHONPATH': str(ROOT / 'python')})
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            experiment = attune.Experiment(folder / 'attune-experiments')
            trials = experiment.trials()
            self.assertEqual(len(trials), 4)
            self.assertEqual(trials[0]['status'], 'succeeded')
            self.assertEqual(len(experiment.reports(trials[0]['trial_job_id'])), 8)
            self.assertLess(len(experiment.reports(trials[3]['trial_job_id'])), 8)


if __name__ == '__main__':
    unittest.main()
