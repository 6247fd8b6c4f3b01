"""The comparison scripts on results that were made up."""
import json
import pathlib
import random
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'scripts'))
import compare_digits  # noqa: E402
import compare_tuners  # noqa: E402
from best_chart import chart, mean_curve  # noqa: E402
from digits_results import Run, trials_until  # noqa: E402


def trial(validation, test=0.5, status='succeeded', start=0.0, end=1.0):
    return {'status': status, 'score': validation, 'metrics.test': test,
            'parameters.v': validation, 'parameters.absent': None, 'started': start, 'ended': end}


def run_of(*trials):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'trials.jsonl'
        path.write_text(''.join(json.dumps(t) + '\n' for t in trials))
        return Run(folder)


class Results(unittest.TestCase):
    def test_best_is_of_the_trials_that_succeeded(self):
        run = run_of(trial(0.8, 0.7, start=10, end=20), trial(0.9, 0.6, end=30, start=12),
                     trial(0.9, 0.1), trial(0.99, status='failed'),
                     trial(None, status='early_stopped', start=5, end=40), trial(None))
        self.assertEqual((run.validation, run.test, run.parameters), (0.9, 0.6, {'v': 0.9}))
        self.assertEqual((len(run.trials), run.stopped, run.failed), (6, 1, 1))
        self.assertEqual(run.seconds, 40)
        self.assertEqual(run.best_so_far, [0.8, 0.9, 0.9, 0.9, 0.9, 0.9])

    def test_trials_until_an_accuracy_count_those_that_were_stopped(self):
        curve = run_of(trial(0.5), trial(None, status='early_stopped'), trial(0.7)).best_so_far
        self.assertEqual([trials_until(curve, a) for a in (0.5, 0.6, 0.7, 0.8)], [1, 3, 3, None])

    def test_an_accuracy_that_was_printed_is_as_good_as_what_it_was_rounded_from(self):
        self.assertEqual(trials_until([0.9333], 0.93333333), 1)
        self.assertIsNone(trials_until([0.9333], 0.9333 + 1 / 2400))

    def test_no_result_is_an_error(self):
        with self.assertRaisesRegex(ValueError, 'no trial succeeded'):
            run_of(trial(None, status='failed'))


class BestChart(unittest.TestCase):
    def test_a_shorter_curve_keeps_its_last_value(self):
        self.assertEqual(mean_curve([[0.25, 0.5], [0.75]]), [0.5, 0.625])

    def test_marks_stand_at_their_values(self):
        lines = chart({'.': [0.0, 0.5, 0.75], 'o': [0.5, 0.75, 1.0]}, lowest=0.5, height=3)
        self.assertEqual(lines[:3], ['1.000 |  o', '0.750 | o.', '0.500 |o.'])
        self.assertEqual(lines[3], '      +---')

    def test_equal_values(self):
        self.assertEqual(chart({'o': [0.5, 0.5]}, lowest=0.5, height=2)[1], '0.500 |oo')


class CompareDigits(unittest.TestCase):
    def test_table_has_means_over_seeds(self):
        default = compare_digits.read_default(
            'epoch  1  validation 0.2000\nvalidation 0.9500  test 0.9400\n')
        text = compare_digits.table(
            default, [run_of(trial(0.96, 0.95, end=61)), run_of(trial(0.94, 0.93, end=59))],
            [run_of(trial(0.97, 0.96), trial(None, status='early_stopped', end=30))])
        self.assertEqual(text.splitlines(), [
            '                       validation    test  trials  stopped early  seconds',
            'default configuration      0.9500  0.9400       1',
            'random search              0.9500  0.9400       1              0       60',
            'attune                     0.9700  0.9600       2              1       30'])

    def test_trials_until_the_best_of_random_search_are_paired_by_seed(self):
        by_chance = [run_of(trial(0.5), trial(0.8)), run_of(trial(0.9), trial(0.1))]
        tuned = [run_of(trial(0.8), trial(0.9)), run_of(trial(0.8))]
        self.assertTrue(compare_digits.until_random(by_chance, tuned).endswith(
            'attune 1, never; random search 2, 1'))

    def test_output_without_result(self):
        with self.assertRaises(ValueError):
            compare_digits.read_default('epoch  1  validation 0.2000\n')


class CompareTuners(unittest.TestCase):
    def test_interval_covers_the_true_mean_as_often_as_it_says(self):
        rng = random.Random(1)
        resamples, compare_tuners.RESAMPLES = compare_tuners.RESAMPLES, 400
        covered = 0
        for _ in range(300):
            low, high = compare_tuners.interval([rng.gauss(5, 2) for _ in range(30)])
            self.assertLess(low, high)
            covered += low <= 5 <= high
        compare_tuners.RESAMPLES = resamples
        self.assertTrue(0.88 < covered / 300 < 0.98, covered)

    def test_interval_of_one_value(self):
        self.assertEqual(compare_tuners.interval([3.0, 3.0]), (3.0, 3.0))

    def test_report_pairs_by_seed(self):
        # Every seed is 0.1 better than Random's: the difference is exact, the means are spread.
        runs = {'TPE': [run_of(trial(0.6)), run_of(trial(0.9))],
                'Random': [run_of(trial(0.5)), run_of(trial(0.8))]}
        lines = compare_tuners.report(runs, 'Random').splitlines()
        self.assertEqual(len(lines), 4)
        self.assertIn('| TPE | 0.7500 [0.6000, 0.9000] | 0.1000 [0.1000, 0.1000] |', lines[2])
        self.assertIn('| 1.0 [1.0, 1.0] | 1 [1, 1] | 1.0 | 0.0 |', lines[2])
        self.assertIn('| Random | 0.6500 [0.5000, 0.8000] |  |', lines[3])

    def test_experiment_files_are_changed_where_they_must(self):
        example = (ROOT / 'examples/digits/experiment.yaml').read_text()
        without = compare_tuners.without('assessor', example)
        self.assertNotIn('Medianstop', without.split('trialCommand')[1])
        self.assertNotIn('start_step', without)
        self.assertIn('searchSpace:', without)
        self.assertIn('name: auto', without)
        self.assertIn(f'trialCodeDirectory: {compare_tuners.EXAMPLE}\n',
                      compare_tuners.elsewhere(example))
        with self.assertRaises(ValueError):
            compare_tuners.without('assessor', without)


if __name__ == '__main__':
    unittest.main()
