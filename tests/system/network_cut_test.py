#!/usr/bin/env python3
"""The network between a coordinator and its worker is cut while a trial runs: ATTUNE CUT

Coordinator, manager and each worker are the programs, in network namespaces of their own, joined by
pairs of veth; nothing outside of these is touched, and they go with this process.

  to-worker, to-coordinator  what goes that way is lost on the way, without a word
  both                       the cable is pulled
      The trial is given to another worker, and begins there when the first attempt has ended: the
      directory of both is the same. What the first worker says of it later is fenced off, and
      counts nowhere; when it can be reached again it joins again.
  short                      pulled, and back while the tasks of the worker still wait for it
      The trial, which has ended meanwhile, was run once.
  half-open                  pulled, the worker killed, and started again at another machine
      The connection of the dead one does not end by itself. The trial is adopted, and was run once.

Needs root; exits with 77, and says why, where namespaces are not allowed.
"""
import argparse
import ctypes
import json
import os
import pathlib
import shutil
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
CUTS = ('to-worker', 'to-coordinator', 'both', 'short', 'half-open')
COORDINATOR = '10.9.0.1'
NOBODY = '02:00:00:00:00:99'  # frames for it are dropped by whoever gets them

# Reports which attempt it is, and ends when it may.
TRIAL = r'''
import json, os, pathlib, time
attempt = int(os.environ['ATTUNE_ATTEMPT'])
folder = pathlib.Path(os.environ['NNI_SYS_DIR'])
configuration = json.loads((folder / 'parameter.cfg').read_text())

def note(file):
    with open(file, 'a') as lines:
        lines.write(f'{attempt}\n')

def report(kind):
    record = json.dumps({'parameter_id': configuration['parameter_id'],
                         'trial_job_id': os.environ['NNI_TRIAL_JOB_ID'], 'type': kind,
                         'sequence': 0, 'value': json.dumps(attempt)}) + '\n'
    with open(folder / '.nni/metrics', 'a') as metrics:
        metrics.write(f'ME{len(record):06d}{record}')

note('starts')
report('PERIODICAL')
while not pathlib.Path(f'go.{attempt}').exists():
    time.sleep(0.01)
report('FINAL')
note('ends')
'''


def skip(why):
    print(f'skipped: {why}')
    sys.exit(SKIPPED)


def ip(*words, inside=None):
    command = ['ip', *words] if inside is None else [*inside.enter, 'ip', *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def enter_namespace():
    """This process, and all that it starts, are on the machine of the coordinator."""
    os.environ['PATH'] += ':/usr/sbin:/sbin'
    for program in ('ip', 'nsenter', 'unshare'):
        if shutil.which(program) is None:
            skip(f'there is no program {program}')
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(0x40000000) != 0:  # CLONE_NEWNET
        skip(f'no network namespaces here: {os.strerror(ctypes.get_errno())}')
    try:
        ip('link', 'set', 'lo', 'up')
        ip('address', 'add', f'{COORDINATOR}/32', 'dev', 'lo')
        ip('link', 'add', 'probe', 'type', 'veth', 'peer', 'name', 'probe2')
    except subprocess.CalledProcessError as error:
        skip(f'no pairs of veth here: {error.stderr}')


class Machine:
    """A namespace with a cable to that of the coordinator. `own_processes`: it sees only these, so
    that nobody elsewhere can end what a former attempt has left running on it."""

    def __init__(self, number, folder, own_processes):
        self.port, self.cable = f'worker{number}', f'to{number}'
        self.here, self.there = f'10.9.{number}.1', f'10.9.{number}.2'
        more = ['--pid', '--fork', '--kill-child', '--mount-proc'] if own_processes else []
        # `cat` ends with our end of the pipe, and the machine with it.
        self.holder = subprocess.Popen(['unshare', '--net', *more, 'sh', '-c', 'echo; exec cat'],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if not self.holder.stdout.readline():
            skip('no machine of our own here')
        pid = self.holder.pid
        if own_processes:
            pid = int(pathlib.Path(f'/proc/{pid}/task/{pid}/children').read_text())
        self.enter = ['nsenter', f'--target={pid}', '--net',
                      *(['--pid', '--mount', f'--wd={folder}'] if own_processes else [])]
        ip('link', 'add', self.cable, 'type', 'veth', 'peer', 'name', self.port)
        ip('link', 'set', self.port, 'netns', str(pid))
        ip('address', 'add', f'{self.here}/24', 'dev', self.cable)
        ip('link', 'set', self.cable, 'up')
        ip('link', 'set', 'lo', 'up', inside=self)
        ip('address', 'add', f'{self.there}/24', 'dev', self.port, inside=self)
        self.plug()

    def close(self):
        self.holder.stdin.close()
        self.holder.wait()

    def plug(self):
        ip('link', 'set', self.port, 'up', inside=self)
        ip('route', 'replace', COORDINATOR, 'via', self.here, inside=self)

    def cut(self, how):
        if how == 'to-worker':
            ip('neighbour', 'replace', self.there, 'lladdr', NOBODY, 'nud', 'permanent', 'dev',
               self.cable)
        elif how == 'to-coordinator':
            ip('neighbour', 'replace', self.here, 'lladdr', NOBODY, 'nud', 'permanent', 'dev',
               self.port, inside=self)
        else:
            ip('link', 'set', self.port, 'down', inside=self)

    def heal(self, how):
        if how == 'to-worker':
            ip('neighbour', 'delete', self.there, 'dev', self.cable)
        elif how == 'to-coordinator':
            ip('neighbour', 'delete', self.here, 'dev', self.port, inside=self)
        else:
            self.plug()


def wait_for(condition, what):
    deadline = time.monotonic() + 60
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(f'in vain waited for {what}')
        time.sleep(0.03)


def frame(message):
    text = json.dumps(message).encode()
    return struct.pack('>I', len(text)) + text


class Pool:
    def __init__(self, attune, folder, silence, lost_after, own_processes):
        self.attune, self.folder, self.own_processes = attune, folder, own_processes
        self.processes, self.machines = [], []
        self.coordinator = self.start('coordinator', ['coordinator', '--dir', 'pool', '--listen',
                                                      f'{COORDINATOR}:0', '--silence', silence,
                                                      '--lost-after', lost_after])
        wait_for((folder / 'pool/coordinator.json').exists, 'the coordinator')

    def machine(self, number):
        self.machines.append(Machine(number, self.folder, self.own_processes))
        return self.machines[-1]

    def start(self, name, arguments, machine=None):
        enter = machine.enter if machine else []
        with open(self.folder / f'{name}.log', 'a') as log:
            process = subprocess.Popen([*enter, self.attune, *arguments], cwd=self.folder,
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.processes.append(process)
        return process

    def worker(self, name, machine):
        return self.start(name, ['worker', '--join', 'pool', '--name', name, '--cpu', '1'], machine)

    def status(self):
        """Workers by name, and tasks, as the coordinator says."""
        address = json.loads((self.folder / 'pool/coordinator.json').read_text())
        host, port = address['address'].rsplit(':', 1)
        with socket.create_connection((host, int(port)), timeout=30) as connection:
            stream = connection.makefile('rb')
            connection.sendall(frame({'type': 'hello', 'version': 1, 'role': 'client',
                                      'client': 'watch', 'token': address['token']}))
            connection.sendall(frame({'type': 'status'}))
            while True:
                size, = struct.unpack('>I', stream.read(4))
                message = json.loads(stream.read(size))
                if message['type'] == 'status':
                    return message

    def worker_state(self, name):
        return {w['worker']: w['state'] for w in self.status()['workers']}.get(name)

    def task(self):
        """Where the trial is: worker, state, attempt, each of which is a task of its own."""
        return [(t.get('worker'), t['state'], int(t['task'].rsplit('-', 1)[1]))
                for t in self.status()['tasks'] if t['state'] in ('leased', 'running')]

    def lines(self, name):
        path = self.folder / name
        return path.read_text().split() if path.exists() else []

    def allow(self, attempt):
        (self.folder / f'go.{attempt}').touch()

    def close(self):
        for attempt in range(9):
            self.allow(attempt)  # nothing is left that waits
        for process in self.processes:
            process.kill()
            process.wait()
        for machine in self.machines:
            machine.close()


def run_elsewhere(pool, first, cut):
    """What has become of the trial when its worker is cut off for long."""
    second = pool.machine(2)
    pool.worker('w2', second)
    wait_for(lambda: pool.worker_state('w2') == 'ready', 'the second worker')
    first.cut(cut)
    wait_for(lambda: pool.task() == [('w2', 'leased', 1)], 'the second attempt to be given away')
    assert pool.worker_state('w1') is None, 'a worker that cannot be heard is still there'
    assert pool.lines('starts') == ['0'], 'two attempts at once in the same folder'
    pool.allow(0)
    wait_for(lambda: pool.lines('ends') == ['0'], 'the end of the first attempt')
    wait_for(lambda: pool.task() == [('w2', 'running', 1)], 'the second attempt to begin')
    wait_for(lambda: pool.lines('starts') == ['0', '1'], 'its process')
    fenced = pool.status()['fenced']
    first.heal(cut)
    wait_for(lambda: pool.worker_state('w1') == 'ready', 'the first worker to join again')
    wait_for(lambda: pool.status()['fenced'] > fenced, 'the late end to be fenced off')
    assert pool.task() == [('w2', 'running', 1)], f'the late end counts: {pool.task()}'
    pool.allow(1)


def run_on(pool, first, cut):
    """The same, when it is cut off for a while only."""
    first.cut(cut)
    wait_for(lambda: pool.worker_state('w1') == 'lost', 'the silence to be noticed')
    pool.allow(0)
    wait_for(lambda: pool.lines('ends') == ['0'], 'the end of the trial')
    assert pool.task() == [('w1', 'running', 0)], f'not waited for: {pool.task()}'
    first.heal(cut)


def move(pool, first, worker):
    """The same, when its worker dies without a word, and comes back from another address."""
    second = pool.machine(2)
    first.cut('both')
    worker.kill()
    worker.wait()
    assert pool.worker_state('w1') == 'ready', 'this shows nothing of a connection that is half open'
    pool.worker('w1', second)
    wait_for(lambda: (pool.folder / 'w1.log').read_text().count('connected to') == 2,
             'the worker that was started again')
    wait_for(lambda: pool.worker_state('w1') == 'ready', 'it to be admitted')
    assert pool.task() == [('w1', 'running', 0)], f'not adopted: {pool.task()}'
    pool.allow(0)


def check(pool, attempts):
    problems = []
    exported = subprocess.run([pool.attune, 'export', '--dir', 'exp', '--format', 'jsonl'],
                              cwd=pool.folder, check=True, capture_output=True, text=True).stdout
    records = [json.loads(line) for line in exported.splitlines()]
    found = [(r['status'], r['attempts'], r['score']) for r in records]
    if found != [('SUCCEEDED', attempts, attempts - 1)]:
        problems.append(f'status, attempts and score are {found}')
    if sorted(pool.lines('starts')) != [str(i) for i in range(attempts)]:
        problems.append(f'attempts began: {pool.lines("starts")}')
    with sqlite3.connect(f'file:{pool.folder}/exp/attune.sqlite?mode=ro', uri=True) as store:
        finals = store.execute("SELECT count(*) FROM reports WHERE type = 'final'").fetchone()[0]
    if finals != 1:
        problems.append(f'{finals} final results')
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('attune', type=pathlib.Path)
    parser.add_argument('cut', choices=CUTS)
    options = parser.parse_args()
    enter_namespace()
    waits = options.cut in ('short', 'half-open')
    with tempfile.TemporaryDirectory(prefix='attune-cut-') as name:
        folder = pathlib.Path(name)
        (folder / 'trial.py').write_text(TRIAL)
        (folder / 'e.json').write_text(json.dumps({
            'searchSpace': {'x': {'_type': 'uniform', '_value': [0, 1]}},
            'tuner': {'name': 'Random'}, 'trialCommand': f'exec {sys.executable} trial.py',
            'trialConcurrency': 1, 'maxTrialNumber': 1, 'backend': 'pool',
            'pool': {'coordinator': 'pool'}}))
        half_open = options.cut == 'half-open'  # the trial is adopted: it must be seen
        pool = Pool(options.attune.resolve(), folder, '3' if half_open else '1',
                    '60' if waits else '1', own_processes=not half_open)
        try:
            first = pool.machine(1)
            worker = pool.worker('w1', first)
            manager = pool.start('manager', ['run', 'e.json', '--dir', 'exp', '--quiet'])
            wait_for(lambda: pool.task() == [('w1', 'running', 0)], 'the trial')
            wait_for(lambda: pool.lines('starts') == ['0'], 'its process')
            if half_open:
                move(pool, first, worker)
            elif options.cut == 'short':
                run_on(pool, first, 'both')
            else:
                run_elsewhere(pool, first, options.cut)
            wait_for(lambda: manager.poll() is not None, 'the manager')
            problems = check(pool, 1 if waits else 2)
            if manager.returncode != 0:
                problems.append(f'exit code {manager.returncode}')
        except (RuntimeError, AssertionError) as error:
            problems = [str(error)]
        finally:
            pool.close()
        if problems:
            for log in sorted(folder.glob('*.log')):
                problems.append(f'{log.name}: {log.read_text()}')
            log = (folder / 'pool/coordinator.log').read_text().splitlines(keepends=True)
            problems.append(''.join(line for line in log if ' client watch ' not in line))
    print(f'{options.cut}: {"nothing lost, nothing twice" if not problems else "NOT GOOD"}')
    for problem in problems:
        print(f'  {problem}')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
