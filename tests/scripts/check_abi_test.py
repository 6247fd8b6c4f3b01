"""scripts/check_abi.py, on small headers and on libraries made of them."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'scripts'))
import check_abi  # noqa: E402

HEADER = '''
#include <stdint.h>
#define ATTUNE_TOY_ABI 1
typedef struct attune_toy attune_toy;
enum {
  ATTUNE_TOY_OK = 0, /* fine */
  ATTUNE_TOY_BAD = 1
};
int attune_toy_open(const char* name, attune_toy** toy);
int attune_toy_names(attune_toy* toy, const char* const* names,
                     int64_t count);
void attune_toy_version(void);
'''


class CheckAbi(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='attune_abi_')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        number, lines = self.interface(HEADER)
        self.record = '\n'.join([f'abi {number}', *lines, ''])

    def interface(self, text):
        header = self.folder / 'toy_c.h'
        header.write_text(text)
        return check_abi.interface_of(header)

    def why_not(self, text):
        """The message about a header with this text, '' if it agrees with the record."""
        try:
            check_abi.compare(self.record, *self.interface(text))
        except check_abi.AbiError as error:
            return str(error)
        return ''

    def test_what_is_recorded(self):
        self.assertEqual(self.record.splitlines(), [
            'abi 1',
            'enumerator ATTUNE_TOY_BAD = 1',
            'enumerator ATTUNE_TOY_OK = 0',
            'int attune_toy_names(attune_toy*, const char* const*, int64_t)',
            'int attune_toy_open(const char*, attune_toy**)',
            'typedef struct attune_toy attune_toy',
            'void attune_toy_version(void)'])
        self.assertEqual(self.why_not(HEADER), '')

    def test_names_of_arguments_do_not_count(self):
        self.assertEqual(self.why_not(HEADER.replace('const char* name', 'const char* path')), '')

    def test_what_breaks_programs_is_refused(self):
        for old, new in (('void attune_toy_version(void);', ''),
                         ('int64_t count', 'int32_t count'),
                         ('const char* name', 'char* name'),
                         ('int attune_toy_open', 'void attune_toy_open'),
                         ('ATTUNE_TOY_BAD = 1', 'ATTUNE_TOY_BAD = 2')):
            changed = HEADER.replace(old, new)
            self.assertNotEqual(changed, HEADER)
            self.assertIn('raise the ABI number', self.why_not(changed), old)
            # With the number it has to be recorded.
            self.assertIn('--write', self.why_not(changed.replace('_ABI 1', '_ABI 2')))

    def test_what_is_added_is_recorded(self):
        self.assertIn('--write', self.why_not(HEADER + 'int attune_toy_more(void);\n'))

    def test_the_number_does_not_sink(self):
        self.assertIn('the ABI number is 0, after 1', self.why_not(HEADER.replace('_ABI 1', '_ABI 0')))

    def test_libraries(self):
        number, lines = self.interface(HEADER)
        functions = ('int attune_toy_open() {return 0;} int attune_toy_names() {return 0;}'
                     'void attune_toy_version() {}')

        def why_not(source, soname):
            (self.folder / 'toy.c').write_text(source)
            library = self.folder / 'libtoy.so'
            subprocess.run(['cc', '-shared', '-fPIC', self.folder / 'toy.c', '-o', library,
                            f'-Wl,-soname,{soname}'], check=True)
            try:
                check_abi.check_library('toy', library, number, lines)
            except check_abi.AbiError as error:
                return str(error)
            return ''

        self.assertEqual(why_not(functions, 'libattune_toy.so.1'), '')
        self.assertIn('SONAME', why_not(functions, 'libattune_toy.so.0'))
        self.assertIn('inner', why_not(functions + 'void inner() {}', 'libattune_toy.so.1'))
        self.assertIn('attune_toy_version',
                      why_not(functions.replace('void attune_toy_version() {}', ''),
                              'libattune_toy.so.1'))


if __name__ == '__main__':
    unittest.main()
