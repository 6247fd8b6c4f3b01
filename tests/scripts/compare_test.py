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
from digits_results import Run  # noqa: E402


def trial(validation, test=0.5, status='SUCCEEDED', start=0.0, end=1.0):
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
                     trial(0.9, 0.1), trial(0.99, status='FAILED'),
                     trial(None, status='EARLY_STOPPED', start=5, end=40), trial(None))
        self.assertEqual((run.validation, run.test, run.parameters), (0.9, 0.6, {'v': 0.9}))
        self.assertEqual((len(run.trials), run.stopped, run.failed), (6, 1, 1))
        self.assertEqual(run.seconds, 40)

    def test_no_result_is_an_error(self):
        with self.assertRaisesRegex(ValueError, 'no trial succeeded'):
            run_of(trial(None, status='FAILED'))


class CompareDigits(unittest.TestCase):
    def test_table(self):
        default = compare_digits.read_default(
            'epoch  1  validation 0.2000\nvalidation 0.9500  test 0.9400\n')
        text = compare_digits.table(
            default, run_of(trial(0.96, 0.95, end=61)),
            run_of(trial(0.97, 0.96), trial(None, status='EARLY_STOPPED', end=30)))
        self.assertEqual(text.splitlines(), [
            '                       validation    test  trials  stopped early  seconds',
            'default configuration      0.9500  0.9400       1',
            'random search              0.9600  0.9500       1              0       61',
            'TPE + Medianstop           0.9700  0.9600       2              1       30'])

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
        self.assertIn('| Random | 0.6500 [0.5000, 0.8000] |  |', lines[3])

    def test_experiment_files_are_changed_where_they_must(self):
        example = (ROOT / 'examples/digits/experiment.yaml').read_text()
        without = compare_tuners.without('assessor', example)
        self.assertNotIn('Medianstop', without.split('trialCommand')[1])
        self.assertNotIn('start_step', without)
        self.assertIn('searchSpace:', without)
        self.assertIn('name: TPE', without)
        self.assertIn(f'trialCodeDirectory: {compare_tuners.EXAMPLE}\n',
                      compare_tuners.elsewhere(example))
        with self.assertRaises(ValueError):
            compare_tuners.without('assessor', without)


if __name__ == '__main__':
    unittest.main()
