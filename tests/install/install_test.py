#!/usr/bin/env python3
"""Installs a build, moves it elsewhere, and uses it as programs of users do: by find_package and by
pkg-config. Usage: install_test.py CMAKE BUILD_FOLDER COMPILER
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

CMAKE, BUILD, COMPILER = sys.argv[1:4]
HERE = pathlib.Path(__file__).resolve().parent


def run(*command, **more):
    done = subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, **more)
    if done.returncode:
        raise AssertionError(f'{" ".join(map(str, command))}: {done.returncode}\n{done.stdout}')
    return done.stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix='attune_install_'))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        run(CMAKE, '--install', BUILD, '--prefix', cls.folder / 'first')
        cls.prefix = cls.folder / 'elsewhere'
        (cls.folder / 'first').rename(cls.prefix)
        # A path into the tree or to the first place would work here, and nowhere else.
        cls.consumer = cls.folder / 'consumer'
        cls.c_consumer = cls.folder / 'c_consumer'
        for consumer in (cls.consumer, cls.c_consumer):
            shutil.copytree(HERE / consumer.name, consumer)

    def test_components(self):
        runtime, development = self.folder / 'runtime', self.folder / 'development'
        for prefix in runtime, development:
            run(CMAKE, '--install', BUILD, '--prefix', prefix, '--component', prefix.name)
        installed = {file.relative_to(prefix) for prefix in (runtime, development)
                     for file in prefix.rglob('*') if not file.is_dir()}
        everything = {file.relative_to(self.prefix) for file in self.prefix.rglob('*')
                      if not file.is_dir()}
        self.assertEqual(installed, everything)
        self.assertFalse((runtime / 'include').exists())
        self.assertFalse((development / 'bin').exists())
        self.assertEqual([], [*runtime.rglob('*.a')])

    def test_programs(self):
        for program in ('attune', 'attuned', 'attune-shim', 'nni-attuned'):
            self.assertTrue(os.access(self.prefix / 'bin' / program, os.X_OK), program)
        if os.access(pathlib.Path(BUILD) / 'bin/attune-katib', os.X_OK):  # where gRPC is installed
            self.assertIn('attune-tpe', run(self.prefix / 'bin' / 'attune-katib', '--list'))
        self.assertIn('TPE', run(self.prefix / 'bin' / 'attuned', '--list'))
        # The Python of NNI's manager finds attuned beside itself.
        python = self.prefix / 'share/attune/nni/python3'
        self.assertIn('TPE', run(python, '-m', 'nni', '--exp_params', 'e30=', '--list'))

    def test_man_pages(self):
        for program in 'attune', 'attuned', 'attune-shim', 'nni-attuned':
            page = self.prefix / f'share/man/man1/{program}.1'
            self.assertIn(f'.TH {program.upper()} 1', page.read_text())
            if shutil.which('groff'):
                shown = subprocess.run(['groff', '-man', '-ww', '-Tutf8', page], text=True, check=True,
                                       capture_output=True)
                self.assertEqual(shown.stderr, '')
                if program in ('attune', 'attuned'):
                    self.assertIn('--help', re.sub('\x1b\\[[0-9;]*m|.\b', '', shown.stdout))
            if shutil.which('man'):
                shown = subprocess.run(['man', '--warnings', '-l', page], text=True, check=True,
                                       capture_output=True, env={**os.environ, 'LC_ALL': 'C.UTF-8',
                                                                 'MANPAGER': 'cat'})
                self.assertEqual(shown.stderr, '')

    def test_completions(self):
        share = self.prefix / 'share'
        for name, text in (('bash-completion/completions/attune', 'complete -o filenames -F _attune'),
                           ('zsh/site-functions/_attune', '#compdef attune\n'),
                           ('fish/vendor_completions.d/attune.fish', 'complete -c attune -f')):
            self.assertIn(text, (share / name).read_text())
        run('bash', '-n', share / 'bash-completion/completions/attune')

    def test_headers_include_only_each_other(self):
        headers = list((self.prefix / 'include').rglob('*.h'))
        self.assertIn(self.prefix / 'include/attune/study/study.h', headers)
        for header in headers:
            for included in re.findall(r'#\s*include\s*"([^"]+)"', header.read_text()):
                self.assertTrue((self.prefix / 'include' / included).exists(),
                                f'{header}: {included}')

    def test_no_macro_that_a_user_might_have(self):
        for header in (self.prefix / 'include').rglob('*.h'):
            for name in re.findall(r'#\s*define (\w+)', header.read_text()):
                self.assertTrue(name.startswith('ATTUNE_'), f'{header}: {name}')

    def test_no_path_of_the_build(self):
        for pattern in ('*.cmake', '*.pc', '*.h'):
            for file in self.prefix.rglob(pattern):
                text = file.read_text()
                for place in (BUILD, str(self.folder / 'first')):
                    self.assertNotIn(place, text, file)

    def test_find_package(self):
        build = self.build_by_cmake(self.consumer)
        self.assertEqual(run(build / 'tune'), 'tuned\n')
        self.assertEqual(run(build / 'be_tuned'), 'was tuned\n')

    def test_find_package_from_c(self):
        build = self.build_by_cmake(self.c_consumer)
        self.assertEqual(run(build / 'be_tuned'), 'x = 2.5\n')
        self.assertEqual(run(build / 'tune'), 'tuned\n')

    def test_plugin(self):
        source = self.folder / 'plugin_cpp'
        shutil.copytree(HERE.parents[1] / 'examples' / 'plugin_cpp', source)
        build = self.build_by_cmake(source)
        for plugin, name in (('one_plus_one', 'OnePlusOne'), ('patience', 'Patience')):
            self.assertIn(name, run(self.prefix / 'bin' / 'attuned', '--plugin',
                                    build / f'{plugin}.so', '--list'))

    def build_by_cmake(self, source):
        build = source / 'build'
        run(CMAKE, '-S', source, '-B', build, '-G', 'Ninja',
            f'-DCMAKE_PREFIX_PATH={self.prefix}', f'-DCMAKE_CXX_COMPILER={COMPILER}')
        run(CMAKE, '--build', build, '--parallel', '2')
        return build

    def test_pkg_config(self):
        (folder,) = self.prefix.rglob('pkgconfig')
        path = f'{folder}:{os.environ.get("PKG_CONFIG_PATH", "")}'
        environment = dict(os.environ, PKG_CONFIG_PATH=path)
        for package, program, says in (('attune-study', 'tune', 'tuned\n'),
                                       ('attune-trial', 'be_tuned', 'was tuned\n')):
            flags = run('pkg-config', '--cflags', '--libs', package, env=environment).split()
            binary = self.folder / program
            run(COMPILER, '-std=c++23', f'-I{self.consumer}', self.consumer / f'{program}.cpp',
                '-o', binary, *flags)
            self.assertEqual(run(binary), says)

    def test_pkg_config_from_c(self):
        (folder,) = self.prefix.rglob('pkgconfig')
        environment = dict(os.environ, PKG_CONFIG_PATH=str(folder))
        flags = run('pkg-config', '--cflags', '--libs', 'attune-study-c', env=environment).split()
        binary = self.folder / 'tune_c'
        run('cc', '-std=c99', '-Wall', '-Werror', self.c_consumer / 'tune.c', '-o', binary, *flags)
        libraries = dict(os.environ, LD_LIBRARY_PATH=str(folder.parent))
        self.assertEqual(run(binary, env=libraries), 'tuned\n')


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
