"""attuned as a child process: frames on two pipes. docs/protocol.md."""
from __future__ import annotations

import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import tempfile
import warnings
import weakref
from typing import IO, Dict, List, Optional, Tuple

from .errors import DaemonError

_HEADER = 16  # bytes: two of the command, fourteen digits
_LOG_PREFIX = re.compile(r'^\[[^]]*\] [A-Z]+ \([^)]*\) ')
_GRACE = 5.0  # s to end in after Terminate; the daemon itself promises 2.1 s


def find_attuned(program: Optional[str] = None) -> str:
    """The argument, else $ATTUNED, else _bin/ of this package (a wheel has it), else PATH, else where
    this package lies: bin/ of the prefix of an installation, build/release/bin of a source tree.
    DaemonError: nowhere."""
    parents = pathlib.Path(__file__).resolve().parents
    places = [parents[4] / 'bin' / 'attuned'] if len(parents) > 4 else []
    places.append(parents[2] / 'build' / 'release' / 'bin' / 'attuned')
    for name, source in ((program, ''), (os.environ.get('ATTUNED'), 'ATTUNED: ')):
        if name:
            found = shutil.which(name)
            if not found:
                raise DaemonError(f'{source}no program {name}')
            return found
    for place in (str(parents[0] / '_bin' / 'attuned'), 'attuned', *map(str, places)):
        found = shutil.which(place)
        if found:
            return found
    raise DaemonError('attuned was not found: put it into PATH, or name it in ATTUNED')


def environment_for_attuned() -> Dict[str, str]:
    """Ours, without what a manager has told this process: that is not for an attuned of ours."""
    return {name: value for name, value in os.environ.items() if not name.startswith('NNI_')}


class Daemon:
    """One attuned. For one thread at a time; no thread of its own.

    The process ends when it is closed, when this object is gone, and when this process is; what
    happens in a forked child ends nothing.
    """

    def __init__(self, program: str, arguments: List[str]):
        self._said = tempfile.TemporaryFile('a+b')  # stderr: a pipe could fill up
        try:
            # A session of its own: Ctrl-C in a terminal is this process's to handle.
            self._process = subprocess.Popen(
                [program, *arguments, '--in-fd', '0', '--out-fd', '1'], bufsize=0,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said,
                env=environment_for_attuned(), start_new_session=True)
        except OSError as error:
            self._said.close()
            raise DaemonError(f'cannot start {program}: {error.strerror}') from error
        self._to = self._process.stdin
        self._from = self._process.stdout
        os.set_blocking(self._to.fileno(), False)
        self._unsent = bytearray()
        self._unread = bytearray()
        # As docs/protocol.md, "Exactly once", counts them.
        self.sent = 0
        self.received = 0
        self._farewell = ''  # of ER
        self._error = ''  # once it is dead
        self.died = False  # by itself, and not by close()
        self._finalizer = weakref.finalize(self, _end, self._process, self._said,
                                            os.getpid())

    @property
    def pid(self) -> int:
        """The process id, also after the end."""
        return self._process.pid

    def send(self, *commands: Tuple[str, str]) -> None:
        """Commands, each (code, payload). DaemonError: attuned is dead.

        What is interrupted is kept, so that no half command is ever followed by another.
        """
        for code, payload in commands:
            data = payload.encode()
            self.sent += code != 'IN'
            self._unsent += b'%s%014d%s' % (code.encode(), len(data), data)
        while self._unsent:
            if self._error:
                raise DaemonError(self._error)
            try:
                del self._unsent[:os.write(self._to.fileno(), self._unsent)]
            except BlockingIOError:
                # Reading meanwhile: a daemon whose answers nobody takes stops taking commands.
                if self._wait(write=True):
                    self._fill()
            except BrokenPipeError:
                self._take_last_words()

    def receive(self) -> Tuple[str, str]:
        """The next answer, as (code, payload); waits for it. DaemonError: attuned is dead."""
        while True:
            frame = self._next_frame()
            if frame is None:
                self._wait(write=False)
                self._fill()
            elif frame[0] == 'ER':
                self._farewell = frame[1]
            elif (reason := _why_it_waits(frame)) is not None:
                warnings.warn(f'attuned waits: {reason}', RuntimeWarning, stacklevel=2)
            else:
                self.received += frame[0] != 'ID'
                return frame

    def last_said(self) -> str:
        """The last line of its log, without time and place; empty: none."""
        return _last_line(self._said)

    def said_since(self, position: int) -> Tuple[int, List[str]]:
        """Where its log ends now, and the lines from `position` on, without time and place."""
        self._said.seek(position)
        data = self._said.read()
        lines = data.decode(errors='replace').splitlines()
        return position + len(data), [_LOG_PREFIX.sub('', line) for line in lines]

    def close(self, reason: str = 'attuned was ended') -> None:
        """Ends it in order: what it was told is handled, and its state saved. Never raises.

        `reason` is the message of the DaemonError that every later call raises.
        """
        if not self._error:
            self._error = reason
            try:
                # At the exit of this process the finalizer may have closed the pipes already.
                if not self._unsent and self._finalizer.alive:
                    self._to.write(b'TE%014d' % 0)  # a full pipe: the end of input has to do
            except OSError:
                pass  # dead already
        self._finalizer()

    def _wait(self, write: bool) -> bool:
        """Until it has written something (then true), or, with `write`, takes something."""
        if self._error:
            raise DaemonError(self._error)
        poll = select.poll()  # not select(): descriptors may be above 1024
        poll.register(self._from, select.POLLIN)
        if write:
            poll.register(self._to, select.POLLOUT)
        return self._from.fileno() in (descriptor for descriptor, _ in poll.poll())

    def _fill(self) -> None:
        data = os.read(self._from.fileno(), 1 << 16)
        if not data:
            self._die()
        self._unread += data

    def _next_frame(self) -> Optional[Tuple[str, str]]:
        if len(self._unread) < _HEADER:
            return None
        end = _HEADER + int(self._unread[2:_HEADER])
        if len(self._unread) < end:
            return None
        frame = self._unread[:2].decode(), self._unread[_HEADER:end].decode()
        del self._unread[:end]
        return frame

    def _take_last_words(self) -> None:
        """It reads no more: what it has still written says why."""
        while True:
            self._fill()  # raises at the end

    def _die(self) -> None:
        while not self._farewell:
            frame = self._next_frame()
            if frame is None:
                break
            if frame[0] == 'ER':
                self._farewell = frame[1]
        self._to.close()
        try:
            status = self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        reason = self._farewell or self.last_said()
        how = f'signal {-status}' if status < 0 else f'exit code {status}'
        self.died = True
        self._error = f'attuned ended ({how})' + (f': {reason}' if reason else '')
        self._finalizer()
        raise DaemonError(self._error)


def _why_it_waits(frame: Tuple[str, str]) -> Optional[str]:
    """Of a NO that is no answer, and has no number: attuned cannot remember one now (its disk is full),
    and gives it when it can."""
    text = json.loads(frame[1]) if frame[0] == 'NO' else {}
    return text.get('reason', '') if text.get('transient') is True else None


def _last_line(file: IO[bytes]) -> str:
    file.seek(max(0, file.seek(0, os.SEEK_END) - 4096))
    lines = file.read().decode(errors='replace').strip().splitlines()
    return _LOG_PREFIX.sub('', lines[-1]) if lines else ''


def _end(process: subprocess.Popen, said: IO[bytes], owner: int) -> None:
    """Closes the pipes, which tells it to end, and waits: no zombie, no open descriptor. Only in
    the process `owner`: a forked child has copies, and is not who started it."""
    if os.getpid() != owner:
        return
    for pipe in (process.stdin, process.stdout):
        pipe.close()
    try:
        process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    said.close()
