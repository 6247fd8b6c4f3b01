"""README.md against the daemon that was built: its table of algorithms and its transcript."""
import json
import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = (ROOT / 'README.md').read_text()
ATTUNED = os.environ['ATTUNED']


def algorithm_table():
    listing = json.loads(subprocess.check_output([ATTUNED, '--list', '--json']))
    lines = ['| name | kind | what it does |', '|---|---|---|']
    for kind in ('tuners', 'assessors'):
        for entry in listing[kind]:
            lines.append(f'| {entry["name"]} | {kind[:-1]} | {entry["summary"]} |')
    return '\n'.join(lines)


class Daemon:
    """A daemon on two pipes, as a manager starts it."""

    def __init__(self, arguments):
        in_read, self.out_fd = os.pipe()
        self.in_fd, out_write = os.pipe()
        self.process = subprocess.Popen(
            [ATTUNED, *arguments, '--in-fd', str(in_read), '--out-fd', str(out_write)],
            pass_fds=(in_read, out_write), stderr=subprocess.DEVNULL)
        os.close(in_read)
        os.close(out_write)
        self.reader = os.fdopen(self.in_fd, 'rb')

    def send(self, code, payload):
        data = payload.encode()
        os.write(self.out_fd, b'%s%014d%s' % (code.encode(), len(data), data))

    def receive(self):
        header = self.reader.read(16).decode()
        payload = self.reader.read(int(header[2:])).decode()
        return header[:2] + (f' {payload}' if payload else '')

    def close(self):
        os.close(self.out_fd)
        self.reader.close()
        return self.process.wait(timeout=200)


class Readme(unittest.TestCase):
    def test_algorithms_are_those_of_the_registries(self):
        self.assertIn(algorithm_table(), README)

    def test_transcript_is_what_the_daemon_says(self):
        block = re.search(r'```\n\$ attuned (.*)\n((?:[<>] .*\n)+)```', README)
        self.assertTrue(block, 'no transcript in README.md')
        daemon = Daemon(block[1].split())
        try:
            for line in block[2].splitlines():
                if line.startswith('> '):
                    code, _, payload = line[2:].partition(' ')
                    daemon.send(code, payload)
                else:
                    self.assertEqual(daemon.receive(), line[2:])
        finally:
            status = daemon.close()
        self.assertEqual(status, 0)

    def test_files_that_are_named_exist(self):
        names = re.findall(r'\]\(([^)#]+)\)|\b(scripts/\w+\.(?:sh|py))', README)
        self.assertGreater(len(names), 5)
        for link, script in names:
            self.assertTrue((ROOT / (link or script)).exists(), link or script)


if __name__ == '__main__':
    unittest.main()
