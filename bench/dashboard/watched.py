#!/usr/bin/env python3
"""What a page that watches costs a running experiment: ATTUNE [--trials N] [--seconds S] [--rounds N]

Runs the same experiment without and with a page in Debian's chromium, in turn, and prints trials per
second. Each trial sleeps for S seconds. Server and browser share the cores with the experiment: if
its trials keep all of them busy, the browser's own work shows, too.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / 'tests/system'), str(ROOT / 'tests/dashboard')]

from browser import Browser  # noqa: E402
from dashboard_server import Dashboard  # noqa: E402


def experiment(options):
    work = f'sleep {options.seconds}; ' if options.seconds else ''
    return {'trialCommand': work + 'echo "score: {x}"',
            'searchSpace': {'x': {'_type': 'uniform', '_value': [0, 1]}},
            'trialConcurrency': options.concurrency, 'maxTrialNumber': options.trials, 'tuner': {'name': 'Random'},
            'report': {'regex': 'score: (?<default>.*)'}}


def rate(options, folder, watched):
    """Trials per second of one run, from the start of the manager until its end."""
    path = pathlib.Path(folder) / 'experiment.yaml'
    path.write_text(json.dumps(experiment(options)))
    begin = time.monotonic()
    manager = subprocess.Popen([options.attune, 'run', str(path), '--quiet'], cwd=folder, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL)
    if watched:
        server, browser = watched
        while not (running := [one for one in server.get('/experiments')['experiments'] if one['status'] == 'running']):
            time.sleep(0.05)
        browser.open(server.link.split('#')[0] + '#/e/' + running[0]['experiment_id'])
    code = manager.wait()
    assert code == 0, code
    return options.trials / (time.monotonic() - begin)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('attune')
    parser.add_argument('--trials', type=int, default=2000)
    parser.add_argument('--seconds', type=float, default=0.02)
    parser.add_argument('--concurrency', type=int, default=2)
    parser.add_argument('--rounds', type=int, default=3)
    options = parser.parse_args()
    alone, watched = [], []
    with tempfile.TemporaryDirectory(prefix='watched-') as folder:
        for _ in range(options.rounds):
            alone.append(rate(options, folder, None))
            with Dashboard(options.attune, folder) as server, Browser(1280, 900, timeout=120) as browser:
                browser.open(server.link)
                browser.wait_text('experiment')
                watched.append(rate(options, folder, (server, browser)))
            print(f'alone {alone[-1]:.1f} trials/s, watched {watched[-1]:.1f}', flush=True)
    loss = 1 - statistics.median(watched) / statistics.median(alone)
    print(f'a page costs {100 * loss:.1f} %')


if __name__ == '__main__':
    main()
