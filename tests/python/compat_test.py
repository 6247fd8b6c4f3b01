"""The stand-ins for nni and syne_tune, as scripts use them: each in a process of its own."""
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

from support import TrialCase, read_records

PYTHON = pathlib.Path(__file__).resolve().parents[2] / 'python'


def run(code, environment=None):
    clean = {name: value for name, value in os.environ.items() if not name.startswith('NNI_')}
    clean.update(environment or {}, PYTHONPATH=f'{PYTHON}:{PYTHON / "compat"}')
    return subprocess.run([sys.executable, '-B', '-c', code], env=clean, capture_output=True,
                          text=True, timeout=200)


class Nni(TrialCase):
    def run_managed(self, code):
        return run('import nni\n' + code, self.environment)

    def test_a_trial(self):
        done = self.run_managed(
            'print(nni.get_current_parameter())\n'
            'print(nni.get_next_parameter(), nni.get_current_parameter("x"))\n'
            'nni.report_intermediate_result(1)\n'
            'nni.report_intermediate_result({"default": 0.5, "size": 3})\n'
            'nni.report_intermediate_result("sé")\n'
            'nni.report_intermediate_result(float("nan"))\n'
            'nni.report_final_result(0.25)\n'
            'print(nni.get_trial_id(), nni.get_experiment_id(), nni.get_sequence_id())\n'
            'print(nni.get_next_parameter())\n')
        self.assertEqual(done.stdout.splitlines(),
                         ['None', "{'x': 0.5} 0.5", 't0007 exp1 7', 'None'], done.stderr)
        records = read_records(self.folder)
        self.assertEqual([(r['type'], r['sequence'], r['value']) for r in records], [
            ('PERIODICAL', 0, '1'), ('PERIODICAL', 1, '{"default": 0.5, "size": 3}'),
            ('PERIODICAL', 2, '"s\\u00e9"'), ('PERIODICAL', 3, 'NaN'), ('FINAL', 0, '0.25')])
        self.assertEqual({r['parameter_id'] for r in records}, {3})

    def test_reports_need_parameters(self):
        done = self.run_managed('nni.report_final_result(1)')
        self.assertIn('AssertionError: nni.get_next_parameter() has to be called', done.stderr)
        self.assertEqual(read_records(self.folder), [])

    def test_alone(self):
        done = run('import nni\n'
                   'print(nni.get_next_parameter(), nni.get_next_parameter())\n'
                   'nni.report_intermediate_result(1)\nnni.report_final_result(2)\n'
                   'print(nni.get_trial_id(), nni.get_experiment_id(), nni.get_sequence_id())\n')
        self.assertEqual(done.stdout.splitlines(), [
            '{} {}', 'Intermediate result: 1  (Index 0)', 'Final result: 2',
            'STANDALONE STANDALONE 0'])
        self.assertIn('RuntimeWarning', done.stderr)

    def test_merge_parameter(self):
        done = run(
            'from argparse import Namespace\nfrom nni.utils import merge_parameter\n'
            'base = Namespace(lr=0.1, layers=2, name=None)\n'
            'print(merge_parameter(base, {"lr": 1, "name": "x"}) is base, base)\n'
            'print(merge_parameter({"a": 1}, None), merge_parameter({"a": 1}, {"a": 2}))\n'
            'for bad in ({"layrs": 3}, {"layers": 2.5}, {"layers": True}):\n'
            '    try: merge_parameter(base, bad)\n'
            '    except (ValueError, TypeError) as error: print(type(error).__name__, error)\n')
        self.assertEqual(done.stdout.splitlines(), [
            "True Namespace(lr=1, layers=2, name='x')", "{'a': 1} {'a': 2}",
            "ValueError 'layrs' is not among the parameters: lr, layers, name",
            "TypeError 'layers' is a int, and got 2.5",
            "TypeError 'layers' is a int, and got True"], done.stderr)


class SyneTune(unittest.TestCase):
    def lines(self, code):
        done = run('from syne_tune import Reporter\n' + code)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def reports(self, code):
        return [json.loads(re.fullmatch(r'\[tune-metric\]: (\{.*\})', line)[1])
                for line in self.lines(code)]

    def test_reports(self):
        reports = self.reports(
            'class Scalar:\n    def item(self): return 0.5\n'
            'report = Reporter()\nreport(epoch=1, loss=Scalar())\nreport(epoch=2, note="}")')
        self.assertEqual([(r['epoch'], r['st_worker_iter']) for r in reports], [(1, 0), (2, 1)])
        self.assertEqual(list(reports[0]), ['epoch', 'loss', 'st_worker_timestamp',
                                            'st_worker_time', 'st_worker_iter'])
        self.assertEqual((reports[0]['loss'], reports[1]['note']), (0.5, '}'))
        self.assertLessEqual(0, reports[0]['st_worker_time'])
        self.assertLessEqual(reports[0]['st_worker_time'], reports[1]['st_worker_time'])
        self.assertGreater(reports[0]['st_worker_timestamp'], 1.6e9)

    def test_without_time(self):
        self.assertEqual(list(self.reports('Reporter(add_time=False)(loss=1)')[0]),
                         ['loss', 'st_worker_timestamp', 'st_worker_iter'])

    def test_refused_reports_do_not_count(self):
        lines = self.lines(
            'report = Reporter()\n'
            'for bad in ({"loss": None}, {"st_loss": 1}, {"a": "x" * 50_000}, {"a": object()}):\n'
            '    try: report(**bad)\n'
            '    except (AssertionError, TypeError) as error: print(type(error).__name__, error)\n'
            'report(loss=1)')
        for line, words in zip(lines, ['AssertionError loss:', 'AssertionError st_loss:',
                                       'AssertionError the report has 50,', 'TypeError']):
            self.assertTrue(line.startswith(words), line)
        self.assertEqual(len(lines), 5)
        self.assertIn('"st_worker_iter": 0', lines[4])

    def test_the_limit_is_a_string_of_50000_bytes_in_memory(self):
        # sys.getsizeof('') is 49 for ASCII text: 49,950 characters are the most.
        lines = self.lines(
            'import json, sys, time\nfrom unittest import mock\n'
            'with mock.patch.object(time, "time", lambda: 1.5):\n'
            '    report = Reporter(add_time=False)\n'
            '    rest = json.dumps({"a": "", "st_worker_timestamp": 1.5, "st_worker_iter": 0})\n'
            '    fits = 49_999 - sys.getsizeof(rest)\n'
            '    try: report(a="x" * (fits + 1))\n'
            '    except AssertionError: print("refused")\n'
            '    report(a="x" * fits)\n')
        self.assertEqual(lines[0], 'refused')
        self.assertTrue(lines[1].startswith('[tune-metric]: {"a": "xxx'))

    def test_utilities(self):
        lines = self.lines(
            'import argparse, json, tempfile\n'
            'from syne_tune.report import Reporter\n'
            'from syne_tune.utils import *\n'
            'from syne_tune.constants import ST_CHECKPOINT_DIR\n'
            'parser = argparse.ArgumentParser()\n'
            'add_checkpointing_to_argparse(parser)\nadd_config_json_to_argparse(parser)\n'
            'parser.add_argument("--lr", type=float)\n'
            'print(vars(parser.parse_args([])))\n'
            'with tempfile.NamedTemporaryFile("w") as file:\n'
            '    file.write(\'{"lr": 0.5, "depth": 3}\'); file.flush()\n'
            '    words = ["--st_config_json_filename", file.name, "--lr", "0.1"]\n'
            '    args = vars(parser.parse_args(words))\n'
            '    config = load_config_json(args)\n'
            '    print(config["lr"], config["depth"], len(config), "depth" in args)\n'
            'print(resume_from_checkpointed_model({}, None))\n'
            'print(resume_from_checkpointed_model({ST_CHECKPOINT_DIR: "/none"}, None))\n'
            'twice = lambda path: path * 2\n'
            'print(resume_from_checkpointed_model({ST_CHECKPOINT_DIR: "/"}, twice))\n'
            'checkpoint_model_at_rung_level({}, None, 3)\n'
            'checkpoint_model_at_rung_level({ST_CHECKPOINT_DIR: "/"}, print, 3)\n')
        self.assertEqual(lines, [
            "{'st_checkpoint_dir': None, 'st_config_json_filename': None, 'lr': None}",
            '0.1 3 4 False', '0', '0', '//', '/ 3'])


if __name__ == '__main__':
    unittest.main()
