#!/usr/bin/env python3
"""Resumes an experiment that a former version has left: store, journal of the daemon, folders.
Usage: former_version_test.py ATTUNE

tests/data/former/version-5.tar.gz is what kill -9 of a manager left of 12 trials when the tables had
version 5: 6 trials had ended, 2 ran. Only the folder, which is in the store, is put right.
"""
import json
import pathlib
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import unittest

ATTUNE = sys.argv.pop(1)
FORMER = pathlib.Path(__file__).resolve().parents[1] / 'data/former'
MADE_IN = '/tmp/before'


class FormerVersion(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='attune_former_')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        with tarfile.open(FORMER / 'version-5.tar.gz') as archive:
            archive.extractall(self.folder)
        with sqlite3.connect(self.folder / 'exp/attune.sqlite') as store:
            for column in 'directory', 'file':
                store.execute(f'UPDATE experiments SET {column} = replace({column}, ?, ?)',
                              (MADE_IN, folder.name))
        store.close()

    def attune(self, *arguments):
        return subprocess.run([ATTUNE, *arguments, '--dir', self.folder / 'exp'], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, timeout=200, check=False)

    def test_what_only_looks_says_that_it_is_older(self):
        done = self.attune('status')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('older attune', done.stderr)

    def test_resume_goes_on(self):
        with sqlite3.connect(self.folder / 'exp/attune.sqlite') as store:
            before = dict(store.execute("SELECT job_id, final_metric FROM trials "
                                        "WHERE status = 'SUCCEEDED'"))
        store.close()
        self.assertEqual(len(before), 6)
        done = self.attune('resume')
        self.assertEqual(done.returncode, 0, done.stderr)
        # The journal of the daemon is taken up, too: the tuner does not begin afresh.
        self.assertNotIn('warning', done.stderr)
        trials = [json.loads(line) for line in
                  self.attune('export', '--format', 'jsonl').stdout.splitlines()]
        self.assertEqual(len(trials), 12)
        self.assertLessEqual({trial['status'] for trial in trials}, {'succeeded', 'early_stopped'})
        after = {trial['trial_job_id']: trial.get('score') for trial in trials}
        for job, metric in before.items():
            self.assertEqual(after[job], json.loads(metric)['default'])


if __name__ == '__main__':
    unittest.main()
