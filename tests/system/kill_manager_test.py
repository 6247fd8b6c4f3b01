"""kill -9 of the manager while many trials run, again and again, and now and then of the daemon;
then `attune resume` to the end.

Nothing may be lost, nothing may run twice, nothing may be left over, and the tuner must have proposed
what it proposes to a manager that lives:
    kill_manager_test.py ATTUNE [--trials 120] [--running 40] [--kills 20] [--seed 1]

With --running 1 any --tuner will do: what it proposes depends on all results so far, so that the whole
experiment must come out as one that nobody disturbs. With --assessor trials are stopped early.

With --fake FAKE_DAEMON (at most 45 trials) also what the daemon has heard is checked, which it
writes into a file: every result once.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from pool_programs import processes_in

TRIAL = r'''
import json, os, pathlib, sys, time
folder = pathlib.Path(os.environ['NNI_SYS_DIR'])
configuration = json.loads((folder / 'parameter.cfg').read_text())
job = os.environ['NNI_TRIAL_JOB_ID']
with open('starts', 'a') as starts:
    starts.write(f'{job} {os.environ["ATTUNE_ATTEMPT"]}\n')

def report(kind, sequence, value):
    record = json.dumps({'parameter_id': configuration['parameter_id'], 'trial_job_id': job,
                         'type': kind, 'sequence': sequence, 'value': json.dumps(value)}) + '\n'
    with open(folder / '.nni/metrics', 'a') as metrics:
        metrics.write(f'ME{len(record):06d}{record}')

x = configuration['parameters']['x']
for step in range(REPORTS):
    report('PERIODICAL', step, x + step)
    time.sleep(0.05 + x % 1 / 20)  # the work
report('FINAL', 0, x)
'''
REPORTS = 4
SPACE = {'x': {'_type': 'uniform', '_value': [0, 1]}}


def make_experiment(options, folder):
    space, arguments = SPACE, {'seed': 1, 'optimize_mode': 'minimize'}
    if options.tuner == 'Batch':
        values = [{'x': i / options.trials} for i in range(options.trials)]
        space, arguments = {'combine_params': {'_type': 'choice', '_value': values}}, {}
    elif options.tuner == 'PPO':
        space = {'x': {'_type': 'choice', '_value': [i / 64 for i in range(64)]}}
    elif options.tuner == 'GridSearch':
        arguments = {}
    elif options.tuner == 'TPE':
        arguments['tpe_args'] = {'n_startup_jobs': 5}
    experiment = {'searchSpace': space, 'tuner': {'name': options.tuner, 'classArgs': arguments},
                  'trialCommand': f'exec {sys.executable} {folder}/trial.py',
                  'trialConcurrency': options.running, 'maxTrialNumber': options.trials}
    if options.pool:
        experiment['backend'] = 'pool'
        experiment['pool'] = {'workers': 2}
    if options.assessor:
        experiment['assessor'] = {'name': options.assessor,
                                  'classArgs': {'optimize_mode': 'minimize'}}
    return experiment


def run(folder, attune, arguments):
    return subprocess.Popen([attune, *arguments], cwd=folder, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_starts(path, count, manager):
    """Until so many attempts have begun, or the manager has ended."""
    while manager.poll() is None:
        begun = path.read_text().count('\n') if path.exists() else 0
        if begun >= count:
            return
        time.sleep(0.005)


def check_journal(journal, trials):
    """What the fake daemon has heard, in all its lives."""
    heard = collections.Counter()
    for line in journal.read_text().splitlines():
        code, payload = line[:2], line[2:]
        if code in ('ME', 'EN'):
            command = json.loads(payload)
            heard[(command['trial_job_id'], command.get('type', command.get('event')))] += 1
        elif code in ('FD', 'AD'):
            heard[code] += 1
    expected = {(f't{i:04}', kind): count for i in range(trials)
                for kind, count in (('PERIODICAL', REPORTS), ('FINAL', 1), ('SUCCEEDED', 1))}
    return [f'the daemon has heard {what} {heard[what]} times, not {expected.get(what, 0)}'
            for what in sorted(heard | expected, key=str) if heard[what] != expected.get(what, 0)]


def part_of_pool(folder, rng):
    """The pid of its coordinator or of one of its workers, or None."""
    found = []
    for pid in processes_in(folder):
        try:
            words = pathlib.Path(f'/proc/{pid}/cmdline').read_bytes().split(b'\0')
            if words[0].endswith(b'/attune') and words[1] in (b'coordinator', b'worker'):
                found.append(pid)
        except (OSError, IndexError):
            pass
    return rng.choice(found) if found else None


def daemon_of(manager):
    """The pid of its attuned, or None."""
    try:
        children = pathlib.Path(f'/proc/{manager.pid}/task/{manager.pid}/children').read_text()
        for pid in map(int, children.split()):
            name = pathlib.Path(f'/proc/{pid}/cmdline').read_bytes().split(b'\0')[0]
            if pathlib.Path(name.decode()).name in ('attuned', 'fake_daemon'):
                return pid
    except OSError:
        pass
    return None


def daemon(fake):
    return ['--daemon', str(fake.resolve())] if fake else []


def undisturbed(options, folder):
    """What the tuner proposes to a manager that lives, by parameter id."""
    if options.fake:
        return {i: {'x': i} for i in range(options.trials)}
    if options.running == 1:
        return in_one_go(options, folder)
    # Random draws without looking at results.
    experiment = make_experiment(options, folder)
    frames = ''.join(f'{code}{len(text):014d}{text}' for code, text in (
        ('IN', json.dumps(experiment['searchSpace'])), ('GE', str(options.trials)), ('TE', '')))
    tuner = experiment['tuner']
    answers = subprocess.run(
        [options.attune.parent / 'attuned', '--tuner', tuner['name'], '--tuner-args',
         json.dumps(tuner['classArgs']), '--in-fd', '0', '--out-fd', '1', '--drain'],
        input=frames.encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    proposals = {}
    while answers:
        code, size = answers[:2], int(answers[2:16])
        if code == b'TR':
            payload = json.loads(answers[16:16 + size])
            proposals[payload['parameter_id']] = payload['parameters']
        answers = answers[16 + size:]
    return proposals


def in_one_go(options, folder):
    """The same trials one after the other, under a manager and a daemon that nobody kills."""
    calm = folder / 'calm'
    calm.mkdir()
    (calm / 'e.json').write_text(json.dumps(make_experiment(options, folder)))
    subprocess.run([options.attune, 'run', 'e.json', '--dir', 'exp', '--quiet'], cwd=calm,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    with open_store(calm) as store:
        return proposals_in(store)


def open_store(folder):
    return sqlite3.connect(f'file:{folder}/exp/attune.sqlite?mode=ro', uri=True)


def proposals_in(store):
    rows = store.execute('SELECT parameter_id, parameters FROM trials JOIN parameters '
                         'USING (experiment, trial) ORDER BY trial').fetchall()
    return {int(parameter_id): json.loads(text) for parameter_id, text in rows}


def check_conversation(options, folder):
    """Whether the daemon has gone on exactly each time, and what is wrong if it says that it has."""
    trials = options.trials
    with open_store(folder) as store:
        afresh = store.execute("SELECT count(*) FROM events WHERE text LIKE '%begins afresh%'")
        if afresh.fetchone()[0] > 0:
            return False, []
        problems = []
        proposed = proposals_in(store)
        if len(proposed) != trials:
            problems.append(f'{len(proposed)} parameter ids, not {trials}')
        expected = undisturbed(options, folder)
        different = sorted(i for i in proposed if proposed[i] != expected.get(i))
        if different:
            problems.append(f'proposals that an undisturbed tuner does not make: {different[:5]}')
        commands, acknowledged = store.execute(
            'SELECT commands, acknowledged FROM conversations').fetchone()
        numbers = [n for n, in store.execute('SELECT number FROM outbox ORDER BY number')]
        if numbers != list(range(acknowledged + 1, commands + 1)):
            problems.append(f'{commands} commands, {acknowledged} acknowledged, kept: {numbers}')
        finals = store.execute("SELECT trial, count(*) FROM reports WHERE type = 'final' "
                               "GROUP BY trial HAVING count(*) != 1").fetchall()
        if finals:
            problems.append(f'trials with more than one final result: {finals[:5]}')
    # It accepts what it remembers and what the manager remembers as one conversation: its last word.
    again = subprocess.run([options.attune, 'resume', '--dir', 'exp', '--quiet', '--json',
                            *daemon(options.fake)], cwd=folder, capture_output=True, text=True)
    if again.returncode != 0 or sum(json.loads(again.stdout)['trials'].values()) != trials:
        problems.append(f'one more resume: exit code {again.returncode}: {again.stderr}')
    return True, problems


def check(options, folder):
    trials = options.trials
    exported = subprocess.run([options.attune, 'export', '--dir', 'exp', '--format', 'jsonl'], cwd=folder,
                              check=True, capture_output=True, text=True).stdout
    records = [json.loads(line) for line in exported.splitlines()]
    problems = []
    if [r['trial_job_id'] for r in records] != [f't{i:04}' for i in range(trials)]:
        problems.append(f'{len(records)} trials, not {trials} without a gap')
    stopped = 0
    for r in records:
        if options.assessor and (r['status'], r['attempts']) == ('early_stopped', 1):
            stopped += 1
        elif (r['status'], r['attempts'], r['reports']) != ('succeeded', 1, REPORTS):
            problems.append(f'{r["trial_job_id"]}: {r["status"]}, {r["attempts"]} attempts, '
                            f'{r["reports"]} reports, {r["reason"]}')
        elif r['score'] != r['parameters.x']:
            problems.append(f'{r["trial_job_id"]}: the score is that of another configuration')
    if options.assessor and stopped == 0:
        problems.append(f'{options.assessor} has stopped nothing: this shows nothing of it')
    starts = (folder / 'starts').read_text().split('\n')[:-1]
    if sorted(starts) != sorted(f't{i:04} 0' for i in range(trials)):
        twice = sorted({s for s in starts if starts.count(s) > 1})
        problems.append(f'{len(starts)} starts of {trials} trials; more than once: {twice[:5]}')
    left = processes_in(folder)
    for _ in range(20_000 if options.pool else 0):  # the coordinator ends behind its manager
        if not left:
            break
        time.sleep(0.01)
        left = processes_in(folder)
    if left:
        problems.append(f'processes are left: {left}')
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('attune', type=pathlib.Path)
    parser.add_argument('--trials', type=int, default=120)
    parser.add_argument('--running', type=int, default=40)
    parser.add_argument('--kills', type=int, default=20)
    parser.add_argument('--tuner', default='Random')
    parser.add_argument('--assessor')
    parser.add_argument('--fake', type=pathlib.Path)
    parser.add_argument('--pool', action='store_true', help='with a coordinator and two workers')
    parser.add_argument('--daemon-kills', type=int, default=3)
    parser.add_argument('--seed', type=int, default=1)
    arguments = parser.parse_args()
    if arguments.tuner != 'Random' and arguments.running > 1:
        parser.error('what another tuner than Random proposes can only be foretold with --running 1')
    arguments.attune = arguments.attune.resolve()
    rng = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory(prefix='attune-kill-') as name:
        folder = pathlib.Path(name)
        (folder / 'trial.py').write_text(TRIAL.replace('REPORTS', str(REPORTS)))
        (folder / 'e.json').write_text(json.dumps(make_experiment(arguments, folder)))
        os.environ['FAKE_JOURNAL'] = str(folder / 'journal')
        begin = ['run', 'e.json', '--dir', 'exp', '--quiet', *daemon(arguments.fake)]
        command = begin
        killed = daemons = parts = 0
        jitter = 0.4 if arguments.running == 1 else 0.02
        # The moments of the kills are spread over the experiment, by what has begun.
        moments = sorted(rng.sample(range(1, arguments.trials), min(arguments.kills,
                                                                    arguments.trials - 1)))
        for moment in moments:
            manager = run(folder, arguments.attune, command)
            wait_for_starts(folder / 'starts', moment, manager)
            time.sleep(rng.random() * jitter)  # not always at the same point of its work
            if manager.poll() is not None:
                break
            if arguments.pool and rng.random() < 0.7:
                pid = part_of_pool(folder, rng)
                if pid is not None:
                    os.kill(pid, signal.SIGKILL)
                    parts += 1
                    time.sleep(rng.random() * 0.3)  # it may be started again meanwhile
            if daemons < arguments.daemon_kills and rng.random() < 0.5:
                pid = daemon_of(manager)
                if pid is not None:
                    os.kill(pid, signal.SIGKILL)
                    daemons += 1
                    time.sleep(rng.random() * 0.05)  # it is started again, or about to be
            manager.send_signal(signal.SIGKILL)
            manager.communicate()
            killed += 1
            command = ['resume', '--dir', 'exp', '--quiet', *daemon(arguments.fake)]
            if not (folder / 'exp/attune.sqlite').exists():
                command = begin
        last = run(folder, arguments.attune, command)
        _, errors = last.communicate(timeout=1000)
        problems = check(arguments, folder)
        if arguments.fake:
            problems += check_journal(folder / 'journal', arguments.trials)
        exact, wrong = check_conversation(arguments, folder)
        problems += wrong
        if (arguments.fake or arguments.running == 1) and not exact:
            problems.append('a daemon that remembers has begun afresh')
        if last.returncode != 0:
            problems.insert(0, f'exit code {last.returncode}: {errors}')
    print(f'{killed} kills of the manager, {daemons} of the daemon, '
          f'{f"{parts} of coordinator or workers, " if arguments.pool else ""}'
          f'{"" if exact else "which began afresh, "}{arguments.trials} trials, {arguments.running} at once: '
          f'{"nothing lost, nothing twice" if not problems else "NOT GOOD"}')
    for problem in problems:
        print(f'  {problem}')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
