"""The examples with the trial library: alone, as trials of `attune run`, and going on after a kill;
and libattune_trial.so as another language sees it.

EXAMPLES_BIN is the folder of the programs, TRIAL_LIBRARY the library (not with a sanitizer: Python
cannot load that); CTest sets them.
"""
import ctypes
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ['EXAMPLES_BIN'])


def run(command, **variables):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(('NNI_', 'ATTUNE_'))}
    environment.update({k: str(v) for k, v in variables.items()})
    return subprocess.run([str(word) for word in command], env=environment, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=200)


def reports(folder):
    """[(type, value)] of a metrics file."""
    data, found = (folder / '.nni/metrics').read_bytes(), []
    while data:
        size = int(data[2:8])
        record = json.loads(data[8:8 + size])
        found.append((record['type'], json.loads(record['value'])))
        data = data[8 + size:]
    return found


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def manage(self, parameters):
        """What a manager prepares for a trial; the variables."""
        (self.dir / 'parameter.cfg').write_text(
            json.dumps({'parameter_id': 0, 'parameters': parameters}))
        (self.dir / 'checkpoint').mkdir()
        return {'NNI_PLATFORM': 'local', 'NNI_SYS_DIR': self.dir, 'NNI_TRIAL_JOB_ID': 't0000',
                'ATTUNE_CHECKPOINT_DIR': self.dir / 'checkpoint'}


class ExampleTest(Case):
    def test_alone(self):
        for name in 'cpp_trial', 'function_trial', 'c_trial':
            with self.subTest(name):
                ran = run([BIN / name])
                self.assertEqual(ran.returncode, 0, ran.stderr)
                self.assertIn('report 0: ', ran.stdout)
                self.assertIn('final: ', ran.stdout)

    def test_under_attune(self):
        for name, trials in ('cpp_trial', 20), ('function_trial', 16), ('c_trial', 16):
            with self.subTest(name):
                ran = run([BIN / 'attune', 'run', ROOT / f'examples/{name}/experiment.yaml', '--dir',
                           self.dir / name, '--json'], EXAMPLES_BIN=BIN)
                self.assertEqual(ran.returncode, 0, ran.stderr)
                ended = json.loads(ran.stdout)['trials']
                self.assertEqual(ended['succeeded'] + ended['early_stopped'], trials, ended)

    def test_a_program_goes_on_from_what_it_saved(self):
        parameters = {'lr': 1, 'momentum': 0.5, 'decay': 0.0001}
        variables = self.manage(parameters)
        self.assertEqual(run([BIN / 'cpp_trial'], **variables).returncode, 0)
        whole = reports(self.dir)
        state = self.dir / 'checkpoint/model.json'
        self.assertEqual(json.loads(state.read_text())['epoch'], 60)
        # Once more: there is nothing left to do, and the same result.
        (self.dir / '.nni/metrics').unlink()
        self.assertEqual(run([BIN / 'cpp_trial'], **variables).returncode, 0)
        self.assertEqual(reports(self.dir), whole[-1:])

    def test_a_function_goes_on_from_its_checkpoint(self):
        variables = self.manage({'start_temperature': 100, 'cooling': 0.8})
        self.assertEqual(run([BIN / 'function_trial'], **variables).returncode, 0)
        whole = reports(self.dir)
        self.assertEqual(len(whole), 31)
        # As if it had been killed in round 29: only what round 28 saved is there.
        (self.dir / 'checkpoint/checkpoint_29/tour').unlink()
        (self.dir / 'checkpoint/checkpoint_29').rmdir()
        (self.dir / '.nni/metrics').unlink()
        self.assertEqual(run([BIN / 'function_trial'], **variables).returncode, 0)
        self.assertEqual(reports(self.dir), whole[-2:])

    def test_steps_in_process_are_those_of_the_process(self):
        alone = run([BIN / 'function_trial']).stdout.splitlines()
        steps = run([BIN / 'function_trial', '--steps', 3])
        self.assertEqual(steps.returncode, 0, steps.stderr)
        values = [float(line.split(': ')[1]) for line in steps.stdout.splitlines()]
        self.assertEqual(values, [round(float(line.split(': ')[1]), 1) for line in alone[:3]])

    def test_an_error_has_a_reason(self):
        for name in 'cpp_trial', 'function_trial', 'c_trial':
            with self.subTest(name):
                ran = run([BIN / name], NNI_PLATFORM='local', NNI_SYS_DIR=self.dir)
                self.assertEqual(ran.returncode, 1)
                self.assertIn('parameter.cfg', ran.stderr)


class LibraryTest(Case):
    """libattune_trial.so through ctypes, as any language with a foreign function interface."""

    def test_a_trial_by_foreign_functions(self):
        library = ctypes.CDLL(os.environ['TRIAL_LIBRARY'])
        library.attune_trial_error.restype = ctypes.c_char_p
        library.attune_trial_report.argtypes = [ctypes.c_void_p, ctypes.c_double]
        os.environ.update({k: str(v) for k, v in self.manage({'lr': 0.25}).items()})
        trial, lr = ctypes.c_void_p(), ctypes.c_double()
        self.assertEqual(library.attune_trial_open(None, None, ctypes.byref(trial)), 0)
        self.assertEqual(library.attune_trial_report(trial, 1), 3)
        self.assertIn(b'next_parameters', library.attune_trial_error(trial))
        self.assertEqual(library.attune_trial_next_parameters(trial), 0)
        self.assertEqual(library.attune_trial_get_double(trial, b'lr', ctypes.byref(lr)), 0)
        self.assertEqual(lr.value, 0.25)
        self.assertEqual(library.attune_trial_report(trial, 0.5), 0)
        self.assertEqual(library.attune_trial_final_json(trial, b'{"default": 1}'), 0)
        library.attune_trial_free(trial)
        self.assertEqual(reports(self.dir), [('PERIODICAL', 0.5), ('FINAL', {'default': 1})])

    def test_nothing_else_is_exported(self):
        symbols = run(['nm', '-D', '--defined-only', os.environ['TRIAL_LIBRARY']]).stdout
        names = [line.split()[-1] for line in symbols.splitlines()]
        self.assertGreater(len(names), 20)
        self.assertEqual([n for n in names if not n.startswith('attune_trial_')], [])


if __name__ == '__main__':
    unittest.main()
