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
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from pool_programs import Pool, judge, kill, wait_for

SKIPPED = 77
CUTS = ('to-worker', 'to-coordinator', 'both', 'short', 'half-open')
COORDINATOR = '10.9.0.1'
NOBODY = '02:00:00:00:00:99'  # frames for it are dropped by whoever gets them
FIRST, AGAIN = 't0000.0', 't0000.1'  # attempts of the trial


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


class CutPool(Pool):
    """Of machines that can be cut off; the folder is the same on all."""

    def __init__(self, attune, folder, silence, lost_after, own_processes):
        super().__init__(attune, folder, listen=f'{COORDINATOR}:0', silence=silence,
                         lost_after=lost_after)
        self.machines, self.own_processes = [], own_processes

    def machine(self, number):
        self.machines.append(Machine(number, self.folder, self.own_processes))
        return self.machines[-1]

    def close(self):
        super().close()
        for machine in self.machines:
            machine.close()


def run_elsewhere(pool, first, cut):
    """What has become of the trial when its worker is cut off for long."""
    second = pool.machine(2)
    pool.worker('w2', enter=second.enter)
    wait_for(lambda: pool.worker_state('w2') == 'ready', 'the second worker')
    first.cut(cut)
    wait_for(lambda: pool.tasks() == [('w2', 'leased', AGAIN)], 'the second attempt to be given away')
    assert pool.worker_state('w1') is None, 'a worker that cannot be heard is still there'
    assert pool.lines('starts') == [FIRST], 'two attempts at once in the same folder'
    pool.allow(FIRST)
    wait_for(lambda: pool.lines('ends') == [FIRST], 'the end of the first attempt')
    wait_for(lambda: pool.tasks() == [('w2', 'running', AGAIN)], 'the second attempt to begin')
    wait_for(lambda: pool.lines('starts') == [FIRST, AGAIN], 'its process')
    fenced = pool.status()['fenced']
    first.heal(cut)
    wait_for(lambda: pool.worker_state('w1') == 'ready', 'the first worker to join again')
    wait_for(lambda: pool.status()['fenced'] > fenced, 'the late end to be fenced off')
    assert pool.tasks() == [('w2', 'running', AGAIN)], f'the late end counts: {pool.tasks()}'
    pool.allow(AGAIN)


def run_on(pool, first, cut):
    """The same, when it is cut off for a while only."""
    first.cut(cut)
    wait_for(lambda: pool.worker_state('w1') == 'lost', 'the silence to be noticed')
    pool.allow(FIRST)
    wait_for(lambda: pool.lines('ends') == [FIRST], 'the end of the trial')
    assert pool.tasks() == [('w1', 'running', FIRST)], f'not waited for: {pool.tasks()}'
    first.heal(cut)


def move(pool, first, worker):
    """The same, when its worker dies without a word, and comes back from another address."""
    second = pool.machine(2)
    first.cut('both')
    kill(worker)
    assert pool.worker_state('w1') == 'ready', 'this shows nothing of a connection that is half open'
    pool.worker('w1', enter=second.enter)
    wait_for(lambda: pool.said('w1', 'connected to') == 2,
             'the worker that was started again')
    wait_for(lambda: pool.worker_state('w1') == 'ready', 'it to be admitted')
    assert pool.tasks() == [('w1', 'running', FIRST)], f'not adopted: {pool.tasks()}'
    pool.allow(FIRST)


def check(pool, attempts):
    problems = []
    found = [(r['status'], r['attempts'], r['score']) for r in pool.export()]
    if found != [('succeeded', attempts, attempts - 1)]:
        problems.append(f'status, attempts and score are {found}')
    if sorted(pool.lines('starts')) != [FIRST, AGAIN][:attempts]:
        problems.append(f'attempts began: {pool.lines("starts")}')
    finals = pool.query("SELECT count(*) FROM reports WHERE type = 'final'")
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
        half_open = options.cut == 'half-open'  # the trial is adopted: it must be seen
        # The silence is longer than a busy machine keeps anybody from speaking, and for `half-open`
        # than it needs to look at the dead connection. A worker that is to come back has an hour.
        pool = CutPool(options.attune, folder, '30' if half_open else '10',
                       '3600' if waits else '1', own_processes=not half_open)

        def play():
            first = pool.machine(1)
            worker = pool.worker('w1', enter=first.enter)
            manager = pool.manager(trials=1)
            wait_for(lambda: pool.tasks() == [('w1', 'running', FIRST)], 'the trial')
            wait_for(lambda: pool.lines('starts') == [FIRST], 'its process')
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
            return problems

        return judge(pool, options.cut, play)


if __name__ == '__main__':
    sys.exit(main())
