#!/usr/bin/env python3
"""The ways to put attuned under NNI's managers (docs/nni.md), with small stand-ins that launch their
dispatcher as NNI 2.7 and 2.8 do: the same command line, descriptors and environment.
Usage: nni_test.py ATTUNED SOURCE_FOLDER
"""
import base64
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

ATTUNED, SOURCE = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
SPACE = '{"x": {"_type": "uniform", "_value": [0, 1]}}'
PATIENCE = 200  # seconds, for what must happen at once

# As nnictl and the manager of NNI 2.7. Sends IN and GE 2, and prints what comes back.
MANAGER_2_7 = '''
import socket, subprocess, sys
ours, theirs = zip(*(socket.socketpair() for _ in range(2)))
shell = ('exec 3<&%d 4>&%d; python3 -m nni --exp_params ' + sys.argv[1]) % tuple(
    end.fileno() for end in theirs)
process = subprocess.Popen(['bash', '-c', shell], stdin=subprocess.DEVNULL,
                           pass_fds=[end.fileno() for end in theirs])
for end in theirs:
    end.close()
for code, payload in ('IN', SPACE), ('GE', '2'):
    ours[0].sendall(f'{code}{len(payload):014}{payload}'.encode())
answers = ours[1].makefile('rb')
for _ in range(3):
    head = answers.read(16).decode()
    print(head[:2], answers.read(int(head[2:])).decode())
ours[0].sendall(b'TE00000000000000')
print('exit code', process.wait())
'''.replace('SPACE', repr(SPACE))

# As the manager of NNI 2.8: prints the first line of the request for a WebSocket.
MANAGER_2_8 = '''
import os, socket, subprocess, sys
listening = socket.create_server(('localhost', 0))
port = listening.getsockname()[1]
process = subprocess.Popen(sys.executable + ' -m nni --exp_params ' + sys.argv[1], shell=True,
    env={**os.environ, 'NNI_TUNER_COMMAND_CHANNEL': f'ws://localhost:{port}/tuner'})
connection, _ = listening.accept()
print(connection.makefile().readline().strip())
connection.sendall(b'HTTP/1.1 404 Not Found\\r\\nContent-Length: 0\\r\\n\\r\\n')
print('exit code', process.wait())
print('real', subprocess.check_output([sys.executable, '-c', 'import sys; print(sys.executable)'], text=True))
'''

# As the dispatcher of NNI, up to where it makes the custom class.
DISPATCHER = '''
import base64, importlib, json, os, sys
parameters = json.loads(base64.b64decode(sys.argv[sys.argv.index('--exp_params') + 1]))
tuner = parameters['tuner']
sys.path.append(tuner['codeDirectory'])
module, name = tuner['className'].rsplit('.', 1)
getattr(importlib.import_module(module), name)(**tuner['classArgs'])
'''


def encoded(experiment):
    return base64.b64encode(json.dumps(experiment).encode()).decode()


class Nni(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='attune_nni_'))
        self.addCleanup(shutil.rmtree, self.folder)
        self.bin, self.share = self.folder / 'bin', self.folder / 'share/attune/nni'
        self.bin.mkdir()
        self.share.mkdir(parents=True)
        shutil.copy(SOURCE / 'share/nni/nni-attuned', self.bin)
        (self.bin / 'attuned').symlink_to(ATTUNED)
        for name in 'python3', 'interpreter':
            shutil.copy(SOURCE / 'share/nni/python3', self.share / name)
        shutil.copy(SOURCE / 'share/nni/attuned_tuner.py', self.share)
        self.environment = {**os.environ, 'NNI_LOG_DIRECTORY': str(self.folder)}

    def script(self, name, text, first=f'#!{sys.executable}'):
        path = self.folder / name
        path.write_text(first + text)
        path.chmod(0o755)
        return path

    def run_(self, *command, code=0, **environment):
        done = subprocess.run([str(part) for part in command], cwd=self.folder, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE,
                              env={**self.environment, **environment})
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout

    def nni_attuned(self, *command, **more):
        return self.run_(self.bin / 'nni-attuned', *command, **more)

    def check_trials(self, output):
        lines = output.splitlines()
        self.assertEqual([line[:2] for line in lines], ['ID', 'TR', 'TR', 'ex'], output)
        self.assertEqual(lines[-1], 'exit code 0')
        self.assertIn('attuned', (self.folder / 'dispatcher.log').read_text())

    def test_nni_2_7_finds_python3_on_path(self):
        nnictl = self.script('nnictl', MANAGER_2_7)
        parameters = encoded({'tuner': {'name': 'TPE'}})
        self.check_trials(self.nni_attuned(nnictl, parameters))
        # Without the script, by hand.
        path = f'{self.share}:{os.environ["PATH"]}'
        self.check_trials(self.run_(nnictl, parameters, PATH=path))

    def test_nni_2_8_runs_its_own_python(self):
        nnictl = self.script('nnictl', MANAGER_2_8)
        for command in [nnictl], [sys.executable, nnictl]:
            lines = self.nni_attuned(*command, encoded({'tuner': {'name': 'TPE'}})).split('\n')
            self.assertIn('GET /tuner HTTP/1.1', lines)
            self.assertIn('exit code 2', lines)  # no WebSocket
            self.assertIn(f'real {sys.executable}', lines)

    def test_trials_get_the_python_that_they_would_get_without_attune(self):
        real = self.folder / 'other'
        real.mkdir()
        self.script('other/python3', '\necho "the real one: $@"\n', '#!/bin/sh')
        path = f'{self.share}:{real}:{os.environ["PATH"]}'
        self.assertEqual(self.run_(self.share / 'python3', '-m', 'nni', PATH=path),
                         'the real one: -m nni\n')
        self.assertIn('no other python3', self.run_(self.share / 'python3', 'x.py', code=127,
                                                    PATH=str(self.share)))

    def test_a_custom_class_becomes_attuned(self):
        package = self.folder / 'package/nni'
        package.mkdir(parents=True)
        (package / '__init__.py').touch()
        (package / '__main__.py').write_text(DISPATCHER)
        tuner = {'codeDirectory': str(self.share), 'className': 'attuned_tuner.Attuned',
                 'classArgs': {'tuner': {'name': 'Random', 'classArgs': {'seed': 1}},
                               'constraints': ['x < 0.5']}}
        manager = self.script('manager', MANAGER_2_7)
        output = self.run_(manager, encoded({'tuner': tuner}), PYTHONPATH=str(package.parent))
        self.check_trials(output)
        for line in output.splitlines()[1:3]:
            self.assertLess(json.loads(line[3:])['parameters']['x'], 0.5)

    def test_what_cannot_be_run_is_said(self):
        self.assertIn('what is to be run', self.nni_attuned(code=2))
        self.assertIn('none-such: command not found', self.nni_attuned('none-such', code=2))
        self.assertIn('needs a script', self.nni_attuned(sys.executable, code=2))
        shell = self.script('nnictl', '\n', '#!/bin/sh')
        self.assertIn('which Python runs', self.nni_attuned(shell, code=2))

    def test_a_socket_for_dispatcher_pipe(self):
        path = self.folder / 'pipe'
        daemon = subprocess.Popen([ATTUNED, '--listen', path, '--tuner', 'TPE'],
                                  env=self.environment, stderr=subprocess.DEVNULL)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)
        while not path.exists():  # as in docs/nni.md
            self.assertIsNone(daemon.poll())
            os.sched_yield()
        with socket.socket(socket.AF_UNIX) as manager:
            manager.settimeout(PATIENCE)
            manager.connect(str(path))
            manager.sendall(f'IN{len(SPACE):014}{SPACE}GE000000000000011'.encode())
            with manager.makefile('rb') as answers:
                self.assertEqual(answers.read(18), b'ID00000000000000TR')
        self.assertEqual(daemon.wait(PATIENCE), 0)
        self.assertFalse(path.exists())


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
