#!/usr/bin/env python3
"""Another user of the machine and a coordinator of ours: ATTUNE [unittest's arguments]

Nobody (uid 65534) listens where root's coordinator was, and dials it without a secret, with that of
another role, under the name of a worker. A trial of root's runs meanwhile, and ends as if nobody had
been there.

Needs root; exits with 77, and says so, for others.
"""
import json
import os
import shutil
import struct
import subprocess
import sys

from pool_programs import Pool, kill, wait_for
from two_users import NOBODY, TwoUsers, as_nobody, main

# Listens where a coordinator was, writes down what it hears, and answers what may be of use.
IMPOSTOR = r'''
import json, socket, struct, sys, threading
port, recording, program = int(sys.argv[1]), sys.argv[2], sys.argv[3]
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(('127.0.0.1', port))
listener.listen()
LEASE = {'task': 't', 'lease': 1, 'attempt': 0, 'state': 'leased', 'position': 0}
ANSWERS = ({'type': 'challenge', 'version': 2, 'nonce': '0' * 64, 'proof': '0' * 64},
           {'type': 'welcome', 'epoch': 1, 'ping': 1, 'silence': 9},
           {'type': 'lease', 'program': json.dumps(
               {'experiment': program, 'job': 'x', 'sequence': 0, 'attempt': 0,
                'parameters': '{"parameter_id": 0, "parameters": {}}'}), **LEASE})

def serve(peer):
    said = False
    try:
        while data := peer.recv(65536):
            with open(recording, 'ab') as file:
                file.write(data)
            if not said:
                for text in map(json.dumps, ANSWERS):
                    peer.sendall(struct.pack('>I', len(text)) + text.encode())
            said = True
    except OSError:
        pass

print('listens', flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
'''


def frames_of(data):
    """Whole frames; of several connections, of which each has said a few."""
    while len(data) >= 4:
        size, = struct.unpack('>I', data[:4])
        yield json.loads(data[4:4 + size])
        data = data[4 + size:]


class Strangers(TwoUsers):
    """A pool of root's, which runs a trial."""

    def setUp(self):
        super().setUp()
        self.programs = self.copy_programs()
        self.pool = Pool(self.program, self.mine)
        self.addCleanup(self.pool.close)
        self.pool.begin_coordinator()
        self.pool.worker('w1')
        self.pool.manager(1)
        wait_for(self.pool.has_report, 'the first report')
        self.address = self.role('worker')['address']
        task, = self.pool.status()['tasks']
        self.task = task['task']

    def role(self, name):
        return json.loads((self.mine / f'pool/{name}.json').read_text())

    def check_end(self):
        """The trial has run once, as if nobody had been there."""
        self.pool.allow()
        wait_for(lambda: self.pool.lines('ends'), 'the end of the trial')
        wait_for(lambda: not self.pool.tasks(), 'its manager')
        self.assertEqual(self.pool.lines('starts'), ['t0000.0'])
        self.assertFalse(self.sprung.exists())

    def start_impostor(self):
        forged = self.home / 'forged'
        file, = (self.mine / 'exp/workers').iterdir()
        content = json.loads(file.read_text())
        content['directory'] = content['program']['code_directory'] = str(self.home)
        content['program']['command'] = f'touch {self.sprung}'
        self.nobody_writes(forged, json.dumps(content))
        self.recording = self.home / 'recording'
        script = self.home / 'impostor.py'
        self.nobody_writes(script, IMPOSTOR)
        python = shutil.which('python3', path='/usr/bin:/bin') or sys.executable  # nobody's, too
        impostor = subprocess.Popen(
            [python, script, self.address.rsplit(':', 1)[1], self.recording, forged],
            user=NOBODY, group=NOBODY, extra_groups=[], stdout=subprocess.PIPE, text=True)
        self.addCleanup(kill, impostor)
        self.addCleanup(impostor.stdout.close)
        self.assertEqual(impostor.stdout.readline(), 'listens\n')
        return impostor

    def test_an_impostor_where_the_coordinator_was(self):
        secrets = [self.role(role)['secret'] for role in ('worker', 'client', 'view', 'program')]
        secrets += [path.read_text().strip()
                    for path in (self.mine / 'exp/pool.key', self.mine / 'pool/keys/w1')]
        kill(self.pool.coordinator)
        impostor = self.start_impostor()
        for name, role in (('w1', 'worker'), ('manager', 'client')):
            why = f'{self.address} does not know the secret of role {role}'
            wait_for(lambda name=name, why=why: self.pool.said(name, why), f'{name}: {why}')
        kill(impostor)
        recorded = self.recording.read_bytes()
        for secret in secrets:
            self.assertEqual(len(secret), 64)
            self.assertNotIn(secret.encode(), recorded)
            self.assertNotIn(bytes.fromhex(secret), recorded)
        self.assertNotIn(self.task.encode(), recorded)
        heard = list(frames_of(recorded))
        self.assertEqual({frame['role'] for frame in heard}, {'worker', 'client'})
        for frame in heard:
            self.assertEqual(set(frame), {'type', 'version', 'role', 'name', 'nonce'})
        # The secrets are others now, and all find it.
        self.pool.begin_coordinator()
        self.assertFalse(set(secrets) & {self.role(role)['secret'] for role in ('worker', 'client')})
        wait_for(lambda: self.pool.worker_state('w1') == 'ready', 'the worker')
        self.check_end()

    def test_a_stranger_without_a_secret(self):
        orders = (('pool',), ('pool', 'cancel', self.task), ('pool', 'drain', 'w1'))
        self.nobody_writes(self.home / 'secret', '7' * 64)
        (self.home / 'secret').chmod(0o600)
        self.nobody_writes(self.home / 'e.json', self.experiment(
            backend='pool', pool={'coordinator': str(self.home / 'client.json')}))
        self.nobody_writes(self.home / 'client.json', json.dumps(
            {'address': self.address, 'role': 'client', 'secret': '7' * 64}))
        (self.home / 'client.json').chmod(0o600)
        self.mine.chmod(0o755)
        for order in orders:
            ended = self.as_stranger(*order, '--join', self.mine / 'pool')
            self.assertIn('Permission denied', ended.stderr)
            ended = self.as_stranger(*order, '--join', self.address, '--secret-file',
                                     self.home / 'secret')
            self.assertIn('does not know the secret', ended.stderr)
        ended = self.as_stranger('run', 'e.json', '--dir', 'exp', '--daemon',
                                 self.programs / 'attuned')
        self.assertIn('does not know the secret', ended.stderr)
        self.check_end()

    def as_stranger(self, *arguments):
        ended = as_nobody([self.programs / 'attune', *map(str, arguments)], cwd=self.home,
                          stdin=subprocess.DEVNULL, env=self.environment)
        self.assertNotEqual(ended.returncode, 0, ended)
        self.assertNotIn('w1', ended.stdout)
        return ended

    def test_who_has_the_secret_of_another_role(self):
        """Given to nobody by root, with the address."""
        for role in ('worker', 'view', 'program'):
            given = self.home / f'{role}.json'
            shutil.copy(self.mine / 'pool' / given.name, given)
            bare = self.home / 'secret'
            bare.write_text(self.role(role)['secret'])
            for file in (given, bare):
                os.chown(file, NOBODY, NOBODY)
                file.chmod(0o600)
            for order in (('cancel', self.task), ('drain', 'w1')):
                ended = self.as_stranger('pool', *order, '--join', self.address, '--secret-file',
                                         given)
                self.assertIn('client.json', ended.stderr)
                ended = self.as_stranger('pool', *order, '--join', self.address, '--secret-file',
                                         bare)
                self.assertIn('does not know the secret of role client', ended.stderr)
        seen = as_nobody([self.programs / 'attune', 'pool', '--join', self.address,
                          '--secret-file', self.home / 'view.json'], env=self.environment)
        self.assertEqual(seen.returncode, 0, seen)
        self.assertIn('w1', seen.stdout)
        self.check_end()

    def test_nobody_takes_the_name_of_a_worker(self):
        """Although root has given him the secret of workers."""
        given = self.home / 'worker.json'
        shutil.copy(self.mine / 'pool/worker.json', given)
        os.chown(given, NOBODY, NOBODY)
        log = self.folder / 'nobody.log'
        with open(log, 'w') as output:
            worker = subprocess.Popen(
                [self.programs / 'attune', 'worker', '--join', self.address, '--secret-file', given,
                 '--name', 'w1', '--cpu', '1'],
                user=NOBODY, group=NOBODY, extra_groups=[], stderr=output, cwd=self.home,
                env=self.environment)
        self.addCleanup(kill, worker)
        wait_for(lambda: 'the name w1 is that of another worker' in log.read_text(), 'the refusal')
        self.check_end()


if __name__ == '__main__':
    main()
