#!/usr/bin/env python3
"""What another user of the machine can do to us: ATTUNE [unittest's arguments]

Root runs the programs, nobody (uid 65534) sets the traps: folders and files that were prepared
before we came, or exchanged while we were away. A trap is sprung when a command of nobody's has run
in the name of root. Then the other way round: nobody runs an experiment of his own in /tmp.

Needs root; exits with 77, and says so, for others.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from pool_programs import Pool, kill, wait_for

SKIPPED = 77
NOBODY = 65534
ATTUNE = pathlib.Path()
THEIRS = f'belongs to another user ({NOBODY})'


def as_nobody(arguments, **options):
    return subprocess.run(arguments, user=NOBODY, group=NOBODY, extra_groups=[], timeout=300,
                          capture_output=True, text=True, **options)


class AsNobody(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='attune-nobody-'))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.folder.chmod(0o755)
        self.sprung = self.folder / 'sprung'
        self.home = self.folder / 'home'  # nobody's
        self.home.mkdir()
        os.chown(self.home, NOBODY, NOBODY)
        self.mine = self.folder / 'mine'  # root's
        self.mine.mkdir(mode=0o755)
        self.environment = {k: v for k, v in os.environ.items()
                            if k not in ('ATTUNE_TRUST', 'SUDO_UID')}

    # ---- tools

    def nobody_writes(self, path, text):
        as_nobody(['tee', str(path)], input=text, check=True)

    def experiment(self, **more):
        """Its trial springs the trap."""
        return json.dumps({'searchSpace': {'x': {'_type': 'uniform', '_value': [0, 1]}},
                           'tuner': {'name': 'Random'}, 'trialConcurrency': 1, 'maxTrialNumber': 1,
                           'trialCommand': f'touch {self.sprung}', **more})

    def attune(self, *arguments, cwd=None):
        return subprocess.run([ATTUNE, *map(str, arguments)], cwd=cwd or self.mine, timeout=300,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env=self.environment)

    def check_refused(self, ended, place, why=THEIRS):
        self.assertEqual(ended.returncode, 2, ended)
        self.assertIn(f'{place} {why}', ended.stderr)
        self.assertIn('ATTUNE_TRUST=', ended.stderr)  # a cure
        self.assertFalse(self.sprung.exists())

    # ---- what attune run, simulate and resume read

    def test_an_experiment_file_of_nobodys(self):
        for trap in (self.home / 'e.json', self.folder / 'tmp' / 'e.json'):
            if not trap.parent.exists():
                trap.parent.mkdir()
                trap.parent.chmod(0o1777)
            self.nobody_writes(trap, self.experiment())
            place = self.home if trap.parent == self.home else trap
            self.check_refused(self.attune('run', trap), place)
            self.check_refused(self.attune('simulate', trap), place)
            self.check_refused(self.attune('coordinator', trap, '--listen', '127.0.0.1:0'), place)

    def test_an_experiment_file_behind_a_link_of_nobodys(self):
        (self.mine / 'e.json').write_text(self.experiment())
        shared = self.folder / 'tmp'
        shared.mkdir()
        shared.chmod(0o1777)
        as_nobody(['ln', '-s', str(self.mine / 'e.json'), str(shared / 'e.json')], check=True)
        self.check_refused(self.attune('run', shared / 'e.json'), shared / 'e.json')

    def test_a_search_space_and_a_template_of_nobodys(self):
        self.nobody_writes(self.home / 'space.json', '{"x": {"_type": "choice", "_value": [1]}}')
        (self.mine / 'e.json').write_text(json.dumps(
            {'searchSpaceFile': str(self.home / 'space.json'), 'trialCommand': 'true',
             'tuner': {'name': 'Random'}}))
        self.check_refused(self.attune('run', 'e.json'), self.home)
        self.nobody_writes(self.home / 'script', f'touch {self.sprung} {{x}}')
        (self.mine / 'e.json').write_text(self.experiment(
            trialCommand='sh script',
            templates=[{'template': str(self.home / 'script'), 'file': 'script'}]))
        self.check_refused(self.attune('run', 'e.json'), self.home)

    def test_a_working_directory_of_nobodys(self):
        (self.mine / 'e.json').write_text(self.experiment())
        self.check_refused(self.attune('run', self.mine / 'e.json', '--dir', self.home / 'exp'),
                           self.home)
        self.check_refused(self.attune('run', self.mine / 'e.json', cwd=self.home), self.home)

    def test_a_store_of_nobodys(self):
        """An experiment that nobody has begun, and whose trial is still to run."""
        programs = copy_programs(self.folder)
        self.nobody_writes(self.home / 'e.json', self.experiment())
        as_nobody([programs / 'attune', 'run', 'e.json', '--dir', 'exp', '--quiet'],
                  cwd=self.home, env=self.environment)
        self.assertTrue((self.home / 'exp/attune.sqlite').exists())
        self.sprung.unlink(missing_ok=True)
        self.check_refused(self.attune('resume', '--dir', self.home / 'exp', '--max-trials', 9),
                           self.home)
        # Moved away by root, who does not look into it.
        shutil.move(self.home / 'exp', self.mine / 'exp')
        self.check_refused(self.attune('resume', '--dir', self.mine / 'exp', '--max-trials', 9),
                           self.mine / 'exp')

    # ---- the pool

    def test_a_coordinators_folder_of_nobodys(self):
        as_nobody(['mkdir', self.home / 'pool'], check=True)
        begin = ('coordinator', '--listen', '127.0.0.1:0', '--workers', 1, '--dir')
        self.check_refused(self.attune(*begin, self.home / 'pool'), self.home)
        shutil.move(self.home / 'pool', self.mine / 'pool')
        self.check_refused(self.attune(*begin, self.mine / 'pool'), self.mine / 'pool')

    def test_a_coordinators_folder_that_nobody_can_write_to(self):
        pool = self.folder / 'pool'
        pool.mkdir()
        for place, mode in ((pool, 0o777), (self.folder, 0o777), (pool, 0o1777)):
            place.chmod(mode)
            ended = self.attune('coordinator', '--listen', '127.0.0.1:0', '--dir', pool)
            self.check_refused(ended, place, 'can be written by other users')
            place.chmod(0o755)

    def test_a_coordinators_journal_of_nobodys(self):
        """The folder was open to all once."""
        self.mine.chmod(0o777)
        self.nobody_writes(self.mine / 'coordinator.journal', '')
        self.mine.chmod(0o755)
        ended = self.attune('coordinator', '--listen', '127.0.0.1:0', '--dir', self.mine)
        self.check_refused(ended, self.mine / 'coordinator.journal')

    def test_an_address_file_of_nobodys(self):
        for role in ('client', 'worker'):
            self.nobody_writes(self.home / f'{role}.json', json.dumps(
                {'address': '127.0.0.1:9', 'role': role, 'secret': 'a' * 64}))
            (self.home / f'{role}.json').chmod(0o600)
        pool = self.attune('pool', '--join', self.home)
        self.assertNotEqual(pool.returncode, 0)
        self.assertIn(f'client.json belongs to user {NOBODY}', pool.stderr)
        for role in ('client', 'worker'):  # which does not make the folder root's
            os.chown(self.home / f'{role}.json', 0, 0)
        pool = self.attune('pool', '--join', self.home)
        self.assertNotEqual(pool.returncode, 0)
        self.assertIn(f'{self.home} {THEIRS}', pool.stderr)
        # A worker tries until there is a coordinator.
        log = self.mine / 'worker.log'
        with open(log, 'w') as output:
            worker = subprocess.Popen([ATTUNE, 'worker', '--join', self.home, '--cpu', '1'],
                                      stderr=output, env=self.environment)
        self.addCleanup(kill, worker)
        wait_for(lambda: f'{self.home} {THEIRS}' in log.read_text(), 'the refusal')
        self.assertFalse(self.sprung.exists())

    def test_a_secret_file_of_nobodys(self):
        file = self.home / 'secret'
        self.nobody_writes(file, 'a' * 64)
        file.chmod(0o600)
        worker = self.attune('worker', '--join', '127.0.0.1:9', '--secret-file', file)
        self.assertNotEqual(worker.returncode, 0)
        self.assertIn(f'secret belongs to user {NOBODY}', worker.stderr)
        os.chown(file, 0, 0)  # which does not make the folder root's
        worker = self.attune('worker', '--join', '127.0.0.1:9', '--secret-file', file)
        self.check_refused(worker, self.home)

    def test_an_environment_of_nobodys(self):
        self.nobody_writes(self.home / 'environment', 'LD_PRELOAD=/tmp/x')
        ended = self.attune('worker', '--join', self.mine, '--environment', self.home / 'environment')
        self.check_refused(ended, self.home)

    def test_an_experiment_of_nobodys_for_a_worker(self):
        """It is exchanged between the manager, who wrote it, and the worker."""
        pool = Pool(ATTUNE, self.mine)
        self.addCleanup(pool.close)
        pool.begin_coordinator()
        pool.manager(1)
        wait_for(pool.tasks, 'the task')
        file, = (self.mine / 'exp/workers').iterdir()
        forged = json.loads(file.read_text())
        forged['document']['trialCommand'] = f'touch {self.sprung}'
        self.nobody_writes(self.home / 'forged', json.dumps(forged))
        shutil.move(self.home / 'forged', file)
        os.chown(file, NOBODY, NOBODY)
        pool.worker('w1')
        wait_for(lambda: pool.said('manager', f'{file} {THEIRS}'), 'the refusal')
        self.assertFalse(self.sprung.exists())

    # ---- the daemon

    def test_a_journal_of_nobodys_for_the_daemon(self):
        checkpoint = self.mine / 'checkpoint'
        checkpoint.mkdir(mode=0o777)
        checkpoint.chmod(0o777)
        self.check_daemon_refuses(checkpoint, checkpoint, 'can be written by other users')
        (checkpoint / 'attuned.journal').unlink()  # root's
        self.nobody_writes(checkpoint / 'attuned.journal', '')
        checkpoint.chmod(0o755)
        self.check_daemon_refuses(checkpoint, checkpoint / 'attuned.journal', THEIRS)
        self.check_daemon_refuses(self.home / 'checkpoint', self.home, THEIRS)

    def check_daemon_refuses(self, checkpoint, place, why):
        ended = subprocess.run(
            [ATTUNE.parent / 'attuned', '--tuner', 'Random', '--in-fd', '0', '--out-fd', '1',
             '--checkpoint-dir', checkpoint], input='', capture_output=True, text=True,
            timeout=300, env=self.environment)
        self.check_refused(ended, place, why)

    # ---- and what is allowed

    def test_nobody_runs_his_own_experiment(self):
        programs = copy_programs(self.folder)
        self.nobody_writes(self.home / 'e.json', self.experiment(
            trialCommand='echo "r=1"', report={'regex': 'r=(?<default>\\d+)'}))
        ended = as_nobody([programs / 'attune', 'run', 'e.json', '--dir', 'exp'], cwd=self.home,
                          env=self.environment)
        self.assertEqual(ended.returncode, 0, ended)

    def test_who_has_called_sudo_is_trusted(self):
        self.nobody_writes(self.home / 'e.json', self.experiment())
        self.environment['SUDO_UID'] = str(NOBODY)
        self.assertEqual(self.attune('run', self.home / 'e.json', '--dry-run').returncode, 0)

    def test_who_is_named_is_trusted(self):
        self.nobody_writes(self.home / 'e.json', self.experiment())
        for value in (f'user:{NOBODY}', 'all'):
            self.environment['ATTUNE_TRUST'] = value
            self.assertEqual(self.attune('run', self.home / 'e.json', '--dry-run').returncode, 0)
        self.environment['ATTUNE_TRUST'] = 'nobody'
        ended = self.attune('run', self.home / 'e.json', '--dry-run')
        self.assertIn('ATTUNE_TRUST: "nobody" is none of', ended.stderr)


def copy_programs(folder):
    """Where nobody may execute them."""
    programs = folder / 'bin'
    programs.mkdir()
    for name in ('attune', 'attuned', 'attune-shim'):
        shutil.copy(ATTUNE.parent / name, programs / name)
    return programs


if __name__ == '__main__':
    if os.geteuid() != 0:
        print('skipped: needs root, to be two users')
        sys.exit(SKIPPED)
    ATTUNE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
