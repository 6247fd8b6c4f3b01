"""The tables of docs/performance.md on figures that were made up."""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'scripts'))
import performance_tables as tables  # noqa: E402


def figure(name, unit, median, low, high):
    return {'name': name, 'unit': unit, 'median': median, 'low': low, 'high': high, 'samples': 3}


class Tables(unittest.TestCase):
    def test_units_read_well(self):
        self.assertEqual(tables.quantity(23.456, 'us'), '23.5 us')
        self.assertEqual(tables.quantity(1700, 'us'), '1.7 ms')
        self.assertEqual(tables.quantity(2000, 'ms'), '2 s')
        self.assertEqual(tables.quantity(312345, '1/s'), '312,000 /s')

    def test_figures_of_before_are_marked(self):
        start = figure('start to Initialized', 'ms', 4.2, 4, 5)
        alone = figure('start to Initialized', 'ms', 3, 2, 4)
        lines = tables.process_table({'figures': [start]}, None, {'figures': [alone]})
        self.assertIn('measured before', lines[0])
        self.assertEqual(lines[2], '| start to Initialized | 4.2 ms (4 ms to 5 ms) '
                                   '| 3 ms (2 ms to 4 ms) | 330 ms | 5 ms |')

    def test_a_measurement_replaces_what_was_measured_before(self):
        ours = [figure('start to Initialized', 'ms', 4.2, 4, 5),
                figure('Terminate to exit', 'ms', 1, 1, 1)]
        theirs = [figure('start to Initialized', 'ms', 300, 290, 310)]
        lines = tables.process_table({'figures': ours}, {'figures': theirs})
        self.assertNotIn('measured before', lines[0])
        self.assertIn('| 300 ms (290 ms to 310 ms) |', lines[2])
        self.assertNotIn('2 s', lines[3])

    def test_parts_are_medians(self):
        def run(aggregate, time):
            return {'run_name': 'decode/ME', 'aggregate_name': aggregate, 'cpu_time': time,
                    'real_time': 0, 'time_unit': 'us'}
        lines = tables.micro_table({'benchmarks': [run('mean', 9), run('median', 0.85)]})
        self.assertEqual(lines[2:], ['| decode/ME | 850 ns |'])

    def test_only_what_is_between_the_markers_changes(self):
        text = 'a\n<!-- m: begin -->\nold\n<!-- m: end -->\nb\n'
        self.assertEqual(tables.replace_between(text, 'm', ['new']),
                         'a\n<!-- m: begin -->\nnew\n<!-- m: end -->\nb\n')
        with self.assertRaisesRegex(ValueError, 'missing'):
            tables.replace_between(text, 'n', [])

    def test_the_document_has_the_markers(self):
        text = (ROOT / 'docs/performance.md').read_text()
        for marker in ('process', 'micro'):
            self.assertEqual(tables.replace_between(text, marker, ['x']).count('\nx\n'), 1)


if __name__ == '__main__':
    unittest.main()
