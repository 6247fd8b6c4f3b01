"""attune.Trial as a manager sees it, and alone."""
import contextlib
import decimal
import fractions
import io
import json
import logging
import math
import os
import pathlib
import subprocess
import sys
import threading
import unittest
from unittest import mock

import attune
from attune import files, trial, values
from support import TrialCase, read_records


class Scalar:
    """As numpy's and torch's."""

    def __init__(self, value):
        self.value = value

    def item(self):
        return self.value


class Array(Scalar):
    def tolist(self):
        return self.value


class Managed(TrialCase):
    def setUp(self):
        super().setUp()
        self.trial = attune.Trial(self.environment)
        self.addCleanup(self.trial.close)

    def test_parameters_then_reports(self):
        self.assertEqual(self.trial.next_parameters(), {'x': 0.5})
        for value in (1, 0.25, {'default': 0.5, 'note': 'é'}):
            self.trial.report(value)
        self.trial.final(2)
        self.trial.report(3)
        self.assertEqual(self.values(), [
            ('PERIODICAL', 0, 1), ('PERIODICAL', 1, 0.25),
            ('PERIODICAL', 2, {'default': 0.5, 'note': 'é'}), ('FINAL', 0, 2),
            ('PERIODICAL', 3, 3)])
        for record in read_records(self.folder):
            self.assertEqual(list(record),
                             ['parameter_id', 'trial_job_id', 'type', 'sequence', 'value'])
            self.assertEqual((record['parameter_id'], record['trial_job_id']), (3, 't0007'))

    def test_the_bytes_are_those_of_nnis_library(self):
        self.propose({}, parameter_id=1)
        self.trial.next_parameters()
        self.trial.report(-1.0215838499991212)
        self.assertEqual((self.folder / '.nni/metrics').read_bytes(),
                         b'ME000114{"parameter_id": 1, "trial_job_id": "t0007", "type": '
                         b'"PERIODICAL", "sequence": 0, "value": "-1.0215838499991212"}\n')

    def test_who_it_is(self):
        self.assertEqual(self.trial.trial_id(), 't0007')
        self.assertEqual(self.trial.experiment_id(), 'exp1')
        self.assertEqual(self.trial.sequence_id(), 7)
        self.assertEqual(self.trial.output_dir(), self.folder)

    def test_defaults_are_for_what_the_space_does_not_name(self):
        self.assertEqual(self.trial.next_parameters({'x': 1, 'y': 2}), {'x': 0.5, 'y': 2})

    def test_one_configuration_a_process(self):
        self.trial.next_parameters()
        self.assertIsNone(self.trial.next_parameters())
        self.assertEqual(read_records(self.folder), [])  # and it asks for none

    def test_unusable_parameters(self):
        path = self.folder / 'parameter.cfg'
        for text, word in [('{"parameters"', 'not valid JSON'), ('[]', '"parameters"'),
                           ('{"parameter_id": 0}', '"parameters"'), ('\xff', 'not valid JSON'),
                           ('{"parameters": [1]}', 'must be an object')]:
            with self.subTest(text=text):
                path.write_bytes(text.encode('latin-1'))
                with self.assertRaisesRegex(attune.TrialError, word) as caught:
                    self.trial.next_parameters()
                self.assertIn(str(path), str(caught.exception))

    def test_no_folder(self):
        del self.environment['NNI_SYS_DIR']
        with self.assertRaisesRegex(attune.TrialError, 'NNI_SYS_DIR'):
            attune.Trial(self.environment)

    def test_another_protocol(self):
        self.environment['NNI_TRIAL_COMMAND_CHANNEL'] = 'http://localhost:8080/env/local-env/t0007'
        with self.assertRaisesRegex(attune.TrialError, 'HTTP'):
            attune.Trial(self.environment)

    def test_results_need_parameters(self):
        for call, word in [(self.trial.report, 'report'), (self.trial.final, 'final')]:
            with self.assertRaisesRegex(attune.TrialError, rf'{word}\(\) before next_parameters'):
                call(1)
        self.assertEqual(read_records(self.folder), [])
        self.trial.next_parameters()
        self.trial.report(1)
        self.assertEqual(self.values(), [('PERIODICAL', 0, 1)])

    def test_a_default_that_is_no_number(self):
        self.trial.next_parameters()
        with self.assertLogs('attune', logging.WARNING) as logged:
            self.trial.report({'default': '0.9'})
            self.trial.report({'default': None})
            self.trial.final({'default': True})
        self.assertEqual(len(logged.output), 1)
        self.assertIn("'default' is not a number, but '0.9'", logged.output[0])
        self.assertEqual(len(self.values()), 3)
        other = attune.Trial(self.environment)
        self.addCleanup(other.close)
        other.next_parameters()
        with self.assertRaises(AssertionError), self.assertLogs('attune', logging.WARNING):
            for good in ({'default': math.nan}, {'loss': 'x'}, {'default': 1, 'note': 'x'}, 1):
                other.report(good)
        with self.assertLogs('attune', logging.WARNING):
            other.final({'default': [1, 2]})

    def test_sizes(self):
        self.trial.next_parameters()
        overhead = len(json.dumps({'parameter_id': 3, 'trial_job_id': 't0007', 'type': 'FINAL',
                                   'sequence': 0, 'value': json.dumps({'a': ''})})) + 1
        self.trial.final({'a': 'x' * (999_999 - overhead)})
        self.assertEqual((self.folder / '.nni/metrics').read_bytes()[:8], b'ME999999')
        with self.assertRaisesRegex(ValueError, '1,000,000 bytes'):
            self.trial.final({'a': 'x' * (1_000_000 - overhead)})
        self.assertEqual(len(read_records(self.folder)), 1)

    def test_what_failed_does_not_count(self):
        self.trial.next_parameters()
        for bad in ('0.5', None, True, {}, [], [1, 2], {1: 2}, {'a': object()}, {'a': {1, 2}}):
            with self.subTest(bad=bad), self.assertRaises(TypeError):
                self.trial.report(bad)
        with self.assertRaises(ValueError):
            self.trial.report({'a': 'x' * 1_000_000})
        self.assertIsNone(self.trial.last_report)
        self.trial.report(1)
        self.assertEqual(self.values(), [('PERIODICAL', 0, 1)])

    def test_threads(self):
        self.trial.next_parameters()
        threads = [threading.Thread(target=lambda: [self.trial.report(1) for _ in range(200)])
                   for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([record['sequence'] for record in read_records(self.folder)],
                         list(range(800)))


class InStep(TrialCase):
    """.nni/answered has as many bytes as reports are decided."""

    def setUp(self):
        super().setUp()
        self.answered = self.folder / '.nni/answered'
        self.answered.parent.mkdir()
        self.answered.touch()

    def begun(self, **environment):
        begun = attune.Trial({**self.environment, **environment})
        self.addCleanup(begun.close)
        begun.next_parameters()
        return begun

    def test_a_report_returns_when_it_is_answered(self):
        trial = self.begun()

        def manager():
            for count in (1, 2):
                while len(self.values()) < count:
                    pass
                os.truncate(self.answered, count)

        answers = threading.Thread(target=manager)
        answers.start()
        for count in (1, 2):
            trial.report(count)
            self.assertGreaterEqual(self.answered.stat().st_size, count)
        trial.final(1)
        answers.join()

    def test_a_wait_ends_when_nobody_answers_any_more(self):
        trial = self.begun()
        ends = threading.Thread(target=self.answered.unlink)
        ends.start()
        trial.report(1)
        ends.join()
        self.assertFalse(self.answered.exists())

    def test_a_wait_in_vain_is_not_repeated_until_somebody_answers(self):
        trial = self.begun(ATTUNE_DECISION_SECONDS='1')
        with mock.patch('time.sleep') as sleep, \
                mock.patch('time.monotonic', side_effect=[0, 0.5, 1, 2, 3, 3, 4]):
            trial.report(1)
            self.assertEqual(sleep.call_count, 1)
            trial.report(2)
            self.assertEqual(sleep.call_count, 1)
            os.truncate(self.answered, 1)
            trial.report(3)
            self.assertEqual(sleep.call_count, 2)

    def test_how_long(self):
        with self.assertRaisesRegex(trial.TrialError, 'ATTUNE_DECISION_SECONDS is "soon"'):
            self.begun(ATTUNE_DECISION_SECONDS='soon')


class ManyPhases(TrialCase):
    def setUp(self):
        super().setUp()
        self.environment['MULTI_PHASE'] = 'true'
        self.trial = attune.Trial(self.environment)
        self.addCleanup(self.trial.close)
        self.asked = threading.Event()

    def ask_in_a_thread(self):
        """A function that waits for the answer."""
        result = []

        def work():
            try:
                result.append(self.trial.next_parameters())
            except Exception as error:
                result.append(error)

        write = self.trial._write

        def write_and_tell(record):
            write(record)
            self.asked.set()

        self.trial._write = write_and_tell
        thread = threading.Thread(target=work)
        thread.start()
        self.assertTrue(self.asked.wait(30))

        def answer():
            thread.join(30)
            return result[0]

        return answer

    def test_asks_for_others_until_there_are_none(self):
        self.trial.next_parameters()
        answer = self.ask_in_a_thread()
        self.assertEqual(read_records(self.folder), [
            {'trial_job_id': 't0007', 'type': 'REQUEST_PARAMETER', 'sequence': 0,
             'parameter_index': 1}])
        self.propose({'x': 2}, 'parameter_1.cfg', 8)
        self.assertEqual(answer(), {'x': 2})
        self.trial.report(1)
        self.assertEqual(read_records(self.folder)[-1]['parameter_id'], 8)
        self.propose(None, 'parameter_2.cfg')
        self.assertIsNone(self.trial.next_parameters())

    def test_a_file_in_two_pieces(self):
        self.trial.next_parameters()
        answer = self.ask_in_a_thread()
        path = self.folder / 'parameter_1.cfg'
        path.write_text('')
        path.write_text('{"parameters"')
        path.write_text('{"parameters": {"x": 2}}')
        self.assertEqual(answer(), {'x': 2})

    def test_a_file_that_stays_broken(self):
        self.trial.next_parameters()
        with mock.patch.object(trial, '_HALF_WRITTEN', -1):
            answer = self.ask_in_a_thread()
            (self.folder / 'parameter_1.cfg').write_text('{')
            self.assertIsInstance(answer(), attune.TrialError)

    def test_without_inotify(self):
        self.trial.next_parameters()
        with mock.patch.object(files, '_watch', lambda folder: None):
            answer = self.ask_in_a_thread()
            self.propose({'x': 2}, 'parameter_1.cfg')
            self.assertEqual(answer(), {'x': 2})


class Alone(unittest.TestCase):
    def setUp(self):
        self.trial = attune.Trial({})

    def test_defaults_once(self):
        self.assertEqual(self.trial.next_parameters({'x': 1}), {'x': 1})
        self.assertIsNone(self.trial.next_parameters({'x': 1}))
        self.assertEqual(attune.Trial({}).next_parameters(), {})

    def test_reports_are_printed(self):
        for call in (self.trial.report, self.trial.final):
            with self.assertRaisesRegex(attune.TrialError, 'before next_parameters'):
                call(1)
        self.trial.next_parameters()
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.trial.report(0.5)
            self.trial.report({'default': 1})
            self.trial.final(0.25)
        self.assertEqual(out.getvalue(), 'Intermediate result: 0.5  (Index 0)\n'
                         'Intermediate result: {"default": 1}  (Index 1)\nFinal result: 0.25\n')

    def test_who_it_is(self):
        self.assertEqual((self.trial.trial_id(), self.trial.sequence_id()), ('STANDALONE', 0))
        self.assertEqual(self.trial.output_dir(), pathlib.Path('.'))

    def test_nobody_keeps_checkpoints(self):
        self.assertIsNone(self.trial.checkpoint_dir())
        self.assertFalse(self.trial.save('state', b''))
        self.assertIsNone(self.trial.restore('state'))

    def test_functions_of_the_module_are_one_trial_of_the_process(self):
        code = ('import attune; print(attune.next_parameters({"x": 1})); attune.report(1); '
                'attune.report(2); print(attune.next_parameters(), attune.trial_id(), '
                'attune.sequence_id(), attune.output_dir(), attune.checkpoint_dir(), '
                'attune.save("a", b""), attune.restore("a"), attune.experiment_id())')
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith('NNI_') and name != 'ATTUNE_CHECKPOINT_DIR'}
        out = subprocess.check_output([sys.executable, '-B', '-c', code], text=True,
                                      env=environment)
        self.assertEqual(out.splitlines(), [
            "{'x': 1}", 'Intermediate result: 1  (Index 0)', 'Intermediate result: 2  (Index 1)',
            'None STANDALONE 0 . None False None STANDALONE'])


class Checkpoints(TrialCase):
    def setUp(self):
        super().setUp()
        self.trial = attune.Trial(self.environment)

    def test_saved_is_restored_by_the_next_attempt(self):
        self.assertIsNone(self.trial.restore('state'))
        self.assertTrue(self.trial.save('state', b'\0first'))
        self.assertTrue(self.trial.save('state', b'second'))
        self.assertEqual(attune.Trial(self.environment).restore('state'), b'second')
        self.assertEqual(os.listdir(self.trial.checkpoint_dir()), ['state'])

    def test_what_is_no_bytes(self):
        for kept in (b'bytes', bytearray(b'bytes'), memoryview(b'bytes')):
            self.assertTrue(self.trial.save('state', kept))
            self.assertEqual(self.trial.restore('state'), b'bytes')
        for some in (self.trial, attune.Trial({})):  # by hand, too
            for bad in ('text', None, 5, [1]):
                with self.assertRaisesRegex(TypeError, f'bytes, not {type(bad).__name__}'):
                    some.save('state', bad)
        self.assertEqual(self.trial.restore('state'), b'bytes')

    def test_what_fails_leaves_the_former_one(self):
        self.trial.save('state', b'first')
        for broken in ('fsync', 'replace'):
            with mock.patch.object(os, broken, side_effect=OSError('disk')), \
                    self.assertRaises(OSError):
                self.trial.save('state', b'second')
        self.assertEqual(self.trial.restore('state'), b'first')
        self.assertEqual(os.listdir(self.trial.checkpoint_dir()), ['state'])

    def test_names(self):
        for name in ('', '.', '..', 'a/b', '/etc/passwd', 'a\0'):
            with self.subTest(name=name):
                with self.assertRaises(ValueError):
                    self.trial.save(name, b'')
                with self.assertRaises(ValueError):
                    self.trial.restore(name)


class Values(unittest.TestCase):
    def test_conversions(self):
        for given, expected in [
                (Scalar(0.5), 0.5), (Array([0.5]), 0.5), (Array([[3]]), 3), (Array(2), 2),
                (decimal.Decimal('0.25'), 0.25), (fractions.Fraction(1, 4), 0.25),
                ({'a': Array([1, 2]), 'b': (1, None)}, {'a': [1, 2], 'b': [1, None]}),
                ({'a': {'b': Scalar(True)}}, {'a': {'b': True}})]:
            with self.subTest(given=given):
                self.assertEqual(values.metrics(given), expected)
        self.assertTrue(math.isnan(values.metrics(Scalar(math.nan))))

    def test_subclasses_become_plain(self):
        class Real(float):
            def __repr__(self):
                return 'Real'

        self.assertEqual(json.dumps(values.metrics(Real(0.5))), '0.5')

    def test_not_finite_as_pythons_json_has_it(self):
        self.assertEqual(json.dumps(values.metrics({'a': math.inf, 'b': math.nan})),
                         '{"a": Infinity, "b": NaN}')

    def test_errors_name_the_place(self):
        loop = {}
        loop['self'] = loop
        for bad, words in [({'a': {'b': object()}}, r"\['a'\]\['b'\].*object"),
                           ({'a': [1, {2: 3}]}, r"\['a'\]\[1\].*strings"), (loop, 'itself')]:
            with self.assertRaisesRegex(TypeError, words):
                values.metrics(bad)


if __name__ == '__main__':
    unittest.main()
