"""attune dashboard with us as its client."""
import http.client
import json
import pathlib
import re
import subprocess
import threading

DEADLINE = 800


class Dashboard:
    """A server that hangs is killed, and the test fails."""

    def __init__(self, program, folder, *options, listen='127.0.0.1:0'):
        self.process = subprocess.Popen(
            [program, 'dashboard', str(folder), '--listen', listen, *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.watchdog = threading.Timer(DEADLINE, self.process.kill)
        self.watchdog.start()
        self.link = self.process.stdout.readline().removeprefix('dashboard: ').strip()
        found = re.fullmatch(r'http://127\.0\.0\.1:(\d+)/#token=([0-9a-f]{64})', self.link)
        assert found, (self.link, self.process.stderr.read())
        self.port, self.token = int(found[1]), found[2]

    def connection(self):
        return http.client.HTTPConnection('127.0.0.1', self.port, timeout=DEADLINE)

    def ask(self, path, method='GET', body=None, headers=None, token=True):
        """The status and the body, parsed if it is JSON."""
        sent = {'Authorization': f'Bearer {self.token}'} if token else {}
        if body is not None:
            sent['Content-Type'] = 'application/json'
        connection = self.connection()
        try:
            connection.request(method, path, None if body is None else json.dumps(body),
                               {**sent, **(headers or {})})
            answer = connection.getresponse()
            data = answer.read()
        finally:
            connection.close()
        if answer.getheader('Content-Type') == 'application/json':
            data = json.loads(data)
        return answer.status, data

    def get(self, path):
        status, data = self.ask('/api/v1' + path)
        assert status == 200, (path, status, data)
        return data

    def events(self, query=''):
        """The data of the events of a stream, one after the other, with their ids."""
        connection = self.connection()
        connection.request('GET', '/api/v1/stream' + query,
                           headers={'Authorization': f'Bearer {self.token}'})
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        event = {}
        while line := answer.readline().decode().rstrip('\n'):
            if line.startswith(':'):
                assert answer.readline() == b'\n'
                continue
            while line:
                key, _, value = line.partition(': ')
                event[key] = event.get(key, '') + value
                line = answer.readline().decode().rstrip('\n')
            yield event.get('id', ''), json.loads(event['data'])
            event = {}

    def memory(self):
        """Bytes of memory that it has used at most."""
        status = pathlib.Path(f'/proc/{self.process.pid}/status').read_text()
        return int(re.search(r'VmHWM:\s+(\d+) kB', status)[1]) * 1024

    def close(self):
        """Its exit code and standard error, after the end of its standard input or a signal."""
        self.process.stdin.close()
        if '--end-with-input' not in self.process.args:
            self.process.terminate()
        errors = self.process.stderr.read()
        code = self.process.wait()
        self.watchdog.cancel()
        self.process.stdout.close()
        self.process.stderr.close()
        return code, errors

    def __enter__(self):
        return self

    def __exit__(self, *_):
        code, errors = self.close()
        assert (code, errors) == (0, ''), (code, errors)
