#!/usr/bin/env python3
"""The table of docs/tuners.md: what each tuner finds within 25, 50 and 100 evaluations.

    scripts/measure_tuners.py HARNESS [--seeds 10] [--update] [--tuner TPE --tuner GP]

HARNESS is a folder with the tuning problems, the recorded results of other optimisers (peers/) and
the programs runner.py, scorer.py and adapters/nni_pipe.py that drive attuned through its pipes. Results
are kept in --out and resumed: remove its files to begin again.
"""
import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / 'docs' / 'tuners.md'
BEGIN, END = '<!-- measure_tuners.py -->', '<!-- end -->'

# Name in the table, tuner, arguments. PPO, GridSearch and Batch do not take these spaces.
TUNERS = [
    ('auto', 'auto', {}),
    ('ensemble', 'ensemble', {}),
    ('GP', 'GP', {}),
    ('Metis', 'Metis', {}),
    ('TPE', 'TPE', {}),
    ('SMAC', 'SMAC', {}),
    ('DNGO', 'DNGO', {}),
    ('TuRBO', 'TuRBO', {}),
    ('CMA-ES', 'CMA-ES', {}),
    ('TPE, univariate', 'TPE', {'multivariate': False}),
    ('Anneal', 'Anneal', {}),
    ('RegularizedEvolution', 'RegularizedEvolution', {}),
    ('NSGAII', 'NSGAII', {}),
    ('Evolution', 'Evolution', {}),
    ('QMC', 'QMC', {}),
    ('Random', 'Random', {}),
]
PEERS = {'optuna_gp': "Optuna's Gaussian process", 'optuna_tpe_mv': "Optuna's TPE, multivariate",
         'smac': 'SMAC3', 'hyperopt_tpe': "hyperopt's TPE", 'nni_tpe': "NNI's TPE",
         'nni_anneal': "NNI's anneal"}


def label(name: str) -> str:
    return 'attune_' + re.sub(r'\W+', '_', name)


def run(options: argparse.Namespace, name: str, tuner: str, arguments: dict) -> None:
    given = json.dumps({'optimize_mode': '{mode}', 'seed': 0, **arguments})
    given = given.replace('"seed": 0', '"seed": {seed}')  # the runner fills both in
    command = shlex.join([options.python, str(options.harness / 'adapters' / 'nni_pipe.py'), '--',
                          str(options.attuned), '--tuner', tuner, '--tuner-args', given])
    print(f'{name} ...', file=sys.stderr, flush=True)
    subprocess.run([options.python, options.harness / 'runner.py', '--set', 'public', '--opts',
                    label(name), '--out', options.out, '--seeds', str(options.seeds), '--n', '100',
                    '--jobs', str(options.jobs), '--groups', options.groups, '--extra',
                    f'{label(name)}={command}'], check=True, stdout=subprocess.DEVNULL)


def scores(options: argparse.Namespace, at: int, against: str) -> dict:
    """Of each optimiser: problems, mean regret, difference to `against` with its interval."""
    printed = subprocess.run(
        [options.python, options.harness / 'scorer.py', '--dir',
         f'{options.harness / "peers"},{options.out}', '--groups', options.groups, '--at', str(at),
         '--vs', against], check=True, capture_output=True, text=True).stdout
    table = {}
    for line in printed.splitlines():
        cells = [cell.strip() for cell in line.strip('|').split('|')]
        if len(cells) >= 11 and cells[1].isdigit():
            table[cells[0]] = {'problems': int(cells[1]), 'rank': cells[3], 'regret': cells[5],
                               'difference': cells[8], 'ask': cells[9]}
    return table


def table(options: argparse.Namespace) -> str:
    at = {n: scores(options, n, 'optuna_gp') for n in (25, 50, 100)}
    against_random = scores(options, 100, 'random')
    rows = {label(name): f'`{name}`' for name, _, _ in TUNERS} | PEERS
    most = max(entry['problems'] for entry in at[100].values())
    shown = [key for key in rows if key in at[100] and at[100][key]['problems'] == most]
    shown.sort(key=lambda key: float(at[100][key]['regret']))
    lines = ['| | 25 | 50 | 100 | at 100 against Optuna\'s Gaussian process | against random search |',
             '|---|---|---|---|---|---|']
    for key in shown:
        regrets = [f'{float(at[n][key]["regret"]):.2f}' for n in (25, 50, 100)]
        lines.append(f'| {rows[key]} | {" | ".join(regrets)} | {at[100][key]["difference"]} | '
                     f'{against_random[key]["difference"]} |')
    return '\n'.join(lines) + f'\n\n{most} problems, {options.seeds} seeds.\n'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('harness', type=pathlib.Path)
    parser.add_argument('--tuner', action='append', help='a name in the table (default: all)')
    parser.add_argument('--seeds', type=int, default=10)
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--groups', default='yahpo,bbob,synth,cond,sklearn',
                        help='of problems')
    parser.add_argument('--attuned', type=pathlib.Path,
                        default=ROOT / 'build' / 'release' / 'bin' / 'attuned')
    parser.add_argument('--out', type=pathlib.Path, default=ROOT / 'build' / 'measure_tuners')
    parser.add_argument('--python', default='/usr/bin/python3', help='one that has numpy')
    parser.add_argument('--update', action='store_true', help='writes the table into docs/tuners.md')
    options = parser.parse_args()
    for needed in ('runner.py', 'scorer.py', 'adapters/nni_pipe.py', 'peers'):
        if not (options.harness / needed).exists():
            parser.error(f'{options.harness}: no {needed}; give the folder of the harness')
    if not options.attuned.exists():
        parser.error(f'{options.attuned} is missing: scripts/build.sh release attuned')
    unknown = set(options.tuner or []) - {name for name, _, _ in TUNERS}
    if unknown:
        parser.error(f'--tuner: {", ".join(sorted(unknown))}: none of '
                     + ', '.join(name for name, _, _ in TUNERS))
    options.out.mkdir(parents=True, exist_ok=True)
    for name, tuner, arguments in TUNERS:
        if not options.tuner or name in options.tuner:
            run(options, name, tuner, arguments)
    made = table(options)
    print(made, end='')
    if options.update:
        text = DOCS.read_text(encoding='utf-8')
        start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
        DOCS.write_text(text[:start] + '\n' + made + text[end:], encoding='utf-8')


if __name__ == '__main__':
    main()
