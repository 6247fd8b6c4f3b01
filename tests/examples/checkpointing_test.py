"""examples/checkpointing: an interruption cannot be seen in the results.

ATTUNE, HALVING_DAEMON: programs; CTest sets them.
"""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / 'examples/checkpointing'
sys.path.insert(0, str(ROOT / 'python'))
spec = importlib.util.spec_from_file_location('trial', EXAMPLE / 'trial.py')
trial = importlib.util.module_from_spec(spec)
spec.loader.exec_module(trial)


def curve(lr, momentum):
    """What a run without interruption reports after each epoch."""
    images = trial.read_images()
    zeros = [[0.0] * len(images[0][0]) for _ in range(trial.CLASSES)]
    state = {'epoch': 0, 'weights': zeros, 'velocity': [list(row) for row in zeros]}
    values = {}
    while state['epoch'] < trial.EPOCHS:
        trial.train_epoch(state, images[:trial.TRAIN], lr, momentum)
        values[state['epoch']] = trial.accuracy(state['weights'], images[trial.TRAIN:])
    return values


# The example, which waits in the middle until there is a file `go`.
HELD = f'''
import importlib.util, os, time
spec = importlib.util.spec_from_file_location('trial', {str(EXAMPLE / 'trial.py')!r})
trial = importlib.util.module_from_spec(spec)
spec.loader.exec_module(trial)
train = trial.train_epoch

def train_when_allowed(state, *others):
    while state['epoch'] == 3 and not os.path.exists('go'):
        time.sleep(0.01)
    train(state, *others)

trial.train_epoch = train_when_allowed
trial.main()
'''


class CheckpointingTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def attune(self, *arguments):
        return subprocess.run([os.environ['ATTUNE'], *arguments], cwd=self.folder, timeout=200,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)

    def shown(self, job):
        return json.loads(self.attune('show', job, '--dir', 'exp', '--json').stdout)

    def experiment(self, **changes):
        (self.folder / 'e.json').write_text(json.dumps({
            'trialCommand': f'PYTHONPATH={ROOT}/python exec {sys.executable} -B {EXAMPLE}/trial.py',
            'trialConcurrency': 2, **changes}))
        return 'e.json'

    def assert_as_uninterrupted(self, shown, lr):
        reports = [json.loads(json.loads(r['text'])['value'])
                   for r in shown['report_list'] if r['type'] == 'periodical' and not r['late']]
        epochs = [r['epoch'] for r in reports]
        self.assertEqual(epochs, sorted(set(epochs)), 'an epoch was done twice')
        if shown['attempt_list'][0]['from_checkpoint']:  # began with the weights of another trial
            self.assertGreater(epochs[0], 1)
        else:
            expected = curve(lr, shown['parameters']['momentum'])
            self.assertEqual([r['default'] for r in reports], [expected[e] for e in epochs])
        return epochs

    def test_paused_and_promoted_trials(self):
        file = self.experiment(
            searchSpace={'momentum': {'_type': 'uniform', '_value': [0, 1]}},
            tuner={'name': 'Halving', 'classArgs': {'size': 4, 'optimize_mode': 'maximize'}})
        done = self.attune('run', file, '--dir', 'exp', '--quiet',
                           '--daemon', os.environ['HALVING_DAEMON'])
        self.assertEqual(done.returncode, 0, done.stderr)
        jobs = [t['trial_job_id'] for t in
                json.loads(self.attune('trials', '--dir', 'exp', '--json').stdout)]
        paused = 0
        for job in jobs:
            shown = self.shown(job)
            epochs = self.assert_as_uninterrupted(shown, trial.DEFAULTS['lr'])
            attempts = shown['attempt_list']
            if len(attempts) > 1:
                paused += 1
                self.assertEqual(attempts[0]['ending'], 'paused')
                self.assertTrue(attempts[1]['from_checkpoint'])
                self.assertIn('going on behind epoch',
                              (self.folder / 'exp/trials' / job / 'stdout').read_text())
            if shown['status'] == 'succeeded':
                self.assertEqual(epochs[-1], trial.EPOCHS)
        self.assertGreater(paused, 1)

    def ended(self, name):
        """Every trial of examples/checkpointing/NAME, which is run as it stands, with what it has
        reported for each epoch."""
        done = self.attune('run', str(EXAMPLE / name), '--dir', 'exp', '--quiet')
        self.assertEqual(done.returncode, 0, done.stderr)
        jobs = json.loads(self.attune('trials', '--dir', 'exp', '--json').stdout)
        for job in jobs:
            shown = self.shown(job['trial_job_id'])
            shown['curve'] = {}
            for report in shown['report_list']:
                if report['type'] == 'periodical':
                    value = json.loads(json.loads(report['text'])['value'])
                    shown['curve'][value['training_iteration']] = value['default']
            yield shown

    def test_asha(self):
        lengths = []
        for shown in self.ended('experiment-asha.yaml'):
            parameters = shown['parameters']
            expected = curve(parameters['lr'], parameters['momentum'])
            self.assertEqual(shown['curve'], {e: expected[e] for e in shown['curve']})
            lengths.append(len(shown['curve']))
            # In step: exactly to a rung, and started again only where another one begins.
            rungs = [1, 2, 4, 8]
            self.assertIn(lengths[-1], rungs)
            self.assertLessEqual(shown['attempts'], rungs.index(lengths[-1]) + 1)
        self.assertEqual(len(lengths), 24)
        self.assertGreater(len(set(lengths)), 1)
        self.assertIn(8, lengths)
        self.assertLess(sum(lengths), 24 * trial.EPOCHS * 3 / 4)

    def test_population_based_training(self):
        trials = list(self.ended('experiment-pbt.yaml'))
        self.assertEqual(len(trials), 6)
        copied = 0
        for shown in trials:
            self.assertEqual(shown['status'], 'succeeded')
            self.assertEqual(list(shown['curve'])[-1], trial.EPOCHS)
            job = shown['trial_job_id']
            sources = {attempt['from_checkpoint'].split('-')[0]
                       for attempt in shown['attempt_list'] if attempt['from_checkpoint']}
            copied += bool(sources - {job})
            if sources <= {job}:  # it has its own parameters to the end
                parameters = shown['parameters']
                self.assertEqual(shown['curve'], curve(parameters['lr'], parameters['momentum']))
        self.assertGreater(copied, 0)

    def test_experiment_that_is_stopped_and_resumed(self):
        (self.folder / 'held.py').write_text(HELD)
        file = self.experiment(
            trialCommand=f'PYTHONPATH={ROOT}/python exec {sys.executable} -B held.py',
            searchSpace={'lr': {'_type': 'choice', '_value': [0.05]},
                         'momentum': {'_type': 'choice', '_value': [0.5]}},
            maxTrialNumber=1, trialConcurrency=1,
            tuner={'name': 'Random', 'classArgs': {'optimize_mode': 'maximize', 'seed': 1}})
        manager = subprocess.Popen(
            [os.environ['ATTUNE'], 'run', file, '--dir', 'exp', '--quiet'], cwd=self.folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        saved = self.folder / 'exp/trials/t0000/checkpoint/state.json'
        while not saved.exists() and manager.poll() is None:
            time.sleep(0.002)
        self.attune('stop', '--dir', 'exp')
        self.assertEqual(manager.wait(timeout=200), 130)
        (self.folder / 'go').touch()
        done = self.attune('resume', '--dir', 'exp', '--quiet')
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = self.shown('t0000')
        self.assertEqual(len(shown['attempt_list']), 2)
        self.assertTrue(shown['attempt_list'][1]['from_checkpoint'])
        # An epoch that was saved and could not be reported any more is missing, no other.
        epochs = self.assert_as_uninterrupted(shown, 0.05)
        self.assertGreaterEqual(len(epochs), trial.EPOCHS - 1)
        self.assertEqual(shown['final'], curve(0.05, 0.5)[trial.EPOCHS])


if __name__ == '__main__':
    unittest.main()
