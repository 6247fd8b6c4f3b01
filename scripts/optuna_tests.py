#!/usr/bin/env python3
"""Runs Optuna's own tests against attune's two adapters (docs/optuna.md).

    scripts/optuna_tests.py CHECKOUT [PART ...] [-- ARGUMENT OF PYTEST ...]

CHECKOUT: Optuna's repository at the tag of the Optuna that this Python has. PART, all by default:
  sampler  its tests of samplers; attune.optuna.Sampler is one of them
  studies  its tests of studies, trials and pruners; attune.optuna.Sampler is every study's sampler
  compat   all of these; `import optuna` is attune.compat.optuna
optuna_tests_left_out.txt has the tests that are not run, and why. Needs pytest, a release build,
and for the first two parts Optuna. What it does with the tests stands in optuna_tests_plugin.py.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARY = ROOT / 'build/release/study/libattune_study.so'
TUNERS = ('auto', 'TPE', 'GP', 'CMA-ES', 'SMAC', 'QMC', 'NSGAII', 'Evolution', 'Random',
          'GridSearch')
STUDIES = ['study_tests', 'trial_tests', 'pruners_tests', 'test_callbacks.py']
SAMPLERS = ['samplers_tests/test_' + name for name in (
    'samplers.py', 'grid.py', 'brute_force.py', 'partial_fixed.py')]
FILES = {'sampler': SAMPLERS[:1], 'studies': STUDIES,
         'compat': [*STUDIES, *SAMPLERS, 'test_distributions.py', 'test_logging.py']}


def add_samplers(path):
    """Puts attune's tuners into the lists of samplers that most tests are run with."""
    text = 'import attune\n' + path.read_text()
    lists = ''.join(f'pytest.param(lambda: attune.optuna.Sampler({name!r}), id="attune {name}"),'
                    for name in TUNERS)
    seeded = ''.join(f'"attune {name}": '
                     f'(lambda seed: attune.optuna.Sampler({name!r}, seed=seed), False),'
                     for name in TUNERS)
    text, first = re.subn(r'(parametrize_\w*sampler = pytest.mark.parametrize\(\n.*\n    \[\n)',
                          lambda match: match[0] + lists, text)
    text, second = re.subn(r'(sampler_class_with_seed: .*= \{\n)',
                           lambda match: match[0] + seeded, text)
    if (first, second) != (3, 1):
        sys.exit(f'{path}: its lists of samplers are not where they were')
    path.write_text(text)


def run(part, checkout, arguments):
    """0: all that was run has passed."""
    print(f'== {part}', flush=True)
    with tempfile.TemporaryDirectory() as folder:
        tests = pathlib.Path(folder, 'tests')
        shutil.copytree(checkout / 'tests', tests)
        if part == 'sampler':
            add_samplers(tests / FILES[part][0])
            arguments = ['-k', 'attune', *arguments]
        environment = {
            'ATTUNE_STUDY_LIBRARY': str(LIBRARY), **os.environ, 'OPTUNA_TESTS_PART': part,
            'PYTHONDONTWRITEBYTECODE': '1',
            'PYTHONPATH': os.pathsep.join([str(ROOT / 'python'), str(ROOT / 'scripts')])}
        return subprocess.run(
            [sys.executable, '-m', 'pytest', '-q', '-p', 'optuna_tests_plugin', '-p',
             'no:cacheprovider', '-W', 'ignore', '-m', 'not integration', '--tb', 'short',
             *arguments, *(str(tests / name) for name in FILES[part])],
            cwd=folder, env=environment, check=False).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', 1)[0])
    parser.add_argument('checkout', type=pathlib.Path)
    parser.add_argument('parts', nargs='*', metavar='part', help=', '.join(FILES))
    split = sys.argv.index('--') if '--' in sys.argv else len(sys.argv)
    options = parser.parse_args(sys.argv[1:split])
    parts = options.parts or list(FILES)
    if not set(parts) <= set(FILES):
        parser.error(f'part: must be one of {", ".join(FILES)}')
    return max(run(part, options.checkout, sys.argv[split + 1:]) for part in parts)


if __name__ == '__main__':
    sys.exit(main())
