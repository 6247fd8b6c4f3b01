"""attune.ray.Searcher: with the real Ray Tune if it is installed, else with stand-ins."""
import math
import pathlib
import pickle
import statistics
import tempfile
import unittest

import attune

try:
    from ray import tune
except ImportError:
    import ray_stand_ins
    ray_stand_ins.install()
    from ray import tune

from attune.ray import Searcher  # noqa: E402
from attune.ray_space import Space  # noqa: E402


def parabola(config):
    return (config['model']['x'] - 0.3) ** 2 + abs(config['n'] - 4)


CONFIG = {'model': {'x': tune.uniform(0, 1), 'layers': 3}, 'n': tune.randint(1, 9)}


class Spaces(unittest.TestCase):
    def test_domains(self):
        for domain, native in (
                (tune.uniform(1, 2.5), ('uniform', [1, 2.5])),
                (tune.quniform(0, 1, 0.25), ('quniform', [0, 1, 0.25])),
                (tune.loguniform(0.01, 1), ('loguniform', [0.01, 1])),
                (tune.qloguniform(0.01, 1, 0.01), ('qloguniform', [0.01, 1, 0.01])),
                (tune.randn(1, 2), ('normal', [1, 2])),
                (tune.qrandn(1, 2, 0.5), ('qnormal', [1, 2, 0.5])),
                (tune.randint(1, 9), ('randint', [1, 9])),
                (tune.qrandint(1, 9), ('randint', [1, 10])),
                (tune.qrandint(1, 9, 4), ('quniform', [4, 8, 4])),
                (tune.lograndint(1, 100), ('qloguniform', [1, 99, 1])),
                (tune.qlograndint(2, 64, 2), ('qloguniform', [2, 64, 2])),
                (tune.choice(['a', 2, None]), ('choice', ['a', 2, None])),
                (tune.choice([(1, 2), [3]]), ('choice', ['0', '1']))):
            with self.subTest(native=native):
                self.assertEqual(Space({'p': domain}).native,
                                 {'p': {'_type': native[0], '_value': native[1]}})

    def test_configs_and_points(self):
        space = Space({**CONFIG, 'sizes': tune.choice([(1, 2), (3,)]),
                       'q': tune.qrandint(2, 8, 2)})
        self.assertEqual(list(space.native), ['model/x', 'n', 'sizes', 'q'])
        config = space.config({'model/x': 0.5, 'n': 2, 'sizes': '1', 'q': 4.0})
        self.assertEqual(config, {'model': {'x': 0.5}, 'n': 2, 'sizes': (3,), 'q': 4})
        self.assertIs(type(config['q']), int)
        self.assertEqual(space.point({**config, 'other': 5}),
                         {'model/x': 0.5, 'n': 2, 'sizes': '1', 'q': 4})

    def test_what_cannot_be_used(self):
        for value, words in ((tune.grid_search([1, 2]), 'a/b: grid_search is not known'),
                             (tune.sample_from(lambda spec: 1), 'a/b: Function with')):
            with self.assertRaisesRegex(attune.StudyError, words):
                Space({'a': {'b': value}})


class Search(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = str(pathlib.Path(folder.name) / 'searcher-state.pkl')

    def searcher(self, config=CONFIG, metric='loss', mode='min', **named):
        """As the Tuner sets it up."""
        searcher = Searcher(**{'seed': 1, **named})
        self.assertTrue(searcher.set_search_properties(metric, mode, config))
        return searcher

    def run_trials(self, searcher, names, function=parabola, metric='loss', sign=1):
        found = []
        for name in names:
            config = searcher.suggest(name)
            loss = sign * function(config)
            result = {metric: loss, 'training_iteration': 1, 'done': False}
            searcher.on_trial_result(name, result)
            searcher.on_trial_complete(name, result={**result, 'done': True})
            found.append((config, loss))
        return found

    def test_it_finds_the_best(self):
        for mode, sign in (('min', 1), ('max', -1)):
            found = self.run_trials(self.searcher(mode=mode), map(str, range(60)), sign=sign)
            self.assertLess(min(abs(loss) for _, loss in found), 0.05)
            losses = [abs(loss) for _, loss in found]
            self.assertLess(statistics.median(losses[40:]), statistics.median(losses[:20]) / 2)

    def test_who_says_what_the_space_is(self):
        searcher = Searcher(CONFIG, 'loss', 'min', seed=1)
        self.assertFalse(searcher.set_search_properties(None, None, {}))
        self.assertIn('x', searcher.suggest('a')['model'])
        self.assertEqual((searcher.metric, searcher.mode), ('loss', 'min'))
        self.assertFalse(Searcher().set_search_properties('loss', 'min', {'x': 5}))
        with self.assertRaisesRegex(attune.StudyError, 'space: there is none'):
            Searcher(metric='loss', mode='min').suggest('a')
        with self.assertRaisesRegex(attune.StudyError, "mode: say 'min' or 'max'"):
            Searcher(CONFIG).suggest('a')

    def test_the_anonymous_metric(self):
        searcher = self.searcher(metric=None)
        found = self.run_trials(searcher, 'abc', metric='_metric')
        self.assertEqual(searcher._study.best_value, min(loss for _, loss in found))

    def test_ends_of_trials(self):
        searcher = self.searcher()
        for name in 'abcdef':
            searcher.suggest(name)
        searcher.on_trial_result('a', {'training_iteration': 1})  # no metric
        searcher.on_trial_complete('a', result={'loss': 1})
        searcher.on_trial_complete('a', result={'loss': 2})
        searcher.on_trial_complete('b', error=True)
        searcher.on_trial_complete('c')
        searcher.on_trial_complete('d', result={'loss': math.nan})
        searcher.on_trial_complete('e', result={'loss': 1}, error=True)
        searcher.on_trial_complete('unknown', result={'loss': 1})
        trials = searcher._study.trials
        self.assertEqual([trial.status for trial in trials],
                         ['completed', 'failed', 'stopped', 'completed', 'failed', 'running'])
        self.assertEqual(trials[0].metrics, {'loss': 1})

    def test_the_space_is_exhausted(self):
        searcher = self.searcher({'n': tune.choice([1, 2])}, tuner='GridSearch')
        self.assertEqual([searcher.suggest(name) for name in 'abc'],
                         [{'n': 1}, {'n': 2}, Searcher.FINISHED])

    def test_points_first_and_results_from_elsewhere(self):
        searcher = self.searcher(points_to_evaluate=[{'model': {'x': 0.25, 'layers': 3}, 'n': 4}])
        searcher.add_evaluated_point({'model': {'x': 0.3}, 'n': 4}, 0.0)
        searcher.add_evaluated_point({'model': {'x': 0.9}, 'n': 4}, 0.0, error=True)
        self.assertEqual(searcher.suggest('a'), {'model': {'x': 0.25}, 'n': 4})

    def test_several_objectives(self):
        searcher = self.searcher(metric=['loss', 'size'], mode=['min', 'max'])
        searcher.suggest('a')
        searcher.on_trial_complete('a', result={'loss': 1, 'size': 2, 'other': 3})
        self.assertEqual(searcher._study.trials[0].metrics, {'loss': 1, 'size': 2})

    def test_saved_and_restored(self):
        first = self.searcher()
        self.run_trials(first, 'abcdefghij')
        running = first.suggest('k')
        first.save(self.path)
        expected = [first.suggest('m') for _ in range(3)]
        for early in (True, False):
            second = self.searcher() if early else Searcher(seed=1)
            second.restore(self.path)
            if not early:
                self.assertTrue(second.set_search_properties('loss', 'min', CONFIG))
            self.assertEqual([second.suggest('m') for _ in range(3)], expected)
            second.on_trial_complete('k', result={'loss': parabola(running)})
            self.assertEqual(second._study.trials[10].status, 'completed')
        other = self.searcher({'x': tune.uniform(0, 1)})
        other.restore(self.path)
        with self.assertRaisesRegex(attune.StudyError, 'that of the restored searcher is another'):
            other.suggest('a')

    def test_before_the_first_trial(self):
        self.searcher().save(self.path)
        searcher = self.searcher()
        searcher.restore(self.path)
        self.assertIn('n', searcher.suggest('a'))

    def test_pickled(self):
        first = self.searcher()
        self.run_trials(first, 'abcde')
        second = pickle.loads(pickle.dumps(first))
        self.assertEqual(second.suggest('f'), first.suggest('f'))


if __name__ == '__main__':
    unittest.main()
