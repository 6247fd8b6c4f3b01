"""Programs that know nothing of attune, under the real attune and attuned: the solver example, a
script that prints as Syne Tune's Reporter does, and a manager that is killed meanwhile.

ATTUNE is the program; CTest sets it.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ATTUNE = os.environ.get('ATTUNE', 'attune')
SOLVER = pathlib.Path(__file__).resolve().parents[2] / 'examples/solver'

HEAD = '''
searchSpace: {x: {_type: choice, _value: ["a b", "$(touch hacked)"]}}
tuner: {name: Random, classArgs: {optimize_mode: minimize}}
'''

# Prints what the Reporter of Syne Tune prints, with its command line.
SYNE = '''
import argparse, json, os, sys
parser = argparse.ArgumentParser()
parser.add_argument('--x')
parser.add_argument('--st_checkpoint_dir')
arguments = parser.parse_args()
assert os.path.isdir(arguments.st_checkpoint_dir)
for step in range(3):
    print('[tune-metric]: ' + json.dumps({'loss': 1 / (step + 1), 'x': len(arguments.x),
                                          'st_worker_iter': step}), flush=True)
'''


class ForeignTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def attune(self, *words):
        return subprocess.run([ATTUNE, *map(str, words)], cwd=self.dir, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=200)

    def run_file(self, file, *more):
        done = self.attune('run', file, '--dir', self.dir / 'exp', '--json', '--seed', 1, *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def run_text(self, text, *more):
        (self.dir / 'e.yaml').write_text(HEAD + text)
        return self.run_file('e.yaml', *more)

    def test_solver_by_template_and_regex(self):
        summary = self.run_file(SOLVER / 'experiment.yaml', '--max-trials', 12)
        self.assertLess(summary['best']['score'], 0.1)
        best = summary['best']
        case = (self.dir / 'exp/trials' / best['trial_job_id'] / 'case.toml').read_text()
        self.assertIn(f'order = "{best["parameters"]["order"]}"', case)
        printed = (self.dir / 'exp/trials' / best['trial_job_id'] / 'stdout').read_text()
        self.assertIn(f'omega {best["parameters"]["omega"]}', printed)

    def test_solver_by_command_and_result_file(self):
        summary = self.run_file(SOLVER / 'experiment-command.yaml', '--max-trials', 6)
        self.assertEqual(summary['trials']['succeeded'], 6)
        self.assertLess(summary['best']['score'], 1)

    def test_syne_tune_script(self):
        (self.dir / 'train.py').write_text(SYNE)
        summary = self.run_text(
            'trialCommand: python3 train.py\narguments: commandLine\nreport: tuneMetric\n'
            'objectives: [{metric: loss}]\nmaxTrialNumber: 2\n')
        self.assertEqual(summary['trials']['succeeded'], 2)
        self.assertAlmostEqual(summary['best']['score'], 1 / 3)
        self.assertFalse((self.dir / 'hacked').exists())

    def test_a_mistake_costs_no_trial(self):
        (self.dir / 'e.yaml').write_text(HEAD + 'trialCommand: run {x}\nreport: {regex: "(a"}\n')
        done = self.attune('run', 'e.yaml', '--dry-run')
        self.assertEqual(done.returncode, 2)
        self.assertIn('report.regex: the regular expression is wrong at byte 2', done.stderr)

    def test_a_parameter_that_reaches_no_trial_is_told(self):
        (self.dir / 'e.yaml').write_text(
            HEAD + 'trialCommand: run\nreport: {exitCode: true}\n')
        done = self.attune('run', 'e.yaml', '--dry-run')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('warning: no placeholder names x: write {x}', done.stderr)
        self.assertEqual(json.loads(done.stdout)['trialCommand'], 'run')

    def test_resume_renders_the_template_of_the_start(self):
        (self.dir / 'case.in').write_text('first {x}')
        (self.dir / 'e.yaml').write_text(
            HEAD + 'trialCommand: cat $NNI_OUTPUT_DIR/case; exit 3\nreport: {exitCode: true}\n'
            'templates: [{template: case.in, file: case}]\nmaxTrialNumber: 1\n')
        self.run_file('e.yaml')
        (self.dir / 'case.in').unlink()
        done = self.attune('resume', '--dir', self.dir / 'exp', '--max-trials', 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        printed = (self.dir / 'exp/trials/t0001/stdout').read_text()
        self.assertTrue(printed.startswith('first '), printed)

    def test_no_match_is_told(self):
        (self.dir / 'e.yaml').write_text(
            HEAD + 'trialCommand: echo {x}\nreport: {regex: "r (?<default>.)"}\nmaxTrialNumber: 1\n')
        done = self.attune('run', 'e.yaml', '--dir', self.dir / 'exp')
        self.assertEqual(done.returncode, 1)
        self.assertIn('in a line of its output that the regular expression', done.stderr)
        self.assertNotIn('nni', done.stderr)
        self.assertIn('no line of its output has a number for "default"', done.stderr)

    def test_a_metric_without_objectives_is_told(self):
        (self.dir / 'e.yaml').write_text(
            HEAD + """trialCommand: "echo '[tune-metric]: {\\"loss\\": 1}'"\n"""
            'arguments: commandLine\nreport: tuneMetric\nmaxTrialNumber: 1\n')
        done = self.attune('run', 'e.yaml', '--dir', self.dir / 'exp')
        self.assertEqual(done.returncode, 1)
        self.assertIn('report loss: write `objectives: [{metric: loss}]`', done.stderr)

    def test_manager_killed_between_the_lines(self):
        os.mkfifo(self.dir / 'printed')
        os.mkfifo(self.dir / 'go')
        (self.dir / 'e.yaml').write_text(
            HEAD + 'trialCommand: "echo r 3; echo > printed; read x < go; echo r 2; echo r 1"\n'
            'report: {regex: "r (?<default>.)"}\nmaxTrialNumber: 1\n')
        manager = subprocess.Popen([ATTUNE, 'run', 'e.yaml', '--dir', self.dir / 'exp'],
                                   cwd=self.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
        (self.dir / 'printed').read_text()
        manager.kill()
        manager.communicate()
        (self.dir / 'go').write_text('go\n')
        done = self.attune('resume', '--dir', self.dir / 'exp', '--json')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)['best']['score'], 1)
        shown = self.attune('show', 't0000', '--dir', self.dir / 'exp', '--json')
        reports = json.loads(shown.stdout)['report_list']
        self.assertEqual([(report['type'], report['sequence'], report['score'])
                          for report in reports],
                         [('periodical', 0, 3), ('periodical', 1, 2), ('periodical', 2, 1),
                          ('final', 0, 1)])


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
