"""One JSON object a line, on descriptors that the user's code does not know."""
from __future__ import annotations

import json
import os
import sys
from typing import Any, Dict, Iterator

from .errors import HostError
from .texts import to_text


class Lines:
    """Takes over stdin and stdout. What the user's code prints goes to stderr instead, and it
    reads an empty input: neither disturbs the conversation."""

    def __init__(self) -> None:
        sys.stdout.flush()
        self._input = os.fdopen(os.dup(0), 'rb')
        self._output = os.fdopen(os.dup(1), 'wb')
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)

    def requests(self) -> Iterator[Dict[str, Any]]:
        """Each request, until the input ends."""
        for line in self._input:
            yield json.loads(line)

    def reply(self, value: Dict[str, Any]) -> None:
        """The one line that answers the last request."""
        try:
            text = to_text(value, 'the answer')
        except HostError as error:
            text = json.dumps({'error': str(error)})
        # What the user's code has printed comes before the answer, in whatever log there is.
        sys.stdout.flush()
        sys.stderr.flush()
        self._output.write(text.encode() + b'\n')
        self._output.flush()
