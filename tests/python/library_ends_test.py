"""Study whose engine is in this process: forks, interrupts, threads, collection, the end."""
import contextlib
import pickle
import subprocess
import sys
import threading
import unittest
import weakref

import attune
from support import UNIFORM, StudyCase, parabola


class Ends(StudyCase):
    attuned = None

    def run_python(self, code):
        """What a program prints; it must end by itself, and well."""
        done = subprocess.run([sys.executable, '-B', '-c', 'import attune\nSPACE = ' + repr(UNIFORM)
                               + '\n' + code], capture_output=True, text=True, timeout=200,
                              check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        return done.stdout

    def test_interrupted_anywhere_it_goes_on(self):
        """A KeyboardInterrupt at each line of a call, and then the study goes on."""
        where, armed = [], []

        def trace(frame, event, _):
            if not frame.f_code.co_filename.endswith(('library_study.py', 'study.py')):
                return None
            if event == 'line' and armed:
                armed[0] -= 1
                if armed[0] < 0:
                    armed.clear()
                    where.append((frame.f_code.co_name, frame.f_lineno))
                    raise KeyboardInterrupt
            return trace

        for number in range(200):
            study = self.study(tuner='Random')
            study.tell(study.ask(), 0.5)
            before = len(where)
            sys.settrace(trace)
            try:
                armed[:] = [number]
                with contextlib.suppress(KeyboardInterrupt):
                    trial = study.ask()
                    study.report(trial, 2)
                    study.tell(trial, 0.25)
            finally:
                armed.clear()
                sys.settrace(None)
            study.optimize(parabola, until=4)
            trials = study.trials
            # Nothing is lost, and nothing runs: optimize() has taken what nobody had got.
            left = [trial for trial in trials if trial.status == 'running']
            for trial in left:  # it was given to the program, which has forgotten it
                study.fail(trial)
            self.assertEqual([trial.number for trial in trials], list(range(len(trials))))
            self.assertEqual(study.ask().number, len(trials))
            study.close()
            if len(where) == before:
                break
        self.assertGreater(len({name for name, _ in where}), 5)

    def test_a_forked_child_leaves_it_alone(self):
        out = self.run_python(
            'import os\nstudy = attune.Study(SPACE, seed=1)\nstudy.tell(study.ask(), 1)\n'
            'child = os.fork()\n'
            'if child == 0:\n'
            '    print(study.best_value)\n'
            '    try: study.ask()\n'
            '    except attune.StudyError as error: print(error)\n'
            '    study.close()\n'
            '    attune.Study(SPACE).ask()\n'
            '    raise SystemExit(0)\n'
            'os.waitpid(child, 0)\n'
            'print(study.ask().number, flush=True)\n')
        self.assertEqual(out.splitlines(), ['1.0', 'the study belongs to the process that has made '
                                            'it; make one here', '1'])

    def test_the_end_of_the_interpreter(self):
        for code in ('study = attune.Study(SPACE); study.ask()',
                     'study = attune.Study(SPACE); study.loop = study; del study',
                     'import threading\nstudy = attune.Study(SPACE)\n'
                     'thread = threading.Thread(target=study.optimize, args=(lambda c: c["x"], 50))\n'
                     'thread.start()',
                     'import threading, atexit\nstudy = attune.Study(SPACE)\n'
                     'threading.Thread(target=lambda: [study.tell(study.ask(), 1) for _ in iter(int, 1)],'
                     ' daemon=True).start()\nstudy.ask()',
                     'study = attune.Study(SPACE)\nimport atexit\natexit.register(study.ask)',
                     'import sys\nsys.modules["kept"] = attune.Study(SPACE)'):
            with self.subTest(code=code):
                self.run_python(code)

    def test_a_study_that_nobody_has_is_gone(self):
        study = attune.Study(UNIFORM)
        trial = study.ask()
        gone = weakref.ref(study)
        del study
        self.assertIsNone(gone())  # at once: its file is free
        with self.assertRaisesRegex(attune.StudyError, 'keep it in a variable'):
            trial.report(1)

    def test_many_threads(self):
        study = self.study(tuner='TPE')
        failed = []

        def work():
            try:
                for _ in range(50):
                    trial = study.ask()
                    study.report(trial, 1)
                    study.tell(trial, parabola(trial.parameters))
                    study.best.parameters['x']
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])
        self.assertEqual([trial.number for trial in study.trials], list(range(400)))

    def test_no_study_is_pickled(self):
        with self.assertRaisesRegex(TypeError, 'cannot be pickled'):
            pickle.dumps(self.study())

    def test_ctrl_c(self):
        code = ('import attune, os, signal, sys\n'
                'study = attune.Study({"x": {"_type": "uniform", "_value": [0, 1]}})\n'
                'def function(config):\n'
                '    if study.count == 3: os.kill(os.getpid(), signal.SIGINT)\n'
                '    return config["x"]\n'
                'try: study.optimize(function, 9)\n'
                'except KeyboardInterrupt: print([trial.status for trial in study.trials])\n')
        done = subprocess.run([sys.executable, '-B', '-c', code], capture_output=True, text=True,
                              timeout=200, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertEqual(done.stdout.strip(), "['completed', 'completed', 'failed']")


if __name__ == '__main__':
    unittest.main()
