"""attune.nni_host over its pipes: the classes of nni_classes/, and bad ones."""
import json
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

from support import TWO

TESTS = pathlib.Path(__file__).resolve().parent
CLASSES = TESTS / 'nni_classes'


class Host:
    """A process. stderr: a file."""

    def __init__(self, name, folder, kind, stderr, packages=''):
        self.process = subprocess.Popen(
            [sys.executable, '-B', '-m', 'attune.nni_host', '--kind', kind, '--class', name,
             '--directory', str(folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
            cwd='/', env={'PYTHONPATH': f'{TESTS.parents[1] / "python"}:{packages}'})

    def ask(self, op, **members):
        line = json.dumps({'op': op, **members}).encode() + b'\n'
        self.process.stdin.write(line)
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        self.process.stdout.close()
        return rest, self.process.wait(60)


class HostCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.log = self.folder / 'log'
        self.stderr = open(self.folder / 'stderr', 'wb')
        self.addCleanup(self.stderr.close)

    def host(self, name, folder=CLASSES, kind='tuner', packages=''):
        host = Host(name, folder, kind, self.stderr, packages)
        self.addCleanup(host.process.wait)
        self.addCleanup(host.process.kill)
        self.addCleanup(host.process.stdin.close)
        self.addCleanup(host.process.stdout.close)
        return host

    def begun(self, name, arguments=None, space=None, **named):
        host = self.host(name, **named)
        self.assertEqual(host.ask('init', arguments=arguments or {}, space=space or TWO), {})
        return host

    def ask(self, host, *ids):
        return host.ask('ask', ids=list(ids))['answers']

    def tell(self, host, trial, value=0.5, end='completed', **named):
        loss = None if value is None else value
        metrics = {} if value is None else {'default': value}
        self.assertEqual(host.ask('tell', outcomes=[
            {'id': trial, 'end': end, 'loss': loss, 'metrics': metrics, **named}]), {})

    def said(self):
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def bad(self, body, name='Bad', **named):
        """A class with these lines after the imports."""
        (self.folder / 'bad.py').write_text(
            'import nni, os, sys, threading, time\nfrom nni.tuner import Tuner\n'
            'from nni.assessor import Assessor\n' + textwrap.dedent(body))
        return self.host('bad.' + name, self.folder, **named)


class Tuners(HostCase):
    def test_describes_itself(self):
        told = self.host('algorithms.NearBest').ask('describe')['algorithms']
        self.assertEqual([(one['name'], one['kind'], one['wants_reports']) for one in told],
                         [('algorithms.NearBest', 'tuner', False)])

    def test_a_search(self):
        host = self.begun('algorithms.NearBest', {'seed': 1, 'log': str(self.log)})
        first, second = self.ask(host, 0, 1)
        self.assertEqual(list(first['parameters']), ['x', 'k', 'member'])
        self.tell(host, 0, 0.25)
        self.tell(host, 1, None, 'failed')
        self.ask(host, 2)
        self.tell(host, 2, None)
        self.assertEqual(self.said(), [
            ['space', ['k', 'x']],
            ['result', 0, first['parameters'], 0.25,
             {'customized': False, 'trial_job_id': 'trial0'}],
            ['end', 0, True], ['end', 1, False], ['end', 2, True]])
        self.assertNotEqual(first, second)
        self.assertEqual(host.ask('skip_ahead'), {})
        host.process.stdin.write(b'{"op": "exit"}\n')
        self.assertEqual(host.close(), (b'', 0))
        self.assertEqual(self.said()[-1], ['exit'])

    def test_several_metrics(self):
        host = self.host('algorithms.NearBest')
        host.ask('init', arguments={'log': str(self.log)}, space=TWO,
                 context={'objectives': [{'metric': 'accuracy', 'mode': 'maximize'}]})
        self.ask(host, 0, 1)
        host.ask('tell', outcomes=[
            {'id': 0, 'end': 'completed', 'loss': -3, 'metrics': {'accuracy': 3}},
            {'id': 1, 'end': 'completed', 'loss': -4, 'metrics': {'accuracy': 4, 'size': 7}}])
        self.assertEqual([line[3] for line in self.said() if line[0] == 'result'],
                         [3, {'default': 4, 'accuracy': 4, 'size': 7}])

    def test_imports_come_together_before_the_next_request(self):
        host = self.begun('algorithms.NearBest', {'log': str(self.log)})
        host.ask('adopt', id=7, parameters={'x': 1})
        self.tell(host, 7, 0.5)
        self.tell(host, -1, 0.75, 'imported', parameters={'x': 2})
        self.tell(host, -1, 0.75, 'imported', parameters={'x': 2})
        self.tell(host, 99, 0.25, parameters={'x': 3})  # of an earlier process
        self.assertEqual(len(self.said()), 1)
        self.ask(host, 8)
        self.assertEqual(self.said()[1:], [['import', [{'parameter': {'x': 1}, 'value': 0.5},
                                                       {'parameter': {'x': 2}, 'value': 0.75},
                                                       {'parameter': {'x': 3}, 'value': 0.25}]]])

    def test_trials_of_the_user_are_told_only_to_those_who_want_them(self):
        host = self.begun('algorithms.NearBest', {'log': str(self.log)})
        host.ask('adopt', id=-2, parameters={'x': 1})
        self.tell(host, -2)
        self.assertEqual(len(self.said()), 1)
        host = self.bad('''
            class Bad(Tuner):
                def __init__(self): self._accept_customized_trials()
                def update_search_space(self, space): pass
                def generate_parameters(self, parameter_id, **kwargs): return self.told
                def receive_trial_result(self, *what, **kwargs): self.told = [what, kwargs]
        ''')
        host.ask('init', space={})
        host.ask('adopt', id=-2, parameters={'x': 1})
        self.tell(host, -2)
        self.assertEqual(self.ask(host, 0), [{'parameters': [
            [-2, {'x': 1}, 0.5], {'customized': True, 'trial_job_id': 'trial-2'}]}])

    def test_no_more_trials(self):
        host = self.begun('algorithms.NearBest', {'limit': 1})
        self.assertEqual(self.ask(host, 0, 1, 2)[1:], ['not_yet', 'not_yet'])
        self.assertEqual(self.ask(host, 1), ['not_yet'])
        self.tell(host, 0)
        self.assertEqual(self.ask(host, 1, 2), ['exhausted'] * 2)

    def test_the_callback(self):
        host = self.begun('algorithms.Later')
        self.assertEqual(self.ask(host, 0, 1, 2, 3), [
            {'parameters': {'x': 0.5, 'id': 0}}, {'parameters': {'x': 0.5, 'id': 1}},
            'not_yet', 'not_yet'])
        self.tell(host, 1)
        self.assertEqual(self.ask(host, 2, 3), [{'parameters': {'x': 0.25, 'id': 2}},
                                                'not_yet'])

    def test_another_space(self):
        host = self.begun('algorithms.NearBest', {'log': str(self.log)})
        self.ask(host, 0)
        self.tell(host, 0)
        self.assertEqual(host.ask('init', arguments={}, space={'z': TWO['x']}), {})
        self.tell(host, 0)  # again, and known
        self.assertEqual(list(self.ask(host, 1)[0]['parameters']), ['z', 'member'])
        self.assertEqual([line[0] for line in self.said()], ['space', 'result', 'end', 'space'])

    def test_numbers_of_numpy(self):
        host = self.bad('''
            class Number:
                def item(self): return 3
            class Bad(Tuner):
                def update_search_space(self, space): pass
                def generate_parameters(self, parameter_id, **kwargs):
                    return {'x': Number(), 'y': (1, 2), 3: 4}
        ''')
        host.ask('init', space={})
        self.assertEqual(self.ask(host, 0), [{'parameters': {'x': 3, 'y': [1, 2], '3': 4}}])


class Advisors(HostCase):
    def test_a_search(self):
        for kind in ('advisor', 'tuner'):
            log = self.folder / kind
            host = self.begun('algorithms.RandomAdvisor', {'limit': 2, 'log': str(log)}, kind=kind)
            self.assertTrue(host.ask('describe')['algorithms'][0]['wants_reports'])
            first, second, third = self.ask(host, 0, 1, 2)
            self.assertEqual(first['parameters']['TRIAL_BUDGET'], 1)
            self.assertEqual((second['parameters']['TRIAL_BUDGET'], third), (2, 'not_yet'))
            report = {'id': 1, 'step': 0}
            self.assertEqual(host.ask('report', **report, metrics={'default': 1}),
                             {'decisions': []})
            self.assertEqual(host.ask('report', **report, metrics={'default': -1}), {'decisions': [
                {'id': 1, 'action': 'stop', 'reason': 'algorithms.RandomAdvisor killed it'}]})
            self.tell(host, 1, None, 'stopped')
            self.tell(host, 0, 0.5)
            self.tell(host, -1, 0.75, 'imported', parameters={'x': 2})
            self.assertEqual(self.ask(host, 2), ['exhausted'])
            lines = [json.loads(line) for line in log.read_text().splitlines()]
            self.assertEqual(lines[2:], [
                ['end', 'EARLY_STOPPED', '0_1'],
                ['metric', {'parameter_id': '0_0', 'trial_job_id': 'trial0', 'type': 'FINAL',
                            'sequence': 0, 'value': '0.5'}],
                ['end', 'SUCCEEDED', '0_0'], ['import', [{'parameter': {'x': 2}, 'value': 0.75}]]])
            host.close()

    def test_one_that_answers_from_a_thread(self):
        (self.folder / 'threads.py').write_text(textwrap.dedent('''
            import json, threading
            from nni.runtime.msg_dispatcher_base import MsgDispatcherBase
            from nni.runtime.tuner_command_channel import CommandType
            class Slow(MsgDispatcherBase):
                def handle_initialize(self, data): pass
                def handle_request_trial_jobs(self, data):
                    threading.Thread(target=self.answer).start()
                def answer(self):
                    self.send(CommandType.NewTrialJob,
                              json.dumps({'parameter_id': 5, 'parameters': {'x': 1}}))
        '''))
        host = self.begun('threads.Slow', folder=self.folder, kind='advisor')
        self.assertEqual(self.ask(host, 0), [{'parameters': {'x': 1}}])


class InstalledPackage(HostCase):
    """A package that is called nni, and is not our stand-in."""

    def install(self, files):
        for name, text in files.items():
            path = self.folder / 'packages' / 'nni' / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))
        return self.folder / 'packages'

    def test_a_tuner_has_its_base_class(self):
        packages = self.install({'__init__.py': 'import os\nplatform = os.environ["NNI_PLATFORM"]\n',
                                 'tuner.py': """
            class Tuner:
                def update_search_space(self, space): pass
                def generate_multiple_parameters(self, ids, **kwargs):
                    return [self.generate_parameters(i) for i in ids]
        """})
        (self.folder / 'own.py').write_text(textwrap.dedent("""
            import nni, nni.tuner
            class Own(nni.tuner.Tuner):
                def generate_parameters(self, i): return {'platform': nni.platform}
        """))
        host = self.begun('own.Own', folder=self.folder, packages=packages)
        self.assertEqual(self.ask(host, 0), [{'parameters': {'platform': 'unittest'}}])

    def test_an_advisor_whose_base_class_has_a_channel(self):
        packages = self.install({
            '__init__.py': '', 'runtime/__init__.py': '',
            'runtime/tuner_command_channel.py': """
                import enum
                class CommandType(enum.Enum):
                    NewTrialJob = 'TR'
                class TunerCommandChannel:
                    def __init__(self, url): raise OSError('there is no manager')
            """,
            'runtime/msg_dispatcher_base.py': """
                import os
                from .tuner_command_channel import TunerCommandChannel
                class MsgDispatcherBase:
                    def __init__(self, url=None):
                        url = url or os.environ['NNI_TUNER_COMMAND_CHANNEL']
                        self._channel = TunerCommandChannel(url)
                        self._channel.connect()
                    def send(self, command, data):
                        self._channel._send(command, data)
            """})
        (self.folder / 'own.py').write_text(textwrap.dedent("""
            from nni.runtime.msg_dispatcher_base import MsgDispatcherBase
            from nni.runtime.tuner_command_channel import CommandType
            class Own(MsgDispatcherBase):
                def handle_initialize(self, data): pass
                def handle_request_trial_jobs(self, data):
                    self.send(CommandType.NewTrialJob, '{"parameter_id": 0, "parameters": 3}')
        """))
        host = self.begun('own.Own', folder=self.folder, kind='advisor', packages=packages)
        self.assertEqual(self.ask(host, 0), [{'parameters': 3}])


class Assessors(HostCase):
    def assess(self, host, begin, *reports):
        return host.ask('assess', **{'id': 3, 'from': begin, 'reports': list(reports)})

    def test_an_assessor(self):
        host = self.host('algorithms.AboveZero', kind='assessor')
        self.assertEqual(host.ask('describe')['algorithms'][0]['kind'], 'assessor')
        self.assertEqual(host.ask('init', arguments={'log': str(self.log)}), {})
        good, bad = {'default': 1}, {'default': -1}
        self.assertEqual(self.assess(host, 0, good), {'action': 'keep_going'})
        answer = self.assess(host, 1, bad)
        self.assertEqual((answer['action'], answer['reason']), (
            'stop', 'algorithms.AboveZero found it bad after report 1'))
        self.assertEqual(self.assess(host, 0, bad, good), {'action': 'keep_going'})
        self.assertEqual(host.ask('trial_end', id=3, end='stopped'), {})
        self.assertEqual(self.said(), [['end', 'trial3', False]])


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

    def test_what_it_prints_and_reads_is_not_the_conversation(self):
        host = self.bad('''
            print('at the import')
            class Bad(Tuner):
                def update_search_space(self, space): print('{"answers": []}')
                def generate_parameters(self, i, **k):
                    os.write(1, b'straight\\n')
                    return {'read': sys.stdin.read()}
        ''')
        self.assertEqual(host.ask('init', space={}), {})
        self.assertEqual(self.ask(host, 0), [{'parameters': {'read': ''}}])
        said = (self.folder / 'stderr').read_text()
        for words in ('at the import', '{"answers": []}', 'straight'):
            self.assertIn(words, said)

    def test_a_thread_does_not_keep_the_process(self):
        host = self.bad('''
            class Bad(Tuner):
                def update_search_space(self, space):
                    threading.Thread(target=threading.Event().wait).start()
        ''')
        host.ask('init', space={})
        self.assertEqual(host.close(), (b'', 0))


if __name__ == '__main__':
    unittest.main()
