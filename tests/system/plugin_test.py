"""Plug-ins in whole experiments.

    plugin_test.py ATTUNE TUNER [TEST]

TUNER is the shared object of the tuner OnePlusOne. The other plug-ins are programs.

Where attuned, its manager or the plug-in is killed, nothing of a plug-in is left, and the experiment
goes on to its end.
"""
import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import unittest

from kill_manager_test import daemon_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE = 300
ATTUNE, TUNER = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))

# Leaves a child in a session of its own, whose parent has ended.
PLUGIN = '''
import os, random, subprocess, sys
from attune import plugin

def note(pid):
    with open('pids', 'a') as file:
        file.write(f'{pid}\\n')

note(os.getpid())
orphan = 'sleep 3600 </dev/null >/dev/null 2>&1 & echo $!'
note(subprocess.check_output(['setsid', 'sh', '-c', orphan], text=True).strip())

class Drawn(plugin.Tuner):
    """Not even repeatable"""
    def ask(self, trial):
        return {'x': random.random()}
    def tell(self, outcome):
        if not os.path.exists('crashed') and os.path.exists('crash'):
            open('crashed', 'w').close()
            os.abort()

plugin.serve(Drawn)
'''
TRIAL = '''
import attune, os
x = attune.next_parameters()['x']
with open(os.environ['FIFO'], 'w') as fifo:  # waits until the test lets it go
    fifo.write('x')
attune.final(x)
'''


class Plugins(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / 'drawn.py').write_text(PLUGIN)
        (self.folder / 'trial.py').write_text(TRIAL)
        self.fifo = self.folder / 'fifo'
        os.mkfifo(self.fifo)
        self.write_experiment({'command': [sys.executable, '-B', 'drawn.py']}, 'drawn')

    def write_experiment(self, plugin, tuner, **arguments):
        (self.folder / 'e.json').write_text(json.dumps({
            'plugins': [plugin], 'tuner': {'name': tuner, 'classArgs': arguments},
            'searchSpace': {'x': {'_type': 'uniform', '_value': [0, 1]}},
            'trialCommand': f'exec {sys.executable} -B trial.py',
            'environment': {'PYTHONPATH': str(ROOT / 'python'), 'FIFO': str(self.fifo)},
            'trialConcurrency': 1, 'maxTrialNumber': 5}))

    def start(self, *words):
        manager = subprocess.Popen(
            [ATTUNE, *words], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
            env={**os.environ, 'PYTHONPATH': str(ROOT / 'python'), 'ATTUNE_TRUST': 'all'})
        self.addCleanup(manager.stdout.close)
        self.addCleanup(manager.wait)
        self.addCleanup(manager.kill)
        return manager

    def let_one_go(self):
        """Waits for a trial, and lets it end."""
        with open(self.fifo) as fifo:
            self.assertEqual(fifo.read(), 'x')

    def processes(self):
        """Descriptors of the running processes of plug-ins."""
        opened = []
        for pid in (self.folder / 'pids').read_text().split():
            try:
                opened.append(os.pidfd_open(int(pid)))
            except ProcessLookupError:
                pass
        return opened

    def check_all_end(self, processes):
        for process in processes:
            ended, _, _ = select.select([process], [], [], PATIENCE)
            self.assertTrue(ended, 'a process of a plug-in is left')
            os.close(process)

    def finish(self, manager, trials):
        for _ in range(trials):
            self.let_one_go()
        out, _ = manager.communicate(timeout=PATIENCE)
        self.assertEqual(manager.returncode, 0, out)
        self.assertIn('5 succeeded', out)
        if (self.folder / 'pids').exists():
            self.assertEqual(self.processes(), [])

    def test_attuned_killed(self):
        manager = self.start('run', 'e.json')
        self.let_one_go()
        before = self.processes()
        self.assertEqual(len(before), 2)
        os.kill(daemon_of(manager), signal.SIGKILL)
        self.check_all_end(before)
        self.finish(manager, 4)

    def test_both_killed(self):
        manager = self.start('run', 'e.json')
        self.let_one_go()
        before = self.processes()
        self.assertEqual(len(before), 2)
        os.kill(manager.pid, signal.SIGSTOP)
        os.kill(daemon_of(manager), signal.SIGKILL)
        os.kill(manager.pid, signal.SIGKILL)
        manager.wait()
        self.check_all_end(before)
        self.finish(self.start('resume'), 4)

    def test_the_plugin_killed(self):
        manager = self.start('run', 'e.json')
        self.let_one_go()
        program, orphan = self.processes()
        signal.pidfd_send_signal(program, signal.SIGKILL)
        self.check_all_end([program, orphan])
        self.finish(manager, 4)

    def test_it_crashes_once(self):
        (self.folder / 'crash').touch()
        self.finish(self.start('run', 'e.json'), 5)
        self.assertTrue((self.folder / 'crashed').exists())

    def test_a_member_of_an_ensemble(self):
        self.write_experiment({'command': [sys.executable, '-B', 'drawn.py']}, 'ensemble',
                              members='drawn,TPE', seed=1)
        manager = self.start('run', 'e.json')
        for _ in range(2):
            self.let_one_go()
        os.kill(daemon_of(manager), signal.SIGKILL)
        self.finish(manager, 3)

    def test_a_shared_object(self):
        for tuner, arguments in (('OnePlusOne', {}), ('ensemble', {'members': 'OnePlusOne,TPE'}),
                                 ('ASHA', {'searcher': 'OnePlusOne'})):
            with self.subTest(tuner):
                self.write_experiment(TUNER, tuner, seed=1, **arguments)
                manager = self.start('run', 'e.json', '--dir', tuner)
                self.let_one_go()
                os.kill(daemon_of(manager), signal.SIGKILL)
                self.finish(manager, 4)


if __name__ == '__main__':
    unittest.main()
