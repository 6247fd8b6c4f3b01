#!/usr/bin/env python3
"""Makes an experiment of any size: ATTUNE FOLDER [--trials N] [--reports N] [--paused]

attune simulate makes a small one, and SQL its rows in any number, which is a hundred times as fast.
"""
import argparse
import json
import pathlib
import sqlite3
import subprocess

SPACE = {
    'lr': {'_type': 'loguniform', '_value': [1e-4, 1]},
    'decay': {'_type': 'loguniform', '_value': [1e-5, 0.1]},
    'dropout': {'_type': 'uniform', '_value': [0, 1]},
    'momentum': {'_type': 'uniform', '_value': [0, 1]},
    'layers': {'_type': 'randint', '_value': [1, 9]},
    'units': {'_type': 'randint', '_value': [1, 257]},
    'warmup': {'_type': 'quniform', '_value': [0, 100, 5]},
    'shift': {'_type': 'normal', '_value': [0, 1]},
    'activation': {'_type': 'choice', '_value': ['relu', 'tanh', 'gelu', 'silu']},
    'optimizer': {'_type': 'choice', '_value': ['sgd', 'adam']},
}

PARAMETERS = '''
CREATE TEMP TABLE drawn AS WITH RECURSIVE n(trial) AS (
  SELECT 0 UNION ALL SELECT trial + 1 FROM n LIMIT :trials)
SELECT trial, u() AS lr, u() AS decay, u() AS dropout, u() AS momentum, u() AS layers,
  u() AS units, u() AS warmup, u() AS shift, u() AS activation, u() AS optimizer FROM n;
'''
TRIALS = '''
INSERT INTO trials SELECT experiment, drawn.trial, printf('t%04d', drawn.trial), source, status,
  reason, attempts, failures, :reports, score, last_metric,
  printf('%.9g', abs(lr - 0.4) + 0.5 * abs(dropout - 0.3) + 0.2 * decay + 0.05 * u()), checkpoint,
  added_at, 1000 + drawn.trial / 16, 1000 + drawn.trial / 16 + 1 + units
FROM (SELECT * FROM trials WHERE trial = 0 LIMIT 1), drawn WHERE drawn.trial > 0;
UPDATE trials SET score = CAST(final_metric AS REAL), last_metric = final_metric WHERE trial > 0;
INSERT INTO parameters SELECT experiment, drawn.trial, parameter_index, attempt,
  CAST(drawn.trial AS TEXT),
  printf('{"lr":%.9g,"decay":%.9g,"dropout":%.9g,"momentum":%.9g,"layers":%d,"units":%d,' ||
         '"warmup":%d,"shift":%.9g,"activation":"%s","optimizer":"%s"}',
         pow(10, -4 + 4 * lr), pow(10, -5 + 4 * decay), dropout, momentum, 1 + 8 * layers,
         1 + 256 * units, 5 * CAST(20 * warmup AS INTEGER), 4 * shift - 2,
         substr('relutanhgelusilu', 1 + 4 * CAST(4 * activation AS INTEGER), 4),
         substr('sgd adam', 1 + 4 * CAST(2 * optimizer AS INTEGER), 3 + (optimizer >= 0.5))),
  text, resume_job, checkpoint_from
FROM (SELECT * FROM parameters WHERE trial = 0 LIMIT 1), drawn WHERE drawn.trial > 0;
INSERT INTO attempts SELECT experiment, drawn.trial, attempt, from_checkpoint,
  1000 + drawn.trial / 16, 1000 + drawn.trial / 16 + 1 + units, ending, detail, cpu_seconds,
  max_rss, worker, host, ran, gpus
FROM (SELECT * FROM attempts WHERE trial = 0 LIMIT 1), drawn WHERE drawn.trial > 0;
'''
REPORTS = '''
INSERT INTO reports WITH RECURSIVE n(report) AS (
  SELECT 0 UNION ALL SELECT report + 1 FROM n LIMIT :reports)
SELECT t.experiment, t.trial, n.report, 0, 'periodical', n.report, t.started_at + n.report, 0, 0, '',
  t.score + 1.0 / (1 + n.report),
  printf('{"parameter_id":%d,"trial_job_id":"%s","type":"PERIODICAL","sequence":%d,"value":"%.9g"}',
         t.trial, t.job_id, n.report, t.score + 1.0 / (1 + n.report)), NULL, 1
FROM trials AS t, n WHERE t.trial > 0;
'''


PAUSED = '''
UPDATE trials SET status = 'PAUSED', ended_at = NULL, final_metric = NULL, score = NULL WHERE trial > 0;
'''


def fill(file, trials, reports, paused):
    import random
    draw = random.Random(1)
    store = sqlite3.connect(file)
    store.create_function('u', 0, draw.random)
    store.execute('PRAGMA synchronous = OFF')
    store.execute(PARAMETERS, {'trials': trials})
    for statement in filter(str.strip, TRIALS.split(';')):
        store.execute(statement, {'reports': reports})
    if reports:
        store.execute(REPORTS, {'reports': reports})
    if paused:
        store.execute(PAUSED)
    store.commit()
    store.execute('PRAGMA wal_checkpoint(TRUNCATE)')
    store.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('attune')
    parser.add_argument('folder', type=pathlib.Path)
    parser.add_argument('--trials', type=int, default=100_000)
    parser.add_argument('--reports', type=int, default=100, help='of each trial')
    parser.add_argument('--paused', action='store_true', help='all trials but the first wait, as those of ASHA do')
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    file = options.folder / 'experiment.json'
    file.write_text(json.dumps({
        'experimentName': f'{options.trials} trials', 'trialCommand': 'true', 'searchSpace': SPACE,
        'maxTrialNumber': 1, 'trialConcurrency': 1, 'tuner': {'name': 'Random'},
        'experimentWorkingDirectory': str(options.folder)}))
    subprocess.run([options.attune, 'simulate', str(file), '--epochs', '1', '--quiet'], check=True,
                   stdout=subprocess.DEVNULL)
    fill(options.folder / 'attune.sqlite', options.trials, options.reports, options.paused)


if __name__ == '__main__':
    main()
