#!/usr/bin/env python3
"""What attune writes for TensorBoard and MLflow, read by readers of our own, and what it writes
while an experiment runs: ATTUNE [unittest's arguments]
"""
import json
import math
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEADLINE = 300
SPACE = {
    'x': {'_type': 'uniform', '_value': [0, 1]},
    'k': {'_type': 'randint', '_value': [1, 9]},
    'flag': {'_type': 'choice', '_value': [True, False]},
    'mixed': {'_type': 'choice', '_value': [None, 2, 'text']},
    'opt': {'_type': 'choice', '_value': [
        {'_name': 'adam'},
        {'_name': 'sgd', 'momentum': {'_type': 'uniform', '_value': [0, 0.99]}}]}}
TRIAL = '''
import os, sys
import attune
p = attune.next_parameters()
number = int(os.environ['NNI_TRIAL_SEQ_ID'])
if number == 3:
    sys.exit(3)
for step in range(4):
    attune.report({'loss': p['x'] + 1 / (step + 1), 'size': p['k']})
attune.final({'loss': p['x'], 'size': p['k']})
'''


def crc32c(data):
    """Bit by bit: slow, and nothing like the writer."""
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff


def records(path):
    """The payloads of a file of TFRecords. AssertionError: a checksum is wrong, or bytes are left."""
    data, found = path.read_bytes(), []
    while data:
        length, length_crc = struct.unpack('<QI', data[:12])
        assert masked(data[:8]) == length_crc
        payload, [crc] = data[12:12 + length], struct.unpack('<I', data[12 + length:16 + length])
        assert len(payload) == length and masked(payload) == crc
        found.append(payload)
        data = data[16 + length:]
    return found


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if not data[at - 1] & 128:
            return value, at


def fields(data):
    """A message of Protocol Buffers as {number: [value, ...]}; bytes of texts and messages."""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            [value], at = struct.unpack('<d', data[at:at + 8]), at + 8
        elif key & 7 == 5:
            [value], at = struct.unpack('<f', data[at:at + 4]), at + 4
        else:
            assert key & 7 == 2
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
            assert len(value) == length
        found.setdefault(key >> 3, []).append(value)
    return found


def value_of(data):
    """google.protobuf.Value"""
    [(number, [value])] = fields(data).items()
    return {2: float, 3: lambda text: text.decode(), 4: bool}[number](value)


class Events:
    """An event file: scalars {tag: [(step, value, time)]}, data of HParams {tag: (field, fields)}."""

    def __init__(self, path):
        first, *rest = [fields(record) for record in records(path)]
        assert first[3] == [b'brain.Event:2'] and 1 in first
        self.scalars, self.hparams = {}, {}
        for event in rest:
            [value] = fields(event[5][0])[1]
            value = fields(value)
            tag = value[1][0].decode()
            if 2 in value:
                self.scalars.setdefault(tag, []).append(
                    (event[2][0], value[2][0], event[1][0]))
                continue
            [plugin] = fields(value[9][0])[1]
            plugin = fields(plugin)
            assert plugin[1] == [b'hparams'] and 8 in value
            content = fields(plugin[2][0])
            assert content.pop(1) == [0]
            [(field, [data])] = content.items()
            self.hparams[tag] = field, fields(data)


def events_in(folder):
    [path] = folder.glob('events.out.tfevents.*')
    return Events(path)


class Export(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        (cls.folder / 'trial.py').write_text(TRIAL)
        (cls.folder / 'e.json').write_text(json.dumps(
            {'trialCommand': f'{sys.executable} -B trial.py', 'trialConcurrency': 2,
             'maxTrialNumber': 12, 'searchSpace': SPACE, 'experimentName': 'fold',
             'decisions': 'in-step', 'tuner': {'name': 'Random'},
             'objectives': [{'metric': 'loss'}, {'metric': 'size', 'limit': 6}],
             'assessor': {'name': 'Threshold',
                          'classArgs': {'upper': 1.3, 'n_warmup_steps': 1}}}))
        cls.attune('run', 'e.json', '--seed', '1', '--quiet')
        cls.trials = json.loads(cls.attune('trials', '--json')[0])
        [cls.experiment] = json.loads(cls.attune('list', '--json')[0])
        cls.statuses = {trial['status'] for trial in cls.trials}

    @classmethod
    def attune(cls, *arguments, code=0):
        environment = {**os.environ, 'PYTHONPATH': str(ROOT / 'python')}
        done = subprocess.run([ATTUNE, *arguments], cwd=cls.folder, env=environment,
                              timeout=DEADLINE, capture_output=True, text=True)
        assert done.returncode == code, (done.returncode, done.stderr)
        return done.stdout, done.stderr

    def flat(self, trial, texts):
        flat = dict(trial['parameters'])
        option = flat.pop('opt')
        flat['opt'] = option['_name']
        if 'momentum' in option:
            flat['opt.sgd.momentum'] = option['momentum']
        if texts:
            flat['mixed'] = flat['mixed'] if flat['mixed'] == 'text' else json.dumps(flat['mixed'])
        return flat

    def curve(self, trial):
        """{(step, name): value} of what counted."""
        shown = json.loads(self.attune('show', trial['trial_job_id'], '--json')[0])
        return {(report['sequence'], name): value
                for report in shown['report_list']
                if report['type'] == 'periodical' and not report['late'] and not report['ignored']
                for name, value in json.loads(json.loads(report['text'])['value']).items()}

    def test_the_trials_end_in_every_way(self):
        self.assertEqual(self.statuses, {'succeeded', 'failed', 'early_stopped'})

    def test_tensorboard(self):
        _, losses = self.attune('export', '--format', 'tensorboard', '-o', 'runs')
        self.assertIn('stopped early', losses)
        top = events_in(self.folder / 'runs')
        self.assertFalse(top.scalars)
        field, data = top.hparams['_hparams_/experiment']
        self.assertEqual((field, data[6]), (2, [b'fold']))
        infos = {fields(info)[1][0].decode(): fields(info) for info in data[4]}
        self.assertEqual({name: info[4] for name, info in infos.items()},
                         {'x': [3], 'k': [3], 'flag': [2], 'mixed': [1], 'opt': [1],
                          'opt.sgd.momentum': [3]})
        self.assertEqual(fields(infos['k'][6][0]), {1: [1.0], 2: [8.0]})
        for name, values in {'flag': [True, False], 'mixed': ['null', '2', 'text'],
                             'opt': ['adam', 'sgd']}.items():
            self.assertEqual([value_of(each) for each in fields(infos[name][5][0])[1]], values)
        self.assertEqual([fields(fields(info)[1][0])[2] for info in data[5]],
                         [[b'final/loss'], [b'final/size']])
        folders = sorted(path.name for path in (self.folder / 'runs').iterdir() if path.is_dir())
        self.assertEqual(folders, [trial['trial_job_id'] for trial in self.trials])
        for trial in self.trials:
            events = events_in(self.folder / 'runs' / trial['trial_job_id'])
            field, start = events.hparams['_hparams_/session_start_info']
            self.assertEqual((field, start[5]), (3, [trial['started']]))
            values = {fields(entry)[1][0].decode(): value_of(fields(entry)[2][0])
                      for entry in start[1]}
            self.assertEqual(values, self.flat(trial, texts=True))
            field, end = events.hparams['_hparams_/session_end_info']
            self.assertEqual((field, end), (4, {1: [2 if trial['status'] == 'failed' else 1],
                                                2: [trial['ended']]}))
            curve = {(step, tag): value for tag, line in events.scalars.items()
                     if not tag.startswith('final/') for step, value, _ in line}
            expected = self.curve(trial)
            self.assertEqual(curve.keys(), expected.keys())
            for key, value in curve.items():
                self.assertTrue(math.isclose(value, expected[key], rel_tol=1e-6))
            final = {tag[6:]: line for tag, line in events.scalars.items()
                     if tag.startswith('final/')}
            self.assertEqual(final.keys(), (trial['final'] or {}).keys())
            for name, [(step, value, time)] in final.items():
                self.assertEqual((step, time), (3, trial['ended']))
                self.assertTrue(math.isclose(value, trial['final'][name], rel_tol=1e-6))

    def test_mlflow(self):
        self.attune('export', '--format', 'mlflow', '-o', 'mlruns')
        id = self.experiment['experiment_id']
        folder = self.folder / 'mlruns' / id
        meta = self.yaml(folder / 'meta.yaml')
        self.assertEqual((meta['experiment_id'], meta['name'], meta['lifecycle_stage']),
                         (id, f'fold {id}', 'active'))
        self.assertEqual(meta['artifact_location'], f'file://{folder.resolve()}')
        runs = sorted(path.name for path in folder.iterdir() if path.is_dir())
        self.assertEqual(runs, [f'{id}-{trial["trial_job_id"]}' for trial in self.trials])
        for run, trial in zip(runs, self.trials):
            meta = self.yaml(folder / run / 'meta.yaml')
            self.assertEqual((meta['run_id'], meta['run_uuid'], meta['experiment_id']),
                             (run, run, id))
            self.assertEqual(meta['status'], 4 if trial['status'] == 'failed' else 3)
            self.assertEqual((meta['start_time'], meta['end_time']),
                             (int(trial['started'] * 1000), int(trial['ended'] * 1000)))
            parameters = {name: text if name in ('opt', 'mixed') else json.loads(text)
                          for name, text in self.texts(folder / run / 'params').items()}
            self.assertEqual(parameters, self.flat(trial, texts=True))
            tags = self.texts(folder / run / 'tags')
            self.assertEqual(tags['attune.status'], trial['status'])
            self.assertEqual(tags['mlflow.runName'], trial['trial_job_id'])
            curve, final = {}, {}
            for name, text in self.texts(folder / run / 'metrics').items():
                for line in text.splitlines():
                    _, value, step = line.split(' ')
                    curve[int(step), name] = float(value)
            if trial['final']:
                final = {name: float(text.split(' ')[1]) for name, text in
                         self.texts(folder / run / 'metrics/final').items()}
            self.assertEqual(curve, self.curve(trial))
            self.assertEqual(final, trial['final'] or {})
            self.assertTrue((folder / run / 'artifacts').is_dir())

    def test_what_is_there_stays(self):
        (self.folder / 'full').mkdir()
        (self.folder / 'full/file').write_text('x')
        _, error = self.attune('export', '--format', 'tensorboard', '-o', 'full', code=1)
        self.assertIn('full exists and is not empty', error)
        self.attune('export', '--format', 'mlflow', '-o', 'full')  # beside what is there
        _, error = self.attune('export', '--format', 'mlflow', '-o', 'full', code=1)
        self.assertIn('exists and is not empty', error)
        self.assertEqual(sorted(path.name for path in (self.folder / 'full').iterdir()),
                         sorted(['file', self.experiment['experiment_id']]))
        _, error = self.attune('export', '--format', 'mlflow', code=2)
        self.assertIn('name a new one with -o', error)

    def live(self, name):
        """(lines, journal, {job id: scalars}) in the experiment's export folder; by job id."""
        folder = self.folder / name / 'export'
        lines = [json.loads(line) for line in
                 (folder / 'trials.jsonl').read_text().splitlines()]
        journal = [json.loads(line) for line in (folder / 'study.log').read_text().splitlines()]
        return (sorted(lines, key=lambda row: row['trial_job_id']),
                sorted(journal, key=lambda row: row.get('user_attrs', {}).get('attune:job_id', '')),
                {path.name: events_in(path).scalars for path in
                 (folder / 'tensorboard').iterdir() if path.is_dir()})

    def exported(self, name):
        """The same of attune export afterwards."""
        parts = []
        for format in ('jsonl', 'optuna'):
            text, _ = self.attune('export', '--dir', name, '--format', format)
            parts.append([json.loads(line) for line in text.splitlines()])
        runs = self.folder / f'{name}-{len(parts[0])}'
        self.attune('export', '--dir', name, '--format', 'tensorboard', '-o', str(runs))
        return (*parts, {path.name: events_in(path).scalars
                         for path in runs.iterdir() if path.is_dir()})

    def test_while_it_runs(self):
        file = json.loads((self.folder / 'e.json').read_text())
        file['export'] = ['optuna', 'jsonl', 'tensorboard', 'jsonl']
        (self.folder / 'live.json').write_text(json.dumps(file))
        self.attune('run', 'live.json', '--seed', '2', '--quiet', '--dir', 'live')
        self.assertEqual(self.live('live'), self.exported('live'))
        self.assertEqual(len(self.live('live')[0]), 12)
        self.attune('resume', '--dir', 'live', '--max-trials', '16', '--quiet')
        self.assertEqual(self.live('live'), self.exported('live'))
        self.assertEqual(len(self.live('live')[0]), 16)
        self.attune('delete', '--dir', 'live', self.attune('list', '--dir', 'live', '--json')[0]
                    .split('"experiment_id":"')[1][:8], '--yes')
        self.assertFalse((self.folder / 'live').exists())

    def test_a_form_that_cannot_be_written_does_no_harm(self):
        file = json.loads((self.folder / 'e.json').read_text())
        file['export'] = ['jsonl', 'tensorboard']
        # A trial puts something in the way.
        file['trialCommand'] += '; rm -rf $RUNS; touch $RUNS'
        file['environment'] = {'RUNS': str(self.folder / 'blocked/export/tensorboard')}
        (self.folder / 'blocked.json').write_text(json.dumps(file))
        _, messages = self.attune('run', 'blocked.json', '--seed', '2', '--quiet', '--dir',
                                  'blocked')
        self.assertIn('warning: tensorboard is no longer exported: ', messages)
        rows = (self.folder / 'blocked/export/trials.jsonl').read_text().splitlines()
        self.assertEqual(len(rows), 12)

    def test_an_unknown_form_is_refused(self):
        file = json.loads((self.folder / 'e.json').read_text())
        file['export'] = ['mlflow']
        (self.folder / 'wrong.json').write_text(json.dumps(file))
        _, error = self.attune('run', 'wrong.json', code=2)
        self.assertIn('export: "mlflow" cannot be written while the experiment runs; '
                      'jsonl, optuna, tensorboard can', error)

    @staticmethod
    def yaml(path):
        """Each value of these files is JSON."""
        pairs = [line.split(': ', 1) for line in path.read_text().splitlines()]
        return {name: json.loads(value) for name, value in pairs}

    @staticmethod
    def texts(folder):
        return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


if __name__ == '__main__':
    ATTUNE = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
