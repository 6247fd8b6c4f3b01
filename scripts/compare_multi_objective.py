#!/usr/bin/env python3
"""Tuners on problems with several objectives: the hypervolume after equally many evaluations.

Prints a Markdown table: means over seeds with bootstrap 95 % intervals, as a share of the
hypervolume of the true front (ZDT, DTLZ) or of the box between the reference point and the best that
is possible (digits). Ours run in attuned, over its pipes, one trial at a time; --optuna adds Optuna's
NSGA-II. Runs are kept in --out: what is there already is not run again.

    scripts/compare_multi_objective.py --tuner NSGAII --tuner TPE \\
        --optuna '{}' --optuna '{"population_size": 20}'

Needs numpy and scikit-learn for the problems on digits (else --problem ZDT DTLZ), and Optuna for
--optuna: Debian's python3-sklearn and python3-optuna.
"""
import argparse
import base64
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import multi_objective_problems
from compare_tuners import ROOT, mean, with_interval
from optuna_space import suggest


class Attuned:
    """One daemon, as NNI's manager speaks to it (docs/protocol.md)."""

    def __init__(self, program, tuner, arguments, problem, seed):
        to_daemon, self._write = os.pipe()
        self._read, from_daemon = os.pipe()
        settings = {'tuner': {'name': tuner, 'classArgs': {**arguments, 'seed': seed}},
                    'objectives': problem.objectives(), 'trialConcurrency': 1}
        self._folder = tempfile.TemporaryDirectory()
        self._process = subprocess.Popen(
            [program, '--exp_params', base64.b64encode(json.dumps(settings).encode()).decode(),
             '--in-fd', str(to_daemon), '--out-fd', str(from_daemon)],
            pass_fds=(to_daemon, from_daemon), cwd=self._folder.name, stdin=subprocess.DEVNULL)
        os.close(to_daemon)
        os.close(from_daemon)
        self._answers = os.fdopen(self._read, 'rb')
        self._send('IN', problem.space)
        self._expect('ID')

    def ask(self):
        """The parameters of the next trial, or None when there are no more."""
        self._send('GE', 1)
        code, text = self._receive()
        if code == 'NO':
            return None
        if code != 'TR':
            raise ValueError(f'attuned: {code} {text}')
        self._trial = json.loads(text)
        return self._trial['parameters']

    def tell(self, metrics):
        number = self._trial['parameter_id']
        self._send('ME', {'parameter_id': number, 'trial_job_id': f't{number}', 'type': 'FINAL',
                          'sequence': 0, 'value': json.dumps(metrics)})
        self._send('EN', {'trial_job_id': f't{number}', 'event': 'SUCCEEDED',
                          'hyper_params': json.dumps(self._trial)})

    def close(self):
        os.close(self._write)
        self._answers.close()
        self._process.wait()
        self._folder.cleanup()

    def _send(self, code, value):
        payload = json.dumps(value).encode()
        message = code.encode() + b'%014d' % len(payload) + payload
        while message:
            message = message[os.write(self._write, message):]

    def _receive(self):
        head = self._answers.read(16)
        if len(head) < 16:
            raise ValueError('attuned ended; its messages are above')
        return head[:2].decode(), self._answers.read(int(head[2:])).decode()

    def _expect(self, code):
        answer = self._receive()
        if answer[0] != code:
            raise ValueError(f'attuned: {answer}')


class Ours:
    def __init__(self, program, text):
        self.name = text
        self._program = program
        self._tuner, _, arguments = text.partition('=')
        self._arguments = json.loads(arguments or '{}')

    def run(self, problem, seed, evaluations):
        daemon = Attuned(self._program, self._tuner, self._arguments, problem, seed)
        rows = []
        while len(rows) < evaluations and (parameters := daemon.ask()) is not None:
            metrics = problem.evaluate(parameters)
            rows.append(problem.minimised(metrics))
            daemon.tell(metrics)
        daemon.close()
        return rows


class Optuna:
    def __init__(self, text):
        self._arguments = json.loads(text)
        self.name = 'Optuna NSGA-II' + (f' {text}' if self._arguments else '')

    def run(self, problem, seed, evaluations):
        import warnings

        import optuna
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        warnings.simplefilter('ignore')
        rows = []

        def objective(trial):
            metrics = problem.evaluate(suggest(trial, problem.space))
            rows.append(problem.minimised(metrics))
            return [metrics[metric] for metric in problem.modes]

        sampler = optuna.samplers.NSGAIISampler(seed=seed, **self._arguments)
        study = optuna.create_study(directions=list(problem.modes.values()), sampler=sampler)
        study.optimize(objective, n_trials=evaluations)
        return rows


def kept_run(tuner, problem, seed, evaluations, folder):
    label = re.sub(r'\W+', '-', f'{tuner.name}-{problem.name}')
    path = folder / f'{label}-seed-{seed}.json'
    if path.exists():
        return json.loads(path.read_text())
    rows = tuner.run(problem, seed, evaluations)
    partial = path.with_suffix('.partial')
    partial.write_text(json.dumps(rows))
    partial.rename(path)
    return rows


def shares(rows, problem, counts):
    """The hypervolume of the first `count` rows, as a share of what is possible."""
    return [multi_objective_problems.hypervolume(rows[:count], problem.reference) / problem.ideal
            for count in counts]


def table(problems, names, counts, results):
    """Markdown; results: {(name, problem, count): [share of each seed]}."""
    lines = ['| problem | reference point | evaluations | ' + ' | '.join(names) + ' |',
             '|---|---|---|' + '---|' * len(names)]
    for problem in problems:
        reference = ', '.join(f'{x:.4g}' for x in problem.reference)
        for count in counts:
            cells = [with_interval(results[name, problem.name, count], 3) for name in names]
            lines.append(f'| {problem.name} | {reference} | {count} | ' + ' | '.join(cells) + ' |')
    for count in counts:
        cells = [f'{mean([mean(results[name, p.name, count]) for p in problems]):.3f}'
                 for name in names]
        lines.append(f'| mean | | {count} | ' + ' | '.join(cells) + ' |')
    return '\n'.join(lines)


def problems_named(prefixes, out):
    problems = multi_objective_problems.synthetic()
    if any(prefix.startswith('digits') for prefix in prefixes):
        os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')  # the matrices are small
        import multi_objective_digits
        problems += multi_objective_digits.real(out)
    return [p for p in problems if any(p.name.startswith(prefix) for prefix in prefixes)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--tuner', action='append', metavar='NAME[=ARGUMENTS]',
                        help='of attuned, with its arguments as JSON; may be repeated '
                             '(default: NSGAII and Random)')
    parser.add_argument('--optuna', action='append', default=[], metavar='ARGUMENTS',
                        help="Optuna's NSGA-II with these arguments; may be repeated")
    parser.add_argument('--problem', nargs='+', default=['ZDT', 'DTLZ', 'digits'],
                        help='beginnings of the names of problems')
    parser.add_argument('--seeds', type=int, default=10)
    parser.add_argument('--evaluations', type=int, nargs='+', default=[100, 250])
    parser.add_argument('--attuned', type=pathlib.Path, default=ROOT / 'build/release/bin/attuned')
    parser.add_argument('--out', type=pathlib.Path, default=ROOT / 'build/compare-multi-objective')
    arguments = parser.parse_args()
    counts = sorted(arguments.evaluations)
    out = arguments.out.resolve()
    runs = out / f'{counts[-1]}-evaluations'
    runs.mkdir(parents=True, exist_ok=True)

    tuners = [Ours(arguments.attuned.resolve(), text)
              for text in arguments.tuner or ['NSGAII', 'Random']]
    tuners += [Optuna(text) for text in arguments.optuna]
    problems = problems_named(arguments.problem, out)
    results = {(tuner.name, problem.name, count): []
               for tuner in tuners for problem in problems for count in counts}
    for seed in range(1, arguments.seeds + 1):  # by seed first: an early look compares all
        for problem in problems:
            for tuner in tuners:
                rows = kept_run(tuner, problem, seed, counts[-1], runs)
                for count, share in zip(counts, shares(rows, problem, counts)):
                    results[tuner.name, problem.name, count].append(share)
        print(f'seed {seed} done', file=sys.stderr)
    print(table(problems, [tuner.name for tuner in tuners], counts, results))


if __name__ == '__main__':
    try:
        main()
    except (ImportError, OSError, ValueError) as error:
        sys.exit(f'compare_multi_objective.py: {error}')
