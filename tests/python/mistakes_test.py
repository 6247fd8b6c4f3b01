"""Mistakes in the use of the library: the class of the exception, a message that names the place
and the cure, and nothing that is left behind."""
import math
import os
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import attune
from support import UNIFORM, StudyCase, parabola

GOOD = {'parameters': {'x': 0.5}, 'value': 1}


def study_of(**named):
    return lambda: attune.Study(**{'space': UNIFORM, 'attuned': True, **named})


class Mistakes(StudyCase):
    def check(self, call, kind, *words):
        """`call` raises `kind`, whose message has the words, and makes no file."""
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.object(tempfile, 'tempdir', folder):
            here = os.getcwd()
            os.chdir(folder)
            try:
                with self.assertRaises(kind) as caught:
                    call()
            finally:
                os.chdir(here)
            self.assertEqual(os.listdir(folder), [])
        self.assertIs(type(caught.exception), kind)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_how_a_study_is_made(self):
        for number, (call, *expected) in enumerate([
                (study_of(space={}), attune.StudyError, 'space: with attuned it has to be there'),
                (study_of(space={1: 2}), TypeError, 'space: keys must be strings, got 1'),
                (study_of(space=[UNIFORM]), attune.StudyError, 'space: ', 'must be an object'),
                (study_of(space={'x': [0, 1]}), attune.StudyError, 'space: ', 'search_space.x:',
                 'must be an object with _type and _value'),
                (study_of(tuner=TypeError), TypeError, 'tuner: cannot be written as JSON: type'),
                (study_of(tuner=5), attune.StudyError, 'tuner.name: a string expected'),
                (study_of(tuner_args=['fast']), attune.StudyError,
                 "tuner_args: must be a dict of arguments, got ['fast']"),
                (study_of(seed=1, tuner_args={'seed': 2}), attune.StudyError,
                 "seed: is 1, but tuner_args['seed'] is 2; leave one out"),
                (study_of(seed=-1), attune.StudyError, 'seed: must be an integer from 0', '-1'),
                (study_of(seed='1'), attune.StudyError, 'seed: must be an integer from 0', "'1'"),
                (study_of(maximize='no'), attune.StudyError,
                 "maximize: must be True or False, got 'no'"),
                (study_of(maximize=True, objectives=[{'metric': 'a', 'mode': 'maximize'}]),
                 attune.StudyError, 'maximize: give objectives their modes, and leave out'),
                (study_of(objectives=['loss']), attune.StudyError, 'objectives[0]'),
                (study_of(concurrency=0), attune.StudyError,
                 'concurrency: must be an integer from 1 on, got 0'),
                (study_of(assessor_args={'start_step': 1}), attune.StudyError,
                 "assessor_args: there is no assessor to give them to; name one"),
                (study_of(constraints='x < 1'), attune.StudyError,
                 'constraints: a list expected, as ["lr * batch < 10"]'),
                (study_of(file='none/study'), FileNotFoundError, "none/study'"),
                (lambda: attune.Study.open('study'), FileNotFoundError, "/study'"),
                (lambda: attune.Experiment('none'), attune.ExperimentError, 'none/attune.sqlite',
                 'name the directory that attune run had as --dir')]):
            with self.subTest(number=number, expected=expected):
                self.check(call, *expected)

    def test_how_a_study_is_used(self):
        study = self.study()
        told = study.ask()
        study.tell(told, 1)
        running, foreign = study.ask(), self.study().ask()
        closed = self.study()
        closed.close()
        error = attune.StudyError
        for number, (call, kind, *words) in enumerate([
                (lambda: study.tell(told, 2), error, 'trial 0 has ended already: completed; ask()'),
                (lambda: study.tell(foreign, 2), error, 'trial 0 is not of this study; give one'),
                (lambda: study.report('t0001', 2), TypeError, "or its number, is needed, got 't0"),
                (lambda: study.tell(running, {'loss': 1}), error,
                 "metrics: 'default' must be a number, got None"),
                (lambda: study.tell(running, [1, 2]), TypeError, 'metrics: must be a number, or a'),
                (lambda: study.ask(2.0), TypeError, 'count: must be an integer, got 2.0'),
                (lambda: study.optimize(parabola), error, 'optimize(f, 100) runs 100 more'),
                (lambda: study.optimize(parabola, 5, until=9), error, 'until=100', 'not both'),
                (lambda: study.optimize(parabola, -1), error, 'n: must be 1 or more, got -1'),
                (lambda: study.optimize(parabola, until=0), error, 'until: must be 1 or more'),
                (lambda: study.optimize(parabola, '9'), TypeError, "n: must be an integer, got '9'"),
                (lambda: study.optimize(parabola, 1, workers=0), error, 'workers: must be 1 or mo'),
                (lambda: study.optimize(parabola, 1, callbacks=[1]), TypeError,
                 'callbacks: must be functions of a study and a trial, got 1'),
                (lambda: study.enqueue([0.5]), TypeError, 'parameters: must be a dict, got [0.5]'),
                (lambda: study.enqueue({'y': 0.5}), error, "parameters['x']: is missing; give all"),
                (lambda: study.import_results([GOOD, {**GOOD, 'value': math.nan}]), error,
                 'results: imported result 1 left out', 'not finite; correct it or take it out'),
                (lambda: study.import_results([{'params': {}, 'value': 1}]), error,
                 "results[0]: must be a dict with 'parameters' and 'value', got {'params'"),
                (lambda: study.import_results(GOOD), error, 'results[0]: must be a dict with'),
                (lambda: closed.ask(), attune.DaemonError, 'attuned was ended'),
                (lambda: closed.enqueue({'x': 1}), attune.DaemonError, 'attuned was ended'),
                (lambda: closed.best_value, error, 'no best trial', 'run some')]):
            with self.subTest(number=number, words=words):
                self.check(call, kind, *words)
        self.assertEqual([trial.status for trial in study.trials], ['completed', 'running'])
        study.tell(running, 3)  # it is as usable as before

    def test_a_closed_study_is_said_to_be_closed(self):
        study = self.study()
        trial = study.ask()
        study.close()
        for _ in range(3):  # it does not come back
            for call in (lambda: study.report(trial, 1), study.ask):
                self.check(call, attune.DaemonError, 'attuned was ended')
        self.assertEqual(trial.status, 'running')

    def test_no_process_is_left_of_a_study_that_was_refused(self):
        code = ('import attune, os\n'
                'for named in ({"tuner": "None"}, {"space": 5}, {"file": "/none/study"}):\n'
                '    try: attune.Study(**{"space": ' + repr(UNIFORM) + ', "attuned": True, **named})\n'
                '    except (ValueError, OSError): pass\n'
                'try: print(os.waitpid(-1, os.WNOHANG))\n'
                'except ChildProcessError: print("none")\n')
        out = subprocess.check_output([sys.executable, '-B', '-c', code], text=True)
        self.assertEqual(out, 'none\n')


if __name__ == '__main__':
    unittest.main()
