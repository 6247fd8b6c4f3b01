#!/usr/bin/env python3
"""kill -9 of a worker in each of its states, with two trials one after the other: ATTUNE STATE

  idle             it has nothing; started again, it gets what waits
  leased           it has been given the trial, and has not begun it
  running          the trial has reported
  cancelling       the trial was told to end, and does not
  finished         the trial has ended, and the worker has said so; nobody has heard it yet
  unsaid           the same, before the worker has said so
  draining         SIGTERM was sent to the worker; it waits for its trial

With STATE-back (idle and finished are always so) it is started again under its name, and goes on with
the trial. Without, it is away for too long: another worker has the trial, if there is something left
to do, and then the former one comes back. Everything counts once, each worker has room for the second
trial, the space of all is free in the end, and no process is left.
"""
import argparse
import collections
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

from pool_programs import Pool, judge, kill, processes_in, stop, wait_for, wait_until_none_in

FIRST, AGAIN, SECOND = 't0000.0', 't0000.1', 't0001.0'


def wait_until_ready(pool, name):
    wait_for(lambda: pool.worker_state(name) == 'ready', f'{name} to be ready')


def wait_for_task(pool, *task):
    wait_for(lambda: pool.tasks() == [task], f'the tasks to be {task}')


def begin_first(pool):
    """A worker whose trial has reported, and the manager."""
    worker, manager = pool.worker('w1'), pool.manager(trials=2)
    wait_for_task(pool, 'w1', 'running', FIRST)
    wait_for(pool.has_report, 'its report')
    return worker, manager


def go_on(pool, attempt=FIRST):
    """The trial ends; the worker w1 has room for the next one."""
    pool.allow(attempt)
    wait_for_task(pool, 'w1', 'running', SECOND)


def go_on_elsewhere(pool):
    """The second attempt is another worker's; the former one comes back, and gets the next trial."""
    other = pool.worker('w2')
    wait_for_task(pool, 'w2', 'running', AGAIN)
    wait_for(lambda: AGAIN in pool.lines('starts'), 'its process')
    pool.worker('w1')
    wait_until_ready(pool, 'w1')
    other.terminate()
    wait_for(lambda: pool.worker_state('w2') == 'draining', 'w2 to drain')
    go_on(pool, AGAIN)
    other.wait()
    assert other.returncode == 0, f'w2 ends with {other.returncode}'


def idle(pool, back):
    worker = pool.worker('w1')
    wait_until_ready(pool, 'w1')
    kill(worker)
    wait_for(lambda: pool.worker_state('w1') is None, 'its end to be noticed')
    manager = pool.manager(trials=2)
    wait_for_task(pool, None, 'queued', FIRST)
    pool.worker('w1')
    go_on(pool)
    return manager, {'starts': [FIRST, SECOND]}


def leased(pool, back):
    worker = pool.worker('w1')
    wait_until_ready(pool, 'w1')
    stop(worker)
    manager = pool.manager(trials=2)
    wait_for_task(pool, 'w1', 'leased', FIRST)
    kill(worker)
    if back:
        pool.worker('w1')
        go_on(pool)
        return manager, {'starts': [FIRST, SECOND]}
    go_on_elsewhere(pool)
    return manager, {'starts': [AGAIN, SECOND], 'attempts': 2}


def running(pool, back):
    worker, manager = begin_first(pool)
    kill(worker)
    if back:
        pool.worker('w1')
        wait_until_ready(pool, 'w1')
        assert pool.tasks() == [('w1', 'running', FIRST)], f'not adopted: {pool.tasks()}'
        go_on(pool)
        return manager, {'starts': [FIRST, SECOND], 'reports': 1}
    go_on_elsewhere(pool)
    return manager, {'starts': [FIRST, AGAIN, SECOND], 'ends': [AGAIN, SECOND], 'attempts': 2}


def cancelling(pool, back):
    (pool.folder / 'stubborn').touch()
    worker, manager = begin_first(pool)
    subprocess.run([pool.attune, 'kill', 't0000', '--dir', 'exp'], cwd=pool.folder, check=True,
                   stdout=subprocess.DEVNULL)
    wait_for(lambda: pool.lines('terms') == [FIRST], 'the trial to be told')
    assert pool.tasks() == [('w1', 'closing', FIRST)], f'not cancelled: {pool.tasks()}'
    kill(worker)
    if back:
        pool.worker('w1')
        wait_until_ready(pool, 'w1')
        assert pool.tasks() == [('w1', 'closing', FIRST)], f'not adopted: {pool.tasks()}'
        go_on(pool)
        if FIRST not in pool.lines('ends'):  # a busy machine: its five seconds of grace were over
            return manager, {'starts': [FIRST, SECOND], 'ends': [SECOND], 'status': 'user_canceled'}
        # It gives its result at last, and has it.
        return manager, {'starts': [FIRST, SECOND]}
    pool.worker('w2')
    wait_for_task(pool, 'w2', 'running', SECOND)
    # Nobody is left to end it but its shim.
    return manager, {'starts': [FIRST, SECOND], 'ends': [SECOND], 'status': 'user_canceled'}


def has_said_all(worker):
    """It has let go of the trial's files, and sleeps."""
    process = pathlib.Path(f'/proc/{worker.pid}')
    try:
        files = [os.readlink(each) for each in (process / 'fd').iterdir()]
    except FileNotFoundError:
        return False  # it was closed meanwhile
    state = (process / 'stat').read_text().rsplit(')', 1)[1].split()[0]
    return state == 'S' and not any('/spool.' in file for file in files)


def trial_is_over(pool):
    return pool.lines('ends') == [FIRST] and not processes_in(pool.folder / 'exp', 'attune-shim')


def finished(pool, back):
    worker, manager = begin_first(pool)
    stop(pool.coordinator)
    pool.allow(FIRST)
    wait_for(lambda: pool.lines('ends') == [FIRST], 'the trial')
    wait_for(lambda: has_said_all(worker), 'its worker to say so')
    kill(worker)
    pool.coordinator.send_signal(signal.SIGCONT)
    # It reads what was said by somebody who is dead.
    wait_for_task(pool, None, 'queued', SECOND)
    pool.worker('w1')
    wait_for_task(pool, 'w1', 'running', SECOND)
    return manager, {'starts': [FIRST, SECOND], 'reports': 1}


def unsaid(pool, back):
    worker, manager = begin_first(pool)
    stop(worker)
    pool.allow(FIRST)
    wait_for(lambda: trial_is_over(pool), 'the trial')
    kill(worker)
    if back:
        pool.worker('w1')
        wait_for_task(pool, 'w1', 'running', SECOND)
        return manager, {'starts': [FIRST, SECOND], 'reports': 1}
    pool.worker('w2')
    wait_for_task(pool, 'w2', 'running', SECOND)
    return manager, {'starts': [FIRST, SECOND], 'reports': 1}


def draining(pool, back):
    worker, manager = begin_first(pool)
    worker.terminate()
    wait_for(lambda: pool.worker_state('w1') == 'draining', 'w1 to drain')
    assert pool.tasks() == [('w1', 'running', FIRST)], f'a drain ends the trial: {pool.tasks()}'
    kill(worker)
    if back:
        pool.worker('w1')
        wait_until_ready(pool, 'w1')
        go_on(pool)
        return manager, {'starts': [FIRST, SECOND], 'reports': 1}
    go_on_elsewhere(pool)
    return manager, {'starts': [FIRST, AGAIN, SECOND], 'ends': [AGAIN, SECOND], 'attempts': 2}


STATES = {'idle': idle, 'leased': leased, 'running': running, 'cancelling': cancelling,
          'finished': finished, 'unsaid': unsaid, 'draining': draining}


def check(pool, manager, wanted):
    """`wanted`: which attempts have begun, which have ended (those, unless it says so), and what
    has become of the first trial."""
    pool.allow(SECOND)
    manager.wait()
    problems = [f'the manager ends with {manager.returncode}'] if manager.returncode != 0 else []
    starts = wanted['starts']
    for name, attempts in (('starts', starts), ('ends', wanted.get('ends', starts))):
        if sorted(pool.lines(name)) != sorted(attempts):
            problems.append(f'{name} of {pool.lines(name)}, not of {attempts}')
    status, attempts = wanted.get('status', 'succeeded'), wanted.get('attempts', 1)
    found = [(r['trial_job_id'], r['status'], r['attempts']) for r in pool.export()]
    if found != [('t0000', status, attempts), ('t0001', 'succeeded', 1)]:
        problems.append(f'trials, their status and attempts are {found}')
    reports = pool.export()[0]['reports']
    if reports != wanted.get('reports', reports):
        problems.append(f'{reports} reports of the first trial')
    for trial in (0, 1):
        finals = pool.query("SELECT count(*) FROM reports WHERE type = 'final' AND ignored = '' "
                            f'AND trial = {trial}')
        if finals != (1 if found[trial][1] == 'succeeded' else finals):
            problems.append(f'trial {trial} has {finals} final results')
    edges = collections.Counter((e['task'].split('-', 1)[1], e.get('state', ''))
                                for e in pool.edges() if e['edge'] == 'ended')
    if max(edges.values()) > 1:
        problems.append(f'ends in the journal: {edges}')
    wait_for(lambda: pool.status()['tasks'] == [], 'the coordinator to forget the tasks')
    for worker in pool.status()['workers']:
        if worker['tasks'] or worker['used'].get('cpu', 0) != 0:
            problems.append(f'not free again: {worker}')
    pool.coordinator.send_signal(signal.SIGINT)
    wait_until_none_in(pool.folder)
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('attune', type=pathlib.Path)
    parser.add_argument('state', choices=[
        *STATES, *(f'{name}-back' for name in STATES if name not in ('idle', 'finished'))])
    options = parser.parse_args()
    name, _, back = options.state.partition('-')
    with tempfile.TemporaryDirectory(prefix='attune-worker-') as folder:
        pool = Pool(options.attune, pathlib.Path(folder), lost_after='3600' if back else '0.5')
        return judge(pool, options.state, lambda: check(pool, *STATES[name](pool, bool(back))))


if __name__ == '__main__':
    sys.exit(main())
