"""The plug-ins of examples/, spoken to as attuned speaks to them."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / 'examples'
UNIFORM = {'x': {'_type': 'uniform', '_value': [0.0, 1.0]},
           'y': {'_type': 'uniform', '_value': [-5.0, 1e30]}}


def init(space, **arguments):
    return {'op': 'init', 'kind': 'tuner', 'name': 'Optuna', 'arguments': arguments,
            'seed': 2 ** 64 - 1, 'context': {}, 'space': space}


class Conversation:
    """A running plug-in; each call is a request."""

    def __init__(self, *command):
        self.program = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, 'PYTHONPATH': str(ROOT / 'python'), 'PYTHONDONTWRITEBYTECODE': '1'})

    def __call__(self, op, **members):
        request = op if isinstance(op, dict) else {'op': op, **members}
        self.program.stdin.write(json.dumps(request, separators=(',', ':')) + '\n')
        self.program.stdin.flush()
        return json.loads(self.program.stdout.readline())

    def close(self):
        rest, _ = self.program.communicate('{"op":"exit"}\n', timeout=200)
        return rest, self.program.returncode


class Shell(unittest.TestCase):
    def test_random_search(self):
        ask = Conversation(EXAMPLES / 'plugin_shell/random.sh')
        algorithm, = ask('describe', protocol=1)['algorithms']
        self.assertEqual(algorithm['name'], 'ShellRandom')
        self.assertEqual(ask(init(UNIFORM)), {})
        first = ask('ask', ids=[0, 1, 12])['answers']
        self.assertEqual(len({json.dumps(each) for each in first}), 3)
        for each in first:
            self.assertEqual(list(each['parameters']), ['x', 'y'])
            self.assertTrue(0 <= each['parameters']['x'] <= 1)
            self.assertTrue(-5 <= each['parameters']['y'] <= 1e30)
        self.assertEqual(ask('tell', outcomes=[]), {})
        self.assertEqual(ask('ask', ids=[12])['answers'], first[2:])
        for space in ({}, {**UNIFORM, 'k': {'_type': 'randint', '_value': [0, 3]}}):
            self.assertIn('error', ask(init(space)))
        self.assertEqual(ask.close(), ('', 0))


def python_with_optuna():
    for python in (sys.executable, '/usr/bin/python3', shutil.which('python3')):
        check = [python, '-c', 'import optuna']
        if python and subprocess.run(check, capture_output=True).returncode == 0:
            return python
    return None


def outcome(trial, parameters, loss, end='completed'):
    return {'id': trial, 'parameters': parameters, 'loss': loss, 'end': end, 'metrics': {}}


class Optuna(unittest.TestCase):
    def setUp(self):
        python = python_with_optuna()
        if not python:
            self.skipTest('needs optuna (Debian: python3-optuna)')
        self.ask = Conversation(python, EXAMPLES / 'plugin_python/optuna_tuner.py')
        self.addCleanup(self.ask.program.wait)
        self.addCleanup(self.ask.close)

    def test_every_type(self):
        def real(kind, *value):
            return {'_type': kind, '_value': list(value)}

        space = {
            'choice': real('choice', 1, 'a', None, [1, 2]), 'int': real('randint', 1, 5),
            'q': real('quniform', 0.0, 1.0, 0.25), 'log': real('loguniform', 1e-3, 1.0),
            'normal': real('normal', 0.0, 1.0), 'layer': real('layer_choice', 'a', 'b'),
            'some': {'_type': 'input_choice',
                     '_value': {'candidates': ['a', 'b', 'c'], 'n_chosen': 2}},
            'nested': real('choice', {'_name': 'a', 'k': real('qlognormal', 0.0, 1.0, 1.0)},
                           {'_name': 'b'})}
        self.assertEqual(self.ask(init(space, n_startup_trials=5)), {})
        for trial in range(12):  # the model proposes, too
            answer, = self.ask('ask', ids=[trial])['answers']
            parameters = answer['parameters']
            self.assertEqual(list(parameters), list(space))
            self.assertIn(parameters['choice'], [1, 'a', None, [1, 2]])
            self.assertIn(parameters['int'], range(1, 5))
            self.assertEqual(len(parameters['some']['_value']), 2)
            self.assertEqual(self.ask('tell', outcomes=[outcome(trial, parameters, trial)]), {})

    def test_it_minimises_the_loss(self):
        self.assertEqual(self.ask(init(UNIFORM, n_startup_trials=10)), {})
        found = []
        for trial in range(40):
            answer, = self.ask('ask', ids=[trial])['answers']
            found.append((answer['parameters']['x'] - 0.3) ** 2)
            self.ask('tell', outcomes=[outcome(trial, answer['parameters'], found[-1])])
        self.assertLess(sum(found[20:]), sum(found[:20]))

    def test_whatever_may_become_of_a_trial(self):
        self.assertEqual(self.ask(init(UNIFORM, n_startup_trials=1)), {})
        point = {'x': 0.5, 'y': 3.0}
        self.ask('ask', ids=[1, 2, 3])
        for request in ({'op': 'withdraw', 'id': 1},
                        {'op': 'adopt', 'id': -2, 'parameters': point},
                        {'op': 'tell', 'outcomes': [outcome(2, point, None, 'failed'),
                                                    outcome(-2, point, 0.1)]},
                        {'op': 'tell', 'outcomes': [outcome(-1, point, 0.2, 'imported'),
                                                    outcome(-1, point, 0.3, 'imported')]},
                        {'op': 'tell', 'outcomes': [outcome(3, point, 0.4, 'stopped')]},
                        {'op': 'skip_ahead'}):
            self.assertEqual(self.ask(request), {})
        self.assertEqual(len(self.ask('ask', ids=[4, 5])['answers']), 2)

    def test_a_saved_state_goes_on_exactly(self):
        self.assertEqual(self.ask(init(UNIFORM, n_startup_trials=1)), {})
        for trial in range(4):
            answer, = self.ask('ask', ids=[trial])['answers']
            if trial < 3:  # the last one runs
                self.ask('tell', outcomes=[outcome(trial, answer['parameters'], trial)])
        state = self.ask('save')['state']
        after = self.ask('ask', ids=[5, 6])
        self.assertEqual(self.ask(init(UNIFORM, n_startup_trials=1)), {})
        self.assertEqual(self.ask('load', state=state), {})
        self.assertEqual(self.ask('ask', ids=[5, 6]), after)
        told = outcome(3, {'x': 0.5, 'y': 3.0}, 0.1)
        self.assertEqual(self.ask('tell', outcomes=[told]), {})


if __name__ == '__main__':
    unittest.main()
