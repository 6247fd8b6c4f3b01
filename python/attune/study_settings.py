"""What a Study is made with: checked before anything is made of it."""
from __future__ import annotations

import base64
import json
import random
import subprocess
from typing import Any, Dict, List, Optional, Tuple

from . import values
from .daemon import DaemonError, environment_for_attuned
from .errors import StudyError

Settings = Dict[str, Any]

# What attuned calls a part of its configuration and the key below it, and what the argument of Study
# is called.
_ARGUMENTS = {('tuner', 'name'): 'tuner', ('tuner', 'classArgs'): 'tuner_args',
              ('assessor', 'name'): 'assessor', ('assessor', 'classArgs'): 'assessor_args',
              ('searchSpace', None): 'space'}
RECORDS_AT_ONCE = 1000  # of a command that imports, as the manager does it
_LARGEST_SEED = 2 ** 53  # what a double holds exactly
_TIMEOUT = 60.0  # s, for a look at the configuration; it takes milliseconds


def make(space: Dict[str, Any], tuner: str, tuner_args: Optional[Dict[str, Any]],
         assessor: Optional[str], assessor_args: Optional[Dict[str, Any]], seed: Optional[int],
         maximize: bool, objectives: Optional[List[Dict[str, Any]]],
         constraints: Optional[List[str]], concurrency: int) -> Settings:
    """The settings as plain values, a copy. StudyError, TypeError: an argument cannot be used, as
    far as that can be said without attuned."""
    if not isinstance(maximize, bool):
        raise StudyError(f'maximize: must be True or False, got {maximize!r}')
    if maximize and objectives:
        raise StudyError('maximize: give objectives their modes, and leave out maximize')
    for name, value in (('tuner_args', tuner_args), ('assessor_args', assessor_args)):
        if value is not None and not isinstance(value, dict):
            raise StudyError(f"{name}: must be a dict of arguments, got {value!r:.100}")
    if assessor is None and assessor_args:
        raise StudyError('assessor_args: there is no assessor to give them to; name one, '
                         "as assessor='Medianstop'")
    if isinstance(concurrency, bool) or not isinstance(concurrency, int) or concurrency < 1:
        raise StudyError(f'concurrency: must be an integer from 1 on, got {concurrency!r}')
    arguments = dict(tuner_args or {})
    mode = 'maximize' if maximize else 'minimize'
    settings = {
        'space': space, 'tuner': tuner, 'tuner_args': arguments,
        'assessor': assessor, 'assessor_args': assessor_args or {},
        'seed': _seed(seed, arguments.pop('seed', None)),
        'objectives': objectives or [{'metric': 'default', 'mode': mode}],
        'constraints': constraints or [], 'concurrency': concurrency,
    }
    # A copy: what the caller changes later is not what attuned was told.
    return {name: values.plain(value, name) for name, value in settings.items()}


def _seed(seed: Optional[int], of_tuner: Optional[int]) -> int:
    if seed is not None and of_tuner is not None and seed != of_tuner:
        raise StudyError(f"seed: is {seed!r}, but tuner_args['seed'] is {of_tuner!r}; "
                         'leave one out')
    found = of_tuner if seed is None else seed
    if found is None:
        return random.SystemRandom().randrange(1 << 31)
    if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found <= _LARGEST_SEED:
        raise StudyError(f'seed: must be an integer from 0 to 2**53, got {found!r:.100}')
    return found


def differences(ours: Settings, other: Settings, seed_is_drawn: bool) -> List[str]:
    """The arguments that a study which goes on would have to change. The number of trials at a time
    may be another one."""
    free = {'concurrency'} | ({'seed'} if seed_is_drawn else set())
    return [name for name in ours if name not in free and ours[name] != other.get(name)]


def experiment(settings: Settings) -> Dict[str, Any]:
    """The experiment parameters of attuned (docs/protocol.md)."""
    found = {
        'tuner': {'name': settings['tuner'],
                  'classArgs': {'seed': settings['seed'], **settings['tuner_args']}},
        'objectives': settings['objectives'], 'constraints': settings['constraints'],
        'trialConcurrency': settings['concurrency'],
        'capabilities': ['sync', 'reason', 'error'],
    }
    if settings['assessor'] is not None:
        found['assessor'] = {'name': settings['assessor'], 'classArgs': settings['assessor_args']}
    return found


def imports(records: List[Dict[str, Any]]) -> List[Tuple[str, str]]:
    """The commands that import them, in pieces: attuned ignores one beyond its limits, with all
    that is in it."""
    return [('FD', json.dumps(records[begin:begin + RECORDS_AT_ONCE]))
            for begin in range(0, len(records), RECORDS_AT_ONCE)]


def encoded(parameters: Dict[str, Any]) -> str:
    """Experiment parameters as an argument of attuned."""
    return base64.b64encode(json.dumps(parameters).encode()).decode()


def check(program: str, settings: Settings) -> None:
    """Asks attuned whether it could begin; writes nothing. StudyError: it could not, and the message
    names the argument. DaemonError: attuned cannot be run."""
    words = [program, '--check', '--exp_params', encoded(experiment(settings)),
             '--log-file', '/dev/stderr', '--log-level', 'error']
    try:
        done = subprocess.run(words, input=json.dumps(settings['space']).encode(),
                              capture_output=True, env=environment_for_attuned(),
                              timeout=_TIMEOUT, check=False)
    except OSError as error:
        raise DaemonError(f'cannot start {program}: {error.strerror}') from error
    except subprocess.TimeoutExpired as error:
        raise DaemonError(f'{program} does not answer: is it attuned?') from error
    try:
        verdict = json.loads(done.stdout)
        fine = verdict['fine'] is True
    except (ValueError, KeyError, TypeError):
        said = done.stderr.decode(errors='replace').strip()[-500:]
        raise DaemonError(f'{program} ended (exit code {done.returncode}): '
                          f'{said or "it is no attuned"}') from None
    if not fine:
        raise StudyError('\n'.join(_refusal(each) for each in verdict.get('refusals', [])))


def _refusal(refusal: Dict[str, Any]) -> str:
    """A line for one refusal of attuned --check, with our name for the argument in front."""
    part, path = refusal['part'], list(refusal['path'])
    place = _ARGUMENTS.get((part, None)) or _ARGUMENTS.get((part, path[0] if path else ''))
    if place and part != 'searchSpace':
        path = path[1:]
    names = ([place] if place else []) + [str(key) for key in path]
    return ': '.join((['.'.join(names)] if names else []) + [str(refusal['message'])])
