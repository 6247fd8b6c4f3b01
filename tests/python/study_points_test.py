"""Points and results of the user: Study.enqueue and Study.import_results."""
import unittest

import attune
from support import CHOICE, TWO, StudyCase, parabola


class Points(StudyCase):
    def test_points_come_first_and_count(self):
        study = self.study(TWO, tuner='TPE')
        study.optimize(parabola, 5)
        points = [{'x': 0.3, 'k': 1}, {'x': 0.31, 'k': 2}]
        for point in points:
            study.enqueue(point)
        trials = study.ask(3)
        self.assertEqual([trial.parameters for trial in trials[:2]], points)
        study.tell(trials[0], 0)
        self.assertEqual(study.best_parameters, points[0])
        study.fail(trials[1])
        study.optimize(parabola, 20)
        self.assertEqual(len(study.trials), 28)

    def test_a_grid_does_not_visit_a_point_again(self):
        study = self.study(CHOICE, tuner='GridSearch')
        study.enqueue({'x': 2})
        self.assertEqual([trial.parameters['x'] for trial in study.ask(5)], [2, 1, 3])
        with self.assertRaises(attune.NoMoreTrials):
            study.ask()
        study.enqueue({'x': 1})  # the user may
        self.assertEqual(study.ask().parameters, {'x': 1})

    def test_an_interrupt_neither_loses_nor_doubles_a_point(self):
        for number in range(6):
            study = self.study(TWO, tuner='Random')
            for x in (0.25, 0.75):
                study.enqueue({'x': x, 'k': 1})
            with self.interrupted_after(study, number):
                for _ in range(4):
                    study.tell(study.ask(), 1)
            while len(study.trials) < 8:
                study.ask()
            found = [trial.parameters['x'] for trial in study.trials]
            self.assertEqual((found.count(0.25), found.count(0.75)), (1, 1))
            self.assertEqual(len(set(found)), len(found))

    def test_a_failed_point_holds_up_nobody(self):
        study = self.study(tuner='Evolution', tuner_args={'population_size': 2})
        study.enqueue({'x': 0.5})
        trials = study.ask(3)
        for trial in trials:
            study.fail(trial)
        study.optimize(lambda config: config['x'], 6, workers=3)
        self.assertEqual(len(study.trials), 9)

    def test_the_tuner_learns_from_imports(self):
        known = [{'parameters': {'x': 0.3 + n / 1000}, 'value': abs(n)} for n in range(-20, 21)]
        far = [{'parameters': {'x': n / 50}, 'value': 1000 + n} for n in range(50)]
        study = self.study(tuner='TPE')
        study.import_results(known + far)
        self.assertEqual(study.trials, [])
        near = [abs(trial.parameters['x'] - 0.3) < 0.1 for trial in study.ask(20)]
        self.assertGreater(sum(near), 10)

    def test_many_results(self):
        # More than attuned takes in one command.
        study = self.study(tuner='Random')
        results = [{'parameters': {'x': n / 15_000}, 'value': n} for n in range(15_000)]
        study.import_results(results)
        results[14_000]['parameters'] = {'x': -1}
        with self.assertRaisesRegex(attune.StudyError, r'results\[14000:\]: imported result 0 left'):
            study.import_results(results)
        study._daemon.close()
        study._resume()  # it is told all of them again
        self.assertEqual(study._daemon.said_since(0)[1], [])

    def test_what_is_refused_changes_nothing(self):
        study = self.study(TWO, tuner='TPE', constraints=['x < 0.9'])
        for point, words in [({'x': 0.5}, "parameters['k']: is missing"),
                             ({'x': 2, 'k': 1}, 'parameters.x: 2 is outside of [0, 1]'),
                             ({'x': 0.5, 'k': 9}, 'parameters.k: 9 is not a candidate'),
                             ({'x': 0.95, 'k': 1}, 'breaks a constraint'),
                             ({'x': 0.5, 'k': 1, 'y': 1}, 'did you mean "x"')]:
            with self.assertRaises(attune.StudyError) as caught:
                study.enqueue(point)
            self.assertIn(words, str(caught.exception))
        good = {'parameters': {'x': 0.5, 'k': 1}, 'value': 1}
        for bad, words in [({**good, 'value': float('nan')}, 'imported result 1 left out: the met'),
                           ({**good, 'value': 'a'}, "results[1]: metrics: must be a number"),
                           ({**good, 'value': {'a': 1}}, "results[1]: metrics: 'default'"),
                           ({'value': 1}, "results[1]: must be a dict with 'parameters' and"),
                           ({**good, 'parameters': {'x': 2, 'k': 1}}, 'parameters.x: 2 is outs')]:
            with self.assertRaises(attune.StudyError) as caught:
                study.import_results([good, bad])
            self.assertIn(words, str(caught.exception))
        self.assertEqual((list(study._enqueued), study._imported), ([], []))
        self.assertEqual(study.ask().parameters, self.study(
            TWO, tuner='TPE', constraints=['x < 0.9']).ask().parameters)

    def test_a_nested_point_and_a_constraint(self):
        space = {'m': {'_type': 'choice', '_value': [
            {'_name': 'a'}, {'_name': 'b', 'c': {'_type': 'uniform', '_value': [0, 1]}}]}}
        study = self.study(space, tuner='TPE', constraints=['c < 0.5'])
        study.enqueue({'m': {'_name': 'b', 'c': 0.4}})
        study.enqueue({'m': {'_name': 'a'}})
        with self.assertRaisesRegex(attune.StudyError, 'breaks a constraint'):
            study.enqueue({'m': {'_name': 'b', 'c': 0.6}})
        self.assertEqual([trial.parameters['m']['_name'] for trial in study.ask(2)], ['b', 'a'])


if __name__ == '__main__':
    unittest.main()
