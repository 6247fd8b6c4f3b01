"""Files that appear whole or not at all, and waiting for files of others."""
from __future__ import annotations

import os
import pathlib
import select
import tempfile
import time
from typing import Callable, Optional, TypeVar

T = TypeVar('T')

_IN_CLOSE_WRITE, _IN_MOVED_TO = 0x8, 0x80
_EVERY = 1.0  # s: some file systems (NFS) tell nothing about changes made elsewhere
_EVERY_WITHOUT_INOTIFY = 0.05  # s


def write_whole(path: pathlib.Path, data: bytes) -> None:
    """Replaces `path`: a reader, also after a crash, sees the old content or the new one. OSError:
    the disk; it names `path`."""
    try:
        _replace(path, data)
    except OSError as error:
        # Not the draft, which the caller knows nothing of.
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def _replace(path: pathlib.Path, data: bytes) -> None:
    descriptor, draft = tempfile.mkstemp(prefix='.' + path.name, suffix='.tmp', dir=path.parent)
    try:
        with os.fdopen(descriptor, 'wb') as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise


def wait_for(attempt: Callable[[], Optional[T]], folder: pathlib.Path) -> T:
    """What attempt() returns as soon as it is not None; asked again when a file of `folder` was
    written or moved there, and once a second."""
    watch = _watch(folder)
    try:
        while True:
            # After the watch is set: what comes between this look and the wait wakes it.
            result = attempt()
            if result is not None:
                return result
            if watch is None:
                time.sleep(_EVERY_WITHOUT_INOTIFY)
            elif select.select([watch], [], [], _EVERY)[0]:
                os.read(watch, 65536)
    finally:
        if watch is not None:
            os.close(watch)


def _watch(folder: pathlib.Path) -> Optional[int]:
    """A descriptor that becomes readable when something happens; None: not on this system."""
    try:
        import ctypes  # here: few trials need it  # pylint: disable=import-outside-toplevel
        library = ctypes.CDLL(None, use_errno=True)
        descriptor = library.inotify_init1(os.O_CLOEXEC)
        add_watch = library.inotify_add_watch
    except (OSError, AttributeError, TypeError):
        return None
    if descriptor < 0:
        return None
    if add_watch(descriptor, os.fsencode(folder), _IN_CLOSE_WRITE | _IN_MOVED_TO) < 0:
        os.close(descriptor)
        return None
    return descriptor
