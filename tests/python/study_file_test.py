"""Study(file=...): what a call has done survives kill -9, once."""
import contextlib
import fcntl
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import warnings
from unittest import mock
import unittest

import attune
from support import CHOICE, TWO, UNIFORM, StudyFileCase, parabola


def await_end(pid):
    """Until a process that is no child of ours has ended."""
    with contextlib.suppress(ProcessLookupError):
        descriptor = os.pidfd_open(pid)
        try:
            assert select.select([descriptor], [], [], 200)[0]
        finally:
            os.close(descriptor)


class Files(StudyFileCase):
    def killed(self, code):
        """Runs a program that ends by kill -9 in the middle of its work."""
        before = ('import attune, os, signal\n'
                  f'def die(): os.kill(os.getpid(), signal.SIGKILL)\n'
                  f'study = attune.Study({TWO!r}, "Random", seed=1, attuned=True, file={str(self.path)!r})\n'
                  'print(study._daemon.pid, flush=True)\n')
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, '-B', '-c', before + code], timeout=200,
                                  capture_output=True, text=True,
                                  env={**os.environ, 'TMPDIR': folder})
            await_end(int(done.stdout))  # it writes into the folder until then
        self.assertEqual(done.returncode, -signal.SIGKILL, done.stderr)

    def test_points_and_results_survive_kill_once(self):
        self.killed('for k in (1, 2, 3): study.enqueue({"x": k / 10, "k": k})\n'
                    'study.import_results([{"parameters": {"x": 0.5, "k": 1}, "value": 7}])\n'
                    'assert study.ask().parameters == {"x": 0.1, "k": 1}\n'
                    'study.tell(0, 3)\ndie()\n')
        study = self.open()
        self.assertEqual(self.state(study), [(0, {'x': 0.1, 'k': 1}, 'completed', 3, [])])
        self.assertEqual(study._imported, [{'parameter': {'x': 0.5, 'k': 1}, 'value': 7}])
        found = [trial.parameters for trial in study.ask(4)]
        self.assertEqual(found[:2], [{'x': 0.2, 'k': 2}, {'x': 0.3, 'k': 3}])
        self.assertNotIn({'x': 0.1, 'k': 1}, found)
        self.assertEqual(len({json.dumps(each) for each in found}), 4)
        again = self.copy()
        self.assertEqual(len(again.trials), 5)
        self.assertEqual(again._imported, study._imported)
        self.assertEqual(len(again._enqueued), 0)

    def copy(self):
        """The study of a copy of the file, as a program finds it after kill -9."""
        copy = self.path.with_name('copy')
        copy.write_bytes(self.path.read_bytes())
        study = attune.Study.load(copy)
        self.addCleanup(study.close)
        return study

    def test_killed_in_the_middle_of_a_call(self):
        # The point was taken from the queue, and nobody has seen the trial.
        self.killed('study.enqueue({"x": 0.1, "k": 1})\n'
                    'study._log = lambda event: die()\nstudy.ask()\n')
        study = self.open()
        self.assertEqual(study.trials, [])
        self.assertEqual([trial.parameters == {'x': 0.1, 'k': 1} for trial in study.ask(3)],
                         [True, False, False])

    def test_cut_off_behind_any_line_it_goes_on_as_it_would_have(self):
        study = self.study(TWO, tuner='TPE', file=self.path)
        study.enqueue({'x': 0.1, 'k': 1})
        study.import_results([{'parameters': {'x': 0.2, 'k': 2}, 'value': 0.01}])
        for _ in range(3):
            trial = study.ask()
            study.report(trial, 1)
            study.tell(trial, parabola(trial.parameters))
        study.fail(study.ask())
        study.stop(study.ask())
        study.optimize(parabola, 15)
        state, lines = self.state(study), self.path.read_bytes().splitlines(keepends=True)
        study.close()
        for count in range(1, len(lines) + 1, 5):
            self.path.write_bytes(b''.join(lines[:count]))
            again = self.open()
            events = [json.loads(line) for line in lines[count:]]
            for event in events:  # the calls that the other one has made
                if 'ask' in event:
                    again.ask(event['ask'])
                elif 'enqueue' in event:
                    again.enqueue(event['enqueue'])
                elif 'import' in event:
                    again.import_results(event['import'])
                else:
                    name = next(iter(event))
                    getattr(again, name)(event[name], *([event['value']] if 'value' in event
                                                        else []))
            self.assertEqual(self.state(again), state)
            self.assertEqual(len(again._imported), 1)
            again.close()

    def test_a_torn_line_is_left_out(self):
        study = self.study(file=self.path)
        study.tell(study.ask(), 1)
        study.close()
        whole = self.path.read_bytes()
        self.path.write_bytes(whole[:-4])
        with self.assertWarnsRegex(RuntimeWarning, 'its last line is torn'):
            study = self.open()
        self.assertEqual([trial.status for trial in study.trials], ['running'])
        with warnings.catch_warnings():
            warnings.simplefilter('error')
            self.copy()
        lines = whole.splitlines(keepends=True)
        study.close()
        self.path.write_bytes(lines[0] + b'{"ask"\n' + lines[2])
        with self.assertRaisesRegex(attune.StudyError, 'line 2: not valid JSON'):
            self.open()

    def test_damage_is_said(self):
        study = self.study(file=self.path)
        study.tell(study.ask(), 1)
        study.close()
        whole = self.path.read_bytes()
        first = json.loads(whole.splitlines()[0])
        for line in ({'tell': 9, 'value': 1}, {'what': 1}, {'ask': 1}, [1], {'tell': 0, 'value': 1}):
            with self.subTest(line=line):
                self.path.write_bytes(whole + json.dumps(line).encode() + b'\n')
                for call in (self.open, lambda: attune.Study.load(self.path)):
                    with self.assertRaisesRegex(attune.StudyError, f'{self.path}: is damaged'):
                        call()
        for lacking in ('settings', 'journal', 'trials', 'sent'):
            with self.subTest(lacking=lacking):
                self.path.write_text(json.dumps({name: value for name, value in first.items()
                                                 if name != lacking}) + '\n')
                with self.assertRaisesRegex(attune.StudyError, f'{self.path}: is damaged'):
                    self.open()
        self.assertEqual(os.listdir(self.path.parent), ['study'])

    def test_killed_from_outside_at_any_moment(self):
        code = (f'import attune\nstudy = attune.Study({TWO!r}, "Random", seed=1, attuned=True, '
                f'file={str(self.path)!r})\nprint(study._daemon.pid, flush=True)\n'
                'for n in range(1, 1000):\n'
                '    study.enqueue({"x": n / 1000, "k": 1})\n'
                '    study.import_results([{"parameters": {"x": n / 1000, "k": 2}, "value": n}])\n'
                '    if n % 2: study.tell(study.ask(), n)\n'
                '    print(n, flush=True)\n')
        for after in (0, 1, 5, 12):
            with tempfile.TemporaryDirectory() as folder:
                process = subprocess.Popen([sys.executable, '-B', '-c', code],
                                           stdout=subprocess.PIPE,
                                           env={**os.environ, 'TMPDIR': folder})
                pid = int(process.stdout.readline())
                for _ in range(after):
                    process.stdout.readline()
                process.kill()
                said = len(process.stdout.read().splitlines()) + after  # all that it has said
                process.wait()
                process.stdout.close()
                await_end(pid)
            with open(self.path) as file:  # it may have been starting a process
                fcntl.flock(file, fcntl.LOCK_EX)
            study = self.open()
            points = [trial.parameters['x'] for trial in study.trials]
            points += [point['x'] for point in study._enqueued]
            results = [record['value'] for record in study._imported]
            for found in ([round(1000 * x) for x in points], results):
                self.assertIn(found, [list(range(1, said + 1 + more)) for more in (0, 1)])
            study.close()
            self.path.unlink()

    def test_until_does_what_is_missing(self):
        self.killed('def f(config):\n  if study.count == 4: die()\n  return 1\n'
                    'study.optimize(f, until=9)\n')
        study = self.open()
        self.assertEqual([trial.status for trial in study.trials], ['completed'] * 3 + ['running'])
        ran = []
        study.optimize(lambda config: ran.append(config) or 1, until=9)
        self.assertEqual([trial.status for trial in study.trials], ['completed'] * 9)
        self.assertEqual(ran, [trial.parameters for trial in study.trials[3:]])
        study.optimize(lambda config: ran.append(config) or 1, until=9)
        self.assertEqual(len(ran), 6)

    def test_workers_that_were_killed(self):
        self.killed('def f(config):\n  if study.count >= 7: die()\n  return 1\n'
                    'study.optimize(f, until=9, workers=3)\n')
        study = self.open()
        study.optimize(lambda config: 1, until=9, workers=3)
        self.assertEqual([trial.status for trial in study.trials], ['completed'] * 9)

    def test_a_trial_that_runs_again_reports_again(self):
        study = self.study(file=self.path, assessor='Medianstop', assessor_args={'start_step': 2})
        for _ in range(3):
            trial = study.ask()
            for _ in range(4):
                study.report(trial, 1)
            study.tell(trial, 1)
        study.report(study.ask(), 9)
        study.close()
        study = self.open()

        def function(config):
            for _ in range(4):
                yield 9

        study.optimize(function, until=4)
        self.assertEqual((study.trials[3].reports, study.trials[3].status), ([9, 9], 'stopped'))

    def test_one_study_at_a_time(self):
        study = self.study(file=self.path)
        for begin in (self.open, lambda: attune.Study(UNIFORM, attuned=True, file=self.path,
                                                      if_exists='continue')):
            with self.assertRaisesRegex(attune.StudyError, 'is used by another study'):
                begin()
        with self.assertRaisesRegex(attune.StudyError, 'is the file of this study'):
            study.save(self.path)
        with self.assertRaisesRegex(attune.StudyError, 'is used by another study'):
            self.study().save(self.path)
        study.close()
        self.open().close()
        self.study().save(self.path)

    def test_if_exists(self):
        study = self.study(file=self.path, seed=None, if_exists='continue')
        study.tell(study.ask(), 1)
        study.close()
        with self.assertRaisesRegex(attune.StudyError, "exists; go on with it by if_exists='con"):
            attune.Study(UNIFORM, attuned=True, file=self.path)
        again = self.study(file=self.path, seed=None, if_exists='continue', concurrency=3)
        self.assertEqual((len(again.trials), again.seed), (1, study.seed))
        again.close()
        for named in ({'tuner': 'Random'}, {'maximize': True}, {'seed': again.seed + 1}):
            with self.assertRaisesRegex(attune.StudyError, 'was made with'):
                attune.Study(UNIFORM, attuned=True, file=self.path, if_exists='continue',
                             **{'seed': again.seed, **named})
        with self.assertRaisesRegex(attune.StudyError, "if_exists: must be 'fail' or"):
            attune.Study(UNIFORM, attuned=True, file=self.path, if_exists='no')

    def test_another_attuned_is_told_what_was_done(self):
        study = self.study(CHOICE, tuner='GridSearch', file=self.path)
        study.enqueue({'x': 3})
        study.import_results([{'parameters': {'x': 2}, 'value': 5}])
        study.tell(study.ask(), 1)
        study.close()
        lines = self.path.read_bytes().splitlines(keepends=True)
        other = {'ask': 1, 'trials': [json.dumps({
            'parameter_id': 1, 'parameter_source': 'algorithm', 'parameters': {'x': 2},
            'parameter_index': 0})]}
        self.path.write_bytes(b''.join(lines) + json.dumps(other).encode() + b'\n')
        with self.assertWarnsRegex(RuntimeWarning, 'proposes other trials'):
            study = self.open()
        self.assertEqual([trial.parameters for trial in study.trials], [{'x': 3}, {'x': 2}])
        study.tell(1, 2)
        self.assertEqual(study.ask().parameters, {'x': 1})

    def test_a_full_disk_is_said_and_ends_the_study(self):
        study = self.study(file=self.path)
        study.tell(study.ask(), 1)
        trial = study.ask()
        before = self.path.read_bytes()
        with mock.patch('attune.study_file._write_all', side_effect=OSError(28, 'disk full')), \
                self.assertRaisesRegex(OSError, f"disk full: '{self.path}'"):
            study.tell(trial, 2)
        with self.assertRaisesRegex(attune.DaemonError, 'could not be written: disk full'):
            study.ask()
        self.assertEqual(self.path.read_bytes(), before)
        study.close()
        self.assertEqual([trial.status for trial in self.open().trials], ['completed', 'running'])

    def test_interrupted_before_the_file_has_it(self):
        study = self.study(file=self.path)
        with mock.patch.object(study, '_log', side_effect=KeyboardInterrupt), \
                self.assertRaises(KeyboardInterrupt):
            study.ask()
        study.tell(0, 1)
        self.assertEqual(self.state(self.copy()), self.state(study))


if __name__ == '__main__':
    unittest.main()
