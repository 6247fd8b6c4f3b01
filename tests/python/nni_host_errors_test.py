"""attune.nni_host over its pipes: classes that cannot be used, or fail."""
import unittest

from nni_host_process import CLASSES, HostCase


class BadClasses(HostCase):
    def error(self, host, op='describe', **members):
        error = host.ask(op, **members)['error']
        host.close()
        return error

    def test_what_cannot_be_loaded(self):
        nowhere = self.folder / 'nowhere'
        self.assertEqual(self.error(self.host('a.B', nowhere)),
                         f'codeDirectory: there is no folder {nowhere}')
        self.assertEqual(self.error(self.host('a.B')),
                         f'className "a.B": there is no module a in {CLASSES}')
        self.assertEqual(self.error(self.host('algorithms.B')), 'className "algorithms.B": there '
                         f'is no class B in {CLASSES}/algorithms.py')
        self.assertEqual(self.error(self.host('B')), 'className "B": "module.Class" expected')
        self.assertEqual(self.error(self.host('algorithms.OptimizeMode')),
                         'className "algorithms.OptimizeMode": neither an nni.tuner.Tuner, nor an '
                         'nni.assessor.Assessor, nor a MsgDispatcherBase of nni')
        self.assertEqual(self.error(self.host('algorithms.AboveZero')), 'tuner.className '
                         '"algorithms.AboveZero": this class is an assessor')

    def test_code_that_fails_on_its_way_in(self):
        self.assertEqual(self.error(self.bad('import nowhere_at_all\n')),
                         "import bad: ModuleNotFoundError: No module named 'nowhere_at_all' "
                         '(bad.py:4)')
        self.assertEqual(self.error(self.bad('x = (\n')),
                         "import bad: SyntaxError: '(' was never closed")
        self.assertEqual(self.error(self.bad('sys.exit(3)\n')), 'import bad: SystemExit: 3 '
                         '(bad.py:4)')
        self.assertIn('Traceback', (self.folder / 'stderr').read_text())

    def test_a_constructor_that_raises(self):
        body = 'class Bad(Tuner):\n    def __init__(self, size): raise ValueError("two\\nlines")\n'
        self.assertEqual(self.error(self.bad(body), 'init', space={}, arguments={'size': 1}),
                         'bad.Bad: ValueError: two lines (bad.py:5)')
        self.assertEqual(
            self.error(self.bad(body), 'init', space={}, arguments={'size': 1, 'sise': 2}),
            "bad.Bad: TypeError: Bad.__init__() got an unexpected keyword argument 'sise'")

    def test_methods_that_raise(self):
        calls = {
            'update_search_space': ('init', {'space': {}}),
            'generate_parameters': ('ask', {'ids': [5]}),
            'receive_trial_result': ('tell', {'outcomes': [
                {'id': 0, 'end': 'completed', 'loss': 1, 'metrics': {'default': 1}}]}),
            'trial_end': ('tell', {'outcomes': [{'id': 0, 'end': 'failed', 'loss': None,
                                                 'metrics': {}}]}),
            'import_data': ('ask', {'ids': [5]})}
        for method, (op, members) in calls.items():
            with self.subTest(method):
                host = self.bad(f'''
                    class Bad(Tuner):
                        def update_search_space(self, space): pass
                        def generate_parameters(self, i, **k): return {{}}
                        def receive_trial_result(self, *w, **k): pass
                    def fail(self, *w, **k):
                        if w[0] != 0 or '{method}' != 'generate_parameters': raise KeyError('why')
                        return {{}}
                    Bad.{method} = fail
                ''')
                if op != 'init':
                    host.ask('init', space={})
                    self.ask(host, 0)
                    self.tell(host, -1, 1, 'imported', parameters={})
                shown = method.replace('generate_p', 'generate_multiple_p')
                self.assertEqual(self.error(host, op, **members),
                                 f"bad.Bad.{shown}: KeyError: 'why' (bad.py:10)")

    def test_answers_that_are_none(self):
        for made, message in {
                'float("nan")': 'the parameters of 0: cannot be written as JSON: Out of range',
                '{"x": object()}': 'the parameters of 0: cannot be written as JSON: object <object',
                'None': 'the parameters of 0: None'}.items():
            host = self.bad(f'''
                class Bad(Tuner):
                    def update_search_space(self, space): pass
                    def generate_parameters(self, i, **k): return {made}
            ''')
            host.ask('init', space={})
            self.assertIn(message, self.error(host, 'ask', ids=[0]))
        host = self.bad('''
            class Bad(Tuner):
                def update_search_space(self, space): pass
                def generate_multiple_parameters(self, ids, **k): return [{}] * 3
        ''')
        host.ask('init', space={})
        self.assertIn('a list of at most 1 parameters expected', self.error(host, 'ask', ids=[0]))
        host = self.bad('class Bad(Assessor):\n    def assess_trial(self, t, h): return None\n',
                        kind='assessor')
        host.ask('init')
        self.assertEqual(
            self.error(host, 'assess', **{'id': 0, 'from': 0, 'reports': [{'default': 1}]}),
            'bad.Bad.assess_trial: AssessResult.Good or AssessResult.Bad expected, not None')


if __name__ == '__main__':
    unittest.main()
