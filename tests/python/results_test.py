"""What a study shows of its results: a data frame, a page for notebooks, minimize() and maximize()."""
import importlib.util
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

import attune
from support import UNIFORM, StudyCase, parabola


class Results(StudyCase):
    attuned = None

    def used(self, **named):
        study = self.study(**named)
        for number in range(5):
            study.tell(study.ask(), {'default': (number - 3) ** 2, 'time': number})
        study.tell(study.ask(), math.nan)
        study.fail(study.ask())
        study.ask()
        return study

    @unittest.skipUnless(importlib.util.find_spec('pandas'), 'pandas is not installed')
    def test_a_data_frame(self):
        study = self.used()
        frame = study.dataframe()
        self.assertEqual(list(frame.columns), ['number', 'status', 'value', 'metrics.default',
                                               'metrics.time', 'parameters.x'])
        self.assertEqual(list(frame['status']), ['completed'] * 6 + ['failed', 'running'])
        self.assertEqual(list(frame['value'][:5]), [9, 4, 1, 0, 1])
        self.assertEqual(frame['parameters.x'][2], study.trials[2].parameters['x'])
        self.assertEqual(len(self.study().dataframe()), 0)

    def test_a_page(self):
        for maximize in (False, True):
            study = self.used(maximize=maximize)
            page = ElementTree.fromstring(study._repr_html_())
            text = ' '.join(page.itertext())
            self.assertIn('8 trials', text)
            self.assertIn('6 completed, 1 failed, 1 running', text)
            self.assertIn('9 (trial 0)' if maximize else '0 (trial 3)', text)
            picture = page.find('svg')
            self.assertEqual(len(picture.findall('circle')), 5)
            line = [tuple(map(float, corner.split(',')))
                    for corner in picture.find('polyline').get('points').split()]
            self.assertEqual(line, sorted(line, key=lambda corner: corner[0]))
            heights = [y for _, y in line]
            self.assertEqual(heights, sorted(heights, reverse=maximize))
        self.assertIsNone(ElementTree.fromstring(self.study()._repr_html_()).find('svg'))

    def test_a_page_of_strange_names(self):
        study = attune.Study(seed=1)
        trial = study.ask()
        trial.suggest_categorical('<b>&', ['</table>"'])
        study.tell(trial, 1)
        study.tell(study.ask(), 2)
        self.assertIn('</table>"', ' '.join(ElementTree.fromstring(study._repr_html_()).itertext()))

    def test_importance(self):
        def function(trial):
            x, y = (trial.suggest_float(name, -1, 1) for name in 'xy')
            trial.suggest_int('z', 0, 9)
            return {'default': 4 * x * x + y * y, 'other': y}

        study = attune.Study(tuner='Random', seed=1, objectives=[
            {'metric': 'default', 'mode': 'minimize'}, {'metric': 'other', 'mode': 'minimize'}])
        with self.assertRaises(attune.StudyError):
            study.importance()
        study.optimize(function, 200)
        shares = attune.importance(study)
        self.assertEqual(list(shares), ['x', 'y', 'z'])
        self.assertGreater(shares['x'], 0.85)
        self.assertAlmostEqual(sum(shares.values()), 1)
        self.assertEqual(next(iter(study.importance('other'))), 'y')
        with self.assertRaises(attune.StudyError):
            study.importance('none')
        with self.assertRaisesRegex(attune.StudyError, 'leave attuned out'):
            self.study(attuned=True).importance()

    def test_minimize_and_maximize(self):
        best = attune.minimize(parabola, UNIFORM, 40, seed=1)
        self.assertAlmostEqual(best.parameters['x'], 0.3, delta=0.02)
        best = attune.maximize(lambda trial: -abs(trial.suggest_float('x', 0, 1) - 0.3), None, 40,
                               seed=1, workers=2)
        self.assertAlmostEqual(best.parameters['x'], 0.3, delta=0.02)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / 'study'
            for n in (3, 5):
                attune.minimize(parabola, UNIFORM, n, file=file, if_exists='continue')
                with attune.Study.open(file) as study:
                    self.assertEqual(study.count, n)
        for call, words in (
                (lambda: attune.minimize(parabola, UNIFORM, 3, maximize=True), 'leave it out'),
                (lambda: attune.maximize(parabola, UNIFORM, 3, objectives=[{'metric': 'a'}]),
                 'not that of the function'),
                (lambda: attune.minimize(lambda config: math.nan, UNIFORM, 3), 'no best trial')):
            with self.assertRaisesRegex(attune.StudyError, words):
                call()

    def test_importing_the_package_loads_little(self):
        code = 'import sys, attune; print(*(name for name in sys.modules))'
        names = subprocess.check_output([sys.executable, '-B', '-c', code], text=True).split()
        for name in ('ctypes', 'sqlite3', 'multiprocessing', 'pandas', 'numpy', 'subprocess'):
            self.assertNotIn(name, names)


class ResultsWithAttuned(Results):
    attuned = True
    test_a_page_of_strange_names = None
    test_importance = None
    test_minimize_and_maximize = None
    test_importing_the_package_loads_little = None


if __name__ == '__main__':
    unittest.main()
