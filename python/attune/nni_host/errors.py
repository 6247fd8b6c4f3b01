"""What is said when the user's class cannot be used."""
from __future__ import annotations

import os
import sys
import traceback
from typing import Any, Callable


class HostError(Exception):
    """The message is for the user: it names the class, the method, and what is wrong."""


def call(where: str, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Calls the user's code. What it throws is printed to stderr, and becomes a HostError."""
    try:
        return function(*arguments, **named)
    except HostError:
        raise
    except (Exception, SystemExit) as error:
        traceback.print_exc(file=sys.stderr)
        raise HostError(f'{where}: {last_line(error)}{_place(error)}') from None


def finish(name: str, user_object: Any) -> None:
    """Calls the hook for the end, if there is one. Nobody waits for an error any more."""
    try:
        call(f'{name}._on_exit', getattr(user_object, '_on_exit', lambda: None))
    except HostError:
        pass


def last_line(error: BaseException) -> str:
    """As the last line of a traceback; a text of several lines in one."""
    if isinstance(error, SyntaxError):  # its text has the source
        return f'{type(error).__name__}: {error.msg}'
    return ' '.join(''.join(traceback.format_exception_only(type(error), error)).split())


def _place(error: BaseException) -> str:
    """The innermost line of code that was neither ours nor of a library."""
    ours = os.path.dirname(os.path.abspath(__file__))
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if os.path.dirname(os.path.abspath(frame.filename)) != ours
              and 'importlib' not in frame.filename]
    users = [frame for frame in frames if not frame.filename.startswith(sys.prefix)] or frames
    if not users:
        return ''
    return f' ({os.path.basename(users[-1].filename)}:{users[-1].lineno})'
