"""Catches what an advisor sends, whichever NNI its base class is of."""
from __future__ import annotations

import importlib
import json
import threading
from typing import Any, List, Tuple

from .errors import HostError

# Where releases of NNI keep send(), or what their advisors send through.
_MODULES = ('nni.protocol', 'nni.runtime.protocol', 'nni.runtime.tuner_command_channel',
            'nni.runtime.msg_dispatcher_base', 'nni.msg_dispatcher_base')


class Channel:
    """What the advisor has sent, (code, payload), in order. Its own threads may send, too."""

    def __init__(self) -> None:
        self._sent: List[Tuple[str, Any]] = []
        self._changed = threading.Condition()

    def install(self) -> None:
        """Replaces NNI's way to its manager. Before the user's module is imported, which may
        import send() by its name."""
        for name in _MODULES:
            try:
                module = importlib.import_module(name)
            except ImportError:
                continue
            if hasattr(module, 'send'):
                setattr(module, 'send', self.send)
            if hasattr(module, 'TunerCommandChannel'):
                setattr(module, 'TunerCommandChannel', lambda *_args, **_named: _Silent(self))

    def send(self, command: Any, data: str = '') -> None:
        """As NNI's: a CommandType and a payload."""
        code = getattr(command, 'value', command)
        code = code.decode() if isinstance(code, bytes) else str(code)
        try:
            payload = json.loads(data) if data else None
        except (TypeError, ValueError) as error:
            raise HostError(f'send({code}): the payload is no JSON: {error}') from None
        with self._changed:
            self._sent.append((code, payload))
            self._changed.notify_all()

    def take(self) -> List[Tuple[str, Any]]:
        """What was sent since the last call."""
        with self._changed:
            sent, self._sent = self._sent, []
            return sent

    def wait(self, seconds: float) -> None:
        """Until something was sent, but no longer than that."""
        with self._changed:
            self._changed.wait_for(lambda: self._sent, seconds)


class _Silent:
    """In place of the WebSocket of NNI 2.8 and later."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def connect(self) -> None:
        """There is nothing to connect to."""

    def disconnect(self) -> None:
        """As connect()."""

    def _send(self, command: Any, data: str = '') -> None:
        self._channel.send(command, data)

    send = _send
