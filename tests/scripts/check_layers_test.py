"""Each rule of scripts/check_layers.py, on small trees that break exactly that rule."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / 'scripts/check_layers.py'
sys.path.insert(0, str(SCRIPT.parent))
import check_layers  # noqa: E402

RULES = '''
room base:
room space: base   # a comment
room tuners: base space
room dispatcher: base tuners/tuner.h
room later: base space
free tests
header CLI/: dispatcher/1
header spdlog/: base/log.cpp
header Eigen/: space/
header boost/beast:
call clock::now: base/clock.cpp
'''

GOOD = {
    'base/log.cpp': '#include "base/log.h"\n#include <spdlog/logger.h>\n',
    'base/log.h': '#pragma once\n#include <string>\n',
    'base/clock.cpp': 'auto t = clock::now();\n',
    'space/space.h': '#include "base/log.h"\n#include <Eigen/Dense>\n',
    'tuners/tuner.h': '#include "base/log.h"\n#include "space/space.h"\n',
    'tuners/registry.h': '#include "tuners/tuner.h"\n',
    'dispatcher/session.cpp':
        '#include "base/log.h"\n#include "tuners/tuner.h"\n#include <CLI/CLI.hpp>\n'
        '// not clock::now(), which belongs elsewhere\n',
    'tests/any_test.cpp': '#include "tuners/registry.h"\n#include <boost/beast.hpp>\nclock::now();\n',
}


class CheckLayers(unittest.TestCase):
    def check(self, changes=None, rules=RULES):
        """The errors and warnings of the good tree with these files changed (None: removed)."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            files = {**GOOD, **(changes or {}), 'scripts/layers.txt': rules}
            for name, text in files.items():
                if text is not None:
                    (root / name).parent.mkdir(parents=True, exist_ok=True)
                    (root / name).write_text(text)
            return check_layers.check(root)

    def assert_errors(self, expected, **arguments):
        errors, _ = self.check(**arguments)
        self.assertEqual(errors, expected)

    def test_good_tree(self):
        self.assertEqual(self.check(), ([], []))

    def test_include_of_a_room_that_is_not_allowed(self):
        self.assert_errors(
            ['space/bad.h:2: space may not include "other/x.h" (allowed: base)'],
            changes={'space/bad.h': '\n#include "other/x.h"\n', 'other/x.h': ''},
            rules=RULES + 'room other:\n')

    def test_one_header_allowed_is_not_the_room_allowed(self):
        errors, _ = self.check({'dispatcher/worker.cpp': '#  include "tuners/registry.h"\n'})
        self.assertEqual(len(errors), 1)
        self.assertIn('dispatcher/worker.cpp:1: dispatcher may not include', errors[0])

    def test_include_that_is_not_root_relative(self):
        self.assert_errors(
            ['tuners/x.cpp:1: "tuner.h" is not a file of ours (includes start at the root)'],
            changes={'tuners/x.cpp': '#include "tuner.h"\n'})

    def test_header_that_cmake_makes(self):
        self.assert_errors([], changes={'base/version.h.in': '',
                                        'base/x.cpp': '#include "base/version.h"\n'})
        self.assert_errors([], changes={'base/api.proto': '',
                                        'base/x.cpp': '#include "base/api.pb.h"\n'
                                                      '#include "base/api.grpc.pb.h"\n'})

    def test_room_in_a_room(self):
        rules = RULES + 'room tuners/parts: base\n'
        inner = {'tuners/parts/a.h': '#include "base/log.h"\n'}
        self.assert_errors([], changes=inner, rules=rules)
        self.assert_errors(
            ['tuners/x.cpp:1: tuners may not include "tuners/parts/a.h" (allowed: base space)'],
            changes={**inner, 'tuners/x.cpp': '#include "tuners/parts/a.h"\n'}, rules=rules)
        self.assert_errors(
            ['tuners/parts/b.cpp:1: tuners/parts may not include "tuners/tuner.h" (allowed: base)'],
            changes={**inner, 'tuners/parts/b.cpp': '#include "tuners/tuner.h"\n'}, rules=rules)
        self.assert_errors(
            ['layers.txt: stale: tuners does not include tuners/parts'],
            changes=inner, rules=rules.replace('room tuners: base', 'room tuners: tuners/parts base'))
        self.assert_errors(
            ['cycle of rooms: tuners -> tuners/parts -> tuners'],
            changes={**inner, 'tuners/x.cpp': '#include "tuners/parts/a.h"\n',
                     'tuners/parts/b.cpp': '#include "tuners/tuner.h"\n'},
            rules=rules.replace('room tuners: base', 'room tuners: tuners/parts base')
            .replace('room tuners/parts:', 'room tuners/parts: tuners'))

    def test_file_beside_the_rooms_of_its_folder(self):
        self.assert_errors(['hall/x.h: in no room of layers.txt'],
                           changes={'hall/x.h': '', 'hall/a/y.h': ''}, rules=RULES + 'room hall/a:\n')

    def test_cycle_of_rooms(self):
        rules = RULES.replace('room space: base', 'room space: base tuners')
        self.assert_errors(
            ['cycle of rooms: tuners -> space -> tuners'],
            changes={'space/back.cpp': '#include "tuners/registry.h"\n'}, rules=rules)

    def test_cycle_of_files(self):
        self.assert_errors(
            ['cycle of files: base/a.h -> base/b.h -> base/a.h'],
            changes={'base/a.h': '#include "base/b.h"\n', 'base/b.h': '#include "base/a.h"\n'})

    def test_stale_permission(self):
        self.assert_errors(['layers.txt: stale: tuners does not include base'],
                           changes={'tuners/tuner.h': '#include "space/space.h"\n'})

    def test_stale_permission_for_one_header(self):
        rules = RULES.replace('tuners/tuner.h', 'tuners/tuner.h tuners/registry.h')
        self.assert_errors(['layers.txt: stale: dispatcher does not include tuners/registry.h'],
                           rules=rules)

    def test_confined_header(self):
        self.assert_errors(['space/x.cpp:1: header spdlog/ belongs in base/log.cpp'],
                           changes={'space/x.cpp': '#include <spdlog/spdlog.h>\n'})
        self.assert_errors(['base/x.cpp:1: header Eigen/ belongs in space/'],
                           changes={'base/x.cpp': '#include <Eigen/Core>\n'})
        self.assert_errors(['base/x.cpp:1: header boost/beast belongs in no file yet'],
                           changes={'base/x.cpp': '#include <boost/beast/core.hpp>\n'})

    def test_header_confined_to_one_file_of_a_room(self):
        self.assert_errors(['dispatcher/z.cpp:1: header CLI/ belongs in dispatcher/1'],
                           changes={'dispatcher/z.cpp': '#include <CLI/CLI.hpp>\n'})

    def test_confined_call(self):
        self.assert_errors(['tuners/x.cpp:1: call clock::now belongs in base/clock.cpp'],
                           changes={'tuners/x.cpp': 'auto t = clock::now();\n'})

    def test_folder_that_nobody_listed(self):
        self.assert_errors(['attic/: not in layers.txt'], changes={'attic/CMakeLists.txt': ''})

    def test_long_file_is_a_warning(self):
        errors, warnings = self.check({'base/long.cpp': '\n' * 401, 'base/fine.cpp': '\n' * 400})
        self.assertEqual(errors, [])
        self.assertEqual(warnings, ['base/long.cpp: 401 lines, more than 400'])

    def test_rule_that_is_not_understood(self):
        with self.assertRaisesRegex(ValueError, 'layers.txt:2: not understood'):
            self.check(rules='room base:\nroom: base\n')

    def test_exit_code(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / 'scripts').mkdir()
            (root / 'scripts/layers.txt').write_text('room base:\n')
            (root / 'base').mkdir()
            (root / 'base/a.h').write_text('#include "base/gone.h"\n')
            run = subprocess.run([sys.executable, str(SCRIPT), folder], capture_output=True,
                                 text=True)
            self.assertEqual(run.returncode, 1)
            self.assertIn('error: base/a.h:1', run.stdout)
            (root / 'base/a.h').write_text('')
            self.assertEqual(subprocess.run([sys.executable, str(SCRIPT), folder],
                                            capture_output=True).returncode, 0)


if __name__ == '__main__':
    unittest.main()
