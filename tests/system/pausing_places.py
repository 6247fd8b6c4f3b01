"""Where the trials of pausing_test.py run, and how a machine is lost there."""
import os
import pathlib
import signal
import subprocess

from pool_programs import Pool

ROOT = pathlib.Path(__file__).resolve().parents[2]


def processes_of(mark, parents):
    """Those with MACHINE=`mark` in their environment, and the children of `parents`: a process that
    is just being replaced by a program has no environment for a moment."""
    word, found = f'MACHINE={mark}'.encode(), set()
    for entry in pathlib.Path('/proc').iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int((entry / 'stat').read_text().rpartition(')')[2].split()[1])
            if parent in parents or word in (entry / 'environ').read_bytes().split(b'\0'):
                found.add(int(entry.name))
        except OSError:
            pass
    return found


def signal_all(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def kill_at_once(mark):
    """All processes of the machine `mark`. They are stopped first, until none is left that starts
    others: so none can say that another one has ended."""
    stopped = set()
    while running := processes_of(mark, stopped) - stopped:
        signal_all(running, signal.SIGSTOP)
        stopped |= running
    signal_all(stopped, signal.SIGKILL)


class Local:
    keys = {}

    def __init__(self, options, folder):
        self.environment = {'MACHINE': str(folder)}

    def lose(self, machine):
        """With the manager; it is switched on again when that resumes."""
        kill_at_once(machine)

    def close(self):
        pass


class Workers:
    """A pool with two workers, each of which stands for a machine."""
    environment = {}
    keys = {'backend': 'pool', 'pool': {'coordinator': 'pool'}}

    def __init__(self, options, folder):
        self.pool = Pool(options.attune, folder, lost_after='0.5')
        self.pool.begin_coordinator()
        self.begun = 0
        self.begin_worker()
        self.begin_worker()

    def begin_worker(self):
        self.begun += 1
        name = f'w{self.begun}'
        self.pool.worker(name, enter=('env', f'MACHINE={self.pool.folder}/{name}'))

    def lose(self, machine):
        kill_at_once(machine)
        self.begin_worker()

    def close(self):
        self.pool.close()


class Slurm:
    """A Slurm of our own, with four nodes. It ends with its standard input, if we are killed."""
    keys = {'backend': 'slurm', 'slurm': {'mode': 'jobs', 'poll': 1}}

    def __init__(self, options, folder):
        slurm = folder / 'slurm'
        self.guard, guarded = os.pipe()
        subprocess.run([ROOT / 'tests/slurm/slurm_up.sh', slurm], stdin=self.guard, check=True,
                       env={**os.environ, 'SLURM_GUARD': '1'}, stdout=subprocess.DEVNULL)
        os.close(self.guard)
        self.guard = guarded
        self.environment = {'SLURM_CONF': str(slurm / 'slurm.conf')}
        self.slurm = slurm

    def lose(self, machine):
        subprocess.run(['scontrol', 'update', f'nodename={machine}', 'state=down', 'reason=test'],
                       env={**os.environ, **self.environment}, check=True)

    def close(self):
        subprocess.run([ROOT / 'tests/slurm/slurm_down.sh', self.slurm], check=True,
                       stdout=subprocess.DEVNULL)
        os.close(self.guard)


PLACES = {'local': Local, 'pool': Workers, 'slurm': Slurm}
