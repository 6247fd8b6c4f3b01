#!/usr/bin/env python3
"""Tables of what bench_quality has printed: mean regrets of each label, and differences to the first.

    bench_quality --tuner Random --seeds 31 > random.jsonl
    bench_quality --tuner auto > auto.jsonl
    bench/quality/compare.py random.jsonl auto.jsonl [more.jsonl ...]

Regret is 0 for the best value of a problem and 1 for the median of Random's runs after as many trials,
at most 2. With several objectives a value is the missing share of the best known hypervolume. The first file
has these runs. The intervals of differences are 95 % bootstraps over problems and seeds. With --problems each
problem has a row, too. With --reach 50, and runs with --curve, it also says after how many trials the mean regret
of each label is that of --against after 50 (all in Random's scale after 50).
"""
import argparse
import json
import math
import random
import statistics

MARKS = (25, 50, 100, 200, 300, 500, 1000, 2000)


def scaled(run, value):
    if value is None:
        return math.inf
    return math.log10(max(value, 1e-300)) if run['decades'] else value


def read(files):
    """{label: {(problem, seed): run}}, in the order of the files."""
    runs = {}
    for file in files:
        with open(file, encoding='utf-8') as lines:
            for text in lines:
                run = json.loads(text)
                runs.setdefault(run['label'], {})[run['problem'], run['seed']] = run
    return runs


def regrets(runs, mark):
    """{label: {problem: {seed: regret}}} at a mark; problems and seeds that were not run that far are left out."""
    index = MARKS.index(mark)
    reference = {}
    for run in next(iter(runs.values())).values():
        if len(run['found']) > index:
            reference.setdefault(run['problem'], []).append(scaled(run, run['found'][index]))
    result = {}
    for label, of_label in runs.items():
        for (problem, seed), run in of_label.items():
            if len(run['found']) <= index or problem not in reference:
                continue
            best, typical = scaled(run, run['best']), statistics.median(reference[problem])
            regret = (scaled(run, run['found'][index]) - best) / max(typical - best, 1e-12)
            result.setdefault(label, {}).setdefault(problem, {})[seed] = min(max(regret, 0), 2)
    return result


def mean_of(problems):
    return statistics.mean(statistics.mean(seeds.values()) for seeds in problems.values())


def difference(ours, theirs, rng):
    """Mean difference over the problems of both, and its interval."""
    common = [(list(ours[p].values()), list(theirs[p].values())) for p in ours if p in theirs]
    if not common:
        return None

    def of(sample):
        return statistics.mean(statistics.mean(a) - statistics.mean(b) for a, b in sample)
    draws = sorted(of([(rng.choices(a, k=len(a)), rng.choices(b, k=len(b)))
                       for a, b in rng.choices(common, k=len(common))]) for _ in range(400))
    return of(common), draws[10], draws[389]


def trials_to_reach(runs, against, mark):
    """{label: number of trials}; None: never."""
    reference = {}
    for run in next(iter(runs.values())).values():
        reference.setdefault(run['problem'], []).append(scaled(run, run['found'][MARKS.index(mark)]))
    curves = {}
    for label, of_label in runs.items():
        rows = {}
        for run in of_label.values():
            if 'curve' not in run:
                continue
            best, typical = scaled(run, run['best']), statistics.median(reference[run['problem']])
            rows.setdefault(run['problem'], []).append(
                [min(max((scaled(run, each) - best) / max(typical - best, 1e-12), 0), 2) for each in run['curve']])
        if rows:
            curves[label] = [statistics.mean(statistics.mean(row[n] for row in seeds) for seeds in rows.values())
                             for n in range(min(len(row) for seeds in rows.values() for row in seeds))]
    goal = curves[against][mark - 1]
    return {label: next((n + 1 for n, regret in enumerate(curve) if regret <= goal), None)
            for label, curve in curves.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('files', nargs='+')
    parser.add_argument('--against', help='the label that differences are to; default: the second')
    parser.add_argument('--reach', type=int, help='a mark: see above')
    parser.add_argument('--problems', action='store_true', help='a row for each problem')
    options = parser.parse_args()
    runs = read(options.files)
    labels = list(runs)
    against = options.against or labels[min(1, len(labels) - 1)]
    groups = {run['problem']: run['group'] for of_label in runs.values() for run in of_label.values()}
    rng = random.Random(1)
    for mark in MARKS:
        found = regrets(runs, mark)
        if len(found) < 2 and len(labels) > 1:
            continue
        print(f'after {mark} trials')
        for label in labels[1:]:
            if label not in found:
                continue
            rows = {group: {p: s for p, s in found[label].items() if groups[p] == group}
                    for group in dict.fromkeys(groups[p] for p in found[label])}
            change = difference(found[label], found.get(against, {}), rng) if label != against else None
            print(f'  {label:24} {mean_of(found[label]):.3f} '
                  + (f'{change[0]:+.3f} [{change[1]:+.3f},{change[2]:+.3f}] ' if change else ' ' * 25)
                  + '  '.join(f'{group} {mean_of(rows[group]):.2f}' for group in rows))
        if options.problems:
            for problem in groups:
                print(f'    {problem:28} ' + '  '.join(
                    f'{label} {statistics.mean(found[label][problem].values()):.2f}'
                    for label in labels[1:] if problem in found.get(label, {})))
    if options.reach:
        for label, trials in trials_to_reach(runs, against, options.reach).items():
            print(f'{label}: the regret of {against} after {options.reach} trials: after {trials}')
    for label in labels:
        print(f'{label}: {statistics.mean(r["ask_ms"] for r in runs[label].values()):.1f} ms an ask, '
              f'slowest {max(r["slowest_ask_ms"] for r in runs[label].values()):.0f} ms')


if __name__ == '__main__':
    main()
