"""A trial's folder, and what a trial has left in it."""
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import attune

UNIFORM = {'x': {'_type': 'uniform', '_value': [0, 1]}}
TWO = {'x': {'_type': 'uniform', '_value': [0, 1]}, 'k': {'_type': 'choice', '_value': [1, 2, 3]}}
CHOICE = {'x': {'_type': 'choice', '_value': [1, 2, 3]}}


def read_records(folder):
    """The records of .nni/metrics, as parse_records()."""
    path = pathlib.Path(folder) / '.nni/metrics'
    return parse_records(path.read_bytes() if path.exists() else b'')


def parse_records(data):
    """AssertionError: a wrong length, or bytes that belong to no record."""
    records = []
    while data:
        assert data[:2] == b'ME' and data[2:8].isdigit(), data[:60]
        body = data[8:8 + int(data[2:8])]
        assert len(body) == int(data[2:8]) and body.endswith(b'\n') and body.count(b'\n') == 1, body
        records.append(json.loads(body))
        data = data[8 + len(body):]
    return records


class TrialCase(unittest.TestCase):
    """self.folder is NNI_SYS_DIR, self.environment what a manager sets."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = {
            'NNI_PLATFORM': 'local', 'NNI_EXP_ID': 'exp1', 'NNI_TRIAL_JOB_ID': 't0007',
            'NNI_TRIAL_SEQ_ID': '7', 'NNI_SYS_DIR': str(self.folder),
            'NNI_OUTPUT_DIR': str(self.folder),
            'ATTUNE_CHECKPOINT_DIR': str(self.folder / 'checkpoint')}
        self.propose({'x': 0.5})

    def propose(self, parameters, name='parameter.cfg', parameter_id=3):
        draft = self.folder / 'draft'
        draft.write_text(json.dumps({'parameter_id': parameter_id, 'parameters': parameters}))
        draft.rename(self.folder / name)

    def values(self):
        """(type, sequence, value) of each record."""
        return [(record['type'], record['sequence'], json.loads(record['value']))
                for record in read_records(self.folder)]


def parabola(config):
    return (config['x'] - 0.3) ** 2


class StudyCase(unittest.TestCase):
    """The engine is attuned, unless a class that derives from this one says otherwise."""

    attuned = True

    def study(self, *arguments, **named):
        """A Study, of UNIFORM unless another space is given; closed at the end."""
        study = attune.Study(*(arguments or (UNIFORM,)),
                             **{'seed': 1, 'attuned': self.attuned, **named})
        self.addCleanup(study.close)
        return study

    @contextlib.contextmanager
    def interrupted_after(self, study, answers):
        """Ctrl-C once so many answers were taken from the pipe, and one more, which was not yet
        understood; ends the block. Yields [answers left]: -1 once that has happened."""
        receive, left = study._daemon.receive, [answers]

        def interrupted():
            frame = receive()
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            return frame

        with mock.patch.object(study._daemon, 'receive', interrupted), \
                contextlib.suppress(KeyboardInterrupt):
            yield left


def python_with(*modules):
    """An interpreter that has them: this one, or Debian's. None: neither has."""
    code = 'import ' + ', '.join(modules)
    for python in (sys.executable, '/usr/bin/python3'):
        if subprocess.run([python, '-c', code], capture_output=True).returncode == 0:
            return python
    return None


def run_with(*modules):
    """Runs this test program in an interpreter that has the modules. False: there is none."""
    python = python_with(*modules)
    if python not in (None, sys.executable):
        os.execv(python, [python, '-B', *sys.argv])
    return python is not None


def need(*modules):
    """run_with(), or ends the test program, which is skipped then."""
    if not run_with(*modules):
        print('OK (skipped: needs', ', '.join(modules) + ')')
        raise SystemExit


class StudyFileCase(StudyCase):
    """self.path is that of a study's file, in a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / 'study'

    def open(self):
        study = attune.Study.open(self.path)
        self.addCleanup(study.close)
        return study

    def state(self, study):
        return [(trial.number, trial.parameters, trial.status, trial.metrics, trial.reports)
                for trial in study.trials]
