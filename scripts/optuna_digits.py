#!/usr/bin/env python3
"""examples/digits tuned by Optuna's TPE with its default arguments, no trial stopped early.

    optuna_digits.py DIRECTORY [--seed N] [--trials N]

Writes DIRECTORY/trials.jsonl with the fields of `attune export` that digits_results.py reads. The
program, the search space, the first configuration and the number of trials at a time are those of
examples/digits/experiment.yaml. Needs Debian's python3-optuna.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / 'examples/digits'
sys.path.insert(0, str(ROOT / 'examples'))
import optuna  # noqa: E402
from spread import read_experiment  # noqa: E402
from optuna_space import suggest  # noqa: E402


def flat(parameters):
    """The default configuration by the names that suggest() gives to Optuna."""
    optimizer = parameters['optimizer']
    inside = {f"optimizer.{optimizer['_name']}.{key}": value for key, value in optimizer.items()
              if key != '_name'}
    return {**parameters, 'optimizer': optimizer['_name'], **inside}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('directory', type=pathlib.Path)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--trials', type=int, default=60)
    arguments = parser.parse_args()
    _, _, space = read_experiment(EXAMPLE / 'experiment.yaml')
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    records = []

    def objective(trial):
        record = {'number': trial.number, 'started': time.time()}
        with tempfile.NamedTemporaryFile('w', suffix='.json') as file:
            json.dump(suggest(trial, space), file)
            file.flush()
            output = subprocess.run(['sh', EXAMPLE / 'trial.sh', file.name], check=True, text=True,
                                    stdout=subprocess.PIPE).stdout
        validation, test = re.findall(r'^validation (\S+) +test (\S+)$', output, re.MULTILINE)[-1]
        records.append({**record, 'status': 'succeeded', 'score': float(validation),
                        'metrics.test': float(test), 'ended': time.time()})
        return float(validation)

    study = optuna.create_study(direction='maximize',
                                sampler=optuna.samplers.TPESampler(seed=arguments.seed))
    study.enqueue_trial(flat(json.loads((EXAMPLE / 'default.json').read_text())))
    study.optimize(objective, n_trials=arguments.trials, n_jobs=2)
    arguments.directory.mkdir(parents=True, exist_ok=True)
    (arguments.directory / 'trials.jsonl').write_text(
        ''.join(json.dumps(r) + '\n' for r in sorted(records, key=lambda r: r['number'])))


if __name__ == '__main__':
    main()
