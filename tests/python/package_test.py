"""pip install ./python, and where an installed package finds attuned."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PYTHON = pathlib.Path(__file__).resolve().parents[2] / 'python'


def python_with_pip():
    """An interpreter that can build packages without the network; None: there is none."""
    for python in (sys.executable, '/usr/bin/python3'):
        check = [python, '-c', 'import setuptools, wheel, pip']
        if os.path.exists(python) and subprocess.run(check, capture_output=True).returncode == 0:
            return python
    return None


class Package(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_pip_installs_attune_without_compat(self):
        python = python_with_pip()
        if python is None:
            self.skipTest('needs pip, setuptools and wheel')
        source = self.folder / 'source'  # setuptools leaves its files there
        shutil.copytree(PYTHON, source, ignore=shutil.ignore_patterns('__pycache__'))
        target = self.folder / 'target'
        environment = {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}
        done = subprocess.run(
            [python, '-m', 'pip', 'install', '--no-build-isolation', '--no-deps',
             '--no-index', '--disable-pip-version-check', '--target', target, source],
            capture_output=True, text=True, timeout=200, env=environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        names = {path.name for path in target.iterdir() if not path.name.endswith('-info')}
        self.assertEqual(names, {'attune', 'hydra_plugins'})
        modules = {path.relative_to(PYTHON) for folder in names
                   for path in (PYTHON / folder).glob('**/*.py')}
        self.assertEqual({path.relative_to(target) for path in target.glob('**/*.py')}, modules)
        out = subprocess.check_output(
            [sys.executable, '-B', '-c', 'import attune; print(attune.__file__)'], text=True,
            cwd='/', env={**os.environ, 'PYTHONPATH': str(target)})
        self.assertEqual(out.strip(), str(target / 'attune/__init__.py'))

    def test_where_attuned_is_looked_for(self):
        code = 'from attune.daemon import find_attuned; print(find_attuned())'

        def found(package, **named):
            done = subprocess.run([sys.executable, '-B', '-c', code], capture_output=True,
                                  text=True, env={'PYTHONPATH': str(package.parent), **named})
            return done.stdout.strip() or done.stderr.strip().splitlines()[-1]

        def program(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text('#!/bin/sh\n')
            path.chmod(0o755)
            return str(path)

        package = self.folder / 'lib/python3/site-packages/attune'
        shutil.copytree(PYTHON / 'attune', package)
        self.assertIn('attuned was not found', found(package, PATH=''))
        beside = program(self.folder / 'bin/attuned')
        self.assertEqual(found(package, PATH=''), beside)
        in_path = program(self.folder / 'other/attuned')
        self.assertEqual(found(package, PATH=os.path.dirname(in_path)), in_path)
        within = program(package / '_bin/attuned')  # a wheel's: the version that belongs to it
        self.assertEqual(found(package, PATH=os.path.dirname(in_path)), within)
        named = program(self.folder / 'my-attuned')
        self.assertEqual(found(package, PATH=os.path.dirname(in_path), ATTUNED=named), named)
        self.assertIn('no program', found(package, PATH=os.path.dirname(in_path), ATTUNED='none'))

        tree = self.folder / 'tree'
        shutil.copytree(PYTHON / 'attune', tree / 'python/attune')
        built = program(tree / 'build/release/bin/attuned')
        self.assertEqual(found(tree / 'python/attune', PATH=''), built)


if __name__ == '__main__':
    unittest.main()
