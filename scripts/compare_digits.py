#!/usr/bin/env python3
"""Prints the default configuration, random search and the tuner on examples/digits side by side.

    compare_digits.py --default OUTPUT --random DIRECTORY... --tuned DIRECTORY...

OUTPUT is what digits_trial printed on its own. The directories are those of `attune run`: one of
each kind for each seed, in the same order.
"""
import argparse
import pathlib
import re
import sys
from statistics import fmean as mean

from best_chart import chart, mean_curve
from digits_results import Run, trials_until


def read_default(text):
    """(validation, test) of the last line that digits_trial prints."""
    found = re.findall(r'^validation (\S+) +test (\S+)$', text, re.MULTILINE)
    if not found:
        raise ValueError('no line "validation X  test Y" in the output of digits_trial')
    return float(found[-1][0]), float(found[-1][1])


def table(default, random_search, tuned):
    rows = [('', 'validation', 'test', 'trials', 'stopped early', 'seconds'),
            ('default configuration', f'{default[0]:.4f}', f'{default[1]:.4f}', '1', '', '')]
    for name, runs in (('random search', random_search), ('attune', tuned)):
        rows.append((name, f'{mean([r.validation for r in runs]):.4f}',
                     f'{mean([r.test for r in runs]):.4f}',
                     f'{mean([len(r.trials) for r in runs]):.0f}',
                     f'{mean([r.stopped for r in runs]):.0f}',
                     f'{mean([r.seconds for r in runs]):.0f}'))
    widths = [max(map(len, column)) for column in zip(*rows)]
    return '\n'.join(
        '  '.join(cell.rjust(width) if i else cell.ljust(width)
                  for i, (cell, width) in enumerate(zip(row, widths))).rstrip()
        for row in rows)


def until_random(random_search, tuned):
    """Seed by seed: after how many trials each was as good as random search in the end."""
    def by_seed(runs):
        needed = [trials_until(run.best_so_far, other.validation)
                  for run, other in zip(runs, random_search)]
        return ', '.join('never' if n is None else str(n) for n in needed)

    return (f"trials until random search's best of {len(random_search[0].trials)}, by seed: "
            f'attune {by_seed(tuned)}; random search {by_seed(random_search)}')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--default', type=pathlib.Path, required=True)
    parser.add_argument('--random', type=pathlib.Path, required=True, nargs='+')
    parser.add_argument('--tuned', type=pathlib.Path, required=True, nargs='+')
    arguments = parser.parse_args()
    if len(arguments.random) != len(arguments.tuned):
        parser.error('as many --random as --tuned are needed: one of each for each seed')
    try:
        default = read_default(arguments.default.read_text())
        random_search = [Run(directory) for directory in arguments.random]
        tuned = [Run(directory) for directory in arguments.tuned]
    except (OSError, ValueError) as error:
        sys.exit(f'compare_digits.py: {error}')
    count = len(tuned)
    print(f'best validation accuracy after so many trials, mean of {count} seeds: '
          'o attune, . random search')
    print('\n'.join(chart({'.': mean_curve([r.best_so_far for r in random_search]),
                           'o': mean_curve([r.best_so_far for r in tuned])}, lowest=0.9)))
    print()
    print(f'means of {count} seeds; the accuracy of the best trial:')
    print(table(default, random_search, tuned))
    print(until_random(random_search, tuned))


if __name__ == '__main__':
    main()
