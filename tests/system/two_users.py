"""Root and nobody (uid 65534), for tests: the programs of the one, and what the other can do to them."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SKIPPED = 77
NOBODY = 65534
THEIRS = f'belongs to another user ({NOBODY})'


def as_nobody(arguments, **options):
    return subprocess.run(arguments, user=NOBODY, group=NOBODY, extra_groups=[], timeout=300,
                          capture_output=True, text=True, **options)


class TwoUsers(unittest.TestCase):
    program = pathlib.Path()  # attune, as root runs it

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
        return subprocess.run([self.program, *map(str, arguments)], cwd=cwd or self.mine, timeout=300,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env=self.environment)

    def check_refused(self, ended, place, why=THEIRS):
        self.assertEqual(ended.returncode, 2, ended)
        self.assertIn(f'{place} {why}', ended.stderr)
        self.assertIn('ATTUNE_TRUST=', ended.stderr)  # a cure
        self.assertFalse(self.sprung.exists())

    def copy_programs(self):
        """Where nobody may execute them."""
        programs = self.folder / 'bin'
        programs.mkdir()
        for name in ('attune', 'attuned', 'attune-shim'):
            shutil.copy(self.program.parent / name, programs / name)
        return programs


def main():
    """ATTUNE [unittest's arguments]"""
    if os.geteuid() != 0:
        print('skipped: needs root, to be two users')
        sys.exit(SKIPPED)
    TwoUsers.program = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
