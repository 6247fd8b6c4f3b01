"""Functions as trials: accepted shapes, reports, checkpoints."""
import functools
import logging
import os
import unittest

import attune
from attune.functions import SHAPES, latest_checkpoint
from support import TrialCase


class Callable:
    def __call__(self, config):
        return 1

    def method(self, config, reporter):
        return 1


class Shapes(unittest.TestCase):
    def wrap(self, function):
        return attune.TrialFunction(function, keeps_checkpoints=False)

    def reporter(self):
        self.sent = []
        return attune.Reporter(self.sent.append, 't1', 'f_t1', None)

    def test_accepted(self):
        def plain(config):
            return config['x']

        def any_name(c):
            return c['x']

        def with_reporter(config, reporter):
            reporter(loss=config['x'])

        def with_checkpoint(config, checkpoint_dir=None):
            return {'x': config['x'], 'from': checkpoint_dir}

        def with_both(config, reporter, checkpoint_dir=None):
            reporter.report(config['x'])

        def keyword_only(config, *, reporter):
            return config['x']

        def with_default(config, scale=2):
            return scale * config['x']

        def anything(*arguments):
            return len(arguments)

        for function, expected in [
                (plain, 3), (any_name, 3), (with_reporter, {'loss': 3}),
                (with_checkpoint, {'x': 3, 'from': None}), (with_both, 3), (keyword_only, 3),
                (with_default, 6), (anything, 1), (lambda reporter: reporter['x'], 3),
                (Callable(), 1), (Callable().method, 1),
                (functools.partial(with_default, scale=1), 3)]:
            with self.subTest(function=function):
                wrapped = self.wrap(function)
                self.assertEqual(wrapped({'x': 3}, self.reporter()), expected)

    def test_refused_where_they_are_wrapped(self):
        async def asynchronous(config):
            return 1

        async def asynchronous_generator(config):
            yield 1

        for function in (lambda: 1, lambda config, other: 1, lambda **named: 1,
                         lambda config, *, other: 1, lambda config, reporter, other: 1,
                         asynchronous, asynchronous_generator, 3, dict):
            with self.subTest(function=function), self.assertRaises(ValueError) as caught:
                self.wrap(function)
            for shape in SHAPES:
                self.assertIn(shape, str(caught.exception))

    def test_checkpoint_dir_is_text(self):
        wrapped = self.wrap(lambda config, checkpoint_dir=None: {'is': repr(checkpoint_dir)})
        self.assertEqual(wrapped({}, self.reporter(), '/some/where'), {'is': "'/some/where'"})

    def test_warning_without_checkpoints(self):
        with self.assertLogs('attune', logging.WARNING) as logged:
            attune.TrialFunction(lambda config: 1)
        self.assertIn('Function checkpointing is disabled', logged.output[0])
        self.assertEqual(len(logged.output), 1)
        with self.assertRaises(AssertionError), self.assertLogs('attune', logging.WARNING):
            attune.TrialFunction(lambda config, checkpoint_dir=None: 1)

    def test_each_yield_is_a_report(self):
        def generator(config):
            yield 1
            yield {'loss': 2}

        def with_result(config):
            yield 1
            return 7

        self.assertEqual(self.wrap(generator)({}, self.reporter()), {'loss': 2})
        self.assertEqual(self.sent, [1, {'loss': 2}])
        self.assertEqual(self.wrap(with_result)({}, self.reporter()), 7)
        self.assertEqual(self.sent, [1])

    def test_a_stop_unwinds(self):
        closed = []

        def generator(config):
            try:
                yield 1
            finally:
                closed.append(1)

        def stop(metrics):
            raise attune.TrialStopped('enough')

        def catches_exceptions(config, reporter):
            try:
                reporter(loss=1)
            except Exception:
                closed.append('swallowed')

        for function in (generator, catches_exceptions):
            try:
                self.wrap(function)({}, attune.Reporter(stop, '', '', None))
                self.fail('not stopped')
            except attune.TrialStopped:
                self.assertEqual(closed, [1])  # already, though the traceback holds the generator

    def test_unusable_results(self):
        for function in (lambda config: 'text', lambda config: True, lambda config: [1, 2]):
            with self.assertRaises(TypeError):
                self.wrap(function)({}, self.reporter())

    def test_report_takes_one_form(self):
        reporter = self.reporter()
        for arguments, named in [((), {}), ((1,), {'loss': 1})]:
            with self.assertRaises(TypeError):
                reporter.report(*arguments, **named)
        reporter.report(metrics=1)  # a metric of that name
        self.assertEqual(self.sent, [{'metrics': 1}])

    def test_checkpoints_of_a_host_that_keeps_none(self):
        with self.reporter().checkpoint_dir(0) as folder:
            (folder / 'state').write_text('x')
        self.assertFalse(folder.exists())


class Run(TrialCase):
    def setUp(self):
        super().setUp()
        self.trial = attune.Trial(self.environment)
        self.addCleanup(self.trial.close)
        logging.getLogger('attune').setLevel(logging.ERROR)

    def run_function(self, function, **arguments):
        return attune.run(function, trial=self.trial, **arguments)

    def test_returned_is_final(self):
        self.assertEqual(self.run_function(lambda config: config['x'] * 2), 1.0)
        self.assertEqual(self.values(), [('FINAL', 0, 1.0)])

    def test_last_report_is_final(self):
        def function(config, reporter):
            self.assertEqual((reporter.trial_id, reporter.trial_name, reporter.logdir),
                             ('t0007', 'function_t0007', self.folder))
            reporter.report(1)
            reporter.report(loss=2)

        self.run_function(function)
        self.assertEqual(self.values(), [('PERIODICAL', 0, 1), ('PERIODICAL', 1, {'loss': 2}),
                                         ('FINAL', 0, {'loss': 2})])

    def test_reports_by_the_module(self):
        self.run_function(lambda config: self.trial.report(4))
        self.assertEqual(self.values(), [('PERIODICAL', 0, 4), ('FINAL', 0, 4)])

    def test_neither_reported_nor_returned(self):
        with self.assertRaisesRegex(RuntimeError, 'without reporting'):
            self.run_function(lambda config: None)
        self.assertEqual(self.values(), [])

    def test_exceptions_pass_after_the_reports(self):
        def function(config, reporter):
            reporter.report(1)
            raise KeyError('boom')

        with self.assertRaises(KeyError):
            self.run_function(function)
        self.assertEqual(self.values(), [('PERIODICAL', 0, 1)])

    def test_defaults(self):
        self.assertEqual(self.run_function(lambda config: config['y'], defaults={'y': 9}), 9)

    def test_nothing_to_try(self):
        self.trial.next_parameters()
        self.assertIsNone(self.run_function(lambda config: self.fail('called')))

    def test_goes_on_from_its_checkpoint(self):
        def train(config, reporter, checkpoint_dir=None):
            start = 0
            if checkpoint_dir:
                with open(os.path.join(checkpoint_dir, 'step')) as file:
                    start = int(file.read()) + 1
            for step in range(start, 4):
                with reporter.checkpoint_dir(step) as folder:
                    (folder / 'step').write_text(str(step))
                reporter.report(step)
                if step == 1 and not checkpoint_dir:
                    raise InterruptedError('killed')

        with self.assertRaises(InterruptedError):
            self.run_function(train)
        folder = self.trial.checkpoint_dir()
        self.assertEqual(sorted(os.listdir(folder)), ['checkpoint_0', 'checkpoint_1'])
        (folder / '.draft-half').mkdir()  # what a kill in the middle leaves
        self.trial.close()
        self.trial = attune.Trial(self.environment)
        self.addCleanup(self.trial.close)
        self.run_function(train)
        self.assertEqual([value for _, _, value in self.values()], [0, 1, 2, 3, 3])
        self.assertEqual(latest_checkpoint(folder).name, 'checkpoint_3')
        self.assertEqual(sorted(os.listdir(folder)), ['checkpoint_2', 'checkpoint_3'])

    def test_a_checkpoint_by_the_module(self):
        seen = []
        self.run_function(lambda config, checkpoint_dir=None: seen.append(checkpoint_dir) or 1)
        self.trial.save('state', b'x')
        attune.run(lambda config, checkpoint_dir=None: seen.append(checkpoint_dir) or 1,
                   trial=attune.Trial(self.environment))
        self.assertEqual(seen, [None, str(self.trial.checkpoint_dir())])

    def test_a_checkpoint_that_fails_leaves_the_former_one(self):
        folder = self.trial.checkpoint_dir()
        reporter = attune.Reporter(print, '', '', None, folder)
        with reporter.checkpoint_dir(5) as draft:
            (draft / 'state').write_text('five')
        with self.assertRaises(ZeroDivisionError), reporter.checkpoint_dir(6):
            1 // 0
        for step in (-1, 4, 5):
            with self.assertRaises(ValueError), reporter.checkpoint_dir(step):
                pass
        self.assertEqual(os.listdir(folder), ['checkpoint_5'])
        self.assertEqual((folder / 'checkpoint_5/state').read_text(), 'five')


if __name__ == '__main__':
    unittest.main()
