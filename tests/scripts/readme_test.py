"""README.md and docs/ against the programs that were built: examples, transcript, algorithms."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = (ROOT / 'README.md').read_text()
PROTOCOL = (ROOT / 'docs/protocol.md').read_text()
TUNERS = (ROOT / 'docs/tuners.md').read_text()
ATTUNED = os.environ['ATTUNED']
ATTUNE = pathlib.Path(ATTUNED).with_name('attune')


def algorithm_table():
    listing = json.loads(subprocess.check_output([ATTUNED, '--list', '--json']))
    lines = ['| name | kind | what it does |', '|---|---|---|']
    for kind in ('tuners', 'assessors'):
        for entry in listing[kind]:
            lines.append(f'| {entry["name"]} | {kind[:-1]} | {entry["summary"]} |')
    return '\n'.join(lines)


def shape(line):
    """The line without its figures and its duration, which has minutes on a slow machine."""
    return re.sub(r'\d[\d.e-]*', '#', re.sub(r' in [^:]*:', ' in #:', line))


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
    def example(self, language):
        return re.search(rf'```{language}\n(.*?)```', README, re.DOTALL)[1]

    def test_experiment_file_runs_as_shown(self):
        shown = re.search(r'```\n\$ attune (run .*)\n(.*)\n(.*)\n((?:.*\n)+?)```', README)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, 'solver.yaml')
            file.write_text(self.example('yaml').replace('examples/', f'{ROOT}/examples/'))
            done = subprocess.run([ATTUNE, *shown[1].split()], cwd=folder, check=True, text=True,
                                  stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        summary, best, parameters = done.stdout.split('\n', 2)
        # Two trials at a time: which of them ends first is the machine's, and so is what is found.
        self.assertEqual(shape(summary), shape(shown[2]))
        self.assertEqual(shape(best), shape(shown[3]))
        self.assertEqual(json.loads(parameters).keys(), json.loads(shown[4]).keys())

    def test_python_runs(self):
        environment = {**os.environ, 'PYTHONPATH': str(ROOT / 'python'),
                       'PATH': f'{ATTUNE.parent}:{os.environ["PATH"]}'}
        said = subprocess.check_output([sys.executable, '-c', self.example('python')], text=True,
                                       env=environment)
        value, _, parameters = said.partition(' ')
        self.assertLess(float(value), 0.01)
        self.assertIn("'depth': 4", parameters)

    def test_algorithms_are_those_of_the_registries(self):
        self.assertIn(algorithm_table(), TUNERS)

    def test_transcript_is_what_the_daemon_says(self):
        block = re.search(r'```\n\$ attuned (.*)\n((?:[<>] .*\n)+)```', PROTOCOL)
        self.assertTrue(block, 'no transcript in docs/protocol.md')
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

    def test_links_lead_somewhere(self):
        pages = [*ROOT.glob('docs/*.md'), ROOT / 'README.md', ROOT / 'CONTRIBUTING.md']
        headings = {page: {re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-') for heading
                           in re.findall(r'^#+ (.*)$', page.read_text(), re.MULTILINE)}
                    for page in pages}
        for page in pages:
            text = re.sub(r'```.*?```', '', page.read_text(), flags=re.DOTALL)
            for link in re.findall(r'\]\(([^)\s]+)\)', text):
                name, _, anchor = link.partition('#')
                target = (page.parent / name).resolve() if name else page
                with self.subTest(page=page.name, link=link):
                    self.assertTrue(target.exists())
                    if anchor and target in headings:
                        self.assertIn(anchor, headings[target])

    def test_files_that_are_named_exist(self):
        names = re.findall(r'\]\(([^)#]+)\)|\b(scripts/\w+\.(?:sh|py))',
                           re.sub(r'```.*?```', '', README, flags=re.DOTALL))
        self.assertGreater(len(names), 5)
        for link, script in names:
            self.assertTrue((ROOT / (link or script)).exists(), link or script)


if __name__ == '__main__':
    unittest.main()
