#!/usr/bin/env python3
"""attune, Optuna's TPE and random search on examples/digits, over several seeds.

    compare_tuners.py [--seeds N] [--optuna PYTHON]

PYTHON is an interpreter that has Optuna: /usr/bin/python3 with Debian's python3-optuna. Prints a
Markdown table of means with bootstrap 95 % intervals. Keeps the runs in --out and does not repeat
those that are there, so that an interrupted comparison can be continued.
"""
import argparse
import functools
import pathlib
import random
import re
import shutil
import subprocess
import sys

from digits_results import Run, trials_until

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / 'examples/digits'
RESAMPLES = 10_000


def without(key, experiment):
    """The text of an experiment file without the block of a top-level key."""
    text, count = re.subn(rf'^{key}:.*\n(?:[ #].*\n)*', '', experiment, flags=re.MULTILINE)
    if count != 1:
        raise ValueError(f'one block "{key}:" expected in the experiment file')
    return text


def elsewhere(experiment):
    """The text of an experiment file that is to work from another folder."""
    return re.sub(r'^trialCodeDirectory:.*$', f'trialCodeDirectory: {EXAMPLE}', experiment,
                  flags=re.MULTILINE)


def run_attune(attune, experiment, seed, directory):
    subprocess.run([attune, 'run', experiment, '--seed', str(seed), '--dir', directory, '--quiet'],
                   check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    subprocess.run([attune, 'export', '--dir', directory, '--format', 'jsonl',
                    '--output', directory / 'trials.jsonl'], check=True)


def run_optuna(python, seed, directory):
    subprocess.run([python, '-B', ROOT / 'scripts/optuna_digits.py', directory, '--seed',
                    str(seed)], check=True, stdin=subprocess.DEVNULL)


def run_once(run, seed, directory):
    """run(seed, directory), unless that was done before; one that was interrupted is done again."""
    if not directory.exists():
        partial = directory.with_suffix('.partial')
        shutil.rmtree(partial, ignore_errors=True)
        partial.parent.mkdir(parents=True, exist_ok=True)
        run(seed, partial)
        partial.rename(directory)
    return Run(directory)


def mean(values):
    return sum(values) / len(values)


def interval(values):
    """The percentile bootstrap's 95 % interval of the mean."""
    rng = random.Random(0)
    means = sorted(mean(rng.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES) - 1]


def with_interval(values, digits):
    low, high = interval(values)
    return f'{mean(values):.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]'


def report(runs_by_name, baseline):
    """Markdown; runs_by_name: {name: [Run of each seed]}, differences are paired by seed."""
    lines = [f'| | best validation accuracy | minus {baseline} | its test accuracy '
             f'| minus {baseline} | trials until the best of {baseline} | seconds | trials '
             '| stopped early |',
             '|---|---|---|---|---|---|---|---|---|']
    for name, runs in runs_by_name.items():
        cells = [name]
        for field in ('validation', 'test'):
            values = [getattr(run, field) for run in runs]
            others = [getattr(run, field) for run in runs_by_name[baseline]]
            cells.append(with_interval(values, 4))
            cells.append('' if name == baseline else
                         with_interval([a - b for a, b in zip(values, others)], 4))
        until = [trials_until(run.best_so_far, other.validation) or len(run.trials) + 1
                 for run, other in zip(runs, runs_by_name[baseline])]
        cells += [with_interval(until, 1), with_interval([run.seconds for run in runs], 0),
                  f'{mean([len(run.trials) for run in runs]):.1f}',
                  f'{mean([run.stopped for run in runs]):.1f}']
        lines.append('| ' + ' | '.join(cells) + ' |')
    return '\n'.join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seeds', type=int, default=10)
    parser.add_argument('--optuna', metavar='PYTHON', help="compare with Optuna's TPE, too")
    parser.add_argument('--attune', type=pathlib.Path, default=ROOT / 'build/release/bin/attune')
    parser.add_argument('--out', type=pathlib.Path, default=ROOT / 'build/compare-tuners')
    arguments = parser.parse_args()
    out = arguments.out.resolve()
    out.mkdir(parents=True, exist_ok=True)

    # Everyone has all 60 trials, however busy the machine.
    tuned, by_chance = (
        without('maxExperimentDuration', elsewhere((EXAMPLE / name).read_text()))
        for name in ('experiment.yaml', 'experiment-random.yaml'))
    experiments = {'attune': tuned,
                   'attune, nothing stopped early': without('assessor', tuned),
                   'Random': by_chance}
    tuners = {}
    for name, text in experiments.items():
        file = out / f'{re.sub(r"[^a-z]+", "-", name.lower())}.yaml'
        file.write_text(text)
        tuners[name] = functools.partial(run_attune, arguments.attune, file)
    if arguments.optuna:
        tuners["Optuna's TPE"] = functools.partial(run_optuna, arguments.optuna)
    runs = {name: [] for name in tuners}
    for seed in range(1, arguments.seeds + 1):  # by seed first: an early look compares all
        for name, run in tuners.items():
            folder = out / f'{re.sub(r"[^a-z]+", "-", name.lower())}-seed-{seed}'
            runs[name].append(run_once(run, seed, folder))
            print(f'seed {seed}, {name}: validation {runs[name][-1].validation:.4f}',
                  file=sys.stderr)
    print(f'{arguments.seeds} seeds; means, with 95 % intervals of the mean (bootstrap over seeds, '
          f'differences paired by seed). An accuracy that was never reached counts as one trial more '
          'than there were.\n')
    print(report(runs, 'Random'))


if __name__ == '__main__':
    try:
        main()
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        sys.exit(f'compare_tuners.py: {error}')
