#!/usr/bin/env python3
"""kill -9 of a coordinator behind each record of its journal: ATTUNE EDGE

  created    the trial waits, there is no worker
  leased     the worker was told to run it, and has not heard so
  running    the trial has begun, and ends while there is no coordinator
  closing    the trial was told to end, and does not
  ended      its manager has not heard so
  gone       its manager has forgotten it, and the next one waits
  began      a second coordinator, to which nobody has come yet
  drained    SIGTERM was sent to the worker while there was no coordinator
  any        each kind of record as soon as it is there, while many trials run
  terminated   SIGTERM in place of SIGKILL
  interrupted  SIGINT: the trial that runs is stopped, and both wait for another coordinator
  resumed      the coordinator of a manager, which was interrupted; it is resumed
  workload   all kinds in one run of a learner and its collector: requeued, info and latched, too

Each time the coordinator is held there by whoever it waits for, and another one goes on from the
journal. The result is that of an experiment that nobody disturbs, and no process is left.
"""
import argparse
import collections
import pathlib
import signal
import subprocess
import sys
import tempfile

from pool_programs import Pool, judge, kill, stop, wait_for, wait_until_none_in

FIRST, SECOND = 't0000.0', 't0001.0'
WORKLOAD = {'commander': 'naive', 'learner': {'limits': {'attempts': 2}}, 'collector': {},
            'buffer': {'policy': 'fifo'}}


def crash(pool, edge):
    """When a record of this kind is the newest."""
    wait_for(lambda: pool.edges()[-1]['edge'] == edge, f'the edge {edge}')
    kill(pool.coordinator)
    newest = pool.edges()[-1]['edge']
    assert newest == edge, f'killed behind {newest}, not behind {edge}'


def ready_worker(pool):
    worker = pool.worker('w1')
    wait_for(lambda: pool.worker_state('w1') == 'ready', 'a worker')
    return worker


def begin(pool):
    worker, manager = ready_worker(pool), pool.manager(trials=2)
    wait_for(pool.has_report, 'the first report')
    return worker, manager


def wait_for_worker(pool):
    """It comes again, and has what it had."""
    wait_for(lambda: pool.worker_state('w1') == 'ready', 'w1 to come again')
    status = pool.status()
    has = [len(worker['tasks']) for worker in status['workers']]
    assert has == [1] and status['fenced'] == 0, f'it has {has}, {status["fenced"]} are fenced off'


def created(pool):
    manager = pool.manager(trials=2)
    crash(pool, 'created')
    pool.begin_coordinator()
    pool.worker('w1')
    return manager


def leased(pool):
    worker = ready_worker(pool)
    stop(worker)
    manager = pool.manager(trials=2)
    crash(pool, 'leased')
    pool.begin_coordinator()
    worker.send_signal(signal.SIGCONT)
    wait_for_worker(pool)
    return manager


def running(pool):
    _, manager = begin(pool)
    crash(pool, 'running')
    pool.allow(FIRST)
    wait_for(lambda: pool.lines('ends') == [FIRST], 'the trial')
    pool.begin_coordinator()
    return manager


def closing(pool):
    (pool.folder / 'stubborn').touch()
    _, manager = begin(pool)
    subprocess.run([pool.attune, 'kill', 't0000', '--dir', 'exp'], cwd=pool.folder, check=True,
                   stdout=subprocess.DEVNULL)
    crash(pool, 'closing')
    pool.begin_coordinator()
    wait_for(lambda: pool.lines('terms') == [FIRST], 'the trial to be told')
    wait_for_worker(pool)
    return manager


def ended(pool):
    _, manager = begin(pool)
    stop(manager)
    pool.allow(FIRST)
    crash(pool, 'ended')
    pool.begin_coordinator()
    manager.send_signal(signal.SIGCONT)
    return manager


def gone(pool):
    worker, manager = pool.worker('w1', '--tasks', '1'), pool.manager(trials=2)
    wait_for(pool.has_report, 'the first report')
    pool.allow(FIRST)
    worker.wait()
    wait_for(lambda: pool.tasks() == [(None, 'queued', SECOND)], 'the second trial')
    wait_for(lambda: pool.edge('gone') == 1, 'the first one to be forgotten')
    kill(pool.coordinator)
    pool.begin_coordinator()
    assert pool.tasks() == [(None, 'queued', SECOND)], f'others are there: {pool.tasks()}'
    pool.worker('w2')
    return manager


def began(pool):
    worker, manager = begin(pool)
    for process in (worker, manager):
        stop(process)
    kill(pool.coordinator)
    pool.begin_coordinator()
    crash(pool, 'began')
    pool.begin_coordinator()
    for process in (worker, manager):
        process.send_signal(signal.SIGCONT)
    wait_for_worker(pool)
    return manager


def drained(pool):
    worker, manager = ready_worker(pool), pool.manager(trials=2, running=2)
    wait_for(pool.has_report, 'the first report')
    wait_for(lambda: len(pool.tasks()) == 2, 'the second trial to wait')
    kill(pool.coordinator)
    worker.terminate()
    wait_for(lambda: pool.said('w1', 'takes nothing more'), 'w1 to drain')
    pool.allow(FIRST)
    wait_for(lambda: pool.lines('ends') == [FIRST], 'the trial')
    pool.begin_coordinator()
    # It says what it has, and goes; what waited is not for it.
    wait_for(lambda: worker.poll() is not None or len(pool.lines('starts')) > 1, 'w1 to go')
    assert pool.lines('starts') == [FIRST], 'a worker that drains was given another trial'
    pool.worker('w2')
    return manager


def terminated(pool):
    worker, manager = begin(pool)
    pool.coordinator.terminate()
    assert pool.coordinator.wait() == 0
    pool.begin_coordinator()
    wait_for_worker(pool)
    return manager


def statuses(pool):
    return [trial['status'] for trial in pool.export()]


def interrupted(pool):
    """Returns what is wrong with it, as the next ones."""
    worker, manager = begin(pool)
    pool.coordinator.send_signal(signal.SIGINT)
    assert pool.coordinator.wait() == 130 and worker.wait() == 0
    pool.allow()
    pool.begin_coordinator()
    pool.worker('w2')
    wait_for(lambda: manager.poll() is not None, 'the manager')
    found = statuses(pool)
    return [] if found == ['succeeded'] * 2 else [f'trials have ended as {found}']


def resumed(pool):
    kill(pool.coordinator)
    manager = pool.manager(trials=3, coordinator=None)
    wait_for(pool.has_report, 'the first report')
    manager.send_signal(signal.SIGINT)
    assert manager.wait() == 130
    pool.allow()
    for more in ([], ['--max-trials', '5']):
        again = pool.start('manager', ['resume', '--dir', 'exp', '--quiet', *more])
        wait_for(lambda: again.poll() is not None, 'the resumed manager')
        assert again.returncode == 0, f'it ends with {again.returncode}'
    found = collections.Counter(statuses(pool))
    pool.begin_coordinator()
    return [] if found['succeeded'] >= 4 and sum(found.values()) == 5 else [f'{found}']


def any_kind(pool):
    pool.allow()
    for name in ('w1', 'w2'):
        pool.worker(name)
    manager = pool.manager(trials=12, running=3)
    for edge in ('created', 'leased', 'running', 'ended', 'gone'):
        known = pool.edge(edge)
        wait_for(lambda: pool.edge(edge) > known, f'one more {edge}', pause=0)
        kill(pool.coordinator)
        pool.begin_coordinator()
    return manager


def workload(pool):
    """A run without a manager; returns what is wrong with it."""
    wait_for(lambda: pool.edge('created') == 2, 'the learner and its collector')
    kill(pool.coordinator)
    pool.begin_coordinator()
    worker = pool.worker('w1')
    wait_for(lambda: pool.edge('info') == 2, 'both to report')
    kill(pool.coordinator)
    # Its worker dies, too, and nobody comes.
    kill(worker)
    pool.begin_coordinator(lost_after='0.1')
    wait_for(lambda: pool.edge('requeued') == 1, 'the learner to be lost')
    kill(pool.coordinator)
    pool.allow('run-collect-1.0')  # nobody is there any more to end it
    (pool.folder / 'stubborn').touch()
    pool.begin_coordinator(lost_after='3600')
    pool.worker('w2')
    wait_for(lambda: {'run-learn-1.1', 'run-collect-2.0'} <= {*pool.lines('starts')}, 'the others')
    pool.allow('run-learn-1.1')
    wait_for(lambda: 'run-collect-2.0' in pool.lines('terms'), 'the last collector to be told')
    kill(pool.coordinator)
    pool.begin_coordinator()
    pool.allow()
    wait_for(lambda: pool.coordinator.poll() is not None, 'the end of the run')
    problems = []
    killed = ended_by_grace(pool, 'run-collect-2.0')
    if pool.coordinator.returncode != 0:
        problems.append(f'the coordinator ends with {pool.coordinator.returncode}')
    starts = ['run-collect-1.0', 'run-collect-2.0', 'run-learn-1.0', 'run-learn-1.1']
    if sorted(pool.lines('starts')) != starts:
        problems.append(f'starts of {pool.lines("starts")}')
    lost = {'run-learn-1.0', *(['run-collect-2.0'] if killed else [])}
    if sorted(pool.lines('ends')) != [each for each in starts if each not in lost]:
        problems.append(f'ends of {pool.lines("ends")}')
    ends = sorted((e['task'], e['state']) for e in pool.edges() if e['edge'] == 'ended')
    if ends != [('run-collect-1', 'lost'), ('run-collect-2', 'cancelled' if killed else 'succeeded'),
                ('run-learn-1', 'succeeded')]:
        problems.append(f'tasks have ended as {ends}')
    for edge, count in (('latched', 1), ('gone', 3), ('created', 3), ('began', 5)):
        if pool.edge(edge) != count:
            problems.append(f'{pool.edge(edge)} records of {edge}, not {count}')
    return problems


EDGES = {'created': created, 'leased': leased, 'running': running, 'closing': closing,
         'ended': ended, 'gone': gone, 'began': began, 'drained': drained,
         'any': any_kind, 'terminated': terminated}
OTHERS = {'interrupted': interrupted, 'resumed': resumed, 'workload': workload}


def ended_by_grace(pool, attempt):
    """On a busy machine the five seconds of a trial that was told to end may be over before this
    test lets it go."""
    return (pool.folder / 'stubborn').exists() and attempt not in pool.lines('ends')


def check(pool, manager, trials=2):
    pool.allow()
    wait_for(lambda: manager.poll() is not None, 'the manager')
    problems = [f'the manager ends with {manager.returncode}'] if manager.returncode != 0 else []
    attempts = [f't{i:04}.0' for i in range(trials)]
    killed = [FIRST] if ended_by_grace(pool, FIRST) else []
    for name, wanted in (('starts', attempts), ('ends', [a for a in attempts if a not in killed])):
        if sorted(pool.lines(name)) != wanted:
            problems.append(f'{name} of {pool.lines(name)}')
    found = [(r['trial_job_id'], r['status'], r['attempts'], r['reports']) for r in pool.export()]
    if found != [(a.split('.')[0], 'user_canceled' if a in killed else 'succeeded', 1, 1)
                 for a in attempts]:
        problems.append(f'trials, their status, attempts and reports are {found}')
    finals = pool.query("SELECT count(*) FROM reports WHERE type = 'final'")
    if finals != trials - len(killed):
        problems.append('not one final result of each trial')
    edges = collections.Counter((e['edge'], e['task']) for e in pool.edges() if 'task' in e)
    once = {(edge, task): 1 for _, task in edges
            for edge in ('created', 'leased', 'running', 'ended', 'gone')}
    wrong = {each: n for each, n in edges.items() if n != 1} | \
        {each: 0 for each in once if each not in edges}
    if wrong:
        problems.append(f'in the journal are {wrong}')
    return problems


def end(pool):
    pool.coordinator.send_signal(signal.SIGINT)
    wait_until_none_in(pool.folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('attune', type=pathlib.Path)
    parser.add_argument('edge', choices=[*EDGES, *OTHERS])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix='attune-coordinator-') as folder:
        pool = Pool(options.attune, pathlib.Path(folder), lost_after='3600',
                    workload=WORKLOAD if options.edge == 'workload' else None)

        def play():
            if options.edge in OTHERS:
                problems = OTHERS[options.edge](pool)
            else:
                problems = check(pool, EDGES[options.edge](pool),
                                 trials=12 if options.edge == 'any' else 2)
            end(pool)
            return problems

        return judge(pool, options.edge, play)


if __name__ == '__main__':
    sys.exit(main())
