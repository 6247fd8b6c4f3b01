"""Studies without a search space: trials say what they need while they run."""
import io
import math
import os
import sys
import threading
import unittest
from unittest import mock

import attune
from support import UNIFORM, StudyCase


def branching(trial):
    """The best is 'b', with y at 1."""
    if trial.suggest_categorical('kind', ['a', 'b', None]) != 'b':
        return 3 + abs(trial.suggest_float('x', -5, 5))
    return abs(trial.suggest_float('y', -5, 5) - 1) + trial.suggest_int('n', 0, 3)


def in_process(trial):
    """branching(), with reports; its process says who it is."""
    trial.report(1)
    trial.suggest_categorical('pid', [None])
    return {'default': branching(trial), 'pid': os.getpid()}


def stopping(trial):
    for step in range(5):
        trial.report(trial.suggest_float('x', 0, 1) + step, step)
        if trial.should_prune():
            raise attune.TrialStopped()
    return 1


def of_space(config, reporter):
    reporter.report(config['x'])
    return {'default': config['x'], 'pid': os.getpid()}


def failing(trial):
    raise KeyError('no luck')


def dying(trial):
    os._exit(3)


def unpicklable(trial):
    raise ValueError(threading.Lock())


class DefineByRun(StudyCase):
    attuned = None

    def study(self, **named):
        return super().study(None, **{'tuner': 'TPE', **named})

    def test_it_finds_the_branch(self):
        study = self.study()
        study.optimize(branching, 80)
        self.assertEqual(study.best_parameters['kind'], 'b')
        self.assertLess(study.best_value, 0.3)
        names = {tuple(trial.parameters) for trial in study.trials}
        self.assertEqual(names, {('kind', 'x'), ('kind', 'y', 'n')})

    def test_ranges_types_and_steps(self):
        study = self.study(tuner='Random')
        seen = {}
        for _ in range(200):
            trial = study.ask()
            for name, value in (
                    ('float', trial.suggest_float('float', 0.5, 1)),
                    ('log', trial.suggest_float('log', 1e-5, 1, log=True)),
                    ('step', trial.suggest_float('step', 0.5, 2.5, step=0.5)),
                    ('int', trial.suggest_int('int', 3, 5)),
                    ('int step', trial.suggest_int('int step', 3, 10, step=3)),
                    ('int log', trial.suggest_int('int log', 1, 1000, log=True)),
                    ('one', trial.suggest_float('one', 2, 2)),
                    ('choice', trial.suggest_categorical('choice', (True, None, 'a', 2, 1.5)))):
                seen.setdefault(name, []).append(value)
                self.assertIs(trial.parameters[name], value)
            study.tell(trial, 1)
        self.assertEqual({name: {type(value) for value in seen[name]} for name in seen},
                         {'float': {float}, 'log': {float}, 'step': {float}, 'int': {int},
                          'int step': {int}, 'int log': {int}, 'one': {float},
                          'choice': {bool, type(None), str, int, float}})
        self.assertEqual({name: set(seen[name]) for name in ('step', 'int', 'int step', 'one')},
                         {'step': {0.5, 1, 1.5, 2, 2.5}, 'int': {3, 4, 5}, 'int step': {3, 6, 9},
                          'one': {2}})
        self.assertTrue(all(0.5 <= value <= 1 for value in seen['float']))
        below = sum(value < 10 ** -2.5 for value in seen['log'])
        self.assertTrue(60 < below < 140, below)
        self.assertTrue(40 < sum(value <= 10 for value in seen['int log']) < 110)

    def test_asked_again(self):
        study = self.study()
        trial = study.ask()
        x = trial.suggest_float('x', 0, 1)
        self.assertEqual(trial.suggest_float('x', 0, 1), x)
        with self.assertRaisesRegex(attune.StudyError, '"x" was declared as'):
            trial.suggest_categorical('x', [1, 2])

    def test_what_cannot_be_asked_for(self):
        study = self.study()
        trial, error = study.ask(), attune.StudyError
        for call, kind, words in (
                (lambda: trial.suggest_float('x', 1, 0), error, 'x: low must be at most high'),
                (lambda: trial.suggest_float('x', 0, math.inf), error, 'x: low must be'),
                (lambda: trial.suggest_float('x', 0, 1, log=True), error, 'above 0 with log'),
                (lambda: trial.suggest_float('x', 1, 2, log=True, step=1), error, 'exclude'),
                (lambda: trial.suggest_float('x', 0, 1, step=0), error, 'step must be above 0'),
                (lambda: trial.suggest_float('x', 0, 1, step=1e-9), error, 'make them larger'),
                (lambda: trial.suggest_float('x', 'a', 1), TypeError, 'bounds must be numbers'),
                (lambda: trial.suggest_float(5, 0, 1), TypeError, 'must be a text, got 5'),
                (lambda: trial.suggest_int('x', 0, 1.5), TypeError, 'must be integers, got 1.5'),
                (lambda: trial.suggest_categorical('x', []), error, 'nothing to choose from'),
                (lambda: trial.suggest_categorical('x', [()]), error, 'name it by a text'),
                (lambda: trial.suggest_float('\ud800', 0, 1), error, 'surrogates')):
            with self.subTest(words=words), self.assertRaises(kind) as caught:
                call()
            self.assertIn(words, str(caught.exception))
        self.assertEqual(trial.parameters, {})
        study.tell(trial, 1)
        with self.assertRaisesRegex(error, 'has ended already'):
            trial.suggest_float('x', 0, 1)
        fixed = StudyCase.study(self).ask()
        self.assertEqual(fixed.suggest_float('x', 0, 1), fixed.parameters['x'])
        with self.assertRaisesRegex(error, 'has no parameter "y"'):
            fixed.suggest_float('y', 0, 1)

    def test_stopped_early(self):
        study = self.study(assessor='Medianstop', assessor_args={'start_step': 2})
        study.optimize(stopping, 30)
        stopped = [trial for trial in study.trials if trial.status == 'stopped']
        self.assertTrue(stopped)
        self.assertTrue(all(trial.stop_reason for trial in stopped))

    def test_a_step_that_was_reported_is_left_out(self):
        trial = self.study().ask()
        for step in (10, 20, 20, 10, 30):
            trial.report(step, step)
        self.assertEqual(trial.reports, [10, 20, 30])

    def test_enqueued_declared_and_imported(self):
        study = self.study(tuner='GP')
        study.enqueue({'x': 0.25})
        self.assertEqual(study.ask().suggest_float('x', 0, 1), 0.25)
        study.declare({'x': UNIFORM['x'], 'y': UNIFORM['x']})
        study.import_results([{'parameters': {'x': k / 20}, 'value': abs(k / 20 - 0.7)}
                              for k in range(21)])
        self.assertAlmostEqual(study.ask().suggest_float('x', 0, 1), 0.7, delta=0.15)
        with self.assertRaisesRegex(attune.StudyError, 'nothing has declared "z"'):
            study.import_results([{'parameters': {'z': 1}, 'value': 1}])

    def test_with_attuned_there_must_be_a_space(self):
        with self.assertRaisesRegex(attune.StudyError, 'leave attuned out'):
            attune.Study(attuned=True, space=None)

    def test_a_time_limit(self):
        study = self.study()
        with mock.patch('time.monotonic', side_effect=iter(range(10 ** 6)).__next__):
            study.optimize(branching, timeout=20)
        self.assertEqual(study.count, 19)
        for bad in (0, -1, 'a', True):
            with self.assertRaisesRegex(attune.StudyError, 'timeout: must be'):
                study.optimize(branching, timeout=bad)

    def test_progress(self):
        study = self.study()
        with mock.patch.object(sys, 'stderr', io.StringIO()) as said:
            study.optimize(branching, 5, progress=True)
            study.optimize(branching, until=7, progress=True)
            study.optimize(branching, 1)
        self.assertRegex(said.getvalue(), r'5/5 trials, best [0-9.]+ \(trial \d\)\n')
        self.assertRegex(said.getvalue(), r'7/7 trials, best [0-9.]+ \(trial \d\) *\n$')


class Processes(StudyCase):
    attuned = None

    def test_trials_run_elsewhere(self):
        study = StudyCase.study(self, None, tuner='TPE')
        study.optimize(in_process, 30, processes=3)
        pids = {trial.metrics['pid'] for trial in study.trials}
        self.assertNotIn(os.getpid(), pids)
        self.assertTrue(1 <= len(pids) <= 3)
        self.assertEqual({tuple(trial.reports) for trial in study.trials}, {(1,)})
        names = {tuple(trial.parameters) for trial in study.trials}
        self.assertLessEqual(names, {('pid', 'kind', 'x'), ('pid', 'kind', 'y', 'n')})

    def test_of_both_engines(self):
        for attuned in (None, True):
            study = StudyCase.study(self, attuned=attuned)
            study.optimize(of_space, 6, processes=2)
            self.assertEqual([trial.reports for trial in study.trials],
                             [[trial.parameters['x']] for trial in study.trials])

    def test_stopped_early(self):
        study = StudyCase.study(self, None, assessor='Medianstop', assessor_args={'start_step': 2})
        study.optimize(stopping, 30, processes=2)
        self.assertTrue(any(trial.status == 'stopped' for trial in study.trials))

    def test_errors(self):
        study = StudyCase.study(self, None)
        with self.assertRaisesRegex(KeyError, 'no luck'):
            study.optimize(failing, 3, processes=1)
        study.optimize(failing, 3, processes=2, catch=(KeyError,))
        with self.assertRaisesRegex(RuntimeError, r'has died \(exit code 3\)'):
            study.optimize(dying, 3, processes=1)
        study.optimize(dying, 3, processes=1, catch=(RuntimeError,))
        with self.assertRaisesRegex(RuntimeError, 'not sent'):
            study.optimize(unpicklable, 1, processes=1)
        self.assertEqual({trial.status for trial in study.trials}, {'failed'})
        with self.assertRaisesRegex(attune.StudyError, 'workers: are threads'):
            study.optimize(failing, 3, processes=2, workers=2)


if __name__ == '__main__':
    unittest.main()
