"""The digits trials, C++ and Python, as a manager sees them: parameter.cfg in, .nni/metrics out.

DIGITS_TRIAL is the C++ program; CTest sets it.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / 'examples'
DATA = EXAMPLES / 'digits/data/digits.csv'
sys.path[:0] = [str(EXAMPLES), str(ROOT / 'python'), str(ROOT / 'tests/python')]
import spread  # noqa: E402
from support import parse_records  # noqa: E402


class Run:
    """One run of a trial: what it printed, and the metrics file that it left."""

    def __init__(self, command, sys_dir=None, cwd=None):
        environment = {k: v for k, v in os.environ.items() if not k.startswith('NNI_')}
        if sys_dir is not None:
            environment.update(NNI_PLATFORM='local', NNI_SYS_DIR=str(sys_dir),
                               NNI_TRIAL_JOB_ID='k3vLZ')
        done = subprocess.run([str(word) for word in command], env=environment, cwd=cwd,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200)
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        metrics = pathlib.Path(sys_dir or '/nowhere') / '.nni/metrics'
        self.metrics = metrics.read_bytes() if metrics.exists() else b''


class TrialTest:
    """What both trials have to do. `program` and `epochs` are the subclass's."""

    quick = {'hidden': 8.0, 'batch_size': 64, 'optimizer': {'_name': 'adam', 'lr': 0.01}}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def run_managed(self, parameters, parameter_id=0, arguments=()):
        sys_dir = pathlib.Path(tempfile.mkdtemp(dir=self.dir))
        (sys_dir / 'parameter.cfg').write_text(json.dumps(
            {'parameter_id': parameter_id, 'parameter_source': 'algorithm',
             'parameters': parameters, 'parameter_index': 0}))
        return Run([*self.program, *arguments], sys_dir)

    def run_alone(self, parameters=None, arguments=()):
        command = [*self.program, *arguments]
        if parameters is not None:
            path = self.dir / 'config.json'
            path.write_text(json.dumps(parameters))
            command.append(path)
        return Run(command)

    def assert_fails(self, run, *words):
        self.assertEqual(run.code, 1, run.err)
        self.assertEqual(run.metrics, b'')
        for word in words:
            self.assertIn(word, run.err)
        self.assertNotIn('Traceback', run.err)

    def test_reports_by_the_file_protocol(self):
        run = self.run_managed(self.quick, parameter_id='0-2_1')
        self.assertEqual(run.code, 0, run.err)
        records = parse_records(run.metrics)
        self.assertEqual([r['type'] for r in records], ['PERIODICAL'] * self.epochs + ['FINAL'])
        self.assertEqual([r['sequence'] for r in records], [*range(self.epochs), 0])
        for record in records:
            self.assertEqual(list(record),
                             ['parameter_id', 'trial_job_id', 'type', 'sequence', 'value'])
            self.assertEqual((record['parameter_id'], record['trial_job_id']), ('0-2_1', 'k3vLZ'))
            self.assertIsInstance(record['value'], str)
        curve = [json.loads(r['value']) for r in records[:-1]]
        if isinstance(curve[0], dict):
            self.assertEqual([v['training_iteration'] for v in curve],
                             [*range(1, self.epochs + 1)])
            curve = [v['default'] for v in curve]
        final = json.loads(records[-1]['value'])
        self.assertEqual(list(final), ['default', 'test'])
        self.assertEqual(final['default'], curve[-1])
        for accuracy in [*curve, final['test']]:
            self.assertTrue(0 <= accuracy <= 1, accuracy)
        self.assertGreater(final['default'], 0.5)
        self.assertGreater(final['test'], 0.5)

    def test_appends_to_the_file_that_the_manager_made(self):
        sys_dir = self.dir
        (sys_dir / '.nni').mkdir()
        (sys_dir / '.nni/metrics').write_bytes(b'')
        (sys_dir / 'parameter.cfg').write_text(json.dumps({'parameters': self.quick}))
        once = parse_records(Run(self.program, sys_dir).metrics)
        twice = parse_records(Run(self.program, sys_dir).metrics)
        self.assertEqual(twice, once + once)
        self.assertIsNone(once[0]['parameter_id'])

    def test_same_configuration_same_result(self):
        first = self.run_managed({**self.quick, 'dropout': 0.3})
        self.assertEqual(first.metrics, self.run_managed({**self.quick, 'dropout': 0.3}).metrics)
        for change in ({'seed': 2}, {'dropout': 0.2}, {'activation': 'tanh'}, {'l2': 0.02},
                       {'init_scale': 2}, {'lr_decay': 0.8}, {'layers': 2},
                       {'optimizer': {'_name': 'sgd', 'lr': 0.01}}):
            other = self.run_managed({**self.quick, 'dropout': 0.3, **change})
            self.assertNotEqual(first.metrics, other.metrics, change)

    def test_seed_option_goes_before_the_configuration(self):
        asked = self.run_alone({**self.quick, 'seed': 1}, ['--seed', 7])
        self.assertEqual(asked.out, self.run_alone({**self.quick, 'seed': 7}).out)

    def test_alone_it_prints_what_it_would_report(self):
        alone = self.run_alone(self.quick)
        managed = self.run_managed(self.quick)
        self.assertEqual((alone.code, alone.out), (0, managed.out))
        final = json.loads(parse_records(managed.metrics)[-1]['value'])
        self.assertEqual(alone.out.splitlines()[-1],
                         f"validation {final['default']:.4f}  test {final['test']:.4f}")

    def test_diverged_training_still_reports(self):
        wild = {'hidden': 8, 'batch_size': 8, 'optimizer': {'_name': 'sgd', 'lr': 1000}}
        run = self.run_managed(wild)
        self.assertEqual(run.code, 0, run.err)
        records = parse_records(run.metrics)
        self.assertEqual(len(records), self.epochs + 1)
        self.assertLess(json.loads(records[-1]['value'])['default'], 0.5)

    def test_bad_parameters(self):
        for parameters, words in [
            ([], ['parameters', 'object']),
            ({'hiden': 8}, ['parameters.hiden', 'accepted', 'hidden']),
            ({'hidden': 8.5}, ['parameters.hidden', 'whole number', '8.5']),
            ({'hidden': 0}, ['parameters.hidden', '0']),
            ({'hidden': '8'}, ['parameters.hidden', '"8"']),
            ({'batch_size': True}, ['parameters.batch_size', 'true']),
            ({'dropout': 1}, ['parameters.dropout', '0.95']),
            ({'l2': -1}, ['parameters.l2', '-1']),
            ({'activation': 'relo'}, ['parameters.activation', '"relu"', '"relo"']),
            ({'optimizer': 'sgd'}, ['parameters.optimizer']),
            ({'optimizer': {'_name': 'rmsprop'}}, ['parameters.optimizer._name', '"rmsprop"']),
            ({'optimizer': {'_name': 'adam', 'momentum': 0.5}},
             ['parameters.optimizer.momentum', 'beta2']),
            ({'optimizer': {'_name': 'sgd', 'lr': None}}, ['parameters.optimizer.lr', 'null']),
        ]:
            with self.subTest(parameters=parameters):
                self.assert_fails(self.run_managed(parameters), *words)
                self.assert_fails(self.run_alone(parameters), *words)

    def test_missing_and_broken_files(self):
        self.assert_fails(Run(self.program, self.dir), 'parameter.cfg')
        for text in ('', '{"parameters"', '[]', '{"parameter_id": 0}'):
            (self.dir / 'parameter.cfg').write_text(text)
            self.assert_fails(Run(self.program, self.dir), 'parameter.cfg')
        self.assert_fails(Run([*self.program, self.dir / 'none.json']), 'none.json')
        self.assert_fails(self.run_managed({}, arguments=['--data', self.dir / 'none.csv']),
                          'none.csv')
        rows = DATA.read_text().splitlines(keepends=True)
        for name, text in [('short.csv', ''.join(rows[:100])),
                           ('torn.csv', ''.join(rows)[:-4]),
                           ('words.csv', 'pixel,digit\n' + ''.join(rows))]:
            (self.dir / name).write_text(text)
            self.assert_fails(self.run_managed({}, arguments=['--data', self.dir / name]), name)

    def test_two_configurations_are_one_too_many(self):
        self.assert_fails(self.run_managed({}, arguments=['other.json']), 'NNI_SYS_DIR')


class CppTrialTest(TrialTest, unittest.TestCase):
    program = [os.environ.get('DIGITS_TRIAL', 'digits_trial'), '--data', DATA]
    epochs = 16

    def test_default_json_says_what_the_program_does(self):
        documented = json.loads((EXAMPLES / 'digits/default.json').read_text())
        self.assertEqual(self.run_alone(documented).out, self.run_alone().out)

    def test_goes_on_from_what_it_has_saved(self):
        for optimizer in ({'_name': 'adam', 'lr': 0.01}, {'_name': 'sgd', 'lr': 0.05}):
            parameters = {**self.quick, 'dropout': 0.3, 'lr_decay': 0.9, 'optimizer': optimizer}
            whole = parse_records(self.run_managed(parameters).metrics)
            folder = pathlib.Path(tempfile.mkdtemp(dir=self.dir))
            (folder / '.nni').mkdir()
            (folder / 'parameter.cfg').write_text(
                json.dumps({'parameter_id': 0, 'parameters': parameters}))
            with mock.patch.dict(os.environ, ATTUNE_CHECKPOINT_DIR=str(folder)):
                # Three results are answered: with the fourth it waits, and is ended there.
                answered, metrics = folder / '.nni/answered', folder / '.nni/metrics'
                answered.write_text('...')
                environment = {**os.environ, 'NNI_PLATFORM': 'local', 'NNI_SYS_DIR': str(folder),
                               'NNI_TRIAL_JOB_ID': 'k3vLZ'}
                paused = subprocess.Popen([str(word) for word in self.program], env=environment,
                                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
                while paused.poll() is None and not (
                        metrics.exists() and metrics.read_bytes().count(b'PERIODICAL') == 4):
                    time.sleep(0.01)
                paused.kill()
                paused.wait()
                begun = parse_records(metrics.read_bytes())
                answered.unlink()
                metrics.unlink()
                rest = parse_records(Run(self.program, folder).metrics)
                values = [record['value'] for record in begun + rest]
                self.assertEqual(values, [record['value'] for record in whole])
                self.assertEqual(len(begun), 4)
                (folder / 'parameter.cfg').write_text(json.dumps(
                    {'parameter_id': 0, 'parameters': {**parameters, 'hidden': 16}}))
                self.assertIn('of this shape', Run(self.program, folder).err)

    def test_shift_has_an_effect(self):
        self.assertNotEqual(self.run_alone({**self.quick, 'shift': 0.25}).out,
                            self.run_alone(self.quick).out)

    def test_usage(self):
        self.assertIn('usage:', Run([self.program[0], '--help']).out)
        self.assert_fails(Run([*self.program, '--fast']), '--fast', 'usage:')
        self.assert_fails(Run([*self.program, '--seed', 'x']), '--seed')
        self.assert_fails(Run([*self.program, '--seed']), '--seed')

    def test_trial_sh_from_another_folder(self):
        direct = self.run_alone(self.quick)
        script = EXAMPLES / 'digits/trial.sh'
        self.assertEqual(Run(['sh', script, self.dir / 'config.json'], cwd=self.dir).out,
                         direct.out)


class PythonTrialTest(TrialTest, unittest.TestCase):
    program = [sys.executable, '-B', EXAMPLES / 'digits_python/trial.py']
    epochs = 10


class PausedTest(unittest.TestCase):
    """Both experiments whose tuner pauses trials, as they stand."""

    def lengths(self, name):
        with tempfile.TemporaryDirectory() as folder:
            def attune(*words):
                done = subprocess.run([os.environ['ATTUNE'], *words], cwd=folder, timeout=500,
                                      stdin=subprocess.DEVNULL, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                return done.stdout
            attune('run', str(EXAMPLES / 'digits' / name), '--dir', 'exp', '--quiet')
            for job in json.loads(attune('trials', '--dir', 'exp', '--json')):
                shown = json.loads(attune('show', job['trial_job_id'], '--dir', 'exp', '--json'))
                yield shown['status'], shown['last']['training_iteration']

    def test_asha(self):
        ended = list(self.lengths('experiment-asha.yaml'))
        self.assertEqual(len(ended), 60)
        for status, epochs in ended:
            self.assertIn(epochs, (1, 2, 4, 8, 16))
            self.assertEqual(status == 'succeeded', epochs == 16)
        self.assertLess(sum(epochs for _, epochs in ended), 60 * 16 * 3 / 4)

    def test_population_based_training(self):
        self.assertEqual(list(self.lengths('experiment-pbt.yaml')), [('succeeded', 16)] * 8)


class ExperimentFileTest(unittest.TestCase):
    def test_random_search_has_the_same_space(self):
        for other in ('experiment-random.yaml', 'experiment-asha.yaml'):
            self.assertEqual(spread.read_experiment(EXAMPLES / 'digits/experiment.yaml')[2],
                             spread.read_experiment(EXAMPLES / 'digits' / other)[2], other)

    def test_default_lies_in_the_space(self):
        _, _, space = spread.read_experiment(EXAMPLES / 'digits/experiment.yaml')
        default = json.loads((EXAMPLES / 'digits/default.json').read_text())
        self.assertEqual(list(space), list(default))
        for name, value in default.items():
            kind, domain = space[name]['_type'], space[name]['_value']
            if name == 'optimizer':
                branches = {branch['_name']: list(branch) for branch in domain}
                self.assertEqual(branches[value['_name']], list(value))
            elif kind == 'choice':
                self.assertIn(value, domain)
            else:
                self.assertTrue(domain[0] <= value <= domain[1], name)


if __name__ == '__main__':
    unittest.main()
