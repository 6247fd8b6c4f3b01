"""attune.Experiment: the store that attune has written, read by Python."""
import contextlib
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

import attune
from attune.store import VERSION

PYTHON = pathlib.Path(__file__).resolve().parents[2] / 'python'
TRIAL = '''
import attune
from attune.store import VERSION
x = attune.next_parameters()['x']
for step in range(3):
    attune.report({'default': x + step, 'loss': step})
attune.final({'default': x, 'seconds': float('nan') if x < 0.3 else 10 * x})
'''
# Says by a FIFO that it runs, and waits until it is told to go on.
WAITING = '''
import attune, os
attune.next_parameters()
attune.report(7)
open(os.environ['RUNS'], 'w').close()
open(os.environ['GO_ON']).close()
attune.final(8)
'''


class ExperimentCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = {**os.environ, 'PYTHONPATH': str(PYTHON)}

    def write(self, trial=TRIAL, **more):
        (self.folder / 'trial.py').write_text(trial)
        (self.folder / 'experiment.json').write_text(json.dumps({
            'trialCommand': f'exec {sys.executable} -B trial.py', 'seed': 1,
            'searchSpace': {'x': {'_type': 'uniform', '_value': [0, 1]}},
            'maxTrialNumber': 4, 'trialConcurrency': 2, 'tuner': {'name': 'Random'}, **more}))

    def words(self, *words):
        return [os.environ['ATTUNE'], *words, '--daemon', os.environ['ATTUNED']]

    def run_experiment(self, *words, trial=TRIAL, **more):
        self.write(trial, **more)
        done = subprocess.run(self.words('run', 'experiment.json', '--quiet', *words),
                              cwd=self.folder, capture_output=True, text=True, timeout=200,
                              env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)

    def said(self, *words):
        """What attune prints, in the words of format 1 whatever the version."""
        out = subprocess.check_output([os.environ['ATTUNE'], *words, '--json'], cwd=self.folder)
        return [{**trial, 'format': 1, 'status': trial['status'].lower()}
                for trial in json.loads(out)]


class Reading(ExperimentCase):
    def test_it_says_what_attune_says(self):
        for more in ({}, {'objectives': [{'metric': 'default', 'mode': 'maximize'},
                                         {'metric': 'seconds', 'mode': 'minimize'}]},
                     {'objectives': [{'metric': 'default', 'mode': 'minimize'},
                                     {'metric': 'seconds', 'mode': 'maximize', 'limit': 6}]}):
            with self.subTest(more=more):
                self.run_experiment('--dir', f'run{len(str(more))}', **more)
                folder = f'run{len(str(more))}'
                experiment = attune.Experiment(self.folder / folder)
                self.assertEqual((experiment.status, experiment.name), ('completed', ''))
                trials = experiment.trials()
                self.assertEqual(trials, self.said('trials', '--dir', folder))
                self.assertEqual(len(trials), 4)
                best = self.said('best', '--dir', folder)
                self.assertEqual(experiment.best(), best[0])
                if 'limit' not in str(more):
                    self.assertEqual(experiment.trade_offs(), best)

    def test_curves(self):
        self.run_experiment('--dir', 'run')
        experiment = attune.Experiment(self.folder / 'run')
        trial = experiment.trials()[2]
        curve = experiment.reports('t0002')
        x = trial['parameters']['x']
        self.assertEqual([report['score'] for report in curve], [x, x + 1, x + 2])
        self.assertEqual(curve[1]['metrics'], {'default': x + 1, 'loss': 1})
        self.assertEqual([report['sequence'] for report in curve], [0, 1, 2])
        self.assertEqual({(report['late'], report['ignored']) for report in curve}, {(False, '')})
        self.assertEqual(len(experiment.reports()), 12)
        self.assertEqual(experiment.reports('t0099'), [])

    def test_it_changes_nothing(self):
        self.run_experiment('--dir', 'run')
        before = (self.folder / 'run/attune.sqlite').read_bytes()
        experiment = attune.Experiment(self.folder / 'run')
        experiment.trials()
        with self.assertRaisesRegex(attune.ExperimentError, 'readonly database'):
            experiment._store.rows('DELETE FROM trials')
        self.assertEqual((self.folder / 'run/attune.sqlite').read_bytes(), before)

    def test_several_experiments_in_one_directory(self):
        for name in ('first', 'second'):
            self.run_experiment(experimentName=name, experimentWorkingDirectory='all')
        newest = attune.Experiment(self.folder / 'all')
        self.assertEqual(newest.name, 'second')
        first = attune.Experiment(self.folder / 'all', 'first')
        self.assertEqual(first.name, 'first')
        self.assertEqual(attune.Experiment(self.folder / 'all', first.id).name, 'first')
        self.assertEqual(attune.Experiment(self.folder / 'all' / first.id).name, 'first')
        with self.assertRaisesRegex(attune.ExperimentError, "no experiment 'third'.*second"):
            attune.Experiment(self.folder / 'all', 'third')

    def test_while_it_runs_and_after_its_manager_was_killed(self):
        self.write(WAITING, maxTrialNumber=1)
        runs, go_on = self.folder / 'runs', self.folder / 'go_on'
        os.mkfifo(runs)
        os.mkfifo(go_on)
        self.environment.update(RUNS=str(runs), GO_ON=str(go_on))
        manager = subprocess.Popen(self.words('run', 'experiment.json', '--quiet', '--dir', 'run'),
                                   cwd=self.folder, env=self.environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with open(runs):
                pass
            experiment = attune.Experiment(self.folder / 'run')
            self.assertEqual(experiment.status, 'running')
            self.assertEqual([(trial['status'], trial['score'], trial['ended'])
                              for trial in experiment.trials()], [('running', None, None)])
            self.assertIsNone(experiment.best())
        finally:
            manager.send_signal(signal.SIGKILL)
            manager.wait()
        self.assertEqual(experiment.status, 'killed')
        with open(go_on, 'w'):
            pass
        done = subprocess.run(self.words('resume', '--dir', 'run', '--quiet'), cwd=self.folder,
                              capture_output=True, text=True, timeout=200, env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((experiment.status, experiment.best()['score']), ('completed', 8))

    def test_pandas(self):
        self.run_experiment('--dir', 'run')
        experiment = attune.Experiment(self.folder / 'run')
        with mock.patch.dict(sys.modules, pandas=None), \
                self.assertRaisesRegex(ImportError, 'needs pandas, which is not installed: pip'):
            experiment.dataframe()
        # In place of pandas: what it is given.
        with mock.patch.dict(sys.modules, pandas=types.SimpleNamespace(DataFrame=list)):
            rows = experiment.dataframe()
        exported = subprocess.check_output(
            [os.environ['ATTUNE'], 'export', '--dir', 'run', '--format', 'jsonl'], cwd=self.folder)
        lines = [json.loads(line) for line in exported.splitlines()]
        self.assertEqual(len(rows), len(lines))
        for row, theirs in zip(rows, lines):
            self.assertEqual(row['parameters.x'], theirs['parameters.x'])
            self.assertEqual(row['metrics.default'], theirs['metrics.default'])
            self.assertEqual(row['score'], theirs['score'])
            self.assertEqual(row['seconds'], theirs['seconds'])


class Importing(unittest.TestCase):
    def test_a_trial_does_without_sqlite3(self):
        code = ('import sys; sys.modules["sqlite3"] = None; import attune\n'
                'try: attune.Experiment\nexcept ImportError: print("none")\n'
                'try: attune.Experimant\nexcept AttributeError as error: print(error)\n')
        out = subprocess.check_output([sys.executable, '-B', '-c', code], text=True)
        self.assertEqual(out, "none\nmodule 'attune' has no attribute 'Experimant'\n")
        self.assertIn('Experiment', attune.__all__)


class Refusing(ExperimentCase):
    def refused(self, words):
        with self.assertRaises(attune.ExperimentError) as caught:
            attune.Experiment(self.folder)
        self.assertIn(words, str(caught.exception))
        self.assertIn(str(self.folder / 'attune.sqlite'), str(caught.exception))

    def database(self, **pragmas):
        path = self.folder / 'attune.sqlite'
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute('CREATE TABLE experiments (experiment INTEGER)')
            for name, value in pragmas.items():
                connection.execute(f'PRAGMA {name} = {value}')
            connection.commit()

    def test_what_is_no_store_of_this_version(self):
        ours = 0x6174746e
        self.refused('name the directory that attune run had as --dir')
        self.assertEqual(os.listdir(self.folder), [])  # to look makes nothing
        self.database(application_id=ours, user_version=99)
        self.refused('was written by a newer attune (version 99 of the tables')
        self.database(application_id=ours, user_version=4)
        self.refused('written by an older attune; the next attune run or resume')
        self.database(application_id=17, user_version=VERSION)
        self.refused('belongs to another program')
        self.database(application_id=ours, user_version=VERSION)
        self.refused('no experiment is in it yet')
        (self.folder / 'attune.sqlite').write_bytes(b'x' * 5000)
        self.refused('file is not a database')
        (self.folder / 'attune.sqlite').write_bytes(b'')
        self.refused('is empty')
        (self.folder / 'attune.sqlite').unlink()
        os.mkfifo(self.folder / 'attune.sqlite')
        self.refused('is no regular file')

    def test_names_that_a_uri_would_read_otherwise(self):
        self.folder = self.folder / 'a?mode=rwc#b%20c'
        self.folder.mkdir()
        self.run_experiment('--dir', 'run')
        self.assertEqual(len(attune.Experiment(self.folder / 'run').trials()), 4)


if __name__ == '__main__':
    unittest.main()
