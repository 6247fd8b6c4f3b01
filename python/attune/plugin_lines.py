"""The conversation of a plug-in with attuned: one JSON object a line."""
from __future__ import annotations

import json
import os
import sys
from typing import Any, Dict, Iterator


class Lines:
    """Takes over stdin and stdout. What the user's code prints goes to stderr instead, and it
    reads an empty input: neither disturbs the conversation."""

    def __init__(self) -> None:
        sys.stdout.flush()
        self._input = os.fdopen(os.dup(0), 'rb')
        self._output = os.fdopen(os.dup(1), 'wb')
        with open(os.devnull, 'rb') as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)

    def requests(self) -> Iterator[Dict[str, Any]]:
        """Each request, until the input ends."""
        for line in self._input:
            yield json.loads(line)

    def reply(self, text: str) -> None:
        """The one line that answers the last request. `text`: JSON."""
        # What the user's code has printed comes before the answer, in whatever log there is.
        sys.stdout.flush()
        sys.stderr.flush()
        self._output.write(text.encode() + b'\n')
        self._output.flush()
