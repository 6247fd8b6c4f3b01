"""For the tests of attune.nni_host: the process behind its pipes."""
import json
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

from support import TWO

TESTS = pathlib.Path(__file__).resolve().parent
CLASSES = TESTS / 'nni_classes'


class Host:
    """A process. stderr: a file."""

    def __init__(self, name, folder, kind, stderr, packages=''):
        self.process = subprocess.Popen(
            [sys.executable, '-B', '-m', 'attune.nni_host', '--kind', kind, '--class', name,
             '--directory', str(folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
            cwd='/', env={'PYTHONPATH': f'{TESTS.parents[1] / "python"}:{packages}'})

    def ask(self, op, **members):
        line = json.dumps({'op': op, **members}).encode() + b'\n'
        self.process.stdin.write(line)
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        self.process.stdout.close()
        return rest, self.process.wait(60)


class HostCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.log = self.folder / 'log'
        self.stderr = open(self.folder / 'stderr', 'wb')
        self.addCleanup(self.stderr.close)

    def host(self, name, folder=CLASSES, kind='tuner', packages=''):
        host = Host(name, folder, kind, self.stderr, packages)
        self.addCleanup(host.process.wait)
        self.addCleanup(host.process.kill)
        self.addCleanup(host.process.stdin.close)
        self.addCleanup(host.process.stdout.close)
        return host

    def begun(self, name, arguments=None, space=None, **named):
        host = self.host(name, **named)
        self.assertEqual(host.ask('init', arguments=arguments or {}, space=space or TWO), {})
        return host

    def ask(self, host, *ids):
        return host.ask('ask', ids=list(ids))['answers']

    def tell(self, host, trial, value=0.5, end='completed', **named):
        loss = None if value is None else value
        metrics = {} if value is None else {'default': value}
        self.assertEqual(host.ask('tell', outcomes=[
            {'id': trial, 'end': end, 'loss': loss, 'metrics': metrics, **named}]), {})

    def said(self):
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def bad(self, body, name='Bad', **named):
        """A class with these lines after the imports."""
        (self.folder / 'bad.py').write_text(
            'import nni, os, sys, threading, time\nfrom nni.tuner import Tuner\n'
            'from nni.assessor import Assessor\n' + textwrap.dedent(body))
        return self.host('bad.' + name, self.folder, **named)
