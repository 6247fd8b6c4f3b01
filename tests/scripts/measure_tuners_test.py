"""The table of docs/tuners.md, made with a harness that pretends."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / 'scripts' / 'measure_tuners.py'

# Remembers how it was called.
RUNNER = '''import pathlib, sys
out = pathlib.Path(sys.argv[sys.argv.index('--out') + 1])
(out / sys.argv[sys.argv.index('--opts') + 1]).write_text(sys.argv[-1])
'''
SCORER = '''import sys
at = int(sys.argv[sys.argv.index('--at') + 1])
random = sys.argv[sys.argv.index('--vs') + 1] == 'random'
print('problems=2 at n=100')
for name, problems, regret in (('attune_QMC', 2, 100 / at), ('optuna_gp', 2, 0.4), ('smac', 1, 0.1),
                               ('unknown', 2, 0.2)):
    difference = '+0.500 [+0.1,+0.9]' if random else '-0.100 [-0.2,-0.0]'
    print(f'| {name} | {problems} | 4 | 1.00 | 0.1 | {regret} | 0.1 | - | {difference} | 1 | 1 |')
'''


class MeasureTuners(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.harness = self.folder / 'harness'
        (self.harness / 'adapters').mkdir(parents=True)
        (self.harness / 'peers').mkdir()
        (self.harness / 'runner.py').write_text(RUNNER)
        (self.harness / 'scorer.py').write_text(SCORER)
        (self.harness / 'adapters' / 'nni_pipe.py').write_text('')

    def run_script(self, *arguments):
        return subprocess.run(
            [sys.executable, SCRIPT, *arguments, '--python', sys.executable, '--attuned', SCRIPT,
             '--out', self.folder / 'out'], capture_output=True, text=True, check=False)

    def test_table(self):
        done = self.run_script(self.harness, '--tuner', 'QMC', '--seeds', '3')
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[2:], [
            "| Optuna's Gaussian process | 0.40 | 0.40 | 0.40 | -0.100 [-0.2,-0.0] "
            '| +0.500 [+0.1,+0.9] |',
            '| `QMC` | 4.00 | 2.00 | 1.00 | -0.100 [-0.2,-0.0] | +0.500 [+0.1,+0.9] |',
            '', '2 problems, 3 seeds.'])  # without what was run on fewer problems
        called = (self.folder / 'out' / 'attune_QMC').read_text()
        self.assertIn('--tuner QMC', called)
        self.assertIn('"seed": {seed}', called)

    def test_what_is_missing_is_named(self):
        (self.harness / 'scorer.py').unlink()
        self.assertIn('no scorer.py', self.run_script(self.harness).stderr)
        self.assertIn('no runner.py', self.run_script(self.folder / 'nowhere').stderr)

    def test_an_unknown_tuner_is_named(self):
        done = self.run_script(self.harness, '--tuner', 'QNC')
        self.assertEqual(done.returncode, 2)
        self.assertIn('--tuner: QNC: none of auto, ensemble', done.stderr)


if __name__ == '__main__':
    unittest.main()
