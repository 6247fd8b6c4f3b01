"""Sends attuned millions of commands over its pipes, and watches memory, descriptors and time.

    soak.py ATTUNED [--commands 2000000] [--trials 100000 --metrics 100] [--outstanding 5000]

Three runs: many commands of few trials at a time; many trials with many metrics each; thousands of
trials outstanding at once. It fails when memory grows by more than a trial may cost, when a
descriptor stays open, or when an answer is missing. What it measures it prints.
"""
import argparse
import base64
import json
import os
import pathlib
import select
import subprocess
import sys
import tempfile
import time

SPACE = {'x': {'_type': 'uniform', '_value': [0, 1]}, 'n': {'_type': 'randint', '_value': [1, 99]}}
TRIAL_BYTES = 2048  # more than this a trial must not cost, whatever it reports
SLACK = 24 << 20    # buffers, the allocator's reserve
SNAPSHOT = 2        # descriptors while one is written
HEADER = 16


class Daemon:
    """attuned with a journal, driven without ever waiting for one pipe while the other is full."""

    def __init__(self, program: str, tuner: dict, assessor: dict, directory: str):
        experiment = {'tuner': tuner, 'assessor': assessor, 'capabilities': ['sync']}
        words = ['--exp_params', base64.b64encode(json.dumps(experiment).encode()).decode(),
                 '--checkpoint-dir', directory, '--log-file', f'{directory}/log',
                 '--in-fd', '0', '--out-fd', '1']
        self.process = subprocess.Popen([program, *words], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, bufsize=0)
        for pipe in (self.process.stdin, self.process.stdout):
            os.set_blocking(pipe.fileno(), False)
        self.unsent, self.unread = bytearray(), bytearray()
        self.commands = 0
        self.answers = {}   # how many of each code
        self.trials = []    # parameter ids that came and were not taken
        self.kills = set()
        self.send('IN', json.dumps(SPACE))
        self.sync()

    def send(self, code: str, payload: str = '') -> None:
        self.unsent += b'%s%014d%s' % (code.encode(), len(payload), payload.encode())
        self.commands += 1
        if len(self.unsent) > 1 << 18:
            self.pump(lambda: len(self.unsent) < 1 << 16)

    def sync(self) -> None:
        """Returns when all that was sent has been handled."""
        before = self.answers.get('PO', 0)
        self.send('PI', 'sync')
        self.pump(lambda: self.answers.get('PO', 0) > before)

    def pump(self, done) -> None:
        to, back = self.process.stdin.fileno(), self.process.stdout.fileno()
        while not done():
            readable, writable, _ = select.select([back], [to] if self.unsent else [], [], 60)
            if not readable and not writable:
                sys.exit('attuned says nothing for 60 s')
            if writable:
                del self.unsent[:os.write(to, self.unsent[:1 << 16])]
            if readable:
                data = os.read(back, 1 << 16)
                if not data:
                    sys.exit(f'attuned ended with {self.process.wait()}')
                self.unread += data
                self._take()

    def _take(self) -> None:
        at = 0
        while len(self.unread) - at >= HEADER:
            size = int(self.unread[at + 2:at + HEADER])
            if len(self.unread) - at < HEADER + size:
                break
            code = self.unread[at:at + 2].decode()
            payload = self.unread[at + HEADER:at + HEADER + size]
            self.answers[code] = self.answers.get(code, 0) + 1
            if code == 'TR':
                self.trials.append(json.loads(payload)['parameter_id'])
            elif code == 'KI':
                self.kills.add(json.loads(payload))
            at += HEADER + size
        del self.unread[:at]

    def status(self, key: str) -> int:
        for line in pathlib.Path(f'/proc/{self.process.pid}/status').read_text().splitlines():
            if line.startswith(key + ':'):
                return int(line.split()[1]) * 1024
        raise KeyError(key)

    def descriptors(self) -> int:
        return len(os.listdir(f'/proc/{self.process.pid}/fd'))

    def end(self) -> None:
        self.send('TE')
        self.pump(lambda: not self.unsent)
        self.process.stdin.close()
        if self.process.wait(30) != 0:
            sys.exit(f'attuned ended with {self.process.returncode}')

    # ---- what a manager says

    def ask(self, count: int) -> list:
        self.send('GE', str(count))
        self.pump(lambda: len(self.trials) >= count)
        trials, self.trials = self.trials, []
        return trials

    def metric(self, trial: int, kind: str, sequence: int, value: float) -> None:
        self.send('ME', '{"parameter_id":%d,"trial_job_id":"J%d","type":"%s","sequence":%d,'
                        '"value":"%r"}' % (trial, trial, kind, sequence, value))

    def finish(self, trial: int) -> None:
        self.metric(trial, 'FINAL', 0, trial % 97 / 97)
        self.send('EN', '{"trial_job_id":"J%d","event":"SUCCEEDED",'
                        '"hyper_params":"{\\"parameter_id\\":%d}"}' % (trial, trial))


def run(daemon: Daemon, trials: int, metrics: int, at_once: int, name: str) -> None:
    begin, sent = time.monotonic(), daemon.commands
    warm = resident = opened = 0
    done = 0
    while done < trials:
        running = daemon.ask(min(at_once, trials - done))
        for step in range(metrics):
            for trial in running:
                daemon.metric(trial, 'PERIODICAL', step, (trial * 31 + step) % 89 / 89)
        for trial in running:
            daemon.finish(trial)
        done += len(running)
        if not warm and done * 4 >= trials:
            daemon.sync()
            warm, resident, opened = done, daemon.status('VmRSS'), daemon.descriptors()
    daemon.sync()
    seconds = time.monotonic() - begin
    grown = daemon.status('VmRSS') - resident
    commands = daemon.commands - sent
    print(f'{name}: {commands} commands in {seconds:.1f} s ({commands / seconds:.0f}/s), '
          f'{trials} trials, {len(daemon.kills)} stopped early, '
          f'{daemon.status("VmRSS") >> 20} MiB (peak {daemon.status("VmHWM") >> 20}), '
          f'{grown / max(1, trials - warm):.0f} bytes a trial since the first quarter, '
          f'{daemon.descriptors()} descriptors', flush=True)
    if grown > SLACK + TRIAL_BYTES * (trials - warm):
        sys.exit(f'{name}: memory grew by {grown} bytes')
    if daemon.descriptors() > opened + SNAPSHOT:
        sys.exit(f'{name}: {opened} descriptors became {daemon.descriptors()}')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('program')
    parser.add_argument('--commands', type=int, default=2_000_000)
    parser.add_argument('--trials', type=int, default=100_000)
    parser.add_argument('--metrics', type=int, default=100)
    parser.add_argument('--outstanding', type=int, default=5_000)
    parser.add_argument('--tuner', default='TPE')
    options = parser.parse_args()
    tuner = {'name': options.tuner, 'classArgs': {'seed': 1}}
    medianstop = {'name': 'Medianstop', 'classArgs': {'start_step': 5}}
    runs = [('many commands', options.commands // 202, 200, 10),
            ('many trials', options.trials, options.metrics, 100),
            ('many outstanding', 3 * options.outstanding, 3, options.outstanding)]
    for name, trials, metrics, at_once in runs:
        if trials == 0:
            continue
        with tempfile.TemporaryDirectory() as directory:
            daemon = Daemon(options.program, tuner, medianstop, directory)
            run(daemon, trials, metrics, at_once, name)
            daemon.end()
            size = os.path.getsize(f'{directory}/attuned.journal')
            print(f'  journal of {size >> 10} KiB at the end', flush=True)


if __name__ == '__main__':
    main()
