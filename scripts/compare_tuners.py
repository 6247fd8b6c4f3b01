#!/usr/bin/env python3
"""TPE + Medianstop, TPE and random search on examples/digits, over several seeds.

Prints a Markdown table of means with bootstrap 95 % intervals. Runs are kept in --out: what is
there already is not run again, so an interrupted comparison can be continued.
"""
import argparse
import pathlib
import random
import re
import shutil
import subprocess
import sys

from digits_results import Run

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


def run_once(attune, experiment, seed, directory):
    if directory.exists():
        return
    partial = directory.with_suffix('.partial')
    shutil.rmtree(partial, ignore_errors=True)
    partial.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([attune, 'run', experiment, '--seed', str(seed), '--dir', partial, '--quiet'],
                   check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    subprocess.run([attune, 'export', '--dir', partial, '--format', 'jsonl',
                    '--output', partial / 'trials.jsonl'], check=True)
    partial.rename(directory)


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
             f'| minus {baseline} | seconds | trials | stopped early |',
             '|---|---|---|---|---|---|---|---|']
    for name, runs in runs_by_name.items():
        cells = [name]
        for field in ('validation', 'test'):
            values = [getattr(run, field) for run in runs]
            others = [getattr(run, field) for run in runs_by_name[baseline]]
            cells.append(with_interval(values, 4))
            cells.append('' if name == baseline else
                         with_interval([a - b for a, b in zip(values, others)], 4))
        cells += [with_interval([run.seconds for run in runs], 0),
                  f'{mean([len(run.trials) for run in runs]):.1f}',
                  f'{mean([run.stopped for run in runs]):.1f}']
        lines.append('| ' + ' | '.join(cells) + ' |')
    return '\n'.join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seeds', type=int, default=10)
    parser.add_argument('--attune', type=pathlib.Path, default=ROOT / 'build/release/bin/attune')
    parser.add_argument('--out', type=pathlib.Path, default=ROOT / 'build/compare-tuners')
    arguments = parser.parse_args()
    out = arguments.out.resolve()
    out.mkdir(parents=True, exist_ok=True)

    tuned = elsewhere((EXAMPLE / 'experiment.yaml').read_text())
    experiments = {'TPE + Medianstop': tuned,
                   'the same, stopped trials forgotten': without('deprecated', tuned),
                   'TPE': without('assessor', tuned),
                   'Random': elsewhere((EXAMPLE / 'experiment-random.yaml').read_text())}
    runs = {name: [] for name in experiments}
    for seed in range(1, arguments.seeds + 1):  # by seed first: an early look compares all
        for number, (name, text) in enumerate(experiments.items()):
            experiment = out / f'experiment-{number}.yaml'
            experiment.write_text(text)
            directory = out / f'{number}-seed-{seed}'
            run_once(arguments.attune, experiment, seed, directory)
            runs[name].append(Run(directory))
            print(f'seed {seed}, {name}: validation {runs[name][-1].validation:.4f}',
                  file=sys.stderr)
    print(f'{arguments.seeds} seeds; means, with 95 % intervals of the mean (bootstrap over seeds, '
          f'differences paired by seed):\n')
    print(report(runs, 'Random'))


if __name__ == '__main__':
    try:
        main()
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        sys.exit(f'compare_tuners.py: {error}')
