"""The trial's side: parameters in, metrics out. NNI's file protocol for trials.

A manager (`attune run`, or NNI's) sets NNI_PLATFORM and NNI_SYS_DIR; without them the program runs
stand-alone: parameters are the defaults, reports are printed.
"""
from __future__ import annotations

import json
import logging
import os
import pathlib
import threading
import time
from typing import Any, Dict, List, Mapping, Optional

from . import files, values

_logger = logging.getLogger('attune')

RECORD_LIMIT = 1_000_000  # bytes, with the line end: the length of a record has six digits
_PATIENCE = 60.0  # s that a report waits for its decision, unless ATTUNE_DECISION_SECONDS says it
_HALF_WRITTEN = 5.0  # s that a file which we asked for may stay invalid before it counts as broken


class TrialError(RuntimeError):
    """What the manager has prepared cannot be used, and the message names the file; or a result
    before the parameters."""


class Trial:
    """This process as a trial. All functions may be called from any thread.

    `environment` is that of the process unless a test gives another. TrialError: NNI_PLATFORM
    without NNI_SYS_DIR, or with the HTTP channel of NNI 3.0.
    """

    def __init__(self, environment: Optional[Mapping[str, str]] = None):
        self._environment = dict(os.environ if environment is None else environment)
        # NNI's own tests set "unittest", and expect what happens without a manager.
        self.managed = self._environment.get('NNI_PLATFORM', 'unittest') != 'unittest'
        self._folder = pathlib.Path(self._environment.get('NNI_SYS_DIR', ''))
        if self.managed and not self._environment.get('NNI_SYS_DIR'):
            raise TrialError('NNI_PLATFORM is set, and NNI_SYS_DIR is not: nowhere to look for '
                             'parameters')
        if self.managed and self._environment.get('NNI_TRIAL_COMMAND_CHANNEL'):
            # Its manager writes no parameter.cfg: we should wait for ever.
            raise TrialError('NNI_TRIAL_COMMAND_CHANNEL is set: trials of NNI 3.0 by HTTP are not '
                             'supported')
        self._multi_phase = self._environment.get('MULTI_PHASE', '').lower() == 'true'
        self._lock = threading.Lock()
        self._descriptor: Optional[int] = None
        self._index = 0  # of the next parameters
        self._sequence = 0  # of the next intermediate result
        self._patience = self._seconds('ATTUNE_DECISION_SECONDS', _PATIENCE)
        self._given_up: Optional[int] = None  # the reports that were decided after a wait in vain
        self._parameter_id: Any = None
        self._has_warned = False
        self.last_report: Optional[values.Metrics] = None  # what report() was told last

    # ---- who it is -------------------------------------------------------------------------------

    def trial_id(self) -> str:
        """As the manager names this trial; 'STANDALONE' without one."""
        return self._environment.get('NNI_TRIAL_JOB_ID', '') if self.managed else 'STANDALONE'

    def experiment_id(self) -> str:
        """As the manager names the experiment; 'STANDALONE' without one."""
        return self._environment.get('NNI_EXP_ID', '') if self.managed else 'STANDALONE'

    def sequence_id(self) -> int:
        """The number of this trial in its experiment, from 0; 0 without a manager."""
        return int(self._environment.get('NNI_TRIAL_SEQ_ID') or 0) if self.managed else 0

    def output_dir(self) -> pathlib.Path:
        """The folder of this trial, for files to keep; the working directory without a manager."""
        named = self._environment.get('NNI_OUTPUT_DIR') if self.managed else None
        return pathlib.Path(named) if named else self._folder if self.managed else pathlib.Path()

    # ---- parameters ------------------------------------------------------------------------------

    def next_parameters(self, defaults: Optional[Dict[str, Any]] = None
                        ) -> Optional[Dict[str, Any]]:
        """The parameters to try, over those of `defaults` that the search space does not name.

        None from the second call on. With MULTI_PHASE=true in the environment each call asks the
        manager for other parameters, waits for them, and returns None when there are no more.
        Stand-alone: the defaults. TrialError: the file cannot be used.
        """
        with self._lock:
            if self._index > 0 and not (self.managed and self._multi_phase):
                return None
            given = self._next_from_manager() if self.managed else {}
            self._index += 1
        return None if given is None else {**(defaults or {}), **given}

    def _next_from_manager(self) -> Optional[Dict[str, Any]]:
        name = f'parameter_{self._index}.cfg' if self._index else 'parameter.cfg'
        path = self._folder / name
        try:
            text = path.read_bytes()
        except FileNotFoundError:
            text = self._ask_for(path)
        except OSError as error:
            raise TrialError(f'cannot read {path}: {error.strerror}') from error
        proposal = _parse(path, text or self._wait_for(path))
        self._parameter_id = proposal.get('parameter_id')
        parameters = proposal['parameters']
        if parameters is None or parameters == '':  # the tuner has no more
            return None
        if not isinstance(parameters, dict):
            raise TrialError(f'{path}: "parameters" must be an object')
        return parameters

    def _ask_for(self, path: pathlib.Path) -> bytes:
        self._write({'trial_job_id': self.trial_id(), 'type': 'REQUEST_PARAMETER', 'sequence': 0,
                     'parameter_index': self._index})
        return self._wait_for(path)

    def _wait_for(self, path: pathlib.Path) -> bytes:
        """The content, once it is whole: not every manager writes it at once."""
        seen: Dict[str, float] = {}

        def attempt() -> Optional[bytes]:
            try:
                text = path.read_bytes()
            except FileNotFoundError:
                return None
            if not text:
                return None
            try:
                json.loads(text)
            except ValueError:
                first = seen.setdefault('first', time.monotonic())
                return text if time.monotonic() - first > _HALF_WRITTEN else None
            return text

        return files.wait_for(attempt, path.parent)

    # ---- metrics ---------------------------------------------------------------------------------

    def report(self, metrics: Any) -> None:
        """An intermediate result: a number, or a dict of named values.

        TypeError: anything else. ValueError: a record of 1,000,000 bytes or more. TrialError:
        before next_parameters(). OSError: the disk. What failed is not reported, and does not
        count. A metric `default` that is no number gets a warning, one a trial.

        With `decisions: in-step` it returns when the manager has decided that the trial goes on. A
        trial that is paused or stopped because of this report gets SIGTERM meanwhile.
        """
        value = self._result('report', metrics)
        self.append('PERIODICAL', value)
        self.last_report = value

    def final(self, metrics: Any) -> None:
        """The result of this trial; errors as report()."""
        self.append('FINAL', self._result('final', metrics))

    def _result(self, call: str, metrics: Any) -> values.Metrics:
        if self._index == 0:
            # It would have no parameter_id, and managers ignore it; by hand the same, so that a
            # script that runs by hand runs under a manager.
            raise TrialError(f'{call}() before next_parameters(): nobody could tell what the '
                             'result belongs to')
        value = values.metrics(metrics)
        if isinstance(value, dict) and not values.is_number(value.get('default', 0)):
            if not self._has_warned:
                _logger.warning("%s(): the metric 'default' is not a number, but %.100r: no tuner "
                                'can use it', call, value['default'])
            self._has_warned = True
        return value

    def append(self, kind: str, value: Any) -> None:
        """A record of any JSON value. `kind` is PERIODICAL, which counts them, or FINAL."""
        text = json.dumps(value)
        with self._lock:
            sequence = self._sequence if kind == 'PERIODICAL' else 0
            if self.managed:
                self._write({'parameter_id': self._parameter_id, 'trial_job_id': self.trial_id(),
                             'type': kind, 'sequence': sequence, 'value': text})
            elif kind == 'FINAL':
                print(f'Final result: {text}', flush=True)
            else:
                print(f'Intermediate result: {text}  (Index {sequence})', flush=True)
            self._sequence += kind == 'PERIODICAL'
        if self.managed and kind == 'PERIODICAL':
            self._wait_for_decision(sequence + 1)

    def _wait_for_decision(self, reports: int) -> None:
        """Until `reports` are decided, or nobody answers, or decisions are not in step.

        The size of .nni/answered is the number of reports that are decided. Without that file
        nobody answers. After a wait in vain reports do not wait until it has grown.
        """
        begin = time.monotonic()
        while True:
            decided = self._decided()
            if decided is None or decided >= reports or decided == self._given_up:
                return
            waited = time.monotonic() - begin
            if waited >= self._patience:
                self._given_up = decided
                return
            # Polls, because inotify does not see what another machine does. A part of the time
            # that has passed, so that it adds little to a wait of any length.
            time.sleep(min(max(waited / 8, 50e-6), 20e-3))

    def _decided(self) -> Optional[int]:
        # Opened anew each time: a file system that machines share looks at its server then.
        try:
            descriptor = os.open(self._folder / '.nni' / 'answered',
                                 os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            return os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)

    def _seconds(self, name: str, default: float) -> float:
        text = self._environment.get(name, '')
        if text and not text.isdecimal():
            raise TrialError(f'{name} is "{text}"; a number from 0 expected')
        return float(text or default)

    def _write(self, record: Dict[str, Any]) -> None:
        body = (json.dumps(record) + '\n').encode()
        if len(body) >= RECORD_LIMIT:
            raise ValueError(f'metrics: the record has {len(body):,} bytes, and must have fewer '
                             f'than {RECORD_LIMIT:,}; put large things into files')
        path = self._folder / '.nni' / 'metrics'
        if self._descriptor is None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC,
                                       0o666)
        data = b'ME%06d%s' % (len(body), body)
        # One write for one record, so that a reader sees all of it or nothing.
        if os.write(self._descriptor, data) != len(data):
            raise OSError(f'{path}: the disk took only a part of a record')
        os.utime(path)  # NNI's managers watch the time stamp

    # ---- checkpoints -----------------------------------------------------------------------------

    def checkpoint_dir(self) -> Optional[pathlib.Path]:
        """The folder of what this trial needs to go on after a pause; None: nobody keeps it.

        It may be copied at any time: write a file under another name and rename it, or save().
        """
        named = self._environment.get('ATTUNE_CHECKPOINT_DIR')
        return pathlib.Path(named) if named else None

    def save(self, name: str, data: bytes) -> bool:
        """Keeps `data` as `name` in the checkpoint, whole or not at all; False: nobody keeps it.

        TypeError: `data` is not bytes, nor a buffer of them. ValueError: `name` is not a file
        name. OSError: the disk.
        """
        path = self._checkpoint_file(name)
        try:
            memoryview(data)
        except TypeError:  # here, so that it shows by hand, too
            raise TypeError(f'save() keeps bytes, not {type(data).__name__}') from None
        if path is None:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write_whole(path, data)
        return True

    def restore(self, name: str) -> Optional[bytes]:
        """What save() kept; None at a first start. ValueError: `name` is not a file name."""
        path = self._checkpoint_file(name)
        try:
            return path.read_bytes() if path is not None else None
        except FileNotFoundError:
            return None

    def _checkpoint_file(self, name: str) -> Optional[pathlib.Path]:
        if not name or name in ('.', '..') or '/' in name or '\0' in name:
            raise ValueError(f'not a file name: {name!r}')
        folder = self.checkpoint_dir()
        return folder / name if folder is not None else None

    def close(self) -> None:
        """Closes the file of metrics; a later report opens it again."""
        with self._lock:
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None


_this_process_lock = threading.Lock()
_this_process: List[Trial] = []  # empty until somebody asks: the environment may be set before


def this_trial() -> Trial:
    """The trial that this process is."""
    with _this_process_lock:
        if not _this_process:
            _this_process.append(Trial())
        return _this_process[0]


def _parse(path: pathlib.Path, text: bytes) -> Dict[str, Any]:
    try:
        proposal = json.loads(text)
    except ValueError as error:
        raise TrialError(f'{path}: not valid JSON: {error}') from error
    if not isinstance(proposal, dict) or 'parameters' not in proposal:
        raise TrialError(f'{path}: expected an object with the key "parameters"')
    return proposal
