#!/usr/bin/env python3
"""attune mcp, as a client meets it: ATTUNE [unittest's arguments]

tests/data/mcp/session.jsonl holds what a real client has sent (the TypeScript SDK of the protocol,
version 1.32.2). It is played against an experiment that runs and one that has ended.
"""
import contextlib
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

from pool_programs import wait_for

RECORDED = pathlib.Path(__file__).resolve().parents[1] / 'data/mcp/session.jsonl'
DEADLINE = 300
INITIALIZE = {'protocolVersion': '2025-06-18', 'capabilities': {},
              'clientInfo': {'name': 'test', 'version': '1'}}


def line(method, id=None, **params):
    message = {'jsonrpc': '2.0', 'method': method, 'params': params}
    return json.dumps(message if id is None else {**message, 'id': id})


class Server:
    """attune mcp with us as its client. A server that hangs is killed, and the test fails."""

    def __init__(self, program, folder, *options):
        self.process = subprocess.Popen([program, 'mcp', *options], cwd=folder, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.watchdog = threading.Timer(DEADLINE, self.process.kill)
        self.watchdog.start()
        self.last_id = 100

    def say(self, text):
        self.process.stdin.write(text + '\n')
        self.process.stdin.flush()

    def hear(self):
        text = self.process.stdout.readline()
        assert text.endswith('\n'), f'the server has ended: {self.process.stderr.read()}'
        message = json.loads(text)
        assert message['jsonrpc'] == '2.0' and ('result' in message) != ('error' in message), text
        return message

    def ask(self, method, **params):
        self.last_id += 1
        self.say(line(method, self.last_id, **params))
        answer = self.hear()
        assert answer['id'] == self.last_id, answer
        return answer

    def call(self, tool, **arguments):
        return self.ask('tools/call', name=tool, arguments=arguments)['result']

    def content(self, tool, **arguments):
        result = self.call(tool, **arguments)
        assert not result['isError'], result
        assert json.loads(result['content'][0]['text']) == result['structuredContent']
        return result['structuredContent']

    def close(self):
        """Its exit code and standard error; nothing further may stand on its standard output."""
        rest, errors = self.process.communicate()
        assert rest == '', rest
        return self.process.returncode, errors

    def end(self):
        self.watchdog.cancel()
        self.process.kill()
        with contextlib.suppress(BrokenPipeError):
            self.process.__exit__(None, None, None)  # waits, and closes the pipes


class Mcp(unittest.TestCase):
    program = ''

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='attune-mcp-'))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.running = None
        self.addCleanup(self.end_running)
        self.run_experiment('finished', maxTrialNumber=4, trialCommand='echo says {x}; echo r={x}')

    def write(self, name, **keys):
        file = self.folder / f'{name}.json'
        file.write_text(json.dumps({
            'experimentName': name, 'searchSpace': {'x': {'_type': 'uniform', '_value': [0, 1]}},
            'tuner': {'name': 'Random', 'classArgs': {'seed': 1}}, 'trialConcurrency': 2,
            'report': {'regex': r'r=(?<default>\S+)'}, **keys}))
        return file

    def run_experiment(self, name, **keys):
        subprocess.run([self.program, 'run', self.write(name, **keys), '--quiet'], check=True,
                       cwd=self.folder, capture_output=True, timeout=DEADLINE)

    def begin_running(self):
        """Two of its trials run until there is a file go."""
        file = self.write('running', maxTrialNumber=6,
                          trialCommand='until test -e go; do sleep 0.05; done; echo r={x}')
        self.running = subprocess.Popen([self.program, 'run', file, '--quiet'], cwd=self.folder,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        wait_for(lambda: self.said('list')[0]['name'] == 'running'
                 and self.said('status', 'running')['trials']['running'] == 2, 'two trials')

    def end_running(self):
        (self.folder / 'go').touch()
        if self.running:
            self.running.wait(DEADLINE)

    def said(self, *arguments):
        """What a command says."""
        ended = subprocess.run([self.program, *arguments, '--json'], cwd=self.folder, check=True,
                               capture_output=True, timeout=DEADLINE)
        return json.loads(ended.stdout)

    def serve(self, *options, initialized=True):
        server = Server(self.program, self.folder, *options)
        self.addCleanup(server.end)
        if initialized:
            server.ask('initialize', **INITIALIZE)
            server.say(line('notifications/initialized'))
        return server

    # ---- a session

    def test_a_recorded_session(self):
        self.begin_running()
        server = self.serve(initialized=False)
        answers = {}
        for text in RECORDED.read_text().splitlines():
            server.say(text)
            message = json.loads(text)
            if 'id' in message:
                answer = server.hear()
                self.assertEqual(answer['id'], message['id'])
                params = message.get('params', {})
                name = params.get('name', message['method'])
                about = params.get('arguments', {}).get('experiment', '')
                answers[f'{name} {about}'.strip()] = answer.get('result', answer)
        self.assertEqual(server.close(), (0, ''))

        self.assertEqual(answers['initialize']['serverInfo']['name'], 'attune')
        self.assertEqual([tool['name'] for tool in answers['tools/list']['tools']],
                         ['list', 'status', 'best', 'trials', 'show', 'logs', 'config'])
        self.assertEqual(answers['ping'], {})
        content = {name: answer['structuredContent'] for name, answer in answers.items()
                   if 'structuredContent' in answer}
        self.assertEqual([(each['name'], each['status']) for each in content['list']['experiments']],
                         [('running', 'running'), ('finished', 'completed')])
        self.assertEqual(content['status running']['trials']['running'], 2)
        self.assertEqual(content['status finished']['trials']['succeeded'], 4)
        self.assertEqual(content['best running']['trials'], [])
        self.assertEqual(len(content['trials finished']['trials']), 2)
        self.assertTrue(content['trials finished']['more'])
        self.assertEqual(content['show finished']['status'], 'succeeded')
        self.assertRegex(content['logs finished']['text'], r'^says 0\.\d+\nr=0\.\d+\n$')
        self.assertEqual(content['config running']['config']['maxTrialNumber'], 6)
        self.assertTrue(answers['stop running']['isError'])
        self.assertEqual(self.said('status', 'running')['status'], 'running')

    def test_the_answers_are_those_of_the_commands(self):
        server = self.serve()
        self.assertEqual(server.content('list')['experiments'],
                         [without_format(each) for each in self.said('list')])
        self.assertEqual(server.content('status'), self.said('status'))
        self.assertEqual(server.content('config'), self.said('config'))
        for tool in ('trials', 'best'):
            wanted = self.said(tool, *(['-k', '20'] if tool == 'best' else []))
            self.assertEqual(server.content(tool)['trials'], list(map(without_format, wanted)))
        shown = server.content('show', trial='2')
        wanted = self.said('show', '2')
        self.assertEqual({key: shown[key] for key in wanted}, wanted)
        self.assertEqual(server.close(), (0, ''))

    def test_changes_reach_the_experiment(self):
        self.begin_running()
        server = self.serve('--allow-changes')
        added = server.content('add', experiment='running', trials=[{'x': 0.25}, {'x': 0.75}])
        self.assertEqual(len(added['trials']), 2)
        shown = server.content('show', experiment='running', trial=added['trials'][1])
        self.assertEqual((shown['parameters'], shown['source']), ({'x': 0.75}, 'customized'))
        outside = server.call('add', experiment='running', trials=[{'x': 0.5}, {'x': 7}])
        self.assertTrue(outside['isError'], outside)
        server.content('update', experiment='running', max_trials=9, concurrency=3)
        config = server.content('config', experiment='running')['config']
        self.assertEqual((config['maxTrialNumber'], config['trialConcurrency']), (9, 3))
        server.content('kill', experiment='running', trials=['0'])
        self.await_status(server, lambda status: status['trials']['user_canceled'] == 1)
        server.content('stop', experiment='running')
        self.await_status(server, lambda status: status['status'] == 'interrupted')
        late = server.call('stop', experiment='running')
        self.assertTrue(late['isError'])
        self.assertIn('attune resume', late['content'][0]['text'])
        code, errors = server.close()
        self.assertEqual(code, 0)
        self.assertEqual(errors.count('tool='), 6, errors)

    def await_status(self, server, condition):
        wait_for(lambda: condition(server.content('status', experiment='running')), 'the change')

    # ---- who means harm

    def test_hostile_lines(self):
        """After each of them the server still answers, and it has changed nothing."""
        self.begin_running()
        server = self.serve('--allow-changes')
        stop = {'jsonrpc': '2.0', 'method': 'tools/call',
                'params': {'name': 'stop', 'arguments': {'experiment': 'running'}}}
        hostile = [  # and the codes of the errors
            ('garbage', -32700), ('{"jsonrpc": "2.0", "id": 1', -32700), ('\\' * 1000, -32700),
            ('{' * 100_000, -32700), ('[' * 100_000 + ']' * 100_000, -32700),
            ('{"a":' * 5_000 + '1' + '}' * 5_000, -32700), ('"' + 'x' * 5_000_000, -32700),
            ('[' + '0,' * 150_000 + '0]', -32700), ('\0', -32700),
            ('[]', -32600), ('[1, 2]', -32600), (f'[{json.dumps({**stop, "id": 1})}]', -32600),
            ('1', -32600), ('null', -32600), ('{}', -32600), ('"initialize"', -32600),
            (json.dumps({**stop, 'id': None}), -32600), (json.dumps({**stop, 'id': 1.5}), -32600),
            (json.dumps({**stop, 'id': {'a': 1}}), -32600),
            (json.dumps({**stop, 'id': 1, 'jsonrpc': '1.0'}), -32600),
            (json.dumps({**stop, 'id': 1, 'params': [1]}), -32602),
            (line('initialize', 1, **INITIALIZE), -32600),
            (line('notifications/initialized', 1), -32601), (line('x' * 100_000, 1), -32601),
            (line('tools/call', 1, name='stop', arguments={'experiment': 1}), -32602),
            (line('tools/call', 1, name='stop', arguments={}), -32602),
            (line('tools/call', 1, name='../stop', arguments={}), -32602),
            (line('tools/call', 1, name='trials', arguments={'limit': 10**30}), -32602),
            (line('tools/call', 1, name='trials', arguments={'limit': -1}), -32602),
            (line('tools/call', 1, name='add', arguments={'experiment': 'running',
                                                          'trials': [[]] * 5}), -32602),
            (json.dumps(stop), None), ('', None), (' \t', None),
            ('{"jsonrpc": "2.0", "id": 1, "result": {}}', None)]
        for text, code in hostile:
            with self.subTest(text[:80]):
                server.say(text)
                if code is not None:
                    self.assertEqual(server.hear()['error']['code'], code)
                self.assertEqual(server.ask('ping')['result'], {})
        for arguments in ({'experiment': '../../etc'}, {'experiment': '\0'},
                          {'experiment': "' or 1=1 --"}):
            for tool in ('status', 'stop'):
                self.assertTrue(server.call(tool, **arguments)['isError'])
        for trial in ('../../../etc/passwd', '-1', '99999999999999999999', '%s%n'):
            self.assertTrue(server.call('logs', trial=trial)['isError'])
        deep = {'experiment': 'running', 'trials': [{'x': nested(50)}]}
        self.assertTrue(server.call('add', **deep)['isError'])
        self.assertEqual(self.said('status', 'running')['trials']['running'], 2)
        self.assertEqual(server.close()[0], 0)

    def test_bytes_of_chance(self):
        """Whatever comes, and wherever it ends: the server ends orderly, and says only messages."""
        chance = random.Random(1)
        recorded = RECORDED.read_bytes()
        for trial in range(20):
            text = bytearray(recorded[:chance.randrange(len(recorded))])
            for _ in range(chance.randrange(40)):
                if text:
                    text[chance.randrange(len(text))] = chance.randrange(256)
            ended = subprocess.run([self.program, 'mcp'], input=bytes(text), cwd=self.folder,
                                   capture_output=True, timeout=DEADLINE)
            self.assertEqual(ended.returncode, 0, (trial, ended))
            for answer in ended.stdout.splitlines():
                self.assertEqual(json.loads(answer)['jsonrpc'], '2.0')

    def test_a_client_that_does_not_read(self):
        server = self.serve()
        server.process.stdout.close()
        with self.assertRaises(BrokenPipeError):
            while True:
                server.say(line('tools/list', 1))
        self.assertEqual(server.process.wait(DEADLINE), 1)

    def test_no_experiments_yet(self):
        server = self.serve('--dir', str(self.folder / 'later'))
        self.assertIn('no experiments in', server.call('list')['content'][0]['text'])
        shutil.copytree(self.folder / 'attune-experiments', self.folder / 'later')
        self.assertEqual(server.content('list')['experiments'][0]['name'], 'finished')
        self.assertEqual(server.close(), (0, ''))


def nested(depth):
    return [nested(depth - 1)] if depth > 0 else 1


def without_format(each):
    return {key: value for key, value in each.items() if key != 'format'}


if __name__ == '__main__':
    Mcp.program = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
