"""attune.nni_host over its pipes: the classes of nni_classes/."""
import json
import textwrap
import unittest

from nni_host_process import HostCase
from support import TWO


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
            import json, threading, time
            from nni.runtime.msg_dispatcher_base import MsgDispatcherBase
            from nni.runtime.tuner_command_channel import CommandType
            class Slow(MsgDispatcherBase):
                def handle_initialize(self, data): pass
                def handle_request_trial_jobs(self, data):
                    threading.Thread(target=self.answer).start()
                def answer(self):
                    time.sleep(0.2)
                    self.send(CommandType.Initialized, '')  # this is no trial yet
                    time.sleep(0.2)
                    self.send(CommandType.NewTrialJob,
                              json.dumps({'parameter_id': 5, 'parameters': {'x': 1}}))
        '''))
        host = self.begun('threads.Slow', folder=self.folder, kind='advisor')
        self.assertEqual(self.ask(host, 0), [{'parameters': {'x': 1}}])


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


class Conversation(HostCase):
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
