"""Trials that pause, under each tuner that has them pause, while processes are killed:

    pausing_test.py ATTUNE [--where local | pool | slurm] [--kill daemon | machine]
                    [--tuner ASHA]... [--kills 6] [--running 1] [--trials 12] [--seed 1]
    pausing_test.py ATTUNE --kill manager --calls 300 --preload LIBRARY ...

  manager   attune, and attune resume goes on. Each of its lives ends right before a call, the first
            to the 300th, by which others could notice what it does: LIBRARY is killed_at_call.c
  daemon    attuned, at most three times
  machine   one that has run trials which are now paused, if there is one: in a pool the worker with
            all that it has started, under Slurm a node, locally the manager with all that it has

A trial writes down each epoch before it begins it. So the test sees what is trained twice or left
out. Where the test kills between two epochs, trials begin only as many as the test allows: however
slow the test is, the experiment is not over before the first kill, nor before another one that comes
within its epochs. (With --running 2 an experiment may have fewer epochs than the undisturbed one.)
In the end exactly the checkpoints that the store keeps are on the disk. With --running 1 the
decisions must be those of an experiment that nobody disturbs.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from kill_manager_test import daemon_of
from pausing_places import PLACES, ROOT, Local
from pool_programs import wait_for, wait_until_none_in

SKIPPED = 77  # SKIP_RETURN_CODE in tests/CMakeLists.txt

TRIAL = r'''
import json, os, pathlib, time
import attune

job, attempt = os.environ['NNI_TRIAL_JOB_ID'], os.environ['ATTUNE_ATTEMPT']
machine = os.environ.get('SLURMD_NODENAME') or os.environ['MACHINE']
x = attune.next_parameters()['x']
state = json.loads(attune.restore('state') or '{"epoch": 0, "job": "-"}')
gate, epochs = pathlib.Path('gate'), pathlib.Path('epochs')
while state['epoch'] < 9:
    while gate.exists() and epochs.exists() and (
            len(epochs.read_text().splitlines()) >= int(gate.read_text())):
        time.sleep(0.002)
    with open('epochs', 'a') as lines:
        lines.write(f'{job} {attempt} {machine} {state["job"]} {state["epoch"]}\n')
    state = {'epoch': state['epoch'] + 1, 'job': job}
    attune.save('state', json.dumps(state).encode())
    attune.report({'default': x ** 2 + 1 / state['epoch'], 'training_iteration': state['epoch']})
attune.final({'default': x ** 2 + 1 / 9, 'training_iteration': 9})
'''
# An epoch that was begun: by which attempt of a trial, where, and behind which epoch of which trial.
Epoch = collections.namedtuple('Epoch', 'job attempt machine source behind')

# Every tuner that has trials pause, or start from checkpoints, with arguments for small experiments.
BASE = {'seed': 1, 'optimize_mode': 'minimize'}
LEVELS = {**BASE, 'max_t': 9}
POPULATION = {**LEVELS, 'population_size': 4, 'perturbation_interval': 2}
TUNERS = {
    'ASHA': LEVELS, 'PASHA': LEVELS, 'SyncHyperband': LEVELS, 'HyperBandScheduler': LEVELS,
    'HyperBandForBOHB': LEVELS, 'DEHB': LEVELS, 'FreezeThaw': LEVELS, 'auto': BASE,
    'OneEpoch': {**LEVELS, 'trials': 3},
    'Hyperband': {**BASE, 'R': 9}, 'BOHB': {**BASE, 'max_budget': 9},
    'PopulationBasedTraining': POPULATION, 'PB2': POPULATION,
}


class Experiment:
    def __init__(self, options, tuner, folder, place):
        self.attune, self.folder, self.place = options.attune, folder, place
        (folder / 'trial.py').write_text(TRIAL)
        (folder / 'e.json').write_text(json.dumps({
            'searchSpace': {'x': {'_type': 'uniform', '_value': [0, 1]}},
            'tuner': {'name': tuner, 'classArgs': TUNERS[tuner]}, 'fidelity': {'max': 9},
            # A trial whose manager is gone waits for the next one.
            'trialCommand': f'ATTUNE_DECISION_SECONDS=3600 exec {sys.executable} -B trial.py',
            'environment': {'PYTHONPATH': str(ROOT / 'python')},
            'retries': {'lost': {'limit': options.kills, 'how': 'resumeOrRestart'}},
            'trialConcurrency': options.running, 'maxTrialNumber': options.trials, **place.keys}))

    def start(self, **environment):
        with open(self.folder / 'log', 'a') as log:
            self.manager = subprocess.Popen(
                [self.attune, *(['resume'] if self.is_known() else ['run', 'e.json']), '--dir', 'exp', '--quiet'],
                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, **self.place.environment, **environment})
        return self.manager

    def epochs(self):
        path = self.folder / 'epochs'
        lines = path.read_text().splitlines() if path.exists() else []
        return [Epoch(job, int(attempt), machine, source, int(behind))
                for job, attempt, machine, source, behind in map(str.split, lines)]

    def allow_epochs(self, number):
        (self.folder / 'gate.new').write_text(str(number))
        (self.folder / 'gate.new').rename(self.folder / 'gate')  # a trial never reads half of it

    def query(self, sql):
        with sqlite3.connect(f'file:{self.folder}/exp/attune.sqlite?mode=ro', uri=True) as store:
            return store.execute(sql).fetchall()

    def is_known(self):
        try:
            return bool(self.query('SELECT * FROM experiments'))
        except sqlite3.OperationalError:
            return False  # there is no store yet, or nothing in it

    def machines_of_paused(self):
        """Where the trials have run that are paused now."""
        if not self.is_known():
            return []
        paused = {job for job, in self.query("SELECT job_id FROM trials WHERE status = 'PAUSED'")}
        last = {epoch.job: epoch.machine for epoch in self.epochs()}
        return sorted(last[job] for job in paused & set(last))

    def lost(self):
        return self.query("SELECT count(*) FROM attempts WHERE ending = 'lost'")[0][0]

    def decisions(self):
        return self.query("SELECT trial, action, reason FROM decisions WHERE decided_by = 'decider' "
                          'ORDER BY decision')


def kill_at_calls(experiment, options, rng, done):
    """Starts the manager again and again, until one lives to the end of the experiment."""
    while True:
        done['paused'] += len(experiment.machines_of_paused())
        manager = experiment.start(LD_PRELOAD=str(options.preload.resolve()), KILLED_PROGRAM='attune',
                                   KILLED_AT=str(rng.randint(1, options.calls)))
        if manager.wait(timeout=500) != -signal.SIGKILL:
            return manager
        done['manager'] += 1


def kill_at_epochs(experiment, options, rng, done, epochs):
    """Kills at moments that are spread over the `epochs` of the undisturbed experiment."""
    # Each trial begins an epoch, whatever is decided: so the experiment gets to the first moment.
    trials = len({epoch.job for epoch in epochs})
    moments = {rng.randint(1, max(1, trials - 1))}
    moments.update(rng.sample(range(1, len(epochs)), min(options.kills, len(epochs)) - 1))
    moments = sorted(moments)
    experiment.allow_epochs(moments[0])
    manager = experiment.start()
    lost = set()
    for moment, following in zip(moments, [*moments[1:], sys.maxsize]):
        wait_for(lambda: manager.poll() is not None or len(experiment.epochs()) >= moment,
                 f'{moment} epochs', pause=0.002)
        experiment.allow_epochs(following)
        time.sleep(rng.random() * 0.1)  # not always at the same point of its work
        paused = experiment.machines_of_paused()
        if manager.poll() is not None:
            break
        if options.kill == 'daemon':
            daemon = daemon_of(manager)
            if daemon is None:
                continue
            os.kill(daemon, signal.SIGKILL)
        else:
            used = {epoch.machine for epoch in experiment.epochs()}  # not all tuners pause
            machines = sorted(set(paused) - lost or used - lost)
            if not machines:
                continue
            machine = rng.choice(machines)
            experiment.place.lose(machine)
            if options.where == 'local':
                manager.wait()
                manager = experiment.start()
            else:
                lost.add(machine)
            paused = [each for each in paused if each == machine]
        done[options.kill] += 1
        done['paused'] += len(paused)
    return manager


def disturb(experiment, options, rng, epochs):
    """Runs the experiment to its end. Counts the kills, and the trials that were paused then."""
    done = collections.Counter()
    if options.kill == 'manager':
        manager = kill_at_calls(experiment, options, rng, done)
    else:
        manager = kill_at_epochs(experiment, options, rng, done, epochs)
    manager.wait(timeout=500)
    return done, [f'exit code {manager.returncode}'] if manager.returncode != 0 else []


def check_starts(experiment, attempts):
    """Each attempt goes on from the newest checkpoint, or from the one that the tuner has named.
    `attempts`: (job, attempt) -> (how it ended, what it started from)."""
    problems = []
    made, last_of, last = {}, {}, {}
    for checkpoint, job, attempt in experiment.query(
            'SELECT checkpoints.checkpoint, job_id, attempt FROM checkpoints JOIN trials '
            "USING (experiment, trial) WHERE state != 'failed' "
            "ORDER BY length(checkpoints.checkpoint), checkpoints.checkpoint"):
        made[checkpoint] = job, attempt
        last_of[job, attempt] = checkpoint
    states = {}  # (trial, epoch) that an attempt has had in its folder, in their order

    def states_of(name):
        if name in states:
            return states[name]
        # It has trained nothing. If it had not even begun, its folder is that of the attempt before,
        # which was lost.
        job, attempt = name
        start = attempts[name][1]
        before = states_of((job, attempt - 1)) if attempt > 0 else []
        return before + (states_of(made[start]) if start else [('-', 0)])

    for epoch in experiment.epochs():
        name, found = (epoch.job, epoch.attempt), (epoch.source, epoch.behind)
        if name not in states:
            if epoch.attempt < last.get(epoch.job, 0):
                problems.append(f'{name} runs beside a later attempt')
            last[epoch.job] = epoch.attempt
            start = attempts[name][1]
            before = (epoch.job, epoch.attempt - 1)
            expected = ''.join([each for each in made if made[each] == before][-1:])
            # One that was lost, and has saved nothing: from where that had started.
            if epoch.attempt > 0 and not expected:
                expected = attempts[before][1]
            if start != expected and (not start or made[start][0] == epoch.job):
                problems.append(f'{name} starts from {start or "nothing"}, not from {expected}')
            possible = states_of(made[start]) if start else [('-', 0)]
            if made.get(start) in states and last_of[made[start]] == start and (
                    attempts[made[start]][0] == 'paused'):
                possible = possible[-1:]  # it was saved when the attempt had ended
            if found not in possible:
                problems.append(f'{name} goes on behind {found}, {start} is one of {possible}')
            states[name] = [found]
        elif found != states[name][-1]:
            problems.append(f'{epoch} comes behind {states[name][-1]}')
        states[name].append((epoch.job, epoch.behind + 1))
    return problems


def check_reports(experiment, attempts):
    """Each attempt has trained each epoch once, and reported it."""
    begun = collections.Counter((epoch.job, epoch.attempt, epoch.behind + 1)
                                for epoch in experiment.epochs())
    reported = collections.Counter()
    for job, attempt, text in experiment.query(
            'SELECT job_id, attempt, text FROM reports JOIN trials USING (experiment, trial) '
            "WHERE type = 'periodical'"):
        reported[job, attempt, json.loads(json.loads(text)['value'])['training_iteration']] += 1
    different = [each for each in begun | reported if begun[each] != 1 or reported[each] != 1]
    return [f'attempt and epoch {each} begun {begun[each]} times, reported {reported[each]} times'
            for each in different
            if attempts[each[:2]][0] != 'lost' or begun[each] != 1 or reported[each] > 1]


def check_files(experiment):
    """Of each trial at most the newest checkpoint is kept, and nothing else is on the disk."""
    folder = experiment.folder / 'exp/checkpoints'
    there = {path.name for path in folder.iterdir()} if folder.exists() else set()
    of_trial = collections.defaultdict(list)
    kept = set()
    for checkpoint, state in experiment.query(
            "SELECT checkpoint, state FROM checkpoints WHERE state != 'failed'"):
        job, number = checkpoint.rsplit('-', 1)
        of_trial[job].append(int(number))
        if state == 'kept':
            kept.add(checkpoint)
    problems = []
    if there != kept:
        problems.append(f'{sorted(there - kept)} are left, {sorted(kept - there)} are not there')
    old = kept - {f'{job}-{max(numbers)}' for job, numbers in of_trial.items()}
    if old:
        problems.append(f'{sorted(old)} are not the newest')
    left = sorted(path.parent.name for path in (experiment.folder / 'exp/trials').glob('*/checkpoint'))
    return problems + ([f'folders of ended trials are left: {left}'] if left else [])


def check(experiment, options, done):
    attempts = {(job, attempt): (ending, start) for job, attempt, ending, start in experiment.query(
        'SELECT job_id, attempt, ending, from_checkpoint FROM attempts JOIN trials '
        'USING (experiment, trial)')}
    problems = check_starts(experiment, attempts) + check_reports(experiment, attempts)
    problems += check_files(experiment)
    for job, status, reason in experiment.query('SELECT job_id, status, reason FROM trials'):
        if status not in ('SUCCEEDED', 'EARLY_STOPPED'):
            problems.append(f'{job}: {status} {reason}')
    endings = collections.Counter(ending for ending, _ in attempts.values())
    if set(endings) - {'succeeded', 'paused', 'stopped', 'lost'}:
        problems.append(f'how attempts ended: {endings}')
    if experiment.lost() > done['machine'] * options.running:
        problems.append(f'{experiment.lost()} attempts are lost')
    afresh = experiment.query("SELECT text FROM events WHERE text LIKE '%begins afresh%'")
    return problems + [text for text, in afresh]


def play(options, tuner, place, folder):
    rng = random.Random(f'{options.seed} {tuner}')
    calm, disturbed = folder / f'{tuner}-calm', folder
    calm.mkdir()
    undisturbed = Experiment(options, tuner, calm, Local(options, calm))
    if undisturbed.start().wait(timeout=500) != 0:
        return ['it fails also when nobody disturbs it', (calm / 'log').read_text()]
    experiment = Experiment(options, tuner, disturbed, place)
    try:
        done, problems = disturb(experiment, options, rng, undisturbed.epochs())
    finally:
        experiment.manager.kill()  # it has ended, unless the test has failed
    # Also those that delete files when the manager has ended.
    wait_until_none_in(folder / 'exp')
    problems += check(experiment, options, done)
    if options.running == 1 and experiment.decisions() != undisturbed.decisions():
        pairs = [pair for pair in zip(experiment.decisions(), undisturbed.decisions())
                 if pair[0] != pair[1]]
        problems.append(f'not what is decided undisturbed: {pairs[:1]}')
    if done[options.kill] == 0:
        problems.append('nothing was killed: this shows nothing')
    print(f'{tuner}: {done[options.kill]} kills of the {options.kill}, beside {done["paused"]} paused '
          f'trials; {len(experiment.epochs())} epochs (undisturbed {len(undisturbed.epochs())}), '
          f'{experiment.lost()} attempts lost: {"NOT GOOD" if problems else "good"}', flush=True)
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('attune', type=pathlib.Path)
    parser.add_argument('--where', choices=PLACES, default='local')
    parser.add_argument('--kill', choices=('manager', 'daemon', 'machine'), default='manager')
    parser.add_argument('--tuner', action='append', choices=TUNERS)
    parser.add_argument('--kills', type=int, default=6)
    parser.add_argument('--calls', type=int, default=300)
    parser.add_argument('--preload', type=pathlib.Path)
    parser.add_argument('--running', type=int, default=1)
    parser.add_argument('--trials', type=int, default=12)
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    options.attune = options.attune.resolve()
    if options.kill == 'daemon':
        options.kills = min(options.kills, 3)  # a fourth one ends the experiment
    os.environ['PATH'] += ':/usr/sbin:/sbin'
    if options.where == 'slurm' and not all(map(shutil.which, ('slurmctld', 'slurmd', 'sbatch'))):
        print('skipped: there is no Slurm')
        return SKIPPED
    failed = 0
    for tuner in options.tuner or TUNERS:
        with tempfile.TemporaryDirectory(prefix='attune-pausing-') as name:
            folder = pathlib.Path(name)
            place = PLACES[options.where](options, folder)
            try:
                problems = play(options, tuner, place, folder)
                if problems:
                    problems += [log.read_text() for log in folder.glob('*log')]
            finally:
                place.close()
        for problem in problems:
            print(f'  {problem}')
        failed += bool(problems)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
