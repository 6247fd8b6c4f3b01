"""attune.plugin: classes as plug-ins, and search spaces as numbers."""
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

from attune.plugin_space import Space

CLASSES = '''
from attune import plugin
import os, sys

class Halves(plugin.Tuner):
    """Halves x

    and more."""
    arguments = [{'name': 'start', 'type': 'number', 'default': 1.0}]

    def __init__(self, *given):
        super().__init__(*given)
        self.x = self.given['start']
        print('made'); os.system('echo loud'); print(repr(sys.stdin.read()), file=sys.stderr)

    def ask(self, trial):
        self.x /= 2
        if self.x < 0.2:
            return plugin.EXHAUSTED
        return {'x': self.x}

    def tell(self, outcome):
        if outcome.loss is None:
            raise ValueError(f'no loss of {outcome.id}\\nat all')

    def report(self, trial, step, metrics):
        return [{'id': trial, 'action': 'stop', 'reason': f'{step} {metrics}'}]

    def save(self):
        return {'x': self.x}

    def load(self, state):
        self.x = state['x']

class Third(plugin.Assessor):
    name = 'third'
    optimize_mode = 'maximize'
    def assess(self, trial, reports):
        return f'{[each["default"] for each in reports]}' if len(reports) > 2 else None

plugin.serve(Halves, Third)
'''
SPACE = {'x': {'_type': 'uniform', '_value': [0, 1]}}


def init(name, kind='tuner', **arguments):
    return {'op': 'init', 'kind': kind, 'name': name, 'arguments': arguments, 'seed': 2 ** 64 - 1,
            'context': {}, **({'space': SPACE} if kind == 'tuner' else {})}


def outcome(trial, loss):
    return {'id': trial, 'parameters': {'x': 0.5}, 'loss': loss, 'end': 'completed',
            'metrics': {'default': loss}}


class Serving(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / 'classes.py'
        self.file.write_text(CLASSES)

    def talk(self, *requests):
        """The replies, one for each request; self.errors is what went to stderr."""
        text = ''.join(json.dumps(request) + '\n' for request in requests)
        done = subprocess.run([sys.executable, '-B', self.file], input=text, capture_output=True,
                              text=True, timeout=200)
        self.errors = done.stderr
        self.assertEqual(done.returncode, 0, done.stderr)
        replies = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(replies), len(requests), done.stdout)
        return replies

    def test_what_it_offers(self):
        said, = self.talk({'op': 'describe', 'protocol': 1})
        halves, third = said['algorithms']
        self.assertEqual(said['protocol'], 1)
        self.assertEqual(halves, {
            'kind': 'tuner', 'name': 'Halves', 'summary': 'Halves x', 'optimize_mode': 'minimize',
            'arguments': [{'name': 'start', 'type': 'number', 'default': 1.0}],
            'wants_reports': True, 'saves': True})
        self.assertEqual(third, {
            'kind': 'assessor', 'name': 'third', 'summary': '', 'optimize_mode': 'maximize',
            'arguments': [], 'wants_reports': False, 'saves': False})

    def test_a_tuner(self):
        replies = self.talk(
            init('Halves', start=2), {'op': 'ask', 'ids': [1, 2]}, {'op': 'save'},
            {'op': 'ask', 'ids': [3, 4]}, {'op': 'load', 'state': {'x': 8}},
            {'op': 'ask', 'ids': [4]}, {'op': 'tell', 'outcomes': [outcome(1, 0.5)]},
            {'op': 'adopt', 'id': -2, 'parameters': {'x': 1}}, {'op': 'withdraw', 'id': 4},
            {'op': 'report', 'id': 2, 'step': 0, 'metrics': {'default': None}},
            {'op': 'skip_ahead'}, {'op': 'not known yet', 'more': 1})
        self.assertEqual(replies, [
            {}, {'answers': [{'parameters': {'x': 1}}, {'parameters': {'x': 0.5}}]},
            {'state': {'x': 0.5}}, {'answers': [{'parameters': {'x': 0.25}}, 'exhausted']}, {},
            {'answers': [{'parameters': {'x': 4}}]}, {}, {}, {},
            {'decisions': [{'id': 2, 'action': 'stop', 'reason': "0 {'default': None}"}]}, {}, {}])
        # Only answers are on stdout, and stdin is for the requests.
        self.assertEqual(self.errors.splitlines(), ['made', 'loud', "''"])

    def test_an_assessor_gets_all_reports(self):
        reports = [{'default': 1}, {'default': 2}]
        replies = self.talk(
            init('third', 'assessor'), {'op': 'assess', 'id': 5, 'from': 0, 'reports': reports},
            {'op': 'assess', 'id': 5, 'from': 2, 'reports': [{'default': 3}]},
            {'op': 'assess', 'id': 5, 'from': 0, 'reports': reports},
            {'op': 'trial_end', 'id': 5, 'end': 'stopped'},
            {'op': 'assess', 'id': 5, 'from': 0, 'reports': [{'default': 9}] * 3})
        self.assertEqual(replies, [{}, {}, {'action': 'stop', 'reason': '[1, 2, 3]'}, {}, {},
                                   {'action': 'stop', 'reason': '[9, 9, 9]'}])

    def test_members_that_it_does_not_know_are_ignored(self):
        later = {'later': [1]}
        replies = self.talk(*({**request, **later} for request in (
            {'op': 'describe'}, init('Halves', start=1), {'op': 'ask', 'ids': [1]},
            {'op': 'tell', 'outcomes': [{**outcome(1, 0.5), **later}]},
            {'op': 'adopt', 'id': 2, 'parameters': {}}, {'op': 'withdraw', 'id': 2},
            {'op': 'report', 'id': 2, 'step': 0, 'metrics': {}}, {'op': 'skip_ahead'},
            {'op': 'save'}, {'op': 'load', 'state': {'x': 1}}, init('third', 'assessor'),
            {'op': 'assess', 'id': 5, 'from': 0, 'reports': [{}]},
            {'op': 'trial_end', 'id': 5, 'end': 'stopped'})))
        self.assertEqual([each for each in replies if 'error' in each], [])

    def test_the_example_of_the_page(self):
        page = pathlib.Path(__file__).resolve().parents[2] / 'docs/plugin-protocol.md'
        self.file.write_text(re.search(r'```python\n(.*?)```', page.read_text(), re.S)[1])
        replies = self.talk({'op': 'describe'}, init('Corners', first='high'),
                            {'op': 'ask', 'ids': [0, 1]}, {'op': 'tell', 'outcomes': [outcome(1, 2)]})
        self.assertEqual(replies[2]['answers'], [{'parameters': {'x': 1}}, {'parameters': {'x': 0}}])
        self.assertEqual(self.errors, '1 2\n')

    def test_an_exception_is_an_answer(self):
        replies = self.talk(init('Halves', start=1), {'op': 'tell', 'outcomes': [outcome(1, None)]},
                            {'op': 'ask', 'ids': [1]})
        self.assertRegex(replies[1]['error'],
                         r'^ValueError: no loss of 1 at all \(classes.py:\d+\)$')
        self.assertEqual(replies[2], {'answers': [{'parameters': {'x': 0.5}}]})
        self.assertIn('Traceback', self.errors)


def real(kind, *value):
    return {'_type': kind, '_value': list(value)}


EVERYTHING = {
    'choice': real('choice', 1, 1.0, True, '1', None, [1, 2], {'a': 1}),
    'randint': real('randint', -3, 4), 'uniform': real('uniform', -1, 1),
    'quniform': real('quniform', 0.5, 2, 0.3), 'loguniform': real('loguniform', 1e-3, 10),
    'qloguniform': real('qloguniform', 1, 100, 1), 'normal': real('normal', 3, 2),
    'qnormal': real('qnormal', 0, 5, 0.5), 'lognormal': real('lognormal', 0, 1),
    'qlognormal': real('qlognormal', 1, 1, 0.5), 'constant': real('normal', 3, 0),
    'layer': real('layer_choice', 'a', 'b', 'a'),
    'some': {'_type': 'input_choice', '_value': {'candidates': ['a', 'b', 'c', 'd'], 'n_chosen': 2}},
    'nested': real('choice', {'_name': 'a', 'k': real('randint', 0, 9)},
                   {'_name': 'b', 'deep': real('choice', {'_name': 'c', 'k': real('uniform', 0, 1)},
                                               {'_name': 'd'})})}


class Spaces(unittest.TestCase):
    def test_numbers_and_back(self):
        space = Space(EVERYTHING)
        for seed in range(300):
            rng = random.Random(seed)

            def pick(dimension):
                if dimension.kind == 'real':
                    return rng.choice([dimension.low, dimension.high,
                                       rng.uniform(dimension.low, dimension.high)])
                return rng.randint(dimension.low, dimension.high)

            drawn = space.parameters(pick)
            numbers = space.numbers(drawn)
            again = space.parameters(lambda dimension: numbers[dimension.path])
            self.assertEqual(list(drawn), list(EVERYTHING))
            for name, value in drawn.items():
                if name in ('normal', 'lognormal'):  # through a quantile and back
                    self.assertAlmostEqual(again[name], value, delta=1e-3 * abs(value))
                else:
                    self.assertEqual(again[name], value, (seed, name))
                    self.assertIs(type(again[name]), type(value))

    def test_values_keep_to_their_domains(self):
        space = Space(EVERYTHING)
        low = space.parameters(lambda dimension: dimension.low)
        high = space.parameters(lambda dimension: dimension.high)
        self.assertEqual((low['randint'], high['randint']), (-3, 3))
        self.assertEqual((low['quniform'], high['quniform']), (0.6, 2))  # 0.5 / 0.3 is nearer to 2
        self.assertEqual(low['some'], {'_value': ['a', 'b'], '_idx': [0, 1]})
        self.assertEqual(low['layer'], {'_value': 'a', '_idx': 0})
        self.assertEqual(low['nested'], {'_name': 'a', 'k': 0})
        self.assertEqual(high['nested'], {'_name': 'b', 'deep': {'_name': 'd'}})
        self.assertLess(abs(high['normal'] - 3), 20)
        seen = []
        space.parameters(lambda dimension: seen.append(dimension) or dimension.high)
        self.assertEqual(len({dimension.path for dimension in seen}), len(seen))
        self.assertIn('nested.b.deep', [dimension.path for dimension in seen])


if __name__ == '__main__':
    unittest.main()
