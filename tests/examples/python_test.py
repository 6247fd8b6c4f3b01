"""The examples in Python, run by the attune that was built. ATTUNE and ATTUNED are its programs."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / 'examples'


def environment(**named):
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith('NNI_') and name != 'PYTHONPATH'}
    return {**clean, 'PYTHONDONTWRITEBYTECODE': '1', **named}


def python(script, *words, path=('python',), cwd=None, **named):
    named['PYTHONPATH'] = ':'.join(str(ROOT / folder) for folder in path)
    return subprocess.run([sys.executable, EXAMPLES / script, *map(str, words)], cwd=cwd,
                          env=environment(**named), capture_output=True, text=True, timeout=200)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_experiment(self, name, trials):
        done = subprocess.run(
            [os.environ['ATTUNE'], 'run', EXAMPLES / name / 'experiment.yaml', '--dir',
             self.folder / 'experiment', '--max-trials', str(trials), '--seed', '1', '--quiet',
             '--json', '--daemon', os.environ['ATTUNED']],
            env=environment(), capture_output=True, text=True, timeout=200)
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        ended = result['trials']['succeeded'] + result['trials']['early_stopped']
        self.assertEqual(ended, trials, done.stdout)
        return result['best']


class PythonTrial(Case):
    script = 'python_trial/trial.py'

    def test_experiment(self):
        self.assertGreater(self.run_experiment('python_trial', 5)['score'], 0.8)

    def reports(self, folder):
        data = (folder / '.nni/metrics').read_text()
        return [json.loads(line) for line in re.sub(r'(?m)^ME\d{6}', '', data).splitlines()]

    def managed(self, name):
        folder = self.folder / name
        folder.mkdir()
        (folder / 'parameter.cfg').write_text('{"parameter_id": 0, "parameters": {"lr": 0.2}}')
        return folder, {'NNI_PLATFORM': 'local', 'NNI_SYS_DIR': str(folder),
                        'ATTUNE_CHECKPOINT_DIR': str(folder / 'checkpoint')}

    def test_killed_it_goes_on(self):
        whole, names = self.managed('whole')
        self.assertEqual(python(self.script, **names).returncode, 0)
        expected = [(r['type'], r['value']) for r in self.reports(whole)]
        self.assertEqual(len(expected), 9)

        # Behind the third report; and between what is saved and the report of it, which is lost.
        for call, reported, lost in (('print', 3, 0), ('report', 3, 1)):
            with self.subTest(call):
                folder, names = self.managed(call)
                killed = python(ROOT / 'tests/examples/killed_at.py', EXAMPLES / self.script, call,
                                4 if lost else 3, **names)
                self.assertEqual(killed.returncode, -signal.SIGKILL, killed.stderr)
                self.assertEqual(len(self.reports(folder)), reported)
                self.assertEqual(python(self.script, **names).returncode, 0)
                values = [(r['type'], r['value']) for r in self.reports(folder)]
                self.assertEqual(values, expected[:reported] + expected[reported + lost:])

    def test_alone(self):
        done = python(self.script)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r'Final result: 0\.9')


class PythonFunction(Case):
    def test_experiment(self):
        self.assertLess(self.run_experiment('python_function', 4)['score'], 10)

    def test_alone(self):
        done = python('python_function/tour.py')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count('Intermediate result'), 6)
        self.assertIn('Function checkpointing is disabled', done.stderr)


class PythonClient(Case):
    def test_it_finds_the_epidemic(self):
        done = python('python_client/epidemic.py', 120, 1, ATTUNED=os.environ['ATTUNED'])
        self.assertEqual(done.returncode, 0, done.stderr)
        error = float(re.match(r'error (\S+) boys', done.stdout)[1])
        self.assertLess(error, 60, done.stdout)  # without an epidemic, all zero: 152


class NniStyle(Case):
    def test_experiment(self):
        self.assertGreater(self.run_experiment('nni_style', 4)['score'], 0.8)

    def test_alone(self):
        done = python('nni_style/trial.py', path=('python', 'python/compat'))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count('Intermediate result'), 4)


class SyneTuneStyle(Case):
    def test_experiment(self):
        self.assertLess(self.run_experiment('syne_tune_style', 4)['score'], 0.06)

    def test_it_goes_on_from_its_checkpoint(self):
        def epochs(count):
            done = python('syne_tune_style/train.py', '--taps', 4, '--spacing', 6, '--rate', 0.1,
                          '--epochs', count, '--st_checkpoint_dir', self.folder / 'checkpoint',
                          path=('python', 'python/compat'))
            self.assertEqual(done.returncode, 0, done.stderr)
            found = [json.loads(text) for text in
                     re.findall(r'^\[tune-metric\]: (\{.*\})$', done.stdout, re.M)]
            return [(report['epoch'], report['mse']) for report in found]

        first, then = epochs(2), epochs(4)
        self.assertEqual([epoch for epoch, _ in first + then], [1, 2, 3, 4])
        self.assertLess(then[-1][1], first[0][1])


if __name__ == '__main__':
    unittest.main()
