"""The comparison of several objectives: its hypervolumes, its problems, its daemon, its table."""
import itertools
import os
import pathlib
import random
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'scripts'))
import compare_multi_objective as compare  # noqa: E402
from multi_objective_problems import Problem, hypervolume, synthetic  # noqa: E402


def by_inclusion(rows, reference):
    """Inclusion and exclusion over all sets of rows."""
    volume = 0
    for count in range(1, len(rows) + 1):
        for chosen in itertools.combinations(rows, count):
            box = -(-1) ** count
            for i, r in enumerate(reference):
                box *= max(0, r - max(row[i] for row in chosen))
            volume += box
    return volume


class Hypervolume(unittest.TestCase):
    def test_it_is_the_sum_over_all_sets_of_rows(self):
        rng = random.Random(1)
        for objectives, levels in itertools.product((2, 3), (3, 100)):
            reference = (levels - 1,) * objectives
            for count in (0, 1, 2, 7):
                rows = [tuple(rng.randrange(levels) for _ in reference) for _ in range(count)]
                self.assertEqual(hypervolume(rows, reference), by_inclusion(rows, reference))


class Problems(unittest.TestCase):
    def test_no_result_has_more_than_the_true_front_and_points_of_it_nearly_all(self):
        rng = random.Random(2)
        for problem in synthetic():
            bounds = {name: declared['_value'] for name, declared in problem.space.items()}
            best = 0.5 if problem.name == 'DTLZ2' else 0
            free = len(problem.reference) - 1
            shares = []
            for on_front in (False, True):
                rows = []
                for _ in range(1500):
                    x = {name: rng.uniform(*bound) for name, bound in bounds.items()}
                    if on_front:
                        x.update({name: best for name in list(x)[free:]})
                    rows.append(problem.minimised(problem.evaluate(x)))
                    self.assertEqual(len(rows[-1]), len(problem.reference))
                shares.append(hypervolume(rows, problem.reference) / problem.ideal)
            self.assertGreater(shares[0], 0.1, problem.name)
            self.assertLess(shares[0], 0.9, problem.name)
            self.assertAlmostEqual(shares[1], 0.99, delta=0.0101, msg=problem.name)


class Runs(unittest.TestCase):
    problem = Problem('sum', {'x': {'_type': 'randint', '_value': [0, 5]}},
                      {'gain': 'maximize', 'cost': 'minimize'}, (0, 10),
                      lambda p: {'gain': p['x'], 'cost': p['x'] + 1}, 20)

    def test_a_run_asks_until_the_daemon_has_no_more_and_is_kept(self):
        tuner = compare.Ours(pathlib.Path(os.environ['ATTUNED']), 'NSGAII={"population_size": 2}')
        with tempfile.TemporaryDirectory() as folder:
            rows = compare.kept_run(tuner, self.problem, 1, 9, pathlib.Path(folder))
            self.assertEqual(sorted(rows), [(-x, x + 1) for x in range(4, -1, -1)])
            again = compare.kept_run(tuner, self.problem, 1, 9, pathlib.Path(folder))
            self.assertEqual([tuple(row) for row in again], rows)
        self.assertEqual(compare.shares([(-4, 5)], self.problem, [1]), [1])

    def test_table(self):
        results = {('A', 'sum', 1): [0.25, 0.75]}
        text = compare.table([self.problem], ['A'], [1], results)
        self.assertIn('| sum | 0, 10 | 1 | 0.500 [0.250, 0.750] |', text)
        self.assertIn('| mean | | 1 | 0.500 |', text)


if __name__ == '__main__':
    unittest.main()
