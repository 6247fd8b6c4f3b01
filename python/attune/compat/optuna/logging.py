"""What a study says: Optuna's functions, for the logger "attune.optuna". INFO and above go to
stderr, unless it is set otherwise."""
from __future__ import annotations

import logging as _logging
from logging import CRITICAL, DEBUG, ERROR, FATAL, INFO, WARN, WARNING

__all__ = ['CRITICAL', 'DEBUG', 'ERROR', 'FATAL', 'INFO', 'WARN', 'WARNING',
           'disable_default_handler', 'disable_propagation', 'enable_default_handler',
           'enable_propagation', 'get_logger', 'get_verbosity', 'set_verbosity']

_NAME = 'attune.optuna'


class _Handler(_logging.StreamHandler):
    """The default handler: one of this class is there, or none."""


def get_logger(name: str) -> _logging.Logger:
    """One of Python's. Optuna's names, "optuna" and what is below, are those of this module."""
    if name.split('.')[0] == 'optuna':
        name = 'attune.' + name
    return _logging.getLogger(name)


def get_verbosity() -> int:
    return _root().getEffectiveLevel()


def set_verbosity(verbosity: int) -> None:
    _root().setLevel(verbosity)


def enable_default_handler() -> None:
    """Writes to stderr; so it is from the beginning."""
    if not any(isinstance(each, _Handler) for each in _root().handlers):
        handler = _Handler()
        handler.setFormatter(_logging.Formatter('[%(levelname).1s %(asctime)s] %(message)s'))
        _root().addHandler(handler)


def disable_default_handler() -> None:
    for handler in [each for each in _root().handlers if isinstance(each, _Handler)]:
        _root().removeHandler(handler)


def enable_propagation() -> None:
    """What is said goes to Python's root logger, too."""
    _root().propagate = True


def disable_propagation() -> None:
    _root().propagate = False


def _root() -> _logging.Logger:
    return _logging.getLogger(_NAME)


if _root().level == _logging.NOTSET:
    set_verbosity(INFO)
    disable_propagation()
    enable_default_handler()
