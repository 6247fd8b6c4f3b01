#!/usr/bin/env python3
"""attune dashboard as programs and hostile clients meet it: ATTUNE [unittest's arguments]"""
import contextlib
import http.client
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import unittest

from dashboard_server import Dashboard
from pool_programs import wait_for, wait_until_unused

# Trials end when a file appears, so that the tests decide how long they run.
EXPERIMENT = '''
experimentName: {name}
trialCommand: {command}
trialConcurrency: 2
maxTrialNumber: 4
searchSpace:
  x: {{_type: uniform, _value: [0, 1]}}
  "<b>&": {{_type: choice, _value: ["<script>", b]}}
tuner: {{name: Random}}
report: {{regex: "r=(?<default>.*)"}}
'''


class Folder:
    """A working directory, and trials that wait for us."""

    def __init__(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.temporary.name)
        self.gate = self.path / 'gate'
        self.gate.mkdir()
        self.managers = []

    def write(self, name='waiting'):
        file = self.path / 'experiment.yaml'
        file.write_text(EXPERIMENT.format(name=json.dumps(name), command=json.dumps(
            # A trial whose manager was killed must not outlive this folder.
            f'echo begun; until test -e {self.gate}/all -o ! -e {self.gate}; do sleep 0.05; done; '
            'echo r=0.5')))
        return file

    def run(self, *options):
        manager = subprocess.Popen([ATTUNE, *options], cwd=self.path, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.managers.append(manager)
        return manager

    def __enter__(self):
        return self

    def __exit__(self, *_):
        (self.gate / 'all').touch()
        for manager in self.managers:
            if manager.poll() is None:
                manager.terminate()
            manager.wait()
        wait_until_unused(self.path)  # the server's resume starts managers that outlive it
        self.temporary.cleanup()


def await_page(condition):
    wait_for(condition, 'the dashboard to show it')


def has_two_running(dashboard):
    experiment = only_experiment(dashboard)
    return experiment and experiment['trials']['running'] == 2


def only_experiment(dashboard):
    found = dashboard.get('/experiments')['experiments']
    return found[0] if found else None


def id_of_experiment(dashboard):
    """Waits for it: the server looks for new stores every few seconds."""
    await_page(lambda: only_experiment(dashboard))
    return only_experiment(dashboard)['experiment_id']


class Programs(unittest.TestCase):
    def test_a_running_experiment_is_shown_and_steered(self):
        with Folder() as folder, Dashboard(ATTUNE, folder.path) as dashboard:
            self.assertIsNone(only_experiment(dashboard))  # the server came first
            manager = folder.run('run', str(folder.write()), '--quiet')
            await_page(lambda: has_two_running(dashboard))
            experiment = '/experiments/' + id_of_experiment(dashboard)
            state = dashboard.get(experiment)
            self.assertEqual(state['status'], 'running')
            self.assertEqual([p['name'] for p in state['space']], ['x', '<b>&'])
            self.assertEqual(state['space'][1]['choices'], ['<script>', 'b'])
            log = experiment + '/trials/0/log'
            await_page(lambda: dashboard.get(log)['text'] == 'begun\n')

            status, added = dashboard.ask('/api/v1' + experiment + '/trials', 'POST',
                                          {'trials': [{'x': 0.25, '<b>&': 'b'}]})
            self.assertEqual((status, added['trials']), (200, ['t0002']))
            waits = dashboard.get(experiment + '/trials/2')
            self.assertEqual(waits['parameters'], {'x': 0.25, '<b>&': 'b'})
            self.assertIn('trialConcurrency', waits['reason'])
            status, refused = dashboard.ask('/api/v1' + experiment + '/trials', 'POST',
                                            {'trials': [{'x': 25, '<b>&': 'b'}]})
            self.assertEqual(status, 400)
            self.assertIn('x', refused['error'])

            status, _ = dashboard.ask('/api/v1' + experiment, 'PATCH', {'concurrency': 3})
            self.assertEqual(status, 200)
            self.assertEqual(dashboard.get(experiment)['concurrency'], 3)
            third = experiment + '/trials/2'
            await_page(lambda: dashboard.get(third)['status'] == 'running')
            status, _ = dashboard.ask('/api/v1' + experiment + '/trials/2/kill', 'POST', {})
            self.assertEqual(status, 200)
            await_page(lambda: dashboard.get(third)['status'] == 'user_canceled')

            status, _ = dashboard.ask('/api/v1' + experiment + '/stop', 'POST', {})
            self.assertEqual(status, 200)
            manager.wait()
            self.assertEqual(dashboard.get(experiment)['status'], 'interrupted')
            status, answer = dashboard.ask('/api/v1' + experiment + '/stop', 'POST', {})
            self.assertEqual(status, 409)
            self.assertIn('attune resume', answer['error'])

            (folder.gate / 'all').touch()
            status, _ = dashboard.ask('/api/v1' + experiment + '/resume', 'POST', {})
            self.assertEqual(status, 200)
            await_page(lambda: dashboard.get(experiment)['status'] == 'completed')
            self.assertEqual(dashboard.get(experiment)['runs'], 2)

    def test_a_stream_tells_of_a_killed_and_resumed_manager(self):
        with Folder() as folder, Dashboard(ATTUNE, folder.path) as dashboard:
            manager = folder.run('run', str(folder.write()), '--quiet')
            await_page(lambda: has_two_running(dashboard))
            experiment = id_of_experiment(dashboard)
            events = dashboard.events(f'?experiment={experiment}')
            states = (data['status'] for _, data in events)
            self.assertEqual(next(states), 'running')
            manager.kill()
            manager.wait()
            self.assertEqual(next(s for s in states if s != 'running'), 'killed')
            folder.run('resume', experiment, '--quiet')
            self.assertEqual(next(s for s in states if s != 'killed'), 'running')
            (folder.gate / 'all').touch()
            self.assertEqual(next(s for s in states if s != 'running'), 'completed')
            self.assertEqual(dashboard.get(f'/experiments/{experiment}')['trials']['running'], 0)

    def test_the_documented_addresses_answer(self):
        with Folder() as folder, Dashboard(ATTUNE, folder.path) as dashboard:
            (folder.gate / 'all').touch()
            folder.run('run', str(folder.write()), '--quiet').wait()
            experiment = id_of_experiment(dashboard)
            document = dashboard.get('/openapi.json')
            for path, operations in document['paths'].items():
                real = path.format(experiment=experiment, trial='0', file='stdout')
                if path.endswith('/posterior'):
                    real += '?x=x'
                for method in operations:
                    with self.subTest(method=method, path=path):
                        body = {} if method != 'get' else None
                        status, answer = dashboard.ask(real, method.upper(), body)
                        expected = {'get': (200, 409)}.get(method, (400, 409, 200))
                        self.assertIn(status, expected, answer)

    def test_read_only(self):
        with Folder() as folder, Dashboard(ATTUNE, folder.path, '--read-only') as dashboard:
            (folder.gate / 'all').touch()
            folder.run('run', str(folder.write()), '--quiet').wait()
            experiment = id_of_experiment(dashboard)
            status, answer = dashboard.ask(f'/api/v1/experiments/{experiment}/resume', 'POST', {})
            self.assertEqual(status, 403)
            self.assertIn('--read-only', answer['error'])

    def test_a_token_file_keeps_the_token(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / 'token'
            tokens = []
            for _ in range(2):
                with Dashboard(ATTUNE, folder, '--token-file', str(file)) as dashboard:
                    tokens.append(dashboard.token)
            self.assertEqual(tokens[0], tokens[1])
            self.assertEqual(file.read_text(), tokens[0] + '\n')
            self.assertEqual(file.stat().st_mode & 0o777, 0o600)
            for mode in (0o666, 0o644):  # somebody else could have written it, or read it
                file.chmod(mode)
                self.assertIn(str(file), self.refusal(folder, '--token-file', str(file)))

    def refusal(self, *options):
        failed = subprocess.run([ATTUNE, 'dashboard', *options], capture_output=True, text=True,
                                stdin=subprocess.DEVNULL)
        self.assertEqual(failed.returncode, 2)
        return failed.stderr

    def test_a_token_that_others_know_stays_at_its_port(self):
        with tempfile.TemporaryDirectory() as folder, socket.socket() as taken:
            with contextlib.suppress(OSError):  # whoever has the usual port will do
                taken.bind(('127.0.0.1', 8470))
                taken.listen()
            self.assertIn('8470', self.refusal(folder, '--token-file', folder + '/token'))

    def test_a_run_brings_its_own(self):
        with Folder() as folder:
            manager = subprocess.Popen([ATTUNE, 'run', str(folder.write()), '--dashboard=127.0.0.1:0'],
                                       cwd=folder.path, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            folder.managers.append(manager)
            link = next(line for line in manager.stderr if line.startswith('dashboard: '))
            address = link.removeprefix('dashboard: http://').split('/')[0]
            page = http.client.HTTPConnection(address)
            page.request('GET', '/')
            self.assertEqual(page.getresponse().status, 200)
            page.close()
            manager.kill()
            manager.stderr.close()

            def is_gone():
                try:
                    socket.create_connection(tuple(address.split(':'))).close()
                except ConnectionRefusedError:
                    return True
            wait_for(is_gone, 'the dashboard to end with the manager')

    def test_it_ends_with_its_input(self):
        with tempfile.TemporaryDirectory() as folder:
            with Dashboard(ATTUNE, folder, '--end-with-input'):
                pass


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        cls.addClassCleanup(cls.stack.close)
        folder = cls.stack.enter_context(tempfile.TemporaryDirectory())
        cls.dashboard = cls.stack.enter_context(Dashboard(ATTUNE, folder))

    def lives(self):
        self.assertEqual(self.dashboard.get('/experiments')['experiments'], [])

    def raw(self, data, shut=False):
        with socket.create_connection(('127.0.0.1', self.dashboard.port), timeout=300) as client:
            with contextlib.suppress(OSError):  # it may have hung up already
                client.sendall(data)
            if shut:
                client.shutdown(socket.SHUT_WR)
            answer = b''
            with contextlib.suppress(ConnectionResetError):
                while part := client.recv(65536):
                    answer += part
            return answer

    def test_wrong_hosts_and_sites(self):
        ask = self.dashboard.ask
        self.assertEqual(ask('/', headers={'Host': 'evil.example'})[0], 403)
        self.assertEqual(ask('/api/v1/experiments', headers={'Origin': 'http://evil.example'})[0],
                         403)
        self.assertEqual(ask('/api/v1/experiments', token=False)[0], 401)
        self.assertEqual(ask('/api/v1/session', 'POST', {'token': 'f' * 64}, token=False)[0], 401)
        self.lives()

    def test_paths_that_lead_elsewhere(self):
        for path in ('/../../etc/passwd', '/%2e%2e/%2e%2e/etc/passwd', '/panels/..%2fx',
                     '/api/v1/experiments/..%2f..', '/api/v1/experiments/x/trials/0/files/..'):
            with self.subTest(path=path):
                self.assertEqual(self.dashboard.ask(path)[0], 400)
        self.assertEqual(self.dashboard.ask('/api/v1/experiments/x/trials/0/files/y')[0], 404)
        self.lives()

    def test_bytes_that_are_no_request(self):
        host = b' / HTTP/1.1\r\nHost: localhost\r\n'
        for data in (b'\0' * 1000, b'GET\r\n\r\n', b'\x16\x03\x01\x02\x00',
                     b'GET / HTTP/9.9\r\n\r\n', b'GET' + host + b'Content-Length: -1\r\n\r\n',
                     b'POST' + host + b'Transfer-Encoding: chunked\r\n\r\nzz\r\n',
                     b'GET / HTTP/1.1\r\n' + b'X: y\r\n' * 100_000 + b'\r\n',
                     b'GET /' + b'a' * 1_000_000 + b' HTTP/1.1\r\n\r\n'):
            with self.subTest(data=data[:60]):
                answer = self.raw(data, shut=True)
                self.assertTrue(answer == b'' or answer.startswith(b'HTTP/1.1 4'), answer[:200])
        self.lives()

    def test_a_thousand_idle_connections(self):
        before = self.dashboard.memory()
        with contextlib.ExitStack() as stack:
            for _ in range(1000):
                stack.enter_context(socket.create_connection(('127.0.0.1', self.dashboard.port)))
            self.lives()
        self.lives()
        self.assertLess(self.dashboard.memory() - before, 32 << 20)

    def test_a_client_that_reads_nothing(self):
        with socket.create_connection(('127.0.0.1', self.dashboard.port)) as client:
            request = f'GET / HTTP/1.1\r\nHost: 127.0.0.1:{self.dashboard.port}\r\n\r\n'.encode()
            client.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    client.send(request * 100)
            self.lives()


if __name__ == '__main__':
    ATTUNE = sys.argv.pop(1)
    unittest.main()
