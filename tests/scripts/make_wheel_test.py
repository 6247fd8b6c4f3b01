"""packaging/make_wheel.py: which platform it finds for libraries that are made here, and which
packages the wheel has."""
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'packaging'))
import make_wheel  # noqa: E402


@unittest.skipIf(platform.machine() != 'x86_64', 'the wheel is for x86_64')
class Platform(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='attune_wheel_test_')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def library(self, name, source, *options):
        (self.folder / 'source.c').write_text(source)
        subprocess.run(['cc', '-shared', '-fPIC', '-nostartfiles', '-O0', '-fno-builtin', '-o',
                        self.folder / name, self.folder / 'source.c', *options], check=True)
        return self.folder / name

    def test_the_newest_symbol_counts(self):
        old = self.library('old.so', 'int puts(const char*); int f() {return puts("");}')
        new = self.library('new.so', 'void* memcpy(void*, const void*, unsigned long);'
                                     'void* f(void* to, void* from) {return memcpy(to, from, 1);}')
        self.assertEqual(make_wheel.platform_of([old]), 'manylinux_2_2_x86_64')  # 2.2.5
        self.assertEqual(make_wheel.platform_of([new, old]), 'manylinux_2_14_x86_64')

    def test_a_library_that_is_not_in_the_wheel(self):
        helper = self.library('libhelper.so', 'int puts(const char*); int helper() {return puts("");}',
                              '-Wl,-soname,libhelper.so')
        user = self.library('user.so', 'int helper(); int f() {return helper();}', helper)
        with self.assertRaisesRegex(ValueError, 'needed, and not in the wheel: libhelper.so'):
            make_wheel.platform_of([user])
        self.assertEqual(make_wheel.platform_of([user, helper]), 'manylinux_2_2_x86_64')


class Package(unittest.TestCase):
    def test_it_has_each_package_of_the_project(self):
        with tempfile.TemporaryDirectory(prefix='attune_wheel_test_') as name:
            copy = pathlib.Path(name) / 'python'
            make_wheel.copy_package(copy)
            project = (copy / 'pyproject.toml').read_text(encoding='utf-8')
            listed = re.search(r'(?s)^packages = \[(.*?)\]', project, re.MULTILINE)[1]
            packages = re.findall(r'"([^"]+)"', listed)
            self.assertIn('attune.compat.optuna', packages)
            for package in packages:
                self.assertTrue((copy / package.replace('.', '/') / '__init__.py').exists(), package)
            self.assertFalse((copy / 'compat').exists())  # installed, it would hide other packages


if __name__ == '__main__':
    unittest.main()
