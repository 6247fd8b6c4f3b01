"""scripts/check_names.py, on small sources."""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'scripts'))
import check_names  # noqa: E402

FIRST = '''
namespace attune {
class Point;  // declared
struct Point final : Base {
  struct Inner {};
};
enum class Colour : int { red };
struct Server::Impl {
};
namespace {
struct Hidden {};
}  // namespace
namespace plots {
struct Label { int width = 0; };
}  // namespace plots
}  // namespace attune
'''


class CheckNames(unittest.TestCase):
    def errors(self, second):
        return check_names.check({'a.h': FIRST.splitlines(), 'b.cpp': second.splitlines()})

    def test_what_is_defined(self):
        self.assertEqual(sorted(check_names.types(FIRST.splitlines())),
                         ['attune::Colour', 'attune::Point', 'attune::plots::Label'])

    def test_one_name_twice(self):
        for text in ('class Point {', 'struct Point : Other {', 'struct Point final', 'struct Point {};'):
            [error] = self.errors(f'namespace attune {{\n{text}\n}}  // namespace attune')
            self.assertIn('attune::Point is defined in a.h and b.cpp', error)

    def test_what_does_not_clash(self):
        for text in ('struct Point;', 'struct Inner {', 'struct Hidden {', 'struct Label {', 'class Server::Impl {',
                     'namespace {\nstruct Point {\n};\n}  // namespace'):
            self.assertEqual(self.errors(f'namespace attune {{\n{text}\n}}  // namespace attune'), [], text)


if __name__ == '__main__':
    unittest.main()
