"""attune.Study whose engine is in this process: what the tests of the other engine ask of it."""
import os
import unittest
from unittest import mock

import attune
import attune.library
import mistakes_test
import optimize_test
import study_points_test
import study_test
from support import TWO, UNIFORM


class AskAndTell(study_test.AskAndTell):
    attuned = None


class Assessing(study_test.Assessing):
    attuned = None


class Threads(study_test.Threads):
    attuned = None


class Optimizing(optimize_test.Optimizing):
    attuned = None


class Points(study_points_test.Points):
    attuned = None
    # These look into the other engine. What they say of this one is below, and in
    # library_ends_test.py.
    test_an_interrupt_neither_loses_nor_doubles_a_point = None
    test_many_results = None
    test_what_is_refused_changes_nothing = None

    def test_what_the_library_refuses_changes_nothing(self):
        study = self.study(TWO)
        results = [{'parameters': {'x': 0.3, 'k': 1}, 'value': 1}] * 3
        for call, words in (
                (lambda: study.enqueue({'x': 0.3}), 'parameters.k: missing; nothing was enqueued'),
                (lambda: study.enqueue({'x': 2, 'k': 1}), 'parameters.x: 2 is outside of [0, 1]'),
                (lambda: study.import_results([*results, {'parameters': {'x': -1, 'k': 1},
                                                          'value': 1}]),
                 'results[3]: parameters.x: -1 is outside of [0, 1]; nothing was imported')):
            with self.assertRaises(attune.StudyError) as caught:
                call()
            self.assertIn(words, str(caught.exception))
        self.assertNotEqual(study.ask().parameters['x'], 0.3)


class Mistakes(mistakes_test.Mistakes):
    attuned = None
    test_how_a_study_is_made = None
    test_how_a_study_is_used = None
    test_a_closed_study_is_said_to_be_closed = None
    test_no_process_is_left_of_a_study_that_was_refused = None

    def test_how_it_is_made(self):
        def study_of(**named):
            return lambda: attune.Study(**{'space': UNIFORM, **named})

        error = attune.StudyError
        for number, (call, *expected) in enumerate([
                (study_of(space={1: 2}), TypeError, 'space: keys must be strings, got 1'),
                (study_of(space=[UNIFORM]), error, 'search_space: must be an object'),
                (study_of(space={'x': [0, 1]}), error, 'search_space.x: must be an object with _type'),
                (study_of(tuner=TypeError), TypeError, 'tuner: cannot be written as JSON: type'),
                (study_of(tuner='TPEE'), error, 'unknown tuner "TPEE"; did you mean "TPE"?'),
                (study_of(tuner=5), error, 'tuner.name: must be a text'),
                (study_of(seed=-1), error, 'seed: must be an integer from 0', '-1'),
                (study_of(objectives=['loss']), error, 'objectives: each one must be a dict'),
                (study_of(objectives=[{'mode': 'best'}]), error, "must be 'minimize' or 'maximi"),
                (study_of(constraints=['y < 1']), error, 'y'),
                (study_of(space={}, constraints=['y < 1']), error, 'constraints: need a search sp'),
                (study_of(if_exists='no'), error, 'if_exists: must be "fail" or "continue"'),
                (study_of(durability='no'), error, 'durability: must be "never", '),
                (study_of(attuned=True, durability='always'), error, 'durability: with attuned'),
                (study_of(file='none/study'), FileNotFoundError, "none/study'"),
                (lambda: attune.Study.open('study'), FileNotFoundError, "/study'")]):
            with self.subTest(number=number, expected=expected):
                self.check(call, *expected)

    def test_a_closed_study(self):
        study = self.study()
        trial = study.ask()
        study.tell(study.ask(), 2)
        study.close()
        study.close()
        for call in (study.ask, lambda: study.tell(trial, 1), lambda: study.enqueue({'x': 1})):
            self.check(call, attune.StudyError, 'the study is closed')
        self.assertEqual((study.count, study.best_value), (2, 2))

    def test_no_library(self):
        for path, words in (('/none.so', '/none.so'), (attune.__file__, 'cannot be used')):
            with mock.patch.object(attune.library, '_loaded', []), \
                    mock.patch.dict(os.environ, ATTUNE_STUDY_LIBRARY=path):
                self.check(lambda: attune.Study(UNIFORM), attune.LibraryError, words)


if __name__ == '__main__':
    unittest.main()
