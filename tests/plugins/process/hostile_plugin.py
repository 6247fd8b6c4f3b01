"""A plug-in that behaves until it is asked for `op`, and then does what `deed` names.

hostile_plugin.py DEED OP PIDS: writes its process number, and those of its children, into PIDS.
"""
import json
import os
import random
import signal
import subprocess
import sys
import time

DEED, OP, PIDS = sys.argv[1:]
ALGORITHMS = [
    {'kind': 'tuner', 'name': 'Hostile', 'summary': 'Draws x', 'saves': True,
     'arguments': [{'name': 'scale', 'type': 'number', 'default': 1.0, 'low': 0}]},
    {'kind': 'assessor', 'name': 'Impatient', 'saves': True}]


def note(pid):
    with open(PIDS, 'a') as file:
        file.write(f'{pid}\n')


def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def sleep():
    time.sleep(3600)


def children():
    """One in our group, one in a session of its own, whose parent has ended."""
    note(subprocess.Popen(['sleep', '3600']).pid)
    middle = 'sleep 3600 </dev/null >/dev/null 2>&1 & echo $!'
    note(subprocess.check_output(['setsid', 'sh', '-c', middle], text=True).strip())


def crash():
    print('nothing goes', file=sys.stderr)
    sys.exit(3)


def partial():
    say('{"answers"')
    sys.exit(0)


def flood():
    while True:
        say('x' * 100000)


def whisper():
    """Floods stderr before the answer, more than any pipe holds."""
    for i in range(200000):
        print(f'line {i} \x1b[2J', file=sys.stderr)


def close_stdout():
    os.close(1)
    sleep()


def close_stdin():
    os.close(0)
    say('{}\n')
    sleep()


DEEDS = {
    'crash': crash, 'hang': sleep, 'partial': partial, 'flood': flood, 'whisper': whisper,
    'segv': lambda: os.kill(os.getpid(), signal.SIGSEGV),
    'garbage': lambda: say('Epoch 1: \x1b[31mloss\n'),
    'number': lambda: say('7\n'),
    'error': lambda: say('{"error": "no data\\n"}\n'),
    'twice': lambda: say('{}\n{"more": 1}\n'),
    'close_stdout': close_stdout, 'close_stdin': close_stdin,

    'nan': lambda: say('{"answers": [{"parameters": {"x": NaN}}]}\n'),
    'missing': lambda: say('{"answers": [{"parameters": {}}]}\n'),
    'many': lambda: say('{"answers": ["not_yet", "not_yet"]}\n'),
    'typo': lambda: say('{"answers": [{"parameters": {"x": 0.5}, "bugdet": 3}]}\n'),
    'word': lambda: say('{"answers": ["later"]}\n'),
    'action': lambda: say('{"decisions": [{"id": 1, "action": "halt"}]}\n'),
    'state': lambda: say('{"state": [1, NaN]}\n'),
    'protocol': lambda: say('{"protocol": 2, "algorithms": []}\n'),
    'long': lambda: say('{"protocol": "' + 'x' * 500000 + '"}\n'),
}
ANSWERING = {'garbage', 'number', 'error', 'twice', 'nan', 'missing', 'many', 'typo', 'word',
             'action', 'state', 'protocol', 'long'}  # in place of the reply


def reply(request, memory):
    op = request['op']
    if op == 'describe':
        return {'protocol': 1, 'algorithms': ALGORITHMS}
    if op == 'init':
        memory['random'] = random.Random(request['seed'])
        memory['heard'] = []
    if op == 'ask':
        return {'answers': [{'parameters': {'x': memory['random'].random()}, 'reason': 'drawn'}
                            for _ in request['ids']]}
    if op == 'save':
        return {'state': [memory['heard'], list(memory['random'].getstate()[1])]}
    if op == 'load':
        memory['heard'], state = request['state']
        memory['random'].setstate((3, tuple(state), None))
    if op == 'report':
        return {'decisions': [{'id': request['id'], 'action': 'stop', 'reason': 'enough'}]}
    if op == 'assess':
        memory['heard'].append([request['from'], len(request['reports'])])
        if len(request['reports']) > 2:
            return {'action': 'stop', 'reason': 'slow'}
    return {}


def main():
    note(os.getpid())
    memory = {}
    if DEED == 'fork':
        children()
    for line in sys.stdin:
        request = json.loads(line)
        if request['op'] == 'exit':
            break
        if request['op'] == OP:
            DEEDS[DEED]()
            if DEED in ANSWERING:
                continue
        say(json.dumps(reply(request, memory)) + '\n')


main()
