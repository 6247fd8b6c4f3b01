"""The version stands in CMakeLists.txt. Where a format needs it again it is the same."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLACES = {
    'python/pyproject.toml': r'(?m)^version = "(.*)"$',
    'CHANGELOG.md': r'(?m)^## (\S+)',  # the first one
    'packaging/conda/recipe.yaml': r'(?m)^  version: "(.*)"$',
    'packaging/homebrew/attune.rb': r'/v([0-9.]+)\.tar\.gz"',
}


def found(file, pattern):
    match = re.search(pattern, (ROOT / file).read_text(encoding='utf-8'))
    return match and match[1]


class Version(unittest.TestCase):
    def test_one_version(self):
        version = found('CMakeLists.txt', r'project\(attune VERSION (\d+\.\d+\.\d+) ')
        self.assertIsNotNone(version)
        for file, pattern in PLACES.items():
            self.assertEqual(found(file, pattern), version, file)

    def test_the_names_of_debian_packages_have_the_abi_number(self):
        for library in 'study', 'trial':
            number = found(f'{library}/{library}_c.h', r'#define ATTUNE_[A-Z]+_ABI (\d+)')
            package = f'libattune-{library}{number}'
            self.assertIn(f'\nPackage: {package}\n',
                          (ROOT / 'packaging/debian/control').read_text(encoding='utf-8'))
            self.assertTrue((ROOT / f'packaging/debian/{package}.install').exists())


if __name__ == '__main__':
    unittest.main()
