"""A Study whose engine is in this process: libattune_study.so."""
from __future__ import annotations

import atexit
import ctypes
import errno
import json
import os
import threading
import warnings
import weakref
from collections import deque
from typing import Any, Deque, Dict, Iterable, List, Optional, Tuple, Union

from . import library, library_settings, study_settings, values
from .errors import StudyError
from .study import Path, Study
from .study_points import record
from .study_trial import StudyTrial

_MOST = 10_000  # trials that the library accepts to be asked for at once
_STATUSES = {'diverged': 'completed', 'paused': 'stopped'}  # the others are called alike
_read = json.JSONDecoder().raw_decode  # of a text: json.loads() guesses the encoding first
_alive: 'weakref.WeakSet[LibraryStudy]' = weakref.WeakSet()


class LibraryStudy(Study):
    """Study(), unless attuned is asked for."""

    def __init__(self, space: Optional[Dict[str, Any]] = None, tuner: str = 'auto',
                 tuner_args: Optional[Dict[str, Any]] = None, assessor: Optional[str] = None,
                 assessor_args: Optional[Dict[str, Any]] = None, *, seed: Optional[int] = None,
                 maximize: bool = False, objectives: Optional[List[Dict[str, Any]]] = None,
                 constraints: Optional[List[str]] = None, concurrency: int = 1,
                 attuned: None = None, file: Optional[Path] = None, if_exists: str = 'fail',
                 durability: str = 'never'):
        if attuned is not None:
            raise StudyError('attuned: the file is of a study without one; leave attuned out')
        settings = study_settings.make({} if space is None else space, tuner, tuner_args, assessor,
                                       assessor_args, seed, maximize, objectives, constraints,
                                       concurrency)
        options = library_settings.options(settings)
        options.update(if_exists=if_exists, durability=durability)
        if file is not None:
            folder = os.path.dirname(os.path.abspath(file))
            if not os.path.isdir(folder):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(file))
            options['file'] = library.path_of(file).decode(errors='surrogateescape')
            if if_exists == 'continue' and seed is None and 'seed' not in (tuner_args or {}):
                settings['seed'] = options['seed'] = library_settings.seed_in(file, settings['seed'])
        self._set_up(settings)
        self._begin(self._library.attune_study_create, library.text_of(settings['space']),
                    library.text_of(options))
        self._flushes = file is not None and durability != 'never'
        self._take_trials()

    def _set_up(self, settings: Dict[str, Any]) -> None:
        self._settings = settings
        self._library = library.library()
        self._changed = threading.Condition(threading.RLock())  # an end or a report of a trial
        self._stopping = False
        self._trials: List[StudyTrial] = []  # by number, which is the library's id
        self._by_number: Dict[int, StudyTrial] = {}
        self._left_over: Deque[StudyTrial] = deque()  # ran when the program ended that had the file
        self._best: Optional[StudyTrial] = None
        self._best_rank: Tuple[float, ...] = ()
        self._flushes = False  # its end brings the file to the disk
        self._unsettled = False  # a call was interrupted: the library may know more than we do
        self._handle: Optional[ctypes.c_void_p] = None
        self._closed = 'the study is closed; make or open another one'

    def _begin(self, function: Any, *arguments: Any) -> None:
        handle = ctypes.c_void_p()
        code = function(*arguments, ctypes.byref(handle))
        self._discard = weakref.finalize(self, self._library.attune_study_free, handle)
        # At the end of the interpreter other threads may be in the library still.
        self._discard.atexit = False
        if code != library.OK:
            error = library.error_of(handle)
            self._discard()
            raise error
        self._handle = handle
        _alive.add(self)
        self._text = ctypes.c_char_p()
        self._text_at = ctypes.byref(self._text)
        for warning in library.read(handle, self._library.attune_study_warnings):
            warnings.warn(warning, RuntimeWarning, stacklevel=4)

    # ---- asking and telling ----------------------------------------------------------------------

    def _ask_for(self, count: int) -> Tuple[List[StudyTrial], bool]:
        if count > _MOST:
            raise StudyError(f'count: must be from 1 to {_MOST:,}, got {count}')
        with self._changed:
            handle = self._usable()
            self._unsettled = True
            if self._library.attune_study_ask(handle, count, self._text_at):
                self._unsettled = False
                raise library.error_of(handle)
            asked, _ = _read(self._text.value.decode())
            found = [self._take(trial['id'], trial['parameters']) for trial in asked['trials']]
            self._unsettled = False
        return found, asked['no_more']

    def _take(self, number: int, parameters: Dict[str, Any]) -> StudyTrial:
        trial = self._by_number.get(number)
        if trial is not None:  # it was paused, and begins again
            trial.parameters = parameters
            trial.status, trial.stop_reason, trial.metrics = 'running', None, None
            trial.reports.clear()
            return trial
        trial = StudyTrial(number, parameters, owner=self)
        self._by_number[number] = trial
        if self._trials and self._trials[-1].number > number:  # one that had to wait
            self._trials.append(trial)
            self._trials.sort(key=lambda each: each.number)
        else:
            self._trials.append(trial)
        return trial

    def tell(self, trial: Union[StudyTrial, int], metrics: Any) -> None:
        value = metrics if type(metrics) is float else self._checked(metrics)
        with self._changed:
            if type(value) is float:
                trial = self._on_trial(self._library.attune_study_tell, trial, value)
            else:
                trial = self._on_trial(self._library.attune_study_tell_json, trial,
                                       library.text_of(value))
            self._end(trial, 'completed', value)

    def report(self, trial: Union[StudyTrial, int], metrics: Any) -> bool:
        value = self._checked(metrics)
        with self._changed:
            self._usable()
            trial = self._running(trial)
            self._on_trial(self._library.attune_study_report_json, trial, library.text_of(value),
                           len(trial.reports), self._text_at)
            trial.reports.append(value)
            reason = self._text.value
            if reason is not None:
                trial.stop_reason = reason.decode() or 'stopped early'
            self._unsettled = False
            self._changed.notify_all()
            return trial.stop_reason is None

    def fail(self, trial: Union[StudyTrial, int]) -> None:
        with self._changed:
            self._end(self._on_trial(self._library.attune_study_fail, trial, None), 'failed', None)

    def _stop_trial(self, trial: Union[StudyTrial, int]) -> None:
        with self._changed:
            self._end(self._on_trial(self._library.attune_study_stop, trial), 'stopped', None)

    def _on_trial(self, function: Any, trial: Union[StudyTrial, int],
                  *arguments: Any) -> StudyTrial:
        """Calls a function of the library for a running trial, which it returns. The caller ends
        _unsettled when it has taken in what has happened."""
        handle = self._usable()
        trial = self._running(trial)
        self._unsettled = True
        if function(handle, trial.number, *arguments):
            self._unsettled = False
            raise library.error_of(handle)
        return trial

    def _end(self, trial: StudyTrial, status: str, value: Optional[values.Metrics]) -> None:
        trial.metrics = value
        trial.status = status
        if value is not None:
            self._offer(trial)
        self._unsettled = False
        self._changed.notify_all()

    def _suggest(self, trial: StudyTrial, name: str, declared: str, kind: Optional[type]) -> Any:
        with self._changed:
            self._on_trial(self._library.attune_study_suggest, trial, _encoded(name),
                           declared.encode(), self._text_at)
            value, _ = _read(self._text.value.decode())
            value = trial.parameters[name] = value if kind is None else kind(value)
            self._unsettled = False
            return value

    def _give(self, trial: StudyTrial, name: str, declared: str, value: Any) -> None:
        text = library.text_of(values.plain(value, name))
        with self._changed:
            self._on_trial(self._library.attune_study_give, trial, _encoded(name),
                           declared.encode(), text)
            trial.parameters[name] = json.loads(text)
            self._unsettled = False

    def declare(self, space: Dict[str, Any]) -> None:
        self._call(self._library.attune_study_declare, library.text_of(values.plain(space, 'space')))

    def enqueue(self, parameters: Dict[str, Any]) -> None:
        if not isinstance(parameters, dict):
            raise TypeError(f'parameters: must be a dict, got {parameters!r:.100}')
        self._call(self._library.attune_study_enqueue,
                   library.text_of(values.plain(parameters, 'parameters')),
                   what='parameters: {}; nothing was enqueued')

    def import_results(self, results: Iterable[Dict[str, Any]]) -> None:
        records = [record(f'results[{index}]', result, self._checked)
                   for index, result in enumerate(results)]
        if records:
            self._call(self._library.attune_study_import, library.text_of(
                [{'parameters': one['parameter'], 'value': one['value']} for one in records]),
                       what='{}; nothing was imported')

    def importance(self, metric: Optional[str] = None) -> Dict[str, float]:
        with self._changed:
            named = None if metric is None else metric.encode()
            return library.read(self._usable(), self._library.attune_study_importance, named)

    def _call(self, function: Any, text: bytes, what: str = '{}') -> None:
        with self._changed:
            handle = self._usable()
            if function(handle, text):
                raise StudyError(what.format(library.error_of(handle)))

    # ---- results ---------------------------------------------------------------------------------

    @property
    def best(self) -> Optional[StudyTrial]:
        return self._best

    def _offer(self, trial: StudyTrial) -> None:
        rank = self._rank(trial)
        if rank is None:
            return
        rank = (*rank, trial.number)
        if self._best is None or rank < self._best_rank:
            self._best, self._best_rank = trial, rank

    def _running(self, trial: Union[StudyTrial, int]) -> StudyTrial:
        """The trial that is meant. TypeError: none is. StudyError: of another study, or ended."""
        if type(trial) is StudyTrial and self._by_number.get(trial.number) is trial:
            if trial.status == 'running':
                return trial
        by_number = isinstance(trial, int) and not isinstance(trial, bool)
        if not by_number and not isinstance(trial, StudyTrial):
            raise TypeError(f'a trial of ask(), or its number, is needed, got {trial!r:.100}')
        number = trial if by_number else trial.number
        found = self._by_number.get(number)
        if found is None or not (by_number or found is trial):
            raise StudyError(f'trial {number} is not of this study; give one that its ask() gave')
        if found.status != 'running':
            raise StudyError(f'trial {number} has ended already: {found.status}; ask() for another')
        return found

    # ---- keeping and ending ----------------------------------------------------------------------

    def save(self, path: Path) -> None:
        self._call(self._library.attune_study_save, library.path_of(path))

    @classmethod
    def load(cls, path: Path, attuned: None = None) -> 'LibraryStudy':
        return cls._from_file(path, attuned, 'load')

    @classmethod
    def open(cls, file: Path, attuned: None = None) -> 'LibraryStudy':
        return cls._from_file(file, attuned, 'open')

    @classmethod
    def _from_file(cls, path: Path, attuned: None, how: str) -> 'LibraryStudy':
        if attuned is not None:
            raise StudyError('attuned: the file is of a study without one; leave attuned out')
        study = cls.__new__(cls)
        study._set_up({})
        header = library_settings.header_of(path)
        if how == 'open':
            study._begin(study._library.attune_study_open, library.path_of(path), None)
        else:
            study._begin(study._library.attune_study_load, library.path_of(path))
        study._settings = library_settings.settings_of(header)
        study._take_trials()
        return study

    def _take_trials(self) -> None:
        """Of a study that goes on: those of the file."""
        for found in library.read(self._handle, self._library.attune_study_trials):
            trial = self._take(found['id'], found['parameters'])
            _take_record(trial, found)
            if trial.status == 'running':
                self._left_over.append(trial)
            elif trial.status == 'completed':
                self._offer(trial)

    def _take_left_over(self) -> Optional[StudyTrial]:
        """A trial that ran when the program ended which had the file before; it begins again."""
        with self._changed:
            while self._left_over:
                trial = self._left_over.popleft()
                if trial.status == 'running':  # nobody has told it meanwhile
                    trial.reports.clear()
                    trial.stop_reason = None
                    return trial
        return None

    def _usable(self) -> ctypes.c_void_p:
        """The handle. StudyError: the study is closed, or of another process."""
        if self._handle is None:
            raise StudyError(self._closed)
        if self._unsettled:
            self._settle()
        return self._handle

    def _settle(self) -> None:
        """After an interrupt (Ctrl-C) within a call: takes what the library knows."""
        listed = {trial.number for trial in self._trials}
        for given in library.read(self._handle, self._library.attune_study_running):
            if given['id'] not in listed:  # nobody got it: optimize() runs it
                self._by_number.pop(given['id'], None)
                self._left_over.append(self._take(given['id'], given['parameters']))
        for trial in self._trials:
            if trial.status == 'running':
                found = library.read(self._handle, self._library.attune_study_trial, trial.number)
                _take_record(trial, found)
                if trial.status == 'completed':
                    self._offer(trial)
        self._unsettled = False

    def close(self) -> None:
        with self._changed:
            self._handle = None
            _alive.discard(self)
            self._discard()

    def _forsake(self) -> None:
        """In a forked child: the handle is the parent's."""
        self._closed = 'the study belongs to the process that has made it; make one here'
        self._handle = None
        self._discard.detach()
        self._changed = threading.Condition(threading.RLock())  # whoever held it is not here

    def __reduce__(self) -> Any:
        raise TypeError('a Study cannot be pickled; give the other process a file of its own, or '
                        'let optimize() have processes')


def _forsake_all() -> None:
    for study in list(_alive):
        study._forsake()


os.register_at_fork(after_in_child=_forsake_all)


@atexit.register
def _flush_all() -> None:
    """Brings to the disk what the end of a study would have brought there."""
    for study in list(_alive):
        if study._flushes:
            study.close()


def _encoded(name: str) -> bytes:
    try:
        return name.encode()
    except UnicodeEncodeError as error:
        raise StudyError(f'{name!r}: {error}') from None


def _take_record(trial: StudyTrial, found: Dict[str, Any]) -> None:
    """What the library knows of a trial. Numbers that were told alone have the name "default"."""
    trial.status = _STATUSES.get(found['state'], found['state'])
    trial.parameters = found['parameters']
    trial.reports[:] = [_plain(report) for report in found['reports']]
    trial.metrics = _plain(found['metrics']) if trial.status == 'completed' else None
    trial.stop_reason = found['reason'] or None if trial.status != 'failed' else None


def _plain(metrics: Dict[str, float]) -> values.Metrics:
    return metrics['default'] if set(metrics) == {'default'} else metrics
