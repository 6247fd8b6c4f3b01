#!/usr/bin/env python3
"""The example of an embedded study: what it finds, that it repeats, that a kill costs nothing."""
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import unittest

PROGRAM = os.environ['CALIBRATION']


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], text=True, capture_output=True,
                          check=True).stdout


def fit(output):
    """The table and the line below it."""
    return output[output.index('\nday'):]


class CalibrationTest(unittest.TestCase):
    def test_known_fit(self):
        line = fit(run()).splitlines()[-1]
        beta, gamma, r0, misfit = map(float, re.findall(r'[a-zR0]+ (\d+\.\d+)', line))
        self.assertTrue(3.5 < r0 < 3.9, line)
        self.assertTrue(1.5 < beta < 1.8 and 0.4 < gamma < 0.5, line)
        self.assertLess(misfit, 20)

    def test_repeats_for_a_seed(self):
        first = run('--seed', 7)
        self.assertEqual(run('--seed', 7), first)
        self.assertNotEqual(run('--seed', 8), first)

    def test_goes_on_after_a_kill(self):
        with tempfile.TemporaryDirectory() as folder:
            whole = pathlib.Path(folder, 'whole')
            options = ('--trials', 1000)
            expected = fit(run(*options, whole))
            for attempt in range(10):  # it may end before the kill comes
                killed = pathlib.Path(folder, f'killed{attempt}')
                with subprocess.Popen([PROGRAM, *map(str, options), str(killed)], text=True,
                                      stdout=subprocess.PIPE) as process:
                    for _ in range(3):
                        process.stdout.readline()
                    process.send_signal(signal.SIGKILL)
                if process.returncode == -signal.SIGKILL:
                    break
            else:
                self.fail('never killed in its middle')
            self.assertLess(killed.stat().st_size, whole.stat().st_size)
            output = run(*options, killed)
            self.assertIn('going on after', output)
            self.assertEqual(fit(output), expected)
            self.assertEqual(killed.read_bytes(), whole.read_bytes())

    def test_bad_option(self):
        done = subprocess.run([PROGRAM, '--trials', '0'], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn('usage', done.stderr)


if __name__ == '__main__':
    unittest.main()
