"""Whether points of the user fit a search space: an attuned that lives as long as the question is
asked, so that the one of the study hears of nothing that is refused."""
from __future__ import annotations

import json
from typing import Any, Callable, Dict, List, Tuple

from . import study_settings, values
from .daemon import Daemon
from .errors import StudyError
from .study_settings import Settings


def record(where: str, result: Any, checked: Callable[[Any], values.Metrics]) -> Dict[str, Any]:
    """A result of the user as a record of FD. StudyError: it is none, and `where` names it."""
    if not isinstance(result, dict) or set(result) != {'parameters', 'value'}:
        raise StudyError(f"{where}: must be a dict with 'parameters' and 'value', "
                         f'got {result!r:.100}')
    try:
        return {'parameter': values.plain(result['parameters'], 'parameters'),
                'value': checked(result['value'])}
    except (TypeError, ValueError) as error:
        raise StudyError(f'{where}: {error}') from None


def check_results(program: str, settings: Settings, records: List[Dict[str, Any]]) -> None:
    """StudyError: one of `records` (of FD, docs/protocol.md) would be left out; it says which."""
    commands = study_settings.imports(records)
    for index, refused in enumerate(_complaints(program, settings, commands)):
        if refused:
            # attuned counts in its piece.
            begin = index * study_settings.RECORDS_AT_ONCE
            place = f'results[{begin}:]' if begin else 'results'
            raise StudyError(f'{place}: {refused[0]}; correct it or take it out. '
                             'Nothing was imported')


def check_point(program: str, settings: Settings, parameters: Dict[str, Any]) -> None:
    """StudyError: it is no point of the space, or breaks a constraint."""
    missing = [name for name in settings['space'] if name not in parameters]
    if missing:
        raise StudyError(f'parameters[{missing[0]!r}]: is missing; give all parameters of the space')
    refused, = _complaints(program, settings, [('AD', json.dumps({'parameters': parameters}))])
    if refused:
        raise StudyError(f'parameters: {refused[0]}; correct it. Nothing was enqueued')
    if settings['constraints'] and not _is_feasible(program, settings, parameters):
        raise StudyError(f'parameters: {json.dumps(parameters)} breaks a constraint of '
                         f'{settings["constraints"]}; change it. Nothing was enqueued')


def _complaints(program: str, settings: Settings,
                commands: List[Tuple[str, str]]) -> List[List[str]]:
    """For each command what attuned logs on it; one that is fine it handles in silence."""
    daemon = _begin(program, settings, 'warning')
    said = []
    try:
        end, _ = daemon.said_since(0)
        for command in commands:
            daemon.send(command, ('PI', 'end'))
            daemon.receive()  # behind what it has logged
            end, lines = daemon.said_since(end)
            said.append(lines)
        return said
    finally:
        daemon.close()


def _is_feasible(program: str, settings: Settings, parameters: Dict[str, Any]) -> bool:
    """Grid search begins with the first point that keeps the constraints; here that is this one."""
    pinned = {name: _pinned(settings['space'][name], value) for name, value in parameters.items()}
    alone = {**settings, 'space': pinned, 'tuner': 'GridSearch', 'tuner_args': {},
             'assessor': None, 'seed': None}
    daemon = _begin(program, alone, 'error')
    try:
        daemon.send(('GE', '1'))
        return json.loads(daemon.receive()[1])['parameters'] == parameters
    finally:
        daemon.close()


def _pinned(declared: Dict[str, Any], value: Any) -> Dict[str, Any]:
    """A parameter with this value alone; of a nested choice the other options stay, behind it,
    because constraints may name their parameters."""
    if not _is_nested(declared):
        return {'_type': 'choice', '_value': [value]}
    chosen, others = [], []
    for option in declared['_value']:
        if option['_name'] == value['_name']:
            chosen.append(_each(option, lambda name, inner: _pinned(inner, value[name])))
        else:
            others.append(_each(option, lambda name, inner: _any(inner)))
    return {'_type': 'choice', '_value': chosen + others}


def _any(declared: Dict[str, Any]) -> Dict[str, Any]:
    """A parameter of that name, for which grid search needs no steps."""
    if not _is_nested(declared):
        return {'_type': 'choice', '_value': [0]}
    return {'_type': 'choice', '_value': [_each(option, lambda name, inner: _any(inner))
                                          for option in declared['_value']]}


def _each(option: Dict[str, Any], make: Callable[[str, Any], Dict[str, Any]]) -> Dict[str, Any]:
    return {name: inner if name == '_name' else make(name, inner)
            for name, inner in option.items()}


def _is_nested(declared: Dict[str, Any]) -> bool:
    return declared['_type'] == 'choice' and all(
        isinstance(option, dict) and '_name' in option for option in declared['_value'])


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
