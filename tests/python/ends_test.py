"""How a Study ends: refused arguments, kill -9, and what must not be left."""
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings
from unittest import mock

import attune
from attune.daemon import find_attuned
from support import UNIFORM, StudyCase


_FULL_DISK = """
import sys
if '--check' in sys.argv:
    print('{"fine": true}')
    sys.exit()
def put(code, text=''):
    sys.stdout.write('%s%014d%s' % (code, len(text), text))
    sys.stdout.flush()
waiting = False
while True:
    head = sys.stdin.read(16)
    if head[:2] in ('', 'TE'):
        break
    text = sys.stdin.read(int(head[2:]))
    if head[:2] == 'IN':
        put('ID')
    elif head[:2] == 'GE':
        put('NO', '{"parameter_id":0,"parameters":"","transient":true,"reason":"no room"}')
        waiting = True
    else:
        if waiting:
            put('TR', '{"parameter_id":0,"parameters":{"x":0.5},"parameter_index":0}')
        put('PO', text)
"""


def open_descriptors():
    return set(os.listdir('/proc/self/fd'))


class Ends(StudyCase):
    def test_arguments_that_attuned_refuses(self):
        before = open_descriptors()
        for named, words in [
                ({'tuner': 'TPEE'}, 'tuner: unknown tuner "TPEE"; did you mean "TPE"'),
                ({'tuner_args': {'speed': 1}}, 'tuner_args.speed: unknown argument "speed"'),
                ({'assessor': 'Some'}, 'assessor: unknown assessor "Some"'),
                ({'assessor': 'Medianstop', 'assessor_args': {'a': 1}},
                 'assessor_args.a: unknown argument "a"'),
                ({'constraints': ['y < 1']}, 'unknown parameter "y"'),
                ({'objectives': [{'metric': 'a', 'mode': 'max'}]},
                 'objectives[0].mode: "maximize" or "minimize" expected'),
                ({'tuner_args': {'optimize_mode': 'maximize'}}, 'optimize_mode of auto'),
                ({'space': {'x': {'_type': 'uni', '_value': [0, 1]}}}, 'x._type: unknown type'),
                ({'space': 5}, 'space: search_space: must be an object')]:
            with self.subTest(named=named), tempfile.TemporaryDirectory() as folder, \
                    mock.patch.object(tempfile, 'tempdir', folder):
                with self.assertRaises(attune.StudyError) as caught:
                    attune.Study(**{'space': UNIFORM, 'attuned': True, **named}, file=f'{folder}/study')
                self.assertIn(words, str(caught.exception))
                self.assertEqual(os.listdir(folder), [])
        self.assertTrue(issubclass(attune.StudyError, ValueError))
        self.assertEqual(open_descriptors(), before)

    def test_no_such_program(self):
        with self.assertRaisesRegex(attune.DaemonError, 'no program /none'):
            attune.Study(UNIFORM, attuned='/none')
        with mock.patch.dict(os.environ, ATTUNED='/none'), \
                self.assertRaisesRegex(attune.DaemonError, '^ATTUNED: no program /none$'):
            attune.Study(UNIFORM, attuned=True)
        with tempfile.NamedTemporaryFile(delete=False) as script:
            script.write(b'not a program')
        self.addCleanup(os.unlink, script.name)
        os.chmod(script.name, 0o755)
        with self.assertRaisesRegex(attune.DaemonError, 'cannot start'):
            attune.Study(UNIFORM, attuned=script.name)
        with self.assertRaisesRegex(attune.DaemonError, 'exit code 1'):
            attune.Study(UNIFORM, attuned='false')
        self.assertTrue(os.path.samefile(find_attuned(), os.environ['ATTUNED']))

    def test_a_full_disk_is_no_end(self):
        # A NO that is transient has no number, and the trial comes when there is room again.
        with tempfile.NamedTemporaryFile('w', delete=False) as script:
            script.write(f'#!{sys.executable}\n' + _FULL_DISK)
        self.addCleanup(os.unlink, script.name)
        os.chmod(script.name, 0o755)
        with attune.Study(UNIFORM, attuned=script.name) as study:
            with self.assertWarnsRegex(RuntimeWarning, 'attuned waits: no room'):
                self.assertEqual(study.ask().parameters, {'x': 0.5})
            self.assertEqual(study._daemon.received, 3)  # PO, TR, PO

    def test_killed(self):
        before = open_descriptors()
        study = self.study()
        study.tell(study.ask(), 4)
        trial = study.ask()
        os.kill(study._daemon.pid, signal.SIGKILL)
        for call in (study.ask, lambda: study.tell(trial, 1), lambda: study.report(trial, 1),
                     lambda: study.save('/dev/null'), study.ask):
            with self.assertRaisesRegex(attune.DaemonError, 'signal 9'):
                # A command can still fit into the pipe; that it had no reader shows next.
                for _ in range(2):
                    call()
        self.assertEqual(study.best.metrics, 4)
        self.assertEqual(open_descriptors(), before)  # without close()

    def test_killed_while_others_wait(self):
        study = self.study()
        os.kill(study._daemon.pid, signal.SIGSTOP)
        errors = []

        def work():
            try:
                study.ask()
            except attune.DaemonError as error:
                errors.append(str(error))

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        os.kill(study._daemon.pid, signal.SIGKILL)
        for thread in threads:
            thread.join(200)
        self.assertEqual(len(errors), 3)

    def test_killed_while_it_optimizes(self):
        def function(config):
            if len(study.trials) > 5:
                os.kill(study._daemon.pid, signal.SIGKILL)
            return 1

        for workers in (1, 3):
            study = self.study()
            with self.assertRaises(attune.DaemonError):
                study.optimize(function, 10_000, workers=workers)

    def test_killed_while_workers_wait_for_each_other(self):
        study = self.study(tuner='Evolution', tuner_args={'population_size': 2})
        waiting, first, killed = threading.Semaphore(0), threading.Lock(), threading.Event()
        wait = study.changed.wait

        def counted():
            waiting.release()
            wait()

        def function(config):
            if not first.acquire(blocking=False):
                killed.wait(200)
                return 1
            for _ in range(2):
                waiting.acquire(timeout=200)
            with study.changed:  # two wait: they have let go of this
                os.kill(study._daemon.pid, signal.SIGKILL)
                os.waitid(os.P_PID, study._daemon.pid, os.WEXITED | os.WNOWAIT)
            killed.set()
            return 1

        with mock.patch.object(study.changed, 'wait', counted), \
                self.assertRaises(attune.DaemonError):
            study.optimize(function, 100, workers=4)

    def test_interrupted_anywhere_it_goes_on(self):
        # Ctrl-C after the n-th answer was taken from the pipe, and before it was understood.
        for number in range(6):
            study = self.study(tuner='Random')
            with self.interrupted_after(study, number) as left:
                for _ in range(2):
                    trial = study.ask()
                    study.report(trial, 1)
                    study.tell(trial, 1)
            self.assertEqual(left[0], -1)
            for trial in study.trials:
                if trial.status == 'running':
                    study.tell(trial, 1)
            study.optimize(lambda config: config['x'], until=5)
            numbers = [trial.parameters['x'] for trial in study.trials]
            self.assertEqual(len(set(numbers)), len(numbers))
            self.assertEqual({trial.status for trial in study.trials}, {'completed'})

    def test_a_journal_that_is_gone(self):
        study = self.study()
        study.tell(study.ask(), 1)
        os.unlink(os.path.join(study._folder, 'attuned.journal'))
        study.tell(study.ask(), 2)  # it goes on, and writes all of it again
        with tempfile.TemporaryDirectory() as folder:
            study.save(f'{folder}/study')
            self.assertEqual(attune.Study.load(f'{folder}/study').best.metrics, 1)

    def test_nothing_is_left(self):
        before, threads = open_descriptors(), threading.active_count()
        for end in ('close', 'with', 'kill', 'forget'):
            study = attune.Study(UNIFORM, attuned=True)
            pid, folder = study._daemon.pid, study._folder
            study.tell(study.ask(), 1)
            if end == 'close':
                study.close()
                study.close()
            elif end == 'with':
                with study:
                    study.ask()
            elif end == 'kill':
                os.kill(pid, signal.SIGKILL)
                study.close()
            with warnings.catch_warnings():
                warnings.simplefilter('error')
                del study
            with self.assertRaises(ChildProcessError):  # it is neither running nor a zombie
                os.waitpid(pid, os.WNOHANG)
            self.assertFalse(os.path.exists(folder))
            self.assertEqual(open_descriptors(), before, end)
        self.assertEqual(threading.active_count(), threads)

    def test_ctrl_c_in_a_terminal_is_not_for_the_daemon(self):
        self.assertNotEqual(os.getpgid(self.study()._daemon.pid), os.getpgrp())

    def test_closed(self):
        study = self.study()
        study.tell(study.ask(), 2)
        study.close()
        with self.assertRaisesRegex(attune.DaemonError, 'was ended'):
            study.ask()
        self.assertEqual(study.best.metrics, 2)

    def test_the_end_of_the_process_is_the_daemons(self):
        # The daemon holds the pipe's other end: it is at its end when both are gone.
        code = ('import attune, sys; study = attune.Study(attuned=True, space={"x": {"_type": "uniform", "_value": '
                '[0, 1]}}); print(study._daemon.pid, study._folder, flush=True); sys.stdin.read()')
        process = subprocess.Popen([sys.executable, '-B', '-c', code], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        pid, folder = process.stdout.readline().split()
        daemon = os.pidfd_open(int(pid)) if hasattr(os, 'pidfd_open') else None
        process.kill()
        process.communicate()
        if daemon is not None:
            self.assertEqual(select.select([daemon], [], [], 30)[0], [daemon])
            os.close(daemon)
        shutil.rmtree(folder)

    def script(self, code):
        """What a program has printed and complained about; it leaves nothing in TMPDIR."""
        with tempfile.TemporaryDirectory() as folder:
            before = f'import attune, os, sys\nSPACE = {UNIFORM!r}\n'
            done = subprocess.run(
                [sys.executable, '-B', '-c', before + code],
                capture_output=True, text=True, timeout=200, env={**os.environ, 'TMPDIR': folder})
            self.assertEqual(os.listdir(folder), [])
        return done

    def test_a_program_that_does_not_close(self):
        use = 'study = attune.Study(SPACE, attuned=True)\nstudy.tell(study.ask(), 1)\n'
        saved = ('study.save(os.environ["TMPDIR"] + "/saved")\n'
                 'again = attune.Study.load(os.environ["TMPDIR"] + "/saved")\n'
                 'os.unlink(os.environ["TMPDIR"] + "/saved")\nagain.ask()\n')
        refused = ('try: attune.Study(SPACE, attuned=True, tuner="none")\n'
                   'except attune.StudyError as error: kept = error\n')
        for code in (use, use + saved, refused, use + 'sys.exit(0)'):
            with self.subTest(code=code):
                done = self.script(code)
                self.assertEqual((done.returncode, done.stderr), (0, ''))
        done = self.script(use + 'raise OSError("boom")')
        self.assertEqual(done.stderr.count('Traceback'), 1, done.stderr)
        self.assertTrue(done.stderr.endswith('OSError: boom\n'), done.stderr)

    def test_a_forked_child_leaves_it_alone(self):
        fork = ('study = attune.Study(SPACE, attuned=True)\nstudy.tell(study.ask(), 1)\n'
                'child = os.fork()\nif child == 0:\n    {}\n'
                'assert os.waitpid(child, 0)[1] == 0\n'
                'assert os.path.isdir(study._folder)\n'
                'study.tell(study.ask(), 2)\nprint(len(study.trials))\n')
        for end in ('sys.exit(0)', 'study.close(); sys.exit(0)', 'del study; sys.exit(0)'):
            with self.subTest(end=end):
                done = self.script(fork.format(end))
                self.assertEqual((done.stdout, done.stderr), ('2\n', ''))

    def test_what_a_manager_told_this_process_is_not_the_daemons(self):
        with tempfile.TemporaryDirectory() as folder:
            names = {'NNI_LOG_DIRECTORY': folder, 'NNI_MODE': 'resume',
                     'NNI_CHECKPOINT_DIRECTORY': folder,
                     'NNI_TUNER_COMMAND_CHANNEL': 'ws://127.0.0.1:1'}
            os.environ.update(names)
            try:
                with attune.Study(UNIFORM, attuned=True) as study:
                    study.ask()
                    given = pathlib.Path(f'/proc/{study._daemon.pid}/environ').read_bytes()
                    self.assertNotIn(b'NNI_', given)
            finally:
                for name in names:
                    del os.environ[name]
            self.assertEqual(os.listdir(folder), [])


if __name__ == '__main__':
    unittest.main()
