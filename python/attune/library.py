"""libattune_study.so, the engine in this process: study/study_c.h by ctypes."""
from __future__ import annotations

import ctypes
import ctypes.util
import json
import os
import pathlib
from typing import Any, List, Optional

from .errors import LibraryError, StudyError

_NAME = 'libattune_study.so'
_ABI = 1
OK, NONE = 0, 1  # other codes: it failed, and error_of() says why

_Study, _Text, _Id = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64
_FUNCTIONS = {
    'create': (_Text, _Text, ctypes.POINTER(_Study)),
    'open': (_Text, _Text, ctypes.POINTER(_Study)),
    'load': (_Text, ctypes.POINTER(_Study)),
    'ask': (_Study, ctypes.c_int32, ctypes.POINTER(_Text)),
    'tell': (_Study, _Id, ctypes.c_double),
    'tell_json': (_Study, _Id, _Text),
    'report_json': (_Study, _Id, _Text, ctypes.c_int64, ctypes.POINTER(_Text)),
    'fail': (_Study, _Id, _Text),
    'stop': (_Study, _Id),
    'enqueue': (_Study, _Text),
    'import': (_Study, _Text),
    'suggest': (_Study, _Id, _Text, _Text, ctypes.POINTER(_Text)),
    'give': (_Study, _Id, _Text, _Text, _Text),
    'declare': (_Study, _Text),
    'importance': (_Study, _Text, ctypes.POINTER(_Text)),
    'trial': (_Study, _Id, ctypes.POINTER(_Text)),
    'trials': (_Study, ctypes.POINTER(_Text)),
    'running': (_Study, ctypes.POINTER(_Text)),
    'warnings': (_Study, ctypes.POINTER(_Text)),
    'save': (_Study, _Text),
}

_loaded: List[ctypes.CDLL] = []  # empty, or the library


def find_library() -> str:
    """$ATTUNE_STUDY_LIBRARY, else where this package lies: _lib/ beside it, lib/ of the prefix of an
    installation, the build of a source tree, else where the system looks. LibraryError: nowhere."""
    named = os.environ.get('ATTUNE_STUDY_LIBRARY')
    if named:
        return named
    here = pathlib.Path(__file__).resolve()
    folders = [here.parent / '_lib']
    if len(here.parents) > 4:
        prefix = here.parents[4]
        folders += [prefix / 'lib', *prefix.glob('lib/*-linux-gnu')]
    folders.append(here.parents[2] / 'build' / 'release' / 'study')
    for folder in folders:
        for found in (folder / _NAME, *sorted(folder.glob(_NAME + '.*'))):
            if found.exists():
                return str(found)
    found = ctypes.util.find_library('attune_study')
    if found is None:
        raise LibraryError(f'{_NAME} was not found: install it, name it in ATTUNE_STUDY_LIBRARY, or '
                           'have a study use the program attuned, by Study(attuned=True)')
    return found


def library() -> ctypes.CDLL:
    """The library, with the types of its functions. LibraryError: there is none that fits."""
    if not _loaded:
        _loaded.append(_load(find_library()))
    return _loaded[0]


def _load(path: str) -> ctypes.CDLL:
    try:
        found = ctypes.CDLL(path)
        abi = found.attune_study_abi()
        if abi != _ABI:
            raise LibraryError(f'{path} has the interface {abi}, and this package needs {_ABI}: '
                               'install both from one version of attune')
        for name, arguments in _FUNCTIONS.items():
            function = getattr(found, 'attune_study_' + name)
            function.argtypes, function.restype = arguments, ctypes.c_int
        found.attune_study_free.argtypes, found.attune_study_free.restype = (_Study,), None
        found.attune_study_error.argtypes, found.attune_study_error.restype = (_Study,), _Text
    except (OSError, AttributeError) as error:
        raise LibraryError(f'{path} cannot be used: {error}') from error
    return found


def error_of(handle: _Study) -> StudyError:
    """What the last call with this handle has said. Of options it names our arguments."""
    text = library().attune_study_error(handle).decode(errors='replace')
    return StudyError(text.removeprefix('options.'))


def text_of(value: Any) -> bytes:
    """JSON, as the library reads it: NaN and infinities as Python writes them."""
    return json.dumps(value).encode()


def path_of(path: Any) -> bytes:
    """As the library reads it. StudyError: it has a zero byte."""
    found = os.fsencode(os.path.abspath(path))
    if b'\0' in found:
        raise StudyError(f'file: {path!r} has a zero byte')
    return found


def read(handle: _Study, function: Any, *arguments: Any) -> Optional[Any]:
    """What a function of the library writes, from JSON. None: there is none. StudyError: it failed."""
    text = _Text()
    code = function(handle, *arguments, ctypes.byref(text))
    if code == NONE:
        return None
    if code != OK:
        raise error_of(handle)
    return json.loads(text.value)
