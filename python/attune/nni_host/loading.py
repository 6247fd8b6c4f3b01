"""Finds the user's class, and the package nni that it imports."""
from __future__ import annotations

import importlib
import importlib.util
import os
import pathlib
import sys
from typing import Any, NamedTuple, Type

from .errors import HostError, call

KINDS = ('tuner', 'assessor', 'advisor')


class Loaded(NamedTuple):
    """A class that can be hosted, and what it is."""
    kind: str  # one of KINDS
    type: Type[Any]
    name: str  # as the user wrote it


def provide_nni() -> None:
    """Makes `import nni` work: the installed package, else our stand-in.

    HostError: there is neither.
    """
    if importlib.util.find_spec('nni') is not None:
        # So that NNI leaves the descriptors 3 and 4 and the logging alone.
        os.environ['NNI_PLATFORM'] = 'unittest'
        os.environ.setdefault('SDK_PROCESS', 'dispatcher')
        os.environ.setdefault('NNI_TUNER_COMMAND_CHANNEL', 'ws://localhost/unused')
        return
    stand_in = pathlib.Path(__file__).resolve().parents[2] / 'compat'
    if not (stand_in / 'nni').is_dir():
        raise HostError(f'there is no package nni: install it, or put the stand-in of attune '
                        f'(python/compat/nni) at {stand_in}')
    sys.path.append(str(stand_in))


def load_class(name: str, directory: str, kind: str) -> Loaded:
    """The class `name`, "module.Class", of a file below `directory`; `kind`: under which key of
    the experiment it stands. An advisor may also stand under `tuner`.

    HostError: not found, or not a class of that kind.
    """
    module_name, _, class_name = name.rpartition('.')
    if not module_name:
        raise HostError(f'className "{name}": "module.Class" expected')
    if not os.path.isdir(directory):
        raise HostError(f'codeDirectory: there is no folder {directory}')
    sys.path.append(directory)
    importlib.invalidate_caches()
    if _finds_nothing(module_name):
        raise HostError(f'className "{name}": there is no module {module_name} in {directory}')
    module = call(f'import {module_name}', importlib.import_module, module_name)
    found = getattr(module, class_name, None)
    if not isinstance(found, type):
        raise HostError(f'className "{name}": there is no class {class_name} in {module.__file__}')
    return Loaded(_kind_of(found, name, kind), found, name)


def _finds_nothing(module_name: str) -> bool:
    try:
        return importlib.util.find_spec(module_name) is None
    except ModuleNotFoundError:  # a package on the way
        return True
    except Exception:  # of a package's own code: the import says it better
        return False


def _kind_of(found: Type[Any], name: str, wanted: str) -> str:
    bases = {'tuner': _base('nni.tuner', 'Tuner'),
             'assessor': _base('nni.assessor', 'Assessor'),
             'advisor': _base('nni.runtime.msg_dispatcher_base', 'MsgDispatcherBase',
                              'nni.msg_dispatcher_base')}
    kind = next((kind for kind in KINDS if bases[kind] and issubclass(found, bases[kind])), None)
    if kind is None:
        raise HostError(f'className "{name}": neither an nni.tuner.Tuner, nor an '
                        'nni.assessor.Assessor, nor a MsgDispatcherBase of nni')
    if kind != wanted and (kind, wanted) != ('advisor', 'tuner'):
        raise HostError(f'{wanted}.className "{name}": this class is an {kind}' if kind[0] == 'a'
                        else f'{wanted}.className "{name}": this class is a {kind}')
    return kind


def _base(module: str, name: str, older: str = '') -> Any:
    for place in filter(None, (module, older)):
        try:
            return getattr(importlib.import_module(place), name)
        except ImportError:
            pass
    return None
