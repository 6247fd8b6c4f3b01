"""A Study whose engine is a process attuned of its own."""
from __future__ import annotations

import json
import os
import pathlib
from typing import Any, Dict, Iterable, List, Optional, Tuple, Union

from . import files, study_file, study_points, study_settings, values
from .daemon import find_attuned
from .errors import StudyError
from .study import Path, Study
from .study_core import StudyCore
from .study_file import StudyFile
from .study_replay import replay
from .study_trial import StudyTrial

_MOST = 100_000  # trials that attuned accepts to be asked for at once


class DaemonStudy(StudyCore, Study):
    """Study(attuned=...), and the files that such a study has written.

    DaemonError: attuned was not found, or has died; trials and best can still be read then.
    """

    def __init__(self, space: Dict[str, Any], tuner: str = 'auto',
                 tuner_args: Optional[Dict[str, Any]] = None, assessor: Optional[str] = None,
                 assessor_args: Optional[Dict[str, Any]] = None, *, seed: Optional[int] = None,
                 maximize: bool = False, objectives: Optional[List[Dict[str, Any]]] = None,
                 constraints: Optional[List[str]] = None, concurrency: int = 1,
                 attuned: Union[str, bool, None] = None,
                 file: Optional[Path] = None, if_exists: str = 'fail',
                 durability: str = 'never'):
        if if_exists not in ('fail', 'continue'):
            raise StudyError(f"if_exists: must be 'fail' or 'continue', got {if_exists!r}")
        if durability != 'never':
            raise StudyError("durability: with attuned only 'never'; leave attuned out")
        if not space:
            raise StudyError('space: with attuned it has to be there; leave attuned out, and trials '
                             'may say what they need while they run')
        settings = study_settings.make(space, tuner, tuner_args, assessor, assessor_args, seed,
                                       maximize, objectives, constraints, concurrency)
        program = find_attuned(attuned if isinstance(attuned, str) else None)
        study_settings.check(program, settings)
        if file is not None and if_exists == 'continue' and os.path.exists(file):
            drawn = seed is None and 'seed' not in (tuner_args or {})
            self._open(file, program, settings, drawn)
            return
        self._set_up(settings, program)
        try:
            new = StudyFile(file) if file is not None else None
            self._start()
            if new is not None:
                new.write(self._document(), new=True)
                self._files.append(new)
        except BaseException:
            self._discard()
            raise

    # ---- asking and telling ----------------------------------------------------------------------

    def _ask_for(self, count: int) -> Tuple[List[StudyTrial], bool]:
        if count > _MOST:
            raise StudyError(f'count: must be from 1 to {_MOST:,}, got {count}')
        with self._change():
            return self._ask(count), self._exhausted

    def _ask(self, wanted: int) -> List[StudyTrial]:
        found = []
        while self._enqueued and len(found) < wanted:
            found.append(self._adopt(self._enqueued.popleft()))
        missing = wanted - len(found) - len(self._ready) - self._requested
        # An answer may have come since: one that has waited, for a result or an end.
        requests = missing > 0 and not self._exhausted
        if requests:
            self._synchronize(('GE', str(missing)))
        elif len(self._ready) < wanted - len(found):
            self._synchronize()
        while self._ready and len(found) < wanted:
            trial = self._ready.popleft()
            trial.number = len(self._trials)
            self._trials.append(trial)
            found.append(trial)
        if requests or found:
            self._log({'ask': wanted, 'trials': [trial.proposal for trial in found]})
        return found

    # A trial to report(), tell(), fail() or stop() is what ask() gave, or its number.

    def report(self, trial: Union[StudyTrial, int], metrics: Any) -> bool:
        value = self._checked(metrics)
        with self._change():
            trial = self._running(trial)
            metric = trial.metric('PERIODICAL', len(trial.reports), value)
            trial.reports.append(value)
            self._synchronize(metric)
            self._log({'report': trial.number, 'value': value})
            self._changed.notify_all()
            return trial.stop_reason is None

    def tell(self, trial: Union[StudyTrial, int], metrics: Any) -> None:
        value = self._checked(metrics)
        with self._change():
            trial = self._running(trial)
            self._end(trial, 'completed', 'SUCCEEDED', value)
            self._log({'tell': trial.number, 'value': value})

    def fail(self, trial: Union[StudyTrial, int]) -> None:
        with self._change():
            trial = self._running(trial)
            self._end(trial, 'failed', 'FAILED')
            self._log({'fail': trial.number})

    def _stop_trial(self, trial: Union[StudyTrial, int]) -> None:
        with self._change():
            trial = self._running(trial)
            self._end(trial, 'stopped',
                      'EARLY_STOPPED' if trial.stop_reason is not None else 'USER_CANCELED')
            self._log({'stop': trial.number})

    def enqueue(self, parameters: Dict[str, Any]) -> None:
        if not isinstance(parameters, dict):
            raise TypeError(f'parameters: must be a dict, got {parameters!r:.100}')
        found = values.plain(parameters, 'parameters')
        self._usable()
        study_points.check_point(self._program, self._settings, found)
        with self._change():
            self._enqueued.append(found)
            self._log({'enqueue': found})

    def import_results(self, results: Iterable[Dict[str, Any]]) -> None:
        records = [study_points.record(f'results[{index}]', result, self._checked)
                   for index, result in enumerate(results)]
        if not records:
            return
        self._usable()
        study_points.check_results(self._program, self._settings, records)
        with self._change():
            self._import(records)

    # ---- keeping and ending ----------------------------------------------------------------------

    def save(self, path: Path) -> None:
        with self._changed:
            self._settle()
            if any(os.path.abspath(path) == str(file.path) for file in self._files):
                raise StudyError(f'path: {os.fspath(path)} is the file of this study, which has '
                                 'everything already; name another one')
            with StudyFile(path).kept_from_others():
                files.write_whole(pathlib.Path(path), json.dumps(self._document()).encode() + b'\n')

    @classmethod
    def load(cls, path: Path, attuned: Union[str, bool, None] = None) -> 'DaemonStudy':
        study = cls.__new__(cls)
        parsed = study_file.parse(pathlib.Path(path).read_bytes(), path)
        study._go_on(*parsed, find_attuned(attuned if isinstance(attuned, str) else None), os.fspath(path))
        return study

    @classmethod
    def open(cls, file: Path, attuned: Optional[str] = None) -> 'Study':
        study = cls.__new__(cls)
        study._open(file, find_attuned(attuned if isinstance(attuned, str) else None))
        return study

    def _open(self, path: Path, program: str, settings: Optional[study_settings.Settings] = None,
              seed_is_drawn: bool = False) -> None:
        file = StudyFile(path)
        try:
            document, events = study_file.parse(file.read(), path)
            made_with = document.get('settings', {})
            for name in study_settings.differences(settings or made_with, made_with, seed_is_drawn):
                raise StudyError(f'{name}: {os.fspath(path)} was made with '
                                 f'{made_with.get(name)!r:.200}; give the same, or another file')
            self._go_on(document, events, program, os.fspath(path))
        except BaseException:
            file.close()
            raise
        self._files.append(file)
        self._left_over.extend(trial for trial in self._trials if trial.status == 'running')
        try:
            file.write(self._document())
        except BaseException:
            self._discard()
            raise

    def _go_on(self, document: Dict[str, Any], events: List[study_file.Event], program: str,
               where: str) -> None:
        self._set_up(document.get('settings', {}), program)
        try:
            self._take_document(document)
            replay(self, events)
        except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
            self._discard()
            raise StudyError(f'{where}: is damaged ({type(error).__name__}: {error}); put a copy of '
                             'the file in its place') from error
        except BaseException:
            self._discard()
            raise

    def close(self) -> None:
        with self._changed:
            self._discard()
            self._unsettled = self._unwritten = False
