"""Studies of attune.compat.optuna that survive, and what is only there."""
import importlib.util
import io
import logging
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest
import warnings
from unittest import mock

import attune
import attune.compat.optuna as optuna
from attune.compat.optuna.trial import TrialState

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


def params(study):
    return [trial.params for trial in study.trials]


class FileCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, 'a.study')

    def create(self, **named):
        study = optuna.create_study(**{'storage': self.path, **named})
        self.addCleanup(study.close)
        return study

    def load(self, **named):
        study = optuna.load_study(**{'study_name': None, 'storage': self.path, **named})
        self.addCleanup(study.close)
        return study


class Files(FileCase):
    def test_everything_survives(self):
        study = self.create(study_name='mine', direction='maximize',
                            sampler=optuna.samplers.TPESampler(seed=1))
        study.set_user_attr('of', ['the', 'study'])
        study.enqueue_trial({'x': 1, 'c': None})
        study.optimize(objective, n_trials=15)
        study.optimize(lambda trial: 1 / 0, n_trials=1, catch=ZeroDivisionError)
        study.enqueue_trial({'x': 3}, user_attrs={'waits': True})
        before = study.trials
        study.close()
        again = self.load()
        self.assertEqual(again.trials, before)
        self.assertEqual((again.study_name, again.direction.name, again.user_attrs),
                         ('mine', 'MAXIMIZE', {'of': ['the', 'study']}))
        self.assertGreater(len({trial.state for trial in before}), 3)
        again.optimize(objective, n_trials=2)
        self.assertEqual(again.trials[16].params['x'], 3)

    def test_it_goes_on_as_an_uninterrupted_one(self):
        sampler = optuna.samplers.TPESampler(seed=3)
        whole = optuna.create_study(sampler=sampler)
        whole.optimize(objective, n_trials=40)
        study = self.create(sampler=sampler)
        study.optimize(objective, n_trials=25)
        study.close()
        study = self.create(load_if_exists=True)
        study.optimize(objective, n_trials=15)
        self.assertEqual(params(study), params(whole))

    def test_trials_that_ran(self):
        study = self.create()
        trial = study.ask()
        x = trial.suggest_float('x', 0, 1)
        trial.report(0.5, 7)
        study.close()
        study = self.load()
        self.assertEqual(study.trials[0].state, TrialState.RUNNING)
        self.assertEqual(study.trials[0].intermediate_values, {7: 0.5})
        study.tell(0, x)
        self.assertEqual(study.best_params, {'x': x})

    def test_after_kill_9(self):
        program = ('import os, signal, sys; import attune.compat.optuna as optuna;'
                   'optuna.logging.set_verbosity(50);'
                   'study = optuna.create_study(storage=sys.argv[1], load_if_exists=True,'
                   ' sampler=optuna.samplers.TPESampler(seed=1))\n'
                   'def f(trial):\n'
                   '    x = trial.suggest_float("x", 0, 1)\n'
                   '    if trial.number % 4 == 3: os.kill(os.getpid(), signal.SIGKILL)\n'
                   '    return x\n'
                   'study.optimize(f, n_trials=10)')
        for _ in range(3):
            done = subprocess.run([sys.executable, '-c', program, self.path], check=False)
            self.assertEqual(done.returncode, -signal.SIGKILL)
        study = self.load()
        self.assertEqual([trial.state.name for trial in study.trials],
                         (['COMPLETE'] * 3 + ['RUNNING']) * 3)

    def test_the_engine_hears_what_it_had_not(self):
        study = self.create()
        study.optimize(objective, n_trials=2)
        trial = study.ask()
        trial.suggest_float('x', -5, 5)
        with mock.patch.object(study._engine, 'end', side_effect=KeyboardInterrupt), \
                self.assertRaises(KeyboardInterrupt):
            study.tell(trial, 1.5)  # between the two files
        study.close()
        again = self.load()
        self.assertEqual(again.trials[2].value, 1.5)
        again.close()
        with attune.Study.open(self.path) as engine:
            self.assertEqual(engine.trials[2].metrics, {'value0': 1.5})
            self.assertEqual({trial.status for trial in engine.trials}, {'completed'})

    def test_attune_can_open_it(self):
        study = self.create(sampler=optuna.samplers.RandomSampler(seed=1))
        study.enqueue_trial({'x': 0.5})
        study.optimize(objective, n_trials=5)
        expected = params(study)
        best = study.best_params
        study.close()
        with attune.Study.open(self.path) as engine:
            self.assertEqual([{**trial.parameters, 'n': 5 * trial.parameters['n']}
                              for trial in engine.trials], expected)
            self.assertEqual({**engine.best_parameters, 'n': best['n']}, best)

    def test_a_pruned_trial_counts_with_its_last_step(self):
        study = self.create(sampler=optuna.samplers.RandomSampler(seed=1))
        trial = study.ask()
        trial.suggest_float('x', 0, 1)
        for step, value in ((2, 0.5), (9, 0.25), (4, 0.75)):
            trial.report(value, step)
        study.tell(trial, state=optuna.trial.TrialState.PRUNED)
        self.assertEqual(study.trials[0].value, 0.25)
        study.close()
        with attune.Study.open(self.path) as engine:
            self.assertEqual(engine.trials[0].reports[-1]['value0'], 0.25)

    def test_one_name_with_two_steps(self):
        study = self.create(sampler=optuna.samplers.RandomSampler(seed=1))

        def stepped(trial):
            return trial.suggest_float('x', 0, 1, step=(0.25, 0.5)[trial.number % 2])

        study.optimize(stepped, n_trials=6)
        study.close()
        again = self.load()
        again.optimize(stepped, n_trials=6)
        self.assertTrue(all(trial.params['x'] % 0.5 == 0 for trial in again.trials[1::2]))

    def test_torn_and_damaged(self):
        study = self.create()
        study.optimize(objective, n_trials=3)
        study.close()
        attributes = pathlib.Path(self.path + '.attributes')
        lines = attributes.read_bytes()
        attributes.write_bytes(lines + b'{"trial": 2, "us')
        with self.assertWarnsRegex(RuntimeWarning, 'not written to its end'):
            self.load().close()
        self.assertEqual(attributes.read_bytes(), lines)
        attributes.write_bytes(lines.replace(b'{"trial": 1', b'{"trial: 1', 1))
        with self.assertRaisesRegex(optuna.exceptions.StorageInternalError, r'line \d+ is damaged'):
            self.load()
        attributes.unlink()
        with self.assertRaisesRegex(optuna.exceptions.StorageInternalError, 'is missing'):
            self.load()

    def test_which_study(self):
        study = self.create(study_name='mine')
        with self.assertRaises(attune.StudyError):
            self.load()  # it is in use
        study.close()
        with self.assertRaisesRegex(optuna.exceptions.DuplicatedStudyError, 'load_if_exists'):
            self.create(study_name='mine')
        with self.assertRaisesRegex(KeyError, 'not \'yours\''):
            self.load(study_name='yours')
        with self.assertRaises(KeyError):
            self.load(storage=self.path + '2')
        for storage, kind, words in (('sqlite:///a.db', ValueError, 'path of a file'),
                                     (5, TypeError, 'path of a file'),
                                     (self.path + '/no/folder', OSError, '')):
            with self.assertRaisesRegex(kind, words):
                optuna.create_study(storage=storage)
        with self.assertRaises(ValueError):
            optuna.load_study(study_name='mine', storage=None)

    def test_a_closed_one(self):
        study = self.create()
        study.optimize(objective, n_trials=2)
        trial = study.ask()
        study.close()
        size = os.path.getsize(self.path + '.attributes')
        for call in (study.ask, lambda: study.tell(trial, 1), lambda: study.set_user_attr('a', 1),
                     lambda: trial.suggest_float('x', 0, 1), lambda: study.enqueue_trial({'x': 1}),
                     lambda: trial.report(1, 0)):
            with self.assertRaisesRegex(attune.StudyError, 'is closed'):
                call()
        self.assertEqual(os.path.getsize(self.path + '.attributes'), size)
        self.assertEqual(len(study.trials), 3)

    def test_another_sampler(self):
        self.create().close()
        with self.assertRaisesRegex(attune.StudyError, 'tuner'):
            self.load(sampler=optuna.samplers.GPSampler())

    def test_delete(self):
        self.create(study_name='mine').close()
        optuna.delete_study(study_name='mine', storage=self.path)
        self.assertEqual(os.listdir(os.path.dirname(self.path)), [])
        with self.assertRaises(KeyError):
            optuna.delete_study(study_name='mine', storage=self.path)

    def test_what_a_file_cannot_have(self):
        study = self.create()
        trial = study.ask()
        with self.assertRaisesRegex(TypeError, 'name it by a text'):
            with warnings.catch_warnings():
                warnings.simplefilter('ignore')
                trial.suggest_categorical('c', [(1,), (2,)])
        with self.assertRaises(TypeError):
            trial.set_user_attr('a', object())
        study.tell(trial, 1)
        study.close()
        self.assertEqual(self.load().trials[0].value, 1)


class Documentation(unittest.TestCase):
    def test_each_example_runs(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        text = (root / 'docs/optuna.md').read_text()
        examples = re.findall(r'```python\n(.*?)```', text, re.S)
        self.assertEqual(len(examples), 2)
        for code in examples:
            if 'import optuna\n' in code and importlib.util.find_spec('optuna') is None:
                continue
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([sys.executable, '-c', code], cwd=folder, check=False,
                                      env={**os.environ, 'PYTHONPATH': str(root / 'python')},
                                      capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertLess(float(done.stdout.split()[0]), 0.1)


class Module(unittest.TestCase):
    def test_what_is_left_out_says_so(self):
        for name, words in (('visualization', 'trials_dataframe'), ('storages', 'path of a file'),
                            ('importance', 'the real Optuna')):
            with self.assertRaisesRegex(AttributeError, words):
                getattr(optuna, name)

    def test_optuna_is_not_needed(self):
        program = ('import sys; sys.modules["optuna"] = None;'
                   'import attune.compat.optuna as optuna;'
                   'study = optuna.create_study(); optuna.logging.set_verbosity(50);'
                   'study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=3);'
                   'print(len(study.trials), "numpy" in sys.modules)')
        done = subprocess.run([sys.executable, '-c', program], check=True, capture_output=True)
        self.assertEqual(done.stdout, b'3 False\n')
        with mock.patch.dict(sys.modules, {'optuna': None}):
            sys.modules.pop('attune.optuna', None)
            with self.assertRaisesRegex(ImportError, 'attune.compat.optuna'):
                importlib.import_module('attune.optuna')

    def test_what_it_says(self):
        said = io.StringIO()
        handler = logging.StreamHandler(said)
        root = logging.getLogger('attune.optuna')
        root.addHandler(handler)
        self.addCleanup(root.removeHandler, handler)
        optuna.logging.disable_default_handler()
        self.addCleanup(optuna.logging.enable_default_handler)
        optuna.logging.set_verbosity(optuna.logging.INFO)
        self.addCleanup(optuna.logging.set_verbosity, optuna.logging.CRITICAL)
        study = optuna.create_study()
        study.optimize(lambda trial: (1, None)[trial.number], n_trials=2)
        self.assertRegex(said.getvalue(), r'Trial 0 finished with value: 1.0 and parameters: {}. '
                                          r'Best is trial 0 with value: 1.0')
        self.assertIn('Trial 1 failed', said.getvalue())

    def test_loggers_by_optunas_names(self):
        get = optuna.logging.get_logger
        self.assertIs(get('optuna'), get('attune.optuna'))
        self.assertIs(get('optuna.study'), get('attune.optuna.study'))
        self.assertEqual([get(name).name for name in ('optunas', 'mine')], ['optunas', 'mine'])

    def test_a_study_is_not_pickled(self):
        with self.assertRaisesRegex(TypeError, 'load_study'):
            import pickle  # pylint: disable=import-outside-toplevel
            pickle.dumps(optuna.create_study())

    def test_progress(self):
        with mock.patch.object(sys, 'stderr', io.StringIO()) as said:
            optuna.create_study().optimize(lambda trial: 1, n_trials=2, show_progress_bar=True)
        self.assertIn('2/2 trials', said.getvalue())


if __name__ == '__main__':
    unittest.main()
