"""Classes that were written for NNI, in attuned and in attune run."""
import base64
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import textwrap
import unittest

from attune.daemon import Daemon, DaemonError, find_attuned
from support import TWO

CLASSES = pathlib.Path(__file__).resolve().parent / 'nni_classes'
PYTHON = CLASSES.parents[2] / 'python'


class Conversation:
    """attuned, with the experiment parameters of an NNI manager that understands errors."""

    def __init__(self, *arguments, capabilities=('error',), **experiment):
        text = json.dumps({'capabilities': list(capabilities), **experiment})
        self.daemon = Daemon(find_attuned(), [
            '--exp_params', base64.b64encode(text.encode()).decode(), '--log-file', os.devnull,
            *arguments])

    def begin(self, space):
        self.daemon.send(('IN', json.dumps(space)))
        assert self.daemon.receive() == ('ID', '')

    def ask(self, count=1):
        """(parameter_id, parameters) of each."""
        self.daemon.send(('GE', str(count)))
        trials = [json.loads(self.daemon.receive()[1]) for _ in range(count)]
        return [(trial['parameter_id'], trial['parameters']) for trial in trials]

    def metric(self, trial, value, kind='FINAL', sequence=0):
        self.daemon.send(('ME', json.dumps(
            {'parameter_id': trial, 'trial_job_id': f'J{trial}', 'type': kind,
             'sequence': sequence, 'value': json.dumps(value)})))

    def end(self, trial, event='SUCCEEDED'):
        self.daemon.send(('EN', json.dumps(
            {'trial_job_id': f'J{trial}', 'event': event,
             'hyper_params': json.dumps({'parameter_id': trial})})))


def named(name, **more):
    return {'className': f'algorithms.{name}', 'codeDirectory': str(CLASSES), **more}


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.log = self.folder / 'log'

    def begun(self, *arguments, space=None, **experiment):
        conversation = Conversation(*arguments, **experiment)
        self.addCleanup(conversation.daemon.close)
        conversation.begin(space or TWO)
        return conversation

    def said(self):
        return [json.loads(line) for line in self.log.read_text().splitlines()]


class UnderAManager(Case):
    def test_a_tuner(self):
        for tuner in (named('NearBest'),
                      {'className': 'NearBest', 'classFileName': 'algorithms.py',
                       'codeDir': str(CLASSES)}):
            self.log.write_text('')
            tuner['classArgs'] = {'optimize_mode': 'minimize', 'log': str(self.log)}
            run = self.begun(tuner=tuner)
            (first, parameters), _ = run.ask(2)
            self.assertEqual((first, list(parameters)), (0, ['x', 'k', 'member']))
            run.metric(0, {'default': 0.5, 'size': 3})
            run.end(0)
            run.end(1, 'FAILED')
            self.assertEqual(run.ask()[0][1]['member'], {'id': 2})
            self.assertEqual(self.said(), [
                ['space', ['k', 'x']],
                ['result', 0, parameters, {'default': 0.5, 'size': 3.0},
                 {'customized': False, 'trial_job_id': 'trial0'}],
                ['end', 0, True], ['end', 1, False]])
            run.daemon.close()

    def test_a_search_space_that_only_the_class_understands(self):
        (self.folder / 'own.py').write_text(textwrap.dedent('''
            from nni.tuner import Tuner
            class Own(Tuner):
                def update_search_space(self, space): self.space = space
                def generate_parameters(self, parameter_id, **kwargs): return self.space['models']
                def receive_trial_result(self, *what, **kwargs): pass
        '''))
        run = self.begun(tuner={'className': 'own.Own', 'codeDirectory': str(self.folder)},
                         space={'models': ['a', {'b': None}]})
        self.assertEqual(run.ask(), [(0, ['a', {'b': None}])])
        run.daemon.send(('SS', json.dumps({'models': 'text'})))
        self.assertEqual(run.ask(), [(1, 'text')])

    def test_an_advisor(self):
        run = self.begun(advisor=named('RandomAdvisor', classArgs={'log': str(self.log)}))
        (_, first), (_, second) = run.ask(2)
        self.assertEqual((first['TRIAL_BUDGET'], second['TRIAL_BUDGET']), (1, 2))
        run.metric(1, 1, 'PERIODICAL', 0)
        run.metric(1, -1, 'PERIODICAL', 1)
        self.assertEqual(run.daemon.receive()[0], 'KI')
        run.end(1, 'EARLY_STOPPED')
        run.metric(0, 0.5)
        run.end(0)
        run.ask()
        self.assertEqual(self.said()[2:], [
            ['end', 'EARLY_STOPPED', '0_1'],
            ['metric', {'parameter_id': '0_0', 'trial_job_id': 'trial0', 'type': 'FINAL',
                        'sequence': 0, 'value': '0.5'}],
            ['end', 'SUCCEEDED', '0_0']])

    def test_an_assessor_beside_a_tuner_of_ours(self):
        run = self.begun(tuner={'name': 'Random', 'classArgs': {'seed': 1}},
                         assessor=named('AboveZero'))
        self.assertEqual(list(run.ask()[0][1]), ['x', 'k'])
        run.metric(0, -1, 'PERIODICAL')
        code, payload = run.daemon.receive()
        self.assertEqual((code, payload), ('KI', '"J0"'))

    def test_kill_9_and_resume(self):
        checkpoints = ('--checkpoint-dir', str(self.folder))
        tuner = named('NearBest', classArgs={'seed': 1, 'log': str(self.log)})
        run = self.begun(*checkpoints, '--durability', 'write', tuner=tuner)
        first, second = run.ask(2)
        run.metric(0, 0.5)
        run.end(0)
        third = run.ask()[0]
        os.kill(run.daemon.pid, signal.SIGKILL)
        self.log.write_text('')
        run = self.begun(*checkpoints, '--resume', tuner=tuner)
        # Nobody runs them: they come again, under other ids.
        self.assertEqual([parameters for _, parameters in run.ask(2)], [second[1], third[1]])
        fourth = run.ask()[0]
        self.assertEqual((fourth[0], fourth[1]['member']), (5, {'id': 5}))
        self.assertIn(['import', [{'parameter': first[1], 'value': 0.5}]], self.said())


class Mistakes(Case):
    def refusal(self, tuner, calls=lambda run: None):
        """What attuned says at its end."""
        with self.assertRaises(DaemonError) as caught:
            run = Conversation(tuner=tuner)
            self.addCleanup(run.daemon.close)
            run.begin(TWO)
            calls(run)
        return str(caught.exception)

    def bad(self, body, **more):
        (self.folder / 'bad.py').write_text(
            'import nni, os, sys, time\nfrom nni.tuner import Tuner\n' + textwrap.dedent(body))
        return {'className': 'bad.Bad', 'codeDirectory': str(self.folder), **more}

    def test_classes_that_cannot_be_loaded(self):
        self.assertIn('exit code 2): tuner.codeDirectory: there is no folder /nowhere',
                      self.refusal({'className': 'a.B', 'codeDirectory': '/nowhere'}))
        self.assertIn(f'className "a.B": there is no module a in {CLASSES}',
                      self.refusal({'className': 'a.B', 'codeDirectory': str(CLASSES)}))
        self.assertIn("import bad: ModuleNotFoundError: No module named 'nowhere' (bad.py:3)",
                      self.refusal(self.bad('import nowhere\n')))
        self.assertIn('tuner.className: "module.Class" expected, not "B"',
                      self.refusal({'className': 'B', 'codeDirectory': str(CLASSES)}))
        self.assertIn('tuner.classFileName', self.refusal({'className': 'B', 'classFileName': 'b'}))
        self.assertIn('tuner.timeout: seconds expected',
                      self.refusal(named('NearBest', timeout='soon')))

    def test_arguments(self):
        self.assertIn("unexpected keyword argument 'sise'",
                      self.refusal(named('NearBest', classArgs={'sise': 1})))
        self.assertIn('an object', self.refusal(named('NearBest', classArgs=[1])))

    def test_code_that_raises(self):
        said = self.refusal(self.bad('''
            class Bad(Tuner):
                def update_search_space(self, space): pass
                def generate_parameters(self, parameter_id, **kwargs): return {}['x']
        '''), lambda run: run.ask())
        self.assertIn("bad.Bad.generate_multiple_parameters: KeyError: 'x' (bad.py:6)", said)
        said = self.refusal(self.bad('''
            class Bad(Tuner):
                def update_search_space(self, space): raise ValueError('not for me')
        '''))
        self.assertIn('bad.Bad.update_search_space: ValueError: not for me (bad.py:5)', said)

    def test_code_that_ends_the_process(self):
        said = self.refusal(self.bad('''
            class Bad(Tuner):
                def update_search_space(self, space): pass
                def generate_parameters(self, parameter_id, **kwargs): os._exit(7)
        '''), lambda run: run.ask())
        self.assertIn('exit code 7', said)

    def test_code_that_hangs(self):
        said = self.refusal(self.bad('time.sleep(1e6)\n', timeout=3))
        self.assertIn('has not answered within 3 s', said)

    def test_constraints(self):
        with self.assertRaises(DaemonError) as caught:
            run = Conversation(tuner=named('NearBest'), constraints=['x < 1'])
            self.addCleanup(run.daemon.close)
            run.begin(TWO)
        self.assertIn('constraints: this algorithm alone reads the search space',
                      str(caught.exception))


class InAttune(Case):
    def run_experiment(self, text, code=0):
        (self.folder / 'experiment.yaml').write_text(textwrap.dedent(text))
        (self.folder / 'trial.py').write_text(
            'import attune\np = attune.next_parameters()\nattune.report(p["x"])\n'
            'attune.final(p["x"])\n')
        done = subprocess.run(
            [os.environ['ATTUNE'], 'run', 'experiment.yaml', '--dir', 'run'], cwd=self.folder,
            capture_output=True, text=True, timeout=500,
            env={**os.environ, 'PYTHONPATH': str(PYTHON)})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_a_tuner(self):
        (self.folder / 'code').symlink_to(CLASSES)
        self.run_experiment(f'''
            searchSpace: {{x: {{_type: uniform, _value: [0, 1]}}}}
            trialCommand: python3 trial.py
            trialConcurrency: 2
            maxTrialNumber: 4
            tuner:
              className: algorithms.NearBest
              codeDirectory: code
              classArgs: {{optimize_mode: minimize, log: {self.log}}}
        ''')
        self.assertEqual(sum(line[0] == 'result' for line in self.said()), 4)

    def test_a_mistake_has_its_place(self):
        said = self.run_experiment('''
            searchSpace: {x: {_type: uniform, _value: [0, 1]}}
            trialCommand: python3 trial.py
            maxTrialNumber: 4
            tuner:
              className: algorithms.Nobody
              classArgs: {optimize_mode: minimize}
        ''', 2)
        self.assertIn('className "algorithms.Nobody": there is no module algorithms in', said)


if __name__ == '__main__':
    unittest.main()
