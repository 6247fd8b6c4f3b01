"""A pool of real processes for tests: coordinator, workers, a manager, and trials that wait for us."""
import json
import os
import pathlib
import signal
import sqlite3
import struct
import subprocess
import sys
import time

# Reports once, then ends when it may: by a file `go.JOB.ATTEMPT`, or `go` for all. Where there is a
# file `stubborn` it does not end when it is told to.
TRIAL = r'''
import json, os, pathlib, signal, time
job, attempt = os.environ['NNI_TRIAL_JOB_ID'], int(os.environ['ATTUNE_ATTEMPT'])
folder = pathlib.Path(os.environ['NNI_SYS_DIR'])
configuration = json.loads((folder / 'parameter.cfg').read_text())

def note(file):
    with open(file, 'a') as lines:
        lines.write(f'{job}.{attempt}\n')

def report(kind):
    record = json.dumps({'parameter_id': configuration['parameter_id'], 'trial_job_id': job,
                         'type': kind, 'sequence': 0, 'value': json.dumps(attempt)}) + '\n'
    with open(folder / '.nni/metrics', 'a') as metrics:
        metrics.write(f'ME{len(record):06d}{record}')

if pathlib.Path('stubborn').exists():
    signal.signal(signal.SIGTERM, lambda *_: note('terms'))
note('starts')
report('PERIODICAL')
while not any(map(os.path.exists, ('go', f'go.{job}.{attempt}'))):
    time.sleep(0.01)
report('FINAL')
note('ends')
'''


def wait_for(condition, what, pause=0.01):
    deadline = time.monotonic() + 200
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(f'in vain waited for {what}')
        time.sleep(pause)


def kill(process):
    process.kill()
    process.wait()


def stop(process):
    """It does nothing any more, until it is killed or goes on."""
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)


def processes_in(folder, program=''):
    """Pids of processes that have this folder in their command line, shims and trials; of those with
    `program` in it."""
    found, words = [], (str(folder).encode(), program.encode())
    for entry in pathlib.Path('/proc').iterdir():
        try:
            if entry.name.isdigit():
                command = (entry / 'cmdline').read_bytes()
                if all(word in command for word in words):
                    found.append(int(entry.name))
        except OSError:
            pass
    return [pid for pid in found if pid != os.getpid()]


def is_any_in_exec():
    """Whether a process is in the middle of execve(): it shows no command line yet, so processes_in() misses it."""
    for entry in pathlib.Path('/proc').glob('[0-9]*'):
        try:
            os.readlink(entry / 'exe')  # threads of the kernel and the dead have none
            if not (entry / 'cmdline').read_bytes():
                return True
        except OSError:
            pass
    return False


def wait_until_none_in(folder):
    """Waits until no process has this folder in its command line, also none that is just being started."""
    # In this order: who has got its command line in between is seen by the second look.
    wait_for(lambda: not is_any_in_exec() and not processes_in(folder), f'the last process in {folder} to end')


def is_used(folder):
    """Whether a process has a file below it open; of processes of other users nobody can say."""
    for process in pathlib.Path('/proc').glob('[0-9]*'):
        try:
            opened = list((process / 'fd').iterdir())
        except OSError:  # it has ended, or is another user's
            continue
        for link in opened:
            try:
                if link.readlink().is_relative_to(folder):
                    return True
            except OSError:  # closed since
                pass
    return False


def wait_until_unused(folder):
    """Waits for the end of managers that nobody waits for: each has its log below the folder open."""
    wait_for(lambda: not is_used(folder), f'the end of whoever uses {folder}')


class Pool:
    """In `folder`: the coordinator's is `pool`, the experiment's `exp`, logs are NAME.log."""

    def __init__(self, attune, folder, workload=None, **options):
        """`options`: of the coordinator, as in lost_after='1'. `workload`: its file, whose roles run
        the trial."""
        self.attune, self.folder, self.processes = attune.resolve(), folder, []
        self.options = {'listen': '127.0.0.1:0', **options}
        (folder / 'trial.py').write_text(TRIAL)
        self.command = f'exec {sys.executable} {folder}/trial.py'
        self.file = []
        if workload is not None:
            roles = {role: {'command': self.command, **workload[role]}
                     for role in ('learner', 'collector')}
            (folder / 'workload.json').write_text(json.dumps(workload | roles))
            self.file = ['workload.json']

    def start(self, name, arguments, enter=()):
        """`enter`: a command that runs the program elsewhere."""
        with open(self.folder / f'{name}.log', 'a') as log:
            process = subprocess.Popen([*enter, self.attune, *arguments], cwd=self.folder,
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.processes.append(process)
        return process

    def begin_coordinator(self, **options):
        """Again, too: it goes on from its journal. `options` replace those of the beginning."""
        self.options |= options
        words = [word for key, value in self.options.items()
                 for word in ('--' + key.replace('_', '-'), value)]
        lives = self.said('coordinator', 'listening on')
        self.coordinator = self.start('coordinator', ['coordinator', *self.file, '--dir', 'pool',
                                                      *words])
        wait_for(lambda: self.said('coordinator', 'listening on') > lives, 'the coordinator')

    def worker(self, name, *arguments, enter=()):
        return self.start(name, ['worker', '--join', 'pool', '--name', name, '--cpu', '1',
                                 *arguments], enter)

    def manager(self, trials, running=1, coordinator='pool'):
        """`coordinator`: None: its own, with a worker."""
        (self.folder / 'e.json').write_text(json.dumps({
            'searchSpace': {'x': {'_type': 'uniform', '_value': [0, 1]}},
            'tuner': {'name': 'Random'}, 'seed': 1,
            'trialCommand': self.command,
            'trialConcurrency': running, 'maxTrialNumber': trials, 'backend': 'pool',
            'pool': {'coordinator': coordinator} if coordinator else {'workers': 1}}))
        return self.start('manager', ['run', 'e.json', '--dir', 'exp', '--quiet'])

    # ---- what can be seen of it

    def said(self, name, text):
        """How often, in its log."""
        path = self.folder / f'{name}.log'
        return path.read_text().count(text) if path.exists() else 0

    def status(self):
        """Workers and tasks, as the coordinator says."""
        for _ in range(100):  # it may be late on a busy machine
            asked = subprocess.run([self.attune, 'pool', '--join', 'pool', '--json'],
                                   cwd=self.folder, capture_output=True, text=True)
            if asked.returncode == 0:
                return json.loads(asked.stdout)
        raise RuntimeError(asked.stderr)

    def worker_state(self, name):
        return {w['worker']: w['state'] for w in self.status()['workers']}.get(name)

    def tasks(self):
        """Those that have not ended: worker, state, and which attempt of a trial it is."""
        return [(t.get('worker'), t['state'], '.'.join(t['task'].rsplit('-', 2)[1:]))
                for t in self.status()['tasks']
                if t['state'] in ('queued', 'leased', 'running', 'closing')]

    def edges(self):
        """Those in the journal, as far as it is written; docs/journal.md has the format."""
        data = (self.folder / 'pool/coordinator.journal').read_bytes()
        records = []
        while len(data) >= 13:
            size, = struct.unpack('<I', data[:4])
            if len(data) < 13 + size:
                break
            if data[4] == 16:
                records.append(json.loads(data[13:13 + size]))
            data = data[13 + size:]
        return [record for record in records if 'edge' in record]  # else of a buffer

    def edge(self, kind):
        """How often."""
        return sum(record['edge'] == kind for record in self.edges())

    def lines(self, name):
        path = self.folder / name
        return path.read_text().split() if path.exists() else []

    def query(self, sql):
        """One number of the manager's store."""
        with sqlite3.connect(f'file:{self.folder}/exp/attune.sqlite?mode=ro', uri=True) as store:
            return store.execute(sql).fetchone()[0]

    def has_report(self):
        try:
            return self.query('SELECT count(*) FROM reports') > 0
        except sqlite3.OperationalError:
            return False  # there is no store yet

    def export(self):
        text = subprocess.run([self.attune, 'export', '--dir', 'exp', '--format', 'jsonl'],
                              cwd=self.folder, check=True, capture_output=True, text=True).stdout
        return [json.loads(line) for line in text.splitlines()]

    # ---- its end

    def allow(self, attempt=None):
        (self.folder / ('go' if attempt is None else f'go.{attempt}')).touch()

    def close(self):
        self.allow()  # nothing is left that waits
        for process in self.processes:
            kill(process)

    def logs(self):
        """For people, when something is wrong."""
        texts = [f'{log.name}: {log.read_text()}' for log in sorted(self.folder.glob('*.log'))]
        log = (self.folder / 'pool/coordinator.log').read_text().splitlines(keepends=True)
        return [*texts, ''.join(line for line in log if ' client watch ' not in line)]


def judge(pool, name, play):
    """play() with a coordinator, and says what is wrong: the exit code."""
    try:
        pool.begin_coordinator()
        problems = play()
    except (RuntimeError, AssertionError) as error:
        problems = [str(error)]
    finally:
        pool.close()
    if problems:
        problems += pool.logs()
    print(f'{name}: {"nothing lost, nothing twice" if not problems else "NOT GOOD"}')
    for problem in problems:
        print(f'  {problem}')
    return 1 if problems else 0
