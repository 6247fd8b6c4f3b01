"""The file of a study: a document, and what has happened since, one JSON text a line."""
from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pathlib
import tempfile
import time
import warnings
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

from .errors import StudyError

Event = Dict[str, Any]
VERSION = 3  # version 2 had no events, and no points of the user
_VERSIONS = (2, VERSION)
_TRIES, _BETWEEN_TRIES = 100, 0.01  # s


def parse(text: bytes, path: Union[str, 'os.PathLike[str]']) -> Tuple[Dict[str, Any], List[Event]]:
    """The document and the events. A torn last line, of an event that nobody was told of, is left
    out with a warning. StudyError: it is no such file."""
    where = os.fspath(path)
    lines = text.split(b'\n')
    torn = lines.pop()  # empty when the last line is whole
    if not lines:
        lines, torn = [torn], b''  # version 2 had no end of the line
    found = []
    for number, line in enumerate(lines, 1):
        try:
            found.append(json.loads(line))
        except ValueError as error:
            raise StudyError(f'{where}: line {number}: not valid JSON: {error}; put a copy of the '
                             'file in its place') from error
    if not isinstance(found[0], dict) or found[0].get('attune_study') not in _VERSIONS:
        raise StudyError(f'{where}: not a study that this version of attune has saved; name one '
                         'that Study(file=...) or save() has written')
    if torn:
        warnings.warn(f'{where}: its last line is torn and was left out', RuntimeWarning,
                      stacklevel=3)
    return found[0], found[1:]


class StudyFile:
    """A file that is locked for this process until it is closed."""

    def __init__(self, path: Union[str, 'os.PathLike[str]']):
        self.path = pathlib.Path(os.path.abspath(path))
        self._descriptor: Optional[int] = None

    def read(self) -> bytes:
        """Locks the file, and reads it. FileNotFoundError: there is none. StudyError: another
        program writes to it."""
        self._hold()
        return self.path.read_bytes()

    def _hold(self) -> None:
        while True:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            try:
                self._lock(descriptor)
                # Its owner may have put a new one in its place before it let go of this one.
                if os.path.samestat(os.fstat(descriptor), os.stat(self.path)):
                    self._descriptor = descriptor
                    return
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)

    @contextlib.contextmanager
    def kept_from_others(self) -> Iterator[None]:
        """No study writes to the file meanwhile, if there is one. StudyError: one does."""
        try:
            with contextlib.suppress(FileNotFoundError):
                self._hold()
            yield
        finally:
            self.close()

    def write(self, document: Dict[str, Any], new: bool = False) -> None:
        """Puts a document in the place of all that the file has. With `new` StudyError: there is
        a file already. OSError: the disk; the file is as it was."""
        try:
            descriptor, draft = tempfile.mkstemp(prefix='.' + self.path.name, suffix='.tmp',
                                                 dir=self.path.parent)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from None
        try:
            self._lock(descriptor)
            _write_all(descriptor, json.dumps(document).encode() + b'\n')
            os.fsync(descriptor)
            if new:
                os.link(draft, self.path)
                os.unlink(draft)
            else:
                os.replace(draft, self.path)
        except BaseException as error:
            os.close(descriptor)
            os.unlink(draft)
            if isinstance(error, FileExistsError):
                raise StudyError(f"file: {self.path} exists; go on with it by if_exists='continue' "
                                 'or Study.open(), or name another file') from None
            if isinstance(error, OSError):
                raise OSError(error.errno, error.strerror, str(self.path)) from None
            raise
        self.close()
        self._descriptor = descriptor

    def append(self, event: Event) -> None:
        """OSError: the disk; the file is as it was, if that can be helped."""
        size = os.fstat(self._descriptor).st_size
        os.lseek(self._descriptor, size, os.SEEK_SET)
        try:
            _write_all(self._descriptor, json.dumps(event).encode() + b'\n')
        except OSError as error:
            os.ftruncate(self._descriptor, size)
            raise OSError(error.errno, error.strerror, str(self.path)) from None

    def close(self) -> None:
        """Others may write to it now. May be called again."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _lock(self, descriptor: int) -> None:
        # A program that was killed while it started a process lives on in that one until it
        # executes its program, which closes the file. Nothing tells when.
        for _ in range(_TRIES):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                time.sleep(_BETWEEN_TRIES)
        raise StudyError(f'file: {self.path} is used by another study; close that one, or wait for '
                         'its end')


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data):]
