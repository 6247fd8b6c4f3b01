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

from pool_programs import Pool, kill, wait_for
from two_users import NOBODY, THEIRS, TwoUsers, as_nobody, main


class AsNobody(TwoUsers):
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
        programs = self.copy_programs()
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
        for role in ('view', 'worker'):
            self.nobody_writes(self.home / f'{role}.json', json.dumps(
                {'address': '127.0.0.1:9', 'role': role, 'secret': '7' * 64}))
            (self.home / f'{role}.json').chmod(0o600)
        pool = self.attune('pool', '--join', self.home)
        self.assertNotEqual(pool.returncode, 0)
        self.assertIn(f'view.json belongs to user {NOBODY}', pool.stderr)
        for role in ('view', 'worker'):  # which does not make the folder root's
            os.chown(self.home / f'{role}.json', 0, 0)
        pool = self.attune('pool', '--join', self.home)
        self.assertNotEqual(pool.returncode, 0)
        self.assertIn(f'{self.home} {THEIRS}', pool.stderr)
        # A worker tries until there is a coordinator.
        log = self.mine / 'worker.log'
        with open(log, 'w') as output:
            worker = subprocess.Popen([self.program, 'worker', '--join', self.home, '--cpu', '1'],
                                      stderr=output, env=self.environment)
        self.addCleanup(kill, worker)
        wait_for(lambda: f'{self.home} {THEIRS}' in log.read_text(), 'the refusal')
        self.assertFalse(self.sprung.exists())

    def test_a_secret_file_of_nobodys(self):
        file = self.home / 'secret'
        self.nobody_writes(file, '7' * 64)
        file.chmod(0o600)
        worker = self.attune('worker', '--join', '127.0.0.1:9', '--secret-file', file)
        self.assertEqual(worker.returncode, 2, worker)
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
        pool = Pool(self.program, self.mine)
        self.addCleanup(pool.close)
        pool.begin_coordinator()
        pool.manager(1)
        wait_for(pool.tasks, 'the task')
        file, = (self.mine / 'exp/workers').iterdir()
        forged = json.loads(file.read_text())
        forged['program']['command'] = f'touch {self.sprung}'
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
            [self.program.parent / 'attuned', '--tuner', 'Random', '--in-fd', '0', '--out-fd', '1',
             '--checkpoint-dir', checkpoint], input='', capture_output=True, text=True,
            timeout=300, env=self.environment)
        self.check_refused(ended, place, why)

    # ---- and what is allowed

    def test_nobody_runs_his_own_experiment(self):
        programs = self.copy_programs()
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


if __name__ == '__main__':
    main()
