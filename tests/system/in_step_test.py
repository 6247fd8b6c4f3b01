"""Decisions in step: a trial that is paused for a report has done nothing beyond it.

    in_step_test.py ATTUNE [local | pool | free | killed]...

Each trial writes down an epoch before it begins it, so that work beyond a report cannot be missed.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

PYTHON = pathlib.Path(__file__).resolve().parents[2] / 'python'
LEVELS = (1, 3, 9)

TRIAL = r'''
import json, os, pathlib
import attune

def epoch_begins(epoch):
    (pathlib.Path(os.environ['NNI_SYS_DIR']) / f'epoch.{epoch}').touch()

x = attune.next_parameters()['x']
state = json.loads(attune.restore('state') or '{"epoch": 0}')
while state['epoch'] < 9:
    state['epoch'] += 1
    epoch_begins(state['epoch'])
    attune.save('state', json.dumps(state).encode())
    attune.report({'default': x * state['epoch'], 'training_iteration': state['epoch']})
attune.final({'default': x * 9, 'training_iteration': 9})
'''


def make(folder, **keys):
    (folder / 'trial.py').write_text(TRIAL)
    experiment = {
        'searchSpace': {'x': {'_type': 'uniform', '_value': [0, 1]}},
        'tuner': {'name': 'ASHA', 'classArgs': {'max_t': 9, 'grace_period': 1, 'seed': 1,
                                                'reduction_factor': 3,
                                                'optimize_mode': 'maximize'}},
        'trialCommand': f'exec {sys.executable} -B trial.py',
        'environment': {'PYTHONPATH': str(PYTHON)},
        'trialConcurrency': 2, 'maxTrialNumber': 12, **keys}
    (folder / 'e.json').write_text(json.dumps(experiment))


def attune(folder, *arguments):
    return subprocess.run([sys.argv[1], *arguments], cwd=folder, timeout=500, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True)


def epochs(trial):
    return len(list(trial.glob('epoch.*')))


def check_levels(folder, keys):
    make(folder, **keys)
    ended = attune(folder, 'run', 'e.json', '--dir', 'exp')
    assert ended.returncode == 0, ended.stderr
    trained = {trial.name: epochs(trial) for trial in (folder / 'exp/trials').iterdir()}
    assert len(trained) == 12, trained
    assert len(set(trained.values())) > 1 and set(trained.values()) <= set(LEVELS), trained
    print(keys, sorted(trained.values()))


def check_local(folder):
    check_levels(folder, {})  # the default of a tuner that pauses


def check_pool(folder):
    check_levels(folder, {'backend': 'pool', 'decisions': 'in-step'})


def check_free(folder):
    """Without it trials wait for nobody, also where the tuner pauses."""
    for keys, decisions in (({}, 'in-step'), ({'tuner': {'name': 'Random'}}, None),
                            ({'decisions': 'free'}, 'free')):
        make(folder, **keys)
        shown = attune(folder, 'run', 'e.json', '--dry-run').stdout
        assert json.loads(shown).get('decisions') == decisions, shown
    make(folder, decisions='free')
    ended = attune(folder, 'run', 'e.json', '--dir', 'exp')
    assert ended.returncode == 0, ended.stderr
    assert not list((folder / 'exp/trials').glob('*/.nni/answered'))


def wait_for(what, condition):
    end = time.monotonic() + 100
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.01)


def check_killed(folder):
    """A trial whose manager is gone goes on after a while; the next manager answers again."""
    tuner = {'name': 'Random', 'classArgs': {'seed': 1, 'optimize_mode': 'maximize'}}
    make(folder, tuner=tuner, decisions='in-step', maxTrialNumber=4, trialConcurrency=1,
         trialCommand=f'ATTUNE_DECISION_SECONDS=2 exec {sys.executable} -B trial.py')
    trial = folder / 'exp/trials/t0000'
    manager = subprocess.Popen([sys.argv[1], 'run', 'e.json', '--dir', 'exp'], cwd=folder,
                               stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL)
    wait_for('the first report', lambda: epochs(trial) >= 1)
    os.kill(manager.pid, signal.SIGKILL)
    manager.wait()
    wait_for('the end of the trial', lambda: epochs(trial) == 9)
    ended = attune(folder, 'resume', '--dir', 'exp')
    assert ended.returncode == 0, ended.stderr
    for folder_of_trial in (folder / 'exp/trials').iterdir():
        assert epochs(folder_of_trial) == 9, folder_of_trial
    # The later trials were answered to the end, and by nobody else than the second manager.
    for name in ('t0001', 't0002', 't0003'):
        assert (folder / 'exp/trials' / name / '.nni/answered').stat().st_size == 9, name


def main():
    cases = {'local': check_local, 'pool': check_pool, 'free': check_free, 'killed': check_killed}
    for name in sys.argv[2:] or cases:
        with tempfile.TemporaryDirectory() as folder:
            cases[name](pathlib.Path(folder))


if __name__ == '__main__':
    main()
