"""attune.sqlite, read only: docs/store.md. What the command attune refuses is refused here, too."""
from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import sqlite3
import stat
import struct
import urllib.parse
from typing import Any, Iterator, List, Tuple

from .errors import ExperimentError

FILE = 'attune.sqlite'
VERSION = 7  # of the tables
_APPLICATION = 0x6174746e  # "attn"
_PATIENCE = 10.0  # s; a reader waits for nobody but who sets up the file
_FLOCK = struct.Struct('@hhqqi4x')  # struct flock of Linux on 64 bits


class Store:
    """Each call opens the file and closes it again, so that it may be moved or written anew in
    between, and any thread may call."""

    def __init__(self, folder: pathlib.Path):
        """ExperimentError: there is no store in this folder, or it cannot be read."""
        self._link = folder / FILE  # the folder of an experiment has a link
        with self._open():
            pass

    @property
    def path(self) -> pathlib.Path:
        """Where the file is, links followed."""
        return pathlib.Path(os.path.realpath(self._link))

    @property
    def is_link(self) -> bool:
        """It is that of an experiment, which has its store elsewhere."""
        return self._link.is_symlink()

    def rows(self, query: str, values: Tuple[Any, ...] = ()) -> List[sqlite3.Row]:
        """All rows of one query."""
        with self._open() as connection, self._said():
            return connection.execute(query, values).fetchall()

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        self._check_kind()
        with self._said():
            connection = self._connect()
        try:
            with self._said():
                self._check_version(connection)
            yield connection
        finally:
            connection.close()

    def _connect(self) -> sqlite3.Connection:
        name = 'file:' + urllib.parse.quote(str(self.path))
        try:
            return _connected(name + '?mode=ro')
        except sqlite3.OperationalError:
            # A reader makes attune.sqlite-shm. Where it may not write, nobody writes for now, and
            # the file alone is the whole truth.
            if not os.access(self.path, os.R_OK) or os.access(self.path.parent, os.W_OK):
                raise
            return _connected(name + '?mode=ro&immutable=1')

    def _check_kind(self) -> None:
        """Before it is opened: SQLite would wait at a FIFO for ever."""
        try:
            status = os.stat(self._link)
        except OSError as error:
            raise ExperimentError(f'{self._link}: {error.strerror}; name the directory that attune '
                                  'run had as --dir, or the folder of an experiment') from None
        if not stat.S_ISREG(status.st_mode):
            raise ExperimentError(f'{self._link}: is no regular file; move it away')
        if status.st_size == 0:
            raise ExperimentError(f'{self._link}: is empty, no experiment is in it; put a copy in '
                                  'its place, or name another directory')

    def _check_version(self, connection: sqlite3.Connection) -> None:
        application, = connection.execute('PRAGMA application_id').fetchone()
        version, = connection.execute('PRAGMA user_version').fetchone()
        if application != _APPLICATION:
            raise ExperimentError(f'{self._link}: belongs to another program, or no experiment has '
                                  'begun in it; name another directory')
        if version > VERSION:
            raise ExperimentError(f'{self._link}: was written by a newer attune (version {version} '
                                  f'of the tables, this package knows {VERSION}); use the package '
                                  'of that one')
        if version < VERSION:
            raise ExperimentError(f'{self._link}: was written by an older attune; the next attune '
                                  'run or resume in this directory brings it up to date')

    @contextlib.contextmanager
    def _said(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise ExperimentError(f'{self._link}: cannot be read: {error}; is it a store of attune, '
                                  'and may you read it?') from error


def _connected(name: str) -> sqlite3.Connection:
    connection = sqlite3.connect(name, uri=True, timeout=_PATIENCE)
    try:
        connection.row_factory = sqlite3.Row
        connection.execute('PRAGMA schema_version')  # opening alone reads nothing
    except BaseException:
        connection.close()
        raise
    return connection


def is_locked(folder: str) -> bool:
    """Whether a manager runs the experiment of this folder: it holds a lock, see docs/store.md."""
    try:
        descriptor = os.open(os.path.join(folder, 'lock'),
                             os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return False
        asked = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        found = fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, asked)
        return _FLOCK.unpack(found)[0] != fcntl.F_UNLCK
    except OSError:
        return False
    finally:
        os.close(descriptor)
