"""Trials of the package under the attune that was built."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PYTHON = pathlib.Path(__file__).resolve().parents[2] / 'python'

# Has attune stop the experiment in the middle of its first attempt, and waits for the end.
STOP = f'''
def stop_in_the_middle(step):
    import os, signal, subprocess
    if step == 2 and os.environ['ATTUNE_ATTEMPT'] == '0':
        subprocess.run([{os.environ['ATTUNE']!r}, 'stop', '--no-wait', '--dir', 'run'], check=True)
        signal.pause()
'''
TRIAL = STOP + '''
import attune
attune.next_parameters()
step = int(attune.restore('step') or b'0')
while step < 4:
    step += 1
    attune.save('step', b'%d' % step)
    attune.report(step)
    stop_in_the_middle(step)
attune.final(100 + step)
'''
FUNCTION = STOP + '''
import attune, os
def train(config, reporter, checkpoint_dir=None):
    step = 0
    if checkpoint_dir:
        with open(os.path.join(checkpoint_dir, 'step')) as file:
            step = int(file.read())
    while step < 4:
        step += 1
        with reporter.checkpoint_dir(step) as folder:
            (folder / 'step').write_text(str(step))
        reporter.report(step)
        stop_in_the_middle(step)
    return 100 + step
attune.run(train)
'''
PHASES = '''
import attune
first = attune.next_parameters()
for _ in range(2):
    other = attune.next_parameters()
    assert other and other != first, other
    attune.report(other['x'])
attune.final(other['x'])
'''
# What the function in docs/python.md leaves to its reader.
MODEL = '''
import attune
class Model:
    def __init__(self, lr):
        self.lr, self.epoch = lr, 0
    def save(self, folder):
        (folder / 'model').write_text(f'{self.lr} {self.epoch}')
    def train(self):
        self.epoch += 1
        return self.lr / self.epoch
'''


class Manager(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def attune(self, *words):
        return subprocess.run(
            [os.environ['ATTUNE'], *words], cwd=self.folder, capture_output=True, text=True,
            timeout=200, env={**os.environ, 'PYTHONPATH': str(PYTHON)})

    def run_trial(self, text, trials=1, before='', **more):
        (self.folder / 'trial.py').write_text(text)
        (self.folder / 'experiment.json').write_text(json.dumps({
            'trialCommand': f'{before} exec {sys.executable} -B trial.py',
            'searchSpace': {'x': {'_type': 'uniform', '_value': [0, 1]}}, 'seed': 1,
            'maxTrialNumber': trials, 'tuner': {'name': 'Random'}, **more}))
        return self.attune('run', 'experiment.json', '--dir', 'run', '--quiet', '--json',
                           '--daemon', os.environ['ATTUNED'])

    def test_many_phases(self):
        done = self.run_trial(PHASES, trials=2, before='export MULTI_PHASE=true;')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)['trials']['succeeded'], 2)

    def go_on(self, text):
        done = self.run_trial(text)
        self.assertEqual(done.returncode, 130, done.stderr)
        done = self.attune('resume', '--dir', 'run', '--json', '--daemon', os.environ['ATTUNED'])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)['best']['score'], 104)
        shown = json.loads(self.attune('show', '0', '--dir', 'run', '--json').stdout)
        self.assertEqual([(report['attempt'], report['score']) for report in shown['report_list']],
                         [(0, 1), (0, 2), (1, 3), (1, 4), (1, 104)])

    def test_the_function_of_the_documentation(self):
        page = (PYTHON.parent / 'docs/python.md').read_text()
        code, objectives = re.search(
            r'## A function as a trial\n\n```python\n(.*?)```.*?```yaml\nobjectives: (.*?)\n```',
            page, re.DOTALL).groups()
        done = self.run_trial(
            MODEL + code, searchSpace={'lr': {'_type': 'choice', '_value': [0.5]}},
            objectives=[dict(re.findall(r'(\w+): (\w+)', objectives))])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)['best']['score'], 0.5 / 20)
        by_hand = subprocess.run(
            [sys.executable, '-B', 'trial.py'], cwd=self.folder, capture_output=True, text=True,
            timeout=200, env={**os.environ, 'PYTHONPATH': str(PYTHON)})
        self.assertEqual(by_hand.returncode, 0, by_hand.stderr)
        self.assertIn('Final result: {"loss": 0.005, "training_iteration": 20}', by_hand.stdout)

    def test_a_stopped_trial_goes_on(self):
        self.go_on(TRIAL)

    def test_a_stopped_function_goes_on(self):
        self.go_on(FUNCTION)


if __name__ == '__main__':
    unittest.main()
