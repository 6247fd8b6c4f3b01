"""What the manager costs: per trial with real processes, per event as simulated trials grow.

    measure_runner.py FOLDER_OF_PROGRAMS [--quick]

Prints Markdown tables for docs/performance.md.
"""
import argparse
import json
import os
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

SPACE = {'x': {'_type': 'uniform', '_value': [0, 1]}}
RANDOM = {'name': 'Random', 'classArgs': {'seed': 1, 'optimize_mode': 'minimize'}}


def run(arguments, folder):
    """Wall seconds, peak resident bytes of the program itself, its exit code."""
    begin = time.monotonic()
    process = subprocess.Popen(arguments, cwd=folder, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return time.monotonic() - begin, usage.ru_maxrss * 1024, process.returncode


def experiment(folder, **more):
    file = folder / 'e.json'
    file.write_text(json.dumps({'searchSpace': SPACE, 'tuner': RANDOM, **more}))
    return file


def real_trials(programs, folder, trials, concurrency):
    file = experiment(folder, trialCommand='true', report={'exitCode': True},
                      trialConcurrency=concurrency, maxTrialNumber=trials)
    out = folder / f'real-{concurrency}'
    seconds, memory, _ = run([programs / 'attune', 'run', file, '--dir', out, '--quiet'], folder)
    store = sqlite3.connect(out / 'attune.sqlite')
    spans = [1e3 * (end - begin) for begin, end in store.execute(
        'SELECT added_at, ended_at FROM trials ORDER BY trial')]
    if len(spans) != trials:
        raise ValueError(f'{len(spans)} trials were recorded, not {trials}')
    return (f'| {concurrency} | {trials} | {1e3 * seconds / trials:.2f} ms | '
            f'{statistics.median(spans):.2f} ms | {memory / 1e6:.1f} MB |')


def simulated_trials(programs, folder, trials, epochs):
    file = experiment(folder, maxTrialNumber=trials, trialConcurrency=64,
                      simulation={'epochs': epochs})
    out = folder / f'simulated-{trials}-{epochs}'
    seconds, memory, code = run([programs / 'attune', 'simulate', file, '--dir', out, '--quiet'],
                                folder)
    if code != 0:
        raise ValueError(f'attune simulate ended with {code}')
    events = trials * (epochs + 3)  # added, started, reports, a final one
    return (f'| {trials} | {epochs} | {seconds:.2f} s | {1e6 * seconds / events:.1f} us | '
            f'{memory / 1e6:.1f} MB |')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('programs', type=pathlib.Path)
    parser.add_argument('--quick', action='store_true', help='a tenth of the trials')
    arguments = parser.parse_args()
    programs = arguments.programs.resolve()
    few = 10 if arguments.quick else 1
    with tempfile.TemporaryDirectory(prefix='attune-bench-') as name:
        folder = pathlib.Path(name)
        print('| trials at once | trials | wall time per trial | proposed to recorded, median | peak memory of attune |')
        print('|---|---|---|---|---|')
        for concurrency, trials in ((1, 500 // few), (64, 2000 // few)):
            print(real_trials(programs, folder, trials, concurrency), flush=True)
        print('\n| simulated trials | epochs | wall time | per event | peak memory of attune |')
        print('|---|---|---|---|---|')
        for trials, epochs in ((1000, 81), (1000, 5), (10_000, 5), (100_000, 5)):
            print(simulated_trials(programs, folder, max(trials // few, 100), epochs), flush=True)


if __name__ == '__main__':
    try:
        main()
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        sys.exit(f'measure_runner.py: {error}')
