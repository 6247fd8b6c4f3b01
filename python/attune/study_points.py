"""Whether points of the user fit a search space: an attuned that lives as long as the question is
asked, so that the one of the study hears of nothing that is refused."""
from __future__ import annotations

import json
from typing import Any, Dict, List

from . import study_settings
from .daemon import Daemon
from .errors import StudyError
from .study_settings import Settings


def check_results(program: str, settings: Settings, records: List[Dict[str, Any]]) -> None:
    """StudyError: one of `records` (of FD, docs/protocol.md) would be left out; it says which."""
    refused = _complaints(program, settings, 'FD', records)
    if refused:
        more = f' (and {len(refused) - 1} more)' if len(refused) > 1 else ''
        raise StudyError(f'results: {refused[0]}{more}; correct it or take it out. '
                         'Nothing was imported')


def check_point(program: str, settings: Settings, parameters: Dict[str, Any]) -> None:
    """StudyError: it is no point of the space, or breaks a constraint."""
    missing = [name for name in settings['space'] if name not in parameters]
    if missing:
        raise StudyError(f'parameters[{missing[0]!r}]: is missing; give all parameters of the space')
    refused = _complaints(program, settings, 'AD', {'parameters': parameters})
    if refused:
        raise StudyError(f'parameters: {refused[0]}; correct it. Nothing was enqueued')
    if settings['constraints'] and not _is_feasible(program, settings, parameters):
        raise StudyError(f'parameters: {json.dumps(parameters)} breaks a constraint of '
                         f'{settings["constraints"]}; change it. Nothing was enqueued')


def _complaints(program: str, settings: Settings, code: str, payload: Any) -> List[str]:
    """What attuned logs on a command that it otherwise handles in silence."""
    daemon = _begin(program, settings, 'warning')
    try:
        start, _ = daemon.said_since(0)
        daemon.send((code, json.dumps(payload)), ('PI', 'end'))
        daemon.receive()  # behind what it has logged
        return daemon.said_since(start)[1]
    finally:
        daemon.close()


def _is_feasible(program: str, settings: Settings, parameters: Dict[str, Any]) -> bool:
    """Grid search in a space of this one point finds it, or nothing."""
    pinned = {name: _pinned(value) for name, value in parameters.items()}
    alone = {**settings, 'space': pinned, 'tuner': 'GridSearch', 'tuner_args': {},
             'assessor': None, 'seed': None}
    daemon = _begin(program, alone, 'error')
    try:
        daemon.send(('GE', '1'))
        return daemon.receive()[0] == 'TR'
    finally:
        daemon.close()


def _pinned(value: Any) -> Dict[str, Any]:
    """A parameter that can have this value alone."""
    if isinstance(value, dict) and '_name' in value:
        value = {name: inner if name == '_name' else _pinned(inner)
                 for name, inner in value.items()}
    return {'_type': 'choice', '_value': [value]}


def _begin(program: str, settings: Settings, level: str) -> Daemon:
    parameters = study_settings.experiment(settings)
    if settings['seed'] is None:
        del parameters['tuner']['classArgs']['seed']
    daemon = Daemon(program, ['--exp_params', study_settings.encoded(parameters),
                              '--log-file', '/dev/stderr', '--log-level', level])
    try:
        daemon.send(('IN', json.dumps(settings['space'])), ('PI', 'begin'))
        daemon.receive()  # ID
        daemon.receive()  # PO
    except BaseException:
        daemon.close()
        raise
    return daemon
