"""The examples of docs/python.md and docs/frameworks.md: each runs as it stands there."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from support import python_with

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What an example leaves to its reader.
NAMES = {
    'train(**parameters)': 'def train(lr, depth):\n    yield from (lr, depth)\n',
    'Model(config': 'class Model:\n    epoch = 0\n    def __init__(self, lr): self.lr = lr\n'
                    '    def save(self, folder): pass\n    def train(self): return self.lr\n',
}
FILE = {'trialCommand': f'exec {sys.executable} -B -c "import attune; '
                        'p = attune.next_parameters(); attune.report(p[\'x\']); '
                        'attune.final(p[\'x\'])"',
        'experimentName': 'example', 'searchSpace': {'x': {'_type': 'uniform', '_value': [0, 1]}},
        'maxTrialNumber': 2, 'tuner': {'name': 'Random'}, 'seed': 1}


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_in_folder(self, words):
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=200,
                              env={**os.environ, 'PYTHONPATH': str(ROOT / 'python')})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def example(self, code, python=sys.executable):
        before = ''.join(text for use, text in NAMES.items() if use in code)
        return self.run_in_folder([python, '-B', '-c', before + code])

    def test_each_example_runs(self):
        (self.folder / 'experiment.json').write_text(json.dumps(FILE))
        self.run_in_folder([os.environ['ATTUNE'], 'run', 'experiment.json', '--quiet', '--daemon',
                            os.environ['ATTUNED']])
        examples = re.findall(r'```python\n(.*?)```', (ROOT / 'docs/python.md').read_text(), re.S)
        said = []
        for code in examples:
            with self.subTest(code=code):
                said.append(self.example(code))
        self.assertEqual(len(said), len(examples))
        said = '\n'.join(said)
        self.assertIn('unknown tuner "TPEE"; did you mean "TPE"', said)
        self.assertIn('example completed', said)
        self.assertRegex(said, r'(?m)^50 \d')
        value = float(re.match(r'[\d.e-]+', said).group())  # of the first example
        self.assertLess(value, 0.1)

    def test_each_example_of_the_adapters(self):
        examples = re.findall(r'```python\n(.*?)```', (ROOT / 'docs/frameworks.md').read_text(), re.S)
        self.assertEqual(len(examples), 5)
        for code in examples:
            needs = re.findall(r'\b(?:sklearn|xgboost|ray)\b', code)[0]
            with self.subTest(code=code):
                python = python_with(needs)
                if python is None:
                    self.skipTest(f'no Python has {needs}')
                self.assertTrue(self.example(code, python))

    def test_the_first_one_stands_before_any_prose_of_length(self):
        text = (ROOT / 'docs/python.md').read_text()
        self.assertLess(text.index('```python'), 200)


if __name__ == '__main__':
    unittest.main()
