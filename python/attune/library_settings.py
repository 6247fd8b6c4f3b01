"""What a study in this process is made with: as arguments, for the library, and in its file."""
from __future__ import annotations

import json
import os
from typing import Any, Dict

from .errors import StudyError
from .study import Path


def options(settings: Dict[str, Any]) -> Dict[str, Any]:
    """As study_c.h has them."""
    found = {
        'tuner': {'name': settings['tuner'], 'arguments': settings['tuner_args']},
        'objectives': [_objective(objective) for objective in settings['objectives']],
        'constraints': settings['constraints'], 'seed': settings['seed'],
        'concurrency': settings['concurrency'],
    }
    if settings['assessor'] is not None:
        found['assessor'] = {'name': settings['assessor'], 'arguments': settings['assessor_args']}
    return found


def _objective(given: Dict[str, Any]) -> Dict[str, Any]:
    if not isinstance(given, dict):
        raise StudyError(f'objectives: each one must be a dict, got {given!r:.100}')
    mode = given.get('mode', 'minimize')
    if mode not in ('minimize', 'maximize'):
        raise StudyError(f"objectives: mode must be 'minimize' or 'maximize', got {mode!r:.100}")
    found = {name: value for name, value in given.items() if name != 'mode'}
    return {'metric': 'default', **found, 'maximize': mode == 'maximize'}


def header_of(path: Path) -> Dict[str, Any]:
    """The first line of a file; {}: the library says what is wrong with it."""
    with open(os.path.abspath(path), 'rb') as lines:
        try:
            found = json.loads(lines.readline())
        except ValueError:
            return {}
    return found if isinstance(found, dict) else {}


def seed_in(file: Path, drawn: int) -> int:
    """That of the file; `drawn`: there is no such file."""
    return header_of(file).get('seed', drawn) if os.path.exists(file) else drawn


def settings_of(header: Dict[str, Any]) -> Dict[str, Any]:
    """What the study of a file was made with, as study_settings.make() has it."""
    assessor = header['assessor'] or {'name': None, 'arguments': {}}
    objectives = [{'metric': one['metric'], 'mode': 'maximize' if one['maximize'] else 'minimize',
                   **({'limit': one['limit']} if 'limit' in one else {})}
                  for one in header['objectives']]
    return {'space': header['space'], 'tuner': header['tuner']['name'],
            'tuner_args': header['tuner']['arguments'], 'assessor': assessor['name'],
            'assessor_args': assessor['arguments'], 'seed': header['seed'],
            'objectives': objectives, 'constraints': header['constraints'],
            'concurrency': header['concurrency'] or 1}
