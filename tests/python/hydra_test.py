"""The sweeper for Hydra: with the real one if it is installed, else with stand-ins."""
import dataclasses
import math
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

import attune
from support import need

need('omegaconf')
try:
    import hydra
    REAL = True
except ImportError:
    import hydra_stand_ins
    hydra_stand_ins.install()
    REAL = False

from omegaconf import OmegaConf  # noqa: E402

from hydra.core.override_parser.overrides_parser import OverridesParser  # noqa: E402
from hydra_plugins.hydra_attune_sweeper._space import as_overrides, split  # noqa: E402
from hydra_plugins.hydra_attune_sweeper.attune_sweeper import AttuneSweeper  # noqa: E402
from hydra_plugins.hydra_attune_sweeper.config import AttuneSweeperConf  # noqa: E402

APPLICATION = '''
import hydra

@hydra.main(version_base=None, config_path=".", config_name="config")
def main(config):
    return (config.lr - 0.3) ** 2 + abs(config.n - 4) + (config.optimizer == "sgd")

main()
'''
CONFIGURATION = '''
defaults:
  - override hydra/sweeper: attune
hydra:
  sweep: {dir: out}
  sweeper:
    n_trials: 25
    n_jobs: 2
    seed: 1
    params: {lr: "interval(0, 1)", n: "range(1, 8)", optimizer: "choice(sgd, adam)"}
lr: 0
n: 0
optimizer: none
'''


def space_of(*lines):
    return split(OverridesParser.create().parse_overrides(list(lines)))


class Space(unittest.TestCase):
    def test_sweeps(self):
        for text, native in (
                ('interval(0,1)', ('uniform', [0, 1])),
                ('tag(log,interval(0.01,1))', ('loguniform', [0.01, 1])),
                ('int(interval(1,8))', ('randint', [1, 9])),
                ('tag(log,int(interval(1,100)))', ('qloguniform', [1, 100, 1])),
                ('range(1,8)', ('randint', [1, 8])),
                ('range(1,8,3)', ('choice', [1, 4, 7])),
                ('range(0,1,0.5)', ('choice', [0, 0.5])),
                ('tag(log,range(1,9))', ('qloguniform', [1, 8, 1])),
                ('choice(a,3,2.5,true,[1,2])', ('choice', ['a', 3, 2.5, True, '[1,2]'])),
                ('5,null', ('choice', [5, None]))):
            with self.subTest(text=text):
                self.assertEqual(space_of(f'x={text}'),
                                 ({'x': {'_type': native[0], '_value': native[1]}}, []))

    def test_the_last_one_counts(self):
        self.assertEqual(space_of('a=interval(0,1)', 'b=2', '+c.d=1,2', 'a=5'),
                         ({'+c.d': {'_type': 'choice', '_value': [1, 2]}}, ['a=5', 'b=2']))

    def test_overrides_of_a_trial(self):
        space, _ = space_of('a=tag(log,int(interval(1,100)))', "b='x y',true,null,0.5",
                            '+c=interval(0,1)')
        texts = [as_overrides({'a': 5.0, 'b': value, '+c': 0.25}, space)
                 for value in space['b']['_value']]
        self.assertEqual([text[0::2] for text in texts], [['a=5', '+c=0.25']] * 4)
        self.assertIn(texts[0][1], ('b=x\\ y', "b='x y'"))
        self.assertEqual([text[1] for text in texts[1:]], ['b=True', 'b=null', 'b=0.5'])

    def test_what_cannot_be_used(self):
        for text, words in (('tag(log,interval(0,1))', 'x: low must be above 0'),
                            ('tag(log,range(1,9,2))', 'x: a range with the tag log')):
            with self.assertRaisesRegex(attune.StudyError, words):
                space_of(f'x={text}')


@unittest.skipIf(REAL, 'the stand-ins record what is launched; Application tests the real one')
class Sweep(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def sweep(self, function, *arguments, **named):
        """The launcher, after it."""
        defaults = OmegaConf.structured(AttuneSweeperConf)
        named = {'seed': 1, 'params': {'x': 'interval(0, 1)'}, **named}
        given = OmegaConf.merge(defaults, {name: value for name, value in named.items()})
        sweeper = AttuneSweeper(**{name: given[name] for name in given if name != '_target_'})
        config = OmegaConf.create({'hydra': {'sweep': {'dir': str(self.folder / 'out')}}})
        sweeper.setup(hydra_context=types.SimpleNamespace(config_loader=None),
                      task_function=function, config=config)
        sweeper.sweep(list(arguments))
        return sweeper.launcher

    def results(self):
        return OmegaConf.load(self.folder / 'out/optimization_results.yaml')

    def test_it_finds_the_best(self):
        launcher = self.sweep(lambda config: (config.x - 0.3) ** 2, 'y=5', n_jobs=3, n_trials=20)
        self.assertEqual([index for index, _ in launcher.launched], [0, 3, 6, 9, 12, 15, 18])
        self.assertEqual(len(launcher.launched[-1][1]), 2)
        self.assertTrue(all(job[1] == 'y=5' for _, batch in launcher.launched for job in batch))
        self.assertLess(self.results().best_value, 0.01)
        self.assertIn(list(self.results().best_overrides),
                      [job for _, batch in launcher.launched for job in batch])

    def test_directions(self):
        self.sweep(lambda config: config.x, direction='maximize', n_trials=15)
        self.assertGreater(self.results().best_value, 0.9)
        with self.assertRaisesRegex(ValueError, 'direction: must be'):
            self.sweep(lambda config: config.x, direction='max')

    def test_a_finite_space_ends(self):
        launcher = self.sweep(lambda config: config.x, params={'x': '1,2,3'})
        self.assertEqual(len(launcher.launched), 3)

    def test_jobs_that_fail(self):
        def function(config):
            if config.x > 0.5:
                raise KeyError('no luck')
            return config.x

        with self.assertRaisesRegex(KeyError, 'no luck'):
            self.sweep(function)
        self.sweep(function, max_failure_rate=1)
        self.assertLess(self.results().best_value, 0.5)
        with self.assertRaisesRegex(TypeError, 'must be a number'):
            self.sweep(lambda config: 'text')
        self.sweep(lambda config: math.nan if config.x > 0.5 else config.x)

    def test_a_file_that_goes_on(self):
        file = str(self.folder / 'x.study')
        self.sweep(lambda config: config.x, file=file, n_trials=4)
        launcher = self.sweep(lambda config: config.x, file=file, n_trials=6, if_exists='continue')
        self.assertEqual(len(launcher.launched), 2)
        with attune.Study.open(file) as study:
            self.assertEqual(study.count, 6)

    def test_names_of_the_configuration(self):
        names = {each.name for each in dataclasses.fields(AttuneSweeperConf)}
        self.assertLess({'direction', 'n_trials', 'n_jobs', 'tuner', 'params'}, names)
        self.assertEqual(AttuneSweeperConf()._target_,
                         f'{AttuneSweeper.__module__}.{AttuneSweeper.__name__}')
        node = hydra_stand_ins.ConfigStore.nodes['hydra/sweeper', 'attune']
        self.assertIs(node, AttuneSweeperConf)


@unittest.skipUnless(REAL, 'needs Hydra, which Debian has not')
class Application(unittest.TestCase):
    def test_a_sweep(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / 'app.py').write_text(APPLICATION)
            (folder / 'config.yaml').write_text(CONFIGURATION)
            done = subprocess.run([sys.executable, '-B', 'app.py', '-m', 'optimizer=adam'],
                                  cwd=folder, capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
            results = OmegaConf.load(folder / 'out/optimization_results.yaml')
            self.assertLess(results.best_value, 0.1)
            self.assertEqual(results.best_overrides[2], 'optimizer=adam')
            self.assertEqual(sum(path.name.isdecimal() for path in (folder / 'out').iterdir()), 25)


if __name__ == '__main__':
    unittest.main()
