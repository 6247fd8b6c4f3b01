#!/usr/bin/env python3
"""Prints default, random search and tuned accuracy of examples/digits side by side.

    compare_digits.py --default OUTPUT --random DIRECTORY --tuned DIRECTORY

OUTPUT is what digits_trial printed on its own, the directories are those of `attune run`.
"""
import argparse
import pathlib
import re
import sys

from digits_results import Run


def read_default(text):
    """(validation, test) of the last line that digits_trial prints."""
    found = re.findall(r'^validation (\S+) +test (\S+)$', text, re.MULTILINE)
    if not found:
        raise ValueError('no line "validation X  test Y" in the output of digits_trial')
    return float(found[-1][0]), float(found[-1][1])


def table(default, random_search, tuned):
    rows = [('', 'validation', 'test', 'trials', 'stopped early', 'seconds'),
            ('default configuration', f'{default[0]:.4f}', f'{default[1]:.4f}', '1', '', '')]
    for name, run in (('random search', random_search), ('TPE + Medianstop', tuned)):
        rows.append((name, f'{run.validation:.4f}', f'{run.test:.4f}', str(len(run.trials)),
                     str(run.stopped), f'{run.seconds:.0f}'))
    widths = [max(map(len, column)) for column in zip(*rows)]
    return '\n'.join(
        '  '.join(cell.rjust(width) if i else cell.ljust(width)
                  for i, (cell, width) in enumerate(zip(row, widths))).rstrip()
        for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--default', type=pathlib.Path, required=True)
    parser.add_argument('--random', type=pathlib.Path, required=True)
    parser.add_argument('--tuned', type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    try:
        print(table(read_default(arguments.default.read_text()), Run(arguments.random),
                    Run(arguments.tuned)))
    except (OSError, ValueError) as error:
        sys.exit(f'compare_digits.py: {error}')


if __name__ == '__main__':
    main()
