"""FILE.attributes, beside the file of a study: what Optuna keeps of a trial and attune's file does
not have. One JSON text a line (docs/optuna.md); written before the engine hears of it.

{"attune_optuna": 1, "name": ..., "directions": ["MINIMIZE"]}
{"study": {"user_attrs": {...}}}
{"trial": 3, "engine": 3, "state": "RUNNING", "datetime_start": ...}   members as of a FrozenTrial
"""
from __future__ import annotations

import datetime
import errno
import json
import os
import warnings
from typing import Any, Dict, Iterator, List, Optional, Tuple

from ... import values
from ...errors import StudyError
from .distributions import CategoricalDistribution, distribution_to_json, json_to_distribution
from .exceptions import StorageInternalError
from .states import StudyDirection, TrialState

_VERSION = 1


class AttributeFile:
    """Open to be read and added to, by one process: the study's own file is locked."""

    def __init__(self, study_file: str) -> None:
        self.path = study_file + '.attributes'
        self._closed = False

    def close(self) -> None:
        """Another process may write to it from now on."""
        self._closed = True

    @staticmethod
    def exists_for(study_file: str) -> bool:
        return os.path.exists(study_file) or os.path.exists(study_file + '.attributes')

    def create(self, name: str, directions: List[StudyDirection]) -> None:
        """FileExistsError: there is one."""
        with open(self.path, 'x', encoding='utf-8') as file:
            file.write(json.dumps({'attune_optuna': _VERSION, 'name': name,
                                   'directions': [each.name for each in directions]}) + '\n')

    def read_head(self) -> Tuple[str, List[StudyDirection]]:
        """The study's name and directions. StorageInternalError: no such file."""
        try:
            with open(self.path, 'rb') as file:
                head = json.loads(file.readline())
            if head.get('attune_optuna') == _VERSION:
                return head['name'], [StudyDirection[each] for each in head['directions']]
        except FileNotFoundError:
            raise StorageInternalError(
                f'{self.path} is missing: without it attune.Study.open() can go on with the study, '
                'but not attune.compat.optuna') from None
        except (ValueError, KeyError, TypeError, AttributeError):
            pass
        raise StorageInternalError(f'{self.path}: its first line is damaged, or of another version '
                                   'of attune')

    def read_records(self) -> Iterator[Tuple[str, Any]]:
        """('study', members), ('trial', (number, engine number, members)), as they were written.
        Only where the study's own file is locked: a torn last line is removed, with a warning."""
        with open(self.path, 'rb') as file:
            lines = file.read().split(b'\n')
        torn = lines.pop()
        if torn:
            warnings.warn(f'{self.path}: the last line was not written to its end, and is left out',
                          RuntimeWarning, stacklevel=4)
            os.truncate(self.path, os.path.getsize(self.path) - len(torn))
        for number, line in enumerate(lines[1:], 2):
            try:
                yield _read_line(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError):
                raise StorageInternalError(f'{self.path}: line {number} is damaged; put a copy of '
                                           'the file in its place') from None

    def write_study(self, members: Dict[str, Any]) -> None:
        self._write({'study': members})

    def write_trial(self, number: int, fields: Dict[str, Any],
                    engine: Optional[int] = None) -> None:
        head = {'trial': number} if engine is None else {'trial': number, 'engine': engine}
        self._write({**head, **_written_fields(fields)})

    def _write(self, line: Dict[str, Any]) -> None:
        """TypeError: JSON cannot have it. StudyError: it is closed. Nothing was written then."""
        if self._closed:
            raise StudyError('the study is closed; load_study() goes on with it')
        text = json.dumps(values.plain(line, 'the file of the study')).encode() + b'\n'
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        try:
            written = os.write(descriptor, text)
            if written < len(text):  # no room: half a line would make the file unreadable
                os.truncate(descriptor, os.fstat(descriptor).st_size - written)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.path)
        finally:
            os.close(descriptor)


def _written_fields(fields: Dict[str, Any]) -> Dict[str, Any]:
    found = dict(fields)
    for name, value in fields.items():
        if isinstance(value, datetime.datetime):
            found[name] = value.isoformat()
        elif isinstance(value, TrialState):
            found[name] = value.name
    if 'intermediate_values' in fields:
        found['intermediate_values'] = [[step, value] for step, value
                                        in fields['intermediate_values'].items()]
    if 'params' in fields:
        for name, distribution in fields['distributions'].items():
            _check_choices(name, distribution)
        found['params'] = {
            name: distribution.to_internal_repr(fields['params'][name])
            if isinstance(distribution, CategoricalDistribution) else fields['params'][name]
            for name, distribution in fields['distributions'].items()}
        found['distributions'] = {name: json.loads(distribution_to_json(distribution))
                                  for name, distribution in fields['distributions'].items()}
    return found


def _check_choices(name: str, distribution: Any) -> None:
    for choice in getattr(distribution, 'choices', ()):
        if not isinstance(choice, (bool, int, float, str, type(None))):
            raise TypeError(f'{name}: the file of a study can only have choices that are None, '
                            f'truth values, numbers and texts, got {choice!r:.100}; name it by a '
                            'text')


def _read_line(line: Dict[str, Any]) -> Tuple[str, Any]:
    if 'study' in line:
        return 'study', line['study']
    return 'trial', (line.pop('trial'), line.pop('engine', None), _read_fields(line))


def _read_fields(found: Dict[str, Any]) -> Dict[str, Any]:
    for name in ('datetime_start', 'datetime_complete'):
        if name in found:
            found[name] = datetime.datetime.fromisoformat(found[name])
    if 'state' in found:
        found['state'] = TrialState[found['state']]
    if 'intermediate_values' in found:
        found['intermediate_values'] = dict(found['intermediate_values'])
    if 'params' in found:
        found['distributions'] = {name: json_to_distribution(json.dumps(each))
                                  for name, each in found['distributions'].items()}
        found['params'] = {
            name: found['distributions'][name].to_external_repr(value)
            if isinstance(found['distributions'][name], CategoricalDistribution) else value
            for name, value in found['params'].items()}
    return found
