#!/usr/bin/env python3
"""Writes what scripts/bench.sh measured into docs/performance.md, between its markers.

RESULTS holds attuned.json and pinned.json (bench_process, the latter with everything on one
processor), micro.json (Google Benchmark) and, where NNI's dispatcher could be measured, nni.json. Without it the column shows figures that were measured
before, marked as such.
"""
import argparse
import json
import os
import pathlib
import platform

# NNI's dispatcher, measured on another day by a load generator in Python.
QUOTED = {
    'start to Initialized': (330, 'ms'),
    'resident memory after the start': (89, 'MiB'),
    'Random after 0 observations': (420, 'us'),
    'TPE after 100 observations': (1700, 'us'),
    'TPE after 1000 observations': (6600, 'us'),
    'metrics per second, over 10000': (5800, '1/s'),
    'Terminate to exit': (2000, 'ms'),
}
# What the project wants to reach.
GOALS = {
    'start to Initialized': '5 ms',
    'resident memory after the start': '8 MiB',
    'Random after 0 observations': '20 us',
    'TPE after 1000 observations': '150 us',
    'TPE after 10000 observations': '1 ms',
    'metrics per second, over 10000': '300,000 /s',
    'metrics per second, over 1000000': '300,000 /s',
    'Terminate to exit': '10 ms',
}


def number(value):
    """Three significant digits, thousands separated."""
    if value >= 100:
        return f'{float(f"{value:.3g}"):,.0f}'
    return f'{value:.3g}'


def quantity(value, unit):
    """A value in the unit in which it reads well."""
    if unit == 'us' and value >= 1000:
        value, unit = value / 1000, 'ms'
    if unit == 'ms' and value >= 1000:
        value, unit = value / 1000, 's'
    return f'{number(value)} {unit.removeprefix("1")}'


def spread(figure):
    """median (low to high)"""
    low, high = (quantity(figure[key], figure['unit']) for key in ('low', 'high'))
    return f'{quantity(figure["median"], figure["unit"])} ({low} to {high})'


def by_name(results):
    return {figure['name']: figure for figure in results['figures']} if results else {}


def process_table(attuned, nni, pinned=None):
    """Markdown lines of whole processes; `nni` and `pinned` are None where not measured."""
    heading = "NNI's dispatcher" + ('' if nni else ' (measured before)')
    lines = [f'| figure | attuned | on one processor | {heading} | goal |', '|---|---|---|---|---|']
    other, alone = by_name(nni), by_name(pinned)
    for figure in attuned['figures']:
        name = figure['name']
        one = spread(alone[name]) if name in alone else ''
        theirs = ''
        if name in other:
            theirs = spread(other[name])
        elif not nni and name in QUOTED:
            theirs = quantity(*QUOTED[name])
        lines.append(f'| {name} | {spread(figure)} | {one} | {theirs} | {GOALS.get(name, "")} |')
    return lines


def micro_table(micro):
    """Markdown lines of parts: medians of the processor time of one iteration."""
    lines = ['| part | time |', '|---|---|']
    for run in micro['benchmarks']:
        if run.get('aggregate_name') != 'median' or run['run_name'].startswith('sequential/'):
            continue
        time = run['real_time'] if 'real_time' in run['run_name'] else run['cpu_time']
        nanoseconds = time * {'ns': 1, 'us': 1e3, 'ms': 1e6}[run['time_unit']]
        text = (quantity(nanoseconds / 1000, 'us') if nanoseconds >= 1000
                else f'{number(nanoseconds)} ns')
        lines.append(f'| {run["run_name"]} | {text} |')
    return lines


def ask_table(micro):
    """Markdown lines: what an ask costs after n results, and the first 100 together."""
    rows = {}
    for run in micro['benchmarks']:
        kind, *rest = run['run_name'].split('/')
        if kind == 'sequential' and run['run_type'] == 'iteration':
            rows.setdefault(rest[0].replace('_univariate', ', univariate').replace('_', '-'),
                            {})[int(rest[1])] = run
    sizes = sorted({n for row in rows.values() for n in row})
    lines = [f'| tuner | {" | ".join(f"n = {n:,}" for n in sizes)} | the first 100 |',
             '|---' * (len(sizes) + 2) + '|']
    for name, row in rows.items():
        cells = [f'{milliseconds(row[n]["median"])} ({milliseconds(row[n]["p95"])})'
                 if n in row else '-' for n in sizes]
        first = row.get(100, {}).get('first_100')
        cells.append(f'{milliseconds(first)}' if first is not None else '-')
        lines.append(f'| {name} | {" | ".join(cells)} |')
    return lines


def milliseconds(seconds):
    """Two digits, without exponent."""
    value = seconds * 1000
    return f'{value:.0f}' if value >= 10 else f'{value:.2g}' if value >= 0.1 else f'{value:.1g}'


def machine():
    """One line about where it was measured."""
    model = platform.processor() or platform.machine()
    cpuinfo = pathlib.Path('/proc/cpuinfo')
    if cpuinfo.exists():
        models = [line.split(':')[1].strip() for line in cpuinfo.read_text().splitlines()
                  if line.startswith('model name')]
        model = models[0] if models else model
    return (f'Measured on: {model}, {os.cpu_count()} processors, Linux {platform.release()}, '
            f'load average {os.getloadavg()[2]:.1f} (15 minutes, the benchmark included).')


def replace_between(text, marker, lines):
    """`text` with what stands between <!-- MARKER: begin --> and <!-- MARKER: end --> replaced."""
    begin, end = f'<!-- {marker}: begin -->\n', f'<!-- {marker}: end -->'
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f'the markers of "{marker}" are missing')
    head, rest = text.split(begin)
    return head + begin + ''.join(line + '\n' for line in lines) + end + rest.split(end)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('results', type=pathlib.Path)
    parser.add_argument('document', type=pathlib.Path)
    options = parser.parse_args()

    def read(name):
        path = options.results / name
        return json.loads(path.read_text()) if path.exists() else None

    text = options.document.read_text()
    text = replace_between(text, 'process', [machine(), ''] + process_table(
        read('attuned.json'), read('nni.json'), read('pinned.json')))
    micro = read('micro.json')
    text = replace_between(text, 'ask', [machine(), ''] + ask_table(micro))
    text = replace_between(text, 'micro', micro_table(micro))
    options.document.write_text(text)


if __name__ == '__main__':
    main()
