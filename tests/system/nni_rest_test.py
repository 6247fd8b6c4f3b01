#!/usr/bin/env python3
"""attune dashboard --nni-rest as NNI's clients meet it: ATTUNE [unittest's arguments]"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from dashboard_server import Dashboard
from pool_programs import wait_for

# Trials end when the file appears.
EXPERIMENT = '''
experimentName: digits
trialCommand: 'echo r=0.5; until test -e {gate}; do sleep 0.05; done; echo r=0.25'
trialConcurrency: 2
maxTrialNumber: 4
searchSpace: {{x: {{_type: uniform, _value: [0, 1]}}}}
tuner: {{name: Random}}
report: {{regex: "r=(?<default>.*)"}}
'''


class Folder:
    def __init__(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.temporary.name)
        self.gate = self.path / 'gate'
        self.file = self.path / 'experiment.yaml'
        self.file.write_text(EXPERIMENT.format(gate=self.gate))
        self.managers = []

    def run(self, *options):
        self.managers.append(subprocess.Popen(
            [ATTUNE, *options, '--quiet'], cwd=self.path, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        return self.managers[-1]

    def begin(self):
        manager = self.run('run', str(self.file))

        def runs():
            status = subprocess.run([ATTUNE, 'status', '--json'], cwd=self.path, text=True,
                                    capture_output=True).stdout
            return status and json.loads(status)['trials']['running'] == 2
        wait_for(runs, 'two trials')
        return manager

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.gate.touch()
        for manager in self.managers:
            if manager.poll() is None:
                manager.terminate()
            manager.wait()
        self.temporary.cleanup()


class Nni(Dashboard):
    """A client of NNI: it knows a port, and what stands between it and /api."""

    def __init__(self, folder, *options, where=None):
        super().__init__(ATTUNE, where or folder.path, '--nni-rest', *options)
        line = self.process.stdout.readline()
        found = re.fullmatch(r"NNI's REST API, experiment (\w+): "
                             r'http://127\.0\.0\.1:(\d+)/([0-9a-f]{64})/api/v1/nni\n', line)
        assert found and int(found[2]) == self.port, line
        self.experiment, self.prefix = found[1], found[3]
        line = self.process.stdout.readline()
        self.home = pathlib.Path(re.fullmatch(r'nnictl: HOME=(\S+) nnictl trial ls\n', line)[1])

    def nni(self, path, method='GET', body=None):
        status, data = self.ask(f'/{self.prefix}/api/v1/nni{path}', method, body, token=False)
        assert status == 200, (path, status, data)
        return data

    def entry(self):
        """What nnictl reads first."""
        return json.loads((self.home / 'nni-experiments/.experiment').read_text())[self.experiment]

    def status_of(self, trial):
        job = self.nni(f'/trial-jobs/{trial}')  # empty: there is no such trial yet
        return job and job['status']


class NniRest(unittest.TestCase):
    def test_a_running_experiment_is_shown_and_steered(self):
        with Folder() as folder:
            manager = folder.begin()
            with Nni(folder) as nni:
                self.assertEqual(nni.nni('/check-status'), {'status': 'RUNNING', 'errors': []})
                profile = nni.nni('/experiment')
                self.assertEqual(profile['id'], nni.experiment)
                self.assertEqual(profile['params']['trialConcurrency'], 2)
                wait_for(lambda: len(nni.nni('/metric-data')) == 2, 'results')
                for metric in nni.nni('/metric-data'):
                    self.assertEqual(json.loads(json.loads(metric['data'])), 0.5)
                self.assertEqual(nni.nni('/trial-file/t0000/stdout'), b'r=0.5\n')

                profile['params']['trialConcurrency'] = 3
                nni.nni('/experiment?update_type=TRIAL_CONCURRENCY', 'PUT', profile)
                self.assertEqual(nni.nni('/experiment')['params']['trialConcurrency'], 3)
                wait_for(lambda: nni.status_of('t0002') == 'RUNNING', 'the third trial')
                self.assertEqual(nni.nni('/trial-jobs', 'POST', {'x': 0.125}), {'sequenceId': 3})
                given = json.loads(nni.nni('/trial-jobs/t0003')['hyperParameters'][0])
                self.assertEqual(given['parameters'], {'x': 0.125})
                nni.nni('/trial-jobs/t0000', 'DELETE')
                wait_for(lambda: nni.status_of('t0000') == 'USER_CANCELED', 'the cancelled trial')
                nni.nni('/experiment/import-data', 'POST',
                        [{'parameter': {'x': 0.5}, 'value': '0.75'}])
                self.assertEqual(json.loads(nni.nni('/experiment/imported-data')[0]),
                                 [{'parameter': {'x': 0.5}, 'value': 0.75}])
                nni.nni('/experiment', 'DELETE')
                manager.wait()
                self.assertEqual(nni.nni('/check-status')['status'], 'STOPPED')

                folder.gate.touch()
                folder.run('resume', nni.experiment).wait()
                self.assertEqual(nni.nni('/check-status')['status'], 'DONE')
                exported = nni.nni('/export-data')
                self.assertGreaterEqual(len(exported), 2)
                self.assertEqual({each['value'] for each in exported}, {'0.25'})

    def test_nnictl_finds_the_experiment_and_who_stops_it(self):
        with Folder() as folder:
            manager = folder.begin()
            with Nni(folder) as nni:
                self.assertEqual(nni.home.stat().st_mode & 0o777, 0o700)
                entry = nni.entry()
                # It puts this between http://localhost: and /api/v1/nni.
                self.assertEqual(entry['port'], f'{nni.port}/{nni.prefix}')
                self.assertEqual((entry['status'], entry['pid']), ('RUNNING', manager.pid))
                log = nni.home / 'nni-experiments' / nni.experiment / 'log/nnictl_stdout.log'
                self.assertIn('t0000', log.read_text())
                os.kill(entry['pid'], 15)  # nnictl stop
                manager.wait()
                wait_for(lambda: nni.entry()['status'] == 'VIEWED', 'the end in the list')
                self.assertEqual(nni.entry()['pid'], nni.process.pid)
            self.assertFalse(nni.home.exists())
            self.assertTrue((folder.path / 'attune-experiments' / nni.experiment / 'log').exists())

    def test_read_only(self):
        with Folder() as folder:
            folder.begin()
            with Nni(folder, '--read-only') as nni:
                for path, method in (('/experiment', 'DELETE'), ('/trial-jobs/t0000', 'DELETE'),
                                     ('/trial-jobs', 'POST')):
                    status, answer = nni.ask(f'/{nni.prefix}/api/v1/nni{path}', method, {'x': 0.5},
                                             token=False)
                    self.assertEqual(status, 403)
                    self.assertIn('--read-only', answer['error'])
                self.assertEqual(nni.entry()['pid'], nni.process.pid)  # nnictl stop ends it alone

    def test_nobody_else_finds_it(self):
        with Folder() as folder:
            folder.gate.touch()
            folder.run('run', str(folder.file)).wait()
            with Nni(folder) as nni:
                for prefix in ('', '/' + nni.token, '/' + '0' * 64, f'/{nni.prefix}/{nni.prefix}'):
                    status, _ = nni.ask(f'{prefix}/api/v1/nni/version')
                    self.assertEqual(status, 404)
                self.assertEqual(nni.ask(f'/{nni.prefix}/api/v1/experiments')[0], 404)
                status, _ = nni.ask(f'/{nni.prefix}/api/v1/nni/version',
                                    headers={'Host': 'evil.example'})
                self.assertEqual(status, 403)
            with Dashboard(ATTUNE, folder.path) as plain:
                self.assertEqual(plain.ask('/api/v1/nni/version')[0], 404)

    def test_which_experiment(self):
        with Folder() as folder:
            folder.gate.touch()
            folder.run('run', str(folder.file)).wait()
            with Nni(folder) as nni:
                first = nni.experiment
            folder.run('run', str(folder.file)).wait()
            with Nni(folder) as nni:
                self.assertNotEqual(nni.experiment, first)  # the newest
            with Nni(folder, where=folder.path / 'attune-experiments' / first) as nni:
                self.assertEqual(nni.experiment, first)
        with tempfile.TemporaryDirectory() as empty:
            failed = subprocess.run([ATTUNE, 'dashboard', '--nni-rest', empty], text=True,
                                    capture_output=True, stdin=subprocess.DEVNULL)
            self.assertEqual(failed.returncode, 2)
            self.assertIn('attune run', failed.stderr)



if __name__ == '__main__':
    ATTUNE = sys.argv.pop(1)
    unittest.main()
