"""Study(file=...) whose engine is in this process: what a call has done survives kill -9, once."""
import json
import signal
import subprocess
import sys
import unittest

import attune
from support import CHOICE, TWO, UNIFORM, StudyFileCase


class Files(StudyFileCase):
    attuned = None

    def killed(self, code):
        """Runs a program that ends by kill -9 in the middle of its work."""
        before = ('import attune, os, signal\n'
                  'def die(): os.kill(os.getpid(), signal.SIGKILL)\n'
                  f'study = attune.Study({TWO!r}, "TPE", seed=1, file={str(self.path)!r})\n')
        done = subprocess.run([sys.executable, '-B', '-c', before + code], timeout=200,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, -signal.SIGKILL, done.stderr)

    def test_until_does_what_is_missing(self):
        self.killed('def f(config):\n  if study.count == 4: die()\n  return 1\n'
                    'study.optimize(f, until=9)\n')
        study = self.open()
        self.assertEqual([trial.status for trial in study.trials], ['completed'] * 3 + ['running'])
        ran = []
        study.optimize(lambda config: ran.append(config) or 1, until=9)
        self.assertEqual([trial.status for trial in study.trials], ['completed'] * 9)
        self.assertEqual(ran, [trial.parameters for trial in study.trials[3:]])

    def test_killed_from_outside_at_any_moment(self):
        code = (f'import attune\nstudy = attune.Study({TWO!r}, "Random", seed=1, '
                f'file={str(self.path)!r})\nprint("made", flush=True)\n'
                'for n in range(1, 100000):\n'
                '    study.tell(study.ask(), n)\n'
                '    print(n, flush=True)\n')
        for after in (0, 1, 5, 50):
            process = subprocess.Popen([sys.executable, '-B', '-c', code], stdout=subprocess.PIPE)
            for _ in range(after + 1):
                process.stdout.readline()
            process.kill()
            said = len(process.stdout.read().splitlines()) + after
            process.wait()
            process.stdout.close()
            study = self.open()
            told = [trial.metrics for trial in study.trials if trial.status == 'completed']
            self.assertIn(told, [list(range(1, said + 1 + more)) for more in (0, 1)])
            study.close()
            self.path.unlink()

    def test_it_goes_on_as_if_nothing_had_happened(self):
        def function(trial):
            x = trial.suggest_float('x', 0, 1)
            if trial.suggest_categorical('more', [True, False]):
                x += trial.suggest_int('n', 1, 9, log=True)
            for step in range(3):
                trial.report(x + step)
                if trial.should_prune():
                    raise attune.TrialStopped()
            return x

        named = {'tuner': 'TPE', 'seed': 3, 'assessor': 'Medianstop'}
        whole = attune.Study(**named)
        whole.optimize(function, 30)
        for count in (1, 12, 29):
            with attune.Study(file=self.path, **named) as study:
                study.optimize(function, count)
            with attune.Study(file=self.path, if_exists='continue', **named) as study:
                study.optimize(function, until=30)
                self.assertEqual(self.state(study), self.state(whole))
                self.assertEqual(study.best.number, whole.best.number)
            self.path.unlink()

    def test_saved_and_loaded(self):
        study = self.study(objectives=[{'metric': 'a', 'mode': 'maximize'},
                                       {'metric': 'b', 'mode': 'minimize', 'limit': 2}],
                           assessor='Medianstop', tuner_args={'max_t': 9})
        for number in range(6):
            trial = study.ask()
            study.report(trial, {'a': 1, 'b': 2})
            study.tell(trial, {'a': number, 'b': number, 'note': 'not kept'})
        study.fail(study.ask())
        running = study.ask()
        study.report(running, {'a': 3, 'b': 1})
        study.save(self.path)
        again = attune.Study.load(self.path)
        self.addCleanup(again.close)
        self.assertEqual([trial.status for trial in again.trials],
                         ['completed'] * 6 + ['failed', 'running'])
        self.assertEqual((again.best.number, again.best.metrics), (2, {'a': 2, 'b': 2}))
        self.assertEqual(again.trials[7].reports, [{'a': 3, 'b': 1}])
        self.assertEqual(again._settings, {**study._settings})
        for one in (study, again):
            one.tell(7, {'a': 9, 'b': 9})
        self.assertEqual(study.ask().parameters, again.ask().parameters)

    def test_one_study_at_a_time(self):
        study = self.study(file=self.path)
        for begin in (self.open, lambda: attune.Study(UNIFORM, file=self.path,
                                                      if_exists='continue')):
            with self.assertRaisesRegex(attune.StudyError, 'is in use by a study'):
                begin()
        study.close()
        self.open().close()

    def test_if_exists(self):
        study = self.study(file=self.path, seed=None, if_exists='continue')
        study.tell(study.ask(), 1)
        study.close()
        with self.assertRaisesRegex(attune.StudyError, 'exists'):
            attune.Study(UNIFORM, file=self.path)
        again = self.study(file=self.path, seed=None, if_exists='continue', concurrency=3)
        self.assertEqual((len(again.trials), again.seed), (1, study.seed))
        again.close()
        for named in ({'tuner': 'Random'}, {'maximize': True}, {'seed': again.seed + 1}):
            with self.assertRaisesRegex(attune.StudyError, 'was made with'):
                attune.Study(UNIFORM, file=self.path, if_exists='continue',
                             **{'seed': again.seed, **named})

    def test_files_of_a_study_with_attuned_go_on_with_it(self):
        with attune.Study(CHOICE, 'GridSearch', attuned=True, file=self.path) as study:
            study.tell(study.ask(), 1)
        for begin in (lambda: attune.Study.open(self.path), lambda: attune.Study.load(self.path),
                      lambda: attune.Study(CHOICE, 'GridSearch', file=self.path,
                                           if_exists='continue')):
            with begin() as again:
                self.assertIsInstance(again, attune.Study)
                self.assertEqual(again.best_value, 1)
                self.assertTrue(again._daemon.pid)
        self.path.unlink()
        with attune.Study(CHOICE, 'GridSearch', file=self.path) as study:
            study.tell(study.ask(), 1)
        with self.assertRaisesRegex(attune.StudyError, 'attune'):
            attune.Study.open(self.path, attuned=True)

    def test_damage_is_said(self):
        with self.study(file=self.path) as study:
            study.tell(study.ask(), 1)
        whole = self.path.read_bytes()
        self.path.write_bytes(whole[:-4])
        with self.assertWarnsRegex(RuntimeWarning, 'torn'):
            self.open().close()
        for line in ({'tell': 9, 'value': 1}, {'what': 1}, [1]):
            self.path.write_bytes(whole + json.dumps(line).encode() + b'\n')
            for call in (self.open, lambda: attune.Study.load(self.path)):
                with self.assertRaisesRegex(attune.StudyError, 'line 4'):
                    call()
        for text in (b'', b'{}', b'[]', b'{"attune_study": "x"}\n', b'\xff\n'):
            self.path.write_bytes(text)
            with self.assertRaises(attune.StudyError):
                self.open()


if __name__ == '__main__':
    unittest.main()
