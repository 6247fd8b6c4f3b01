"""Making studies, and going on with those of a file."""
from __future__ import annotations

import os
import pathlib
import uuid
from typing import Any, List, Optional, Sequence, Tuple, Union

from ...optuna_engine import Engine, objectives
from ...study import Study as AttuneStudy
from .attributes import AttributeFile
from .exceptions import DuplicatedStudyError
from .frozen import FrozenTrial
from .pruners import BasePruner, MedianPruner
from .records import Records
from .samplers import NSGAIISampler, TPESampler
from .sampling import BaseSampler
from .states import StudyDirection
from .studies import Study

_Path = Union[str, 'os.PathLike[str]', None]
_Direction = Union[str, StudyDirection]


def create_study(*, storage: _Path = None, sampler: Optional[BaseSampler] = None,
                 pruner: Optional[BasePruner] = None, study_name: Optional[str] = None,
                 direction: Optional[_Direction] = None, load_if_exists: bool = False,
                 directions: Optional[Sequence[_Direction]] = None) -> Study:
    """A study; it minimises unless a direction says otherwise. `storage`: the path of its file;
    None: it is lost with the process.

    DuplicatedStudyError: the file has a study; with load_if_exists the study goes on. A file has
    one study, whose sampler and pruner stay: None, or the same again.
    """
    wanted = _directions(direction, directions)
    path = _path(storage)
    if path is not None and AttributeFile.exists_for(path):
        if not load_if_exists:
            raise DuplicatedStudyError(f'{path} has a study already; set load_if_exists, or name '
                                       'another file')
        return load_study(study_name=study_name, storage=path, sampler=sampler, pruner=pruner)
    name = study_name or f'no-name-{uuid.uuid4()}'
    sampler, pruner = _algorithms(sampler, pruner, len(wanted))
    if path is None:
        return Study(Records(name, wanted, None), _engine(wanted, sampler, pruner), sampler, pruner)
    # The engine first: what is wrong with the arguments it says before anything is made.
    _engine(wanted, sampler, pruner).close()
    file = AttributeFile(path)
    file.create(name, wanted)
    engine = _engine(wanted, sampler, pruner, file=path)
    return Study(Records(name, wanted, file), engine, sampler, pruner)


def load_study(*, study_name: Optional[str], storage: _Path,
               sampler: Optional[BaseSampler] = None,
               pruner: Optional[BasePruner] = None) -> Study:
    """Goes on with the study of a file. KeyError: the file has none, or one of another name.
    StudyError: another study uses the file, or it was made with another sampler or pruner."""
    path = _path(storage)
    if path is None:
        raise ValueError('storage: must be the path of a file; a study without one is lost')
    if not AttributeFile.exists_for(path):
        raise KeyError(f'{path}: there is no study')
    file = AttributeFile(path)
    name, directions = file.read_head()
    if study_name not in (None, name):
        raise KeyError(f'{path} has the study {name!r}, not {study_name!r}; one file has one study')
    given = sampler is not None or pruner is not None or not os.path.exists(path)
    sampler, pruner = _algorithms(sampler, pruner, len(directions))
    if given:
        engine = _engine(directions, sampler, pruner, file=path, if_exists='continue')
    else:
        engine = Engine(AttuneStudy.open(path), int(sampler.constraints_func is not None))
    records = Records(name, directions, file)
    study = Study(records, engine, sampler, pruner)
    try:
        records.take(file, engine.note)
        for trial in records.trials:
            _go_on(study, trial)
        engine.fail_others()
    except BaseException:
        study.close()
        raise
    return study


def delete_study(*, study_name: str, storage: _Path) -> None:
    """Removes the files. KeyError: there is no such study."""
    load_study(study_name=study_name, storage=storage).close()
    for path in (_path(storage), AttributeFile(_path(storage)).path):
        pathlib.Path(path).unlink()


def _go_on(study: Study, trial: FrozenTrial) -> None:
    """What the engine did not hear any more of, it hears now."""
    own = study._records.engine_numbers.get(trial.number)
    if own is None or not study._engine.go_on(trial.number, own):
        return
    reported = list(trial.intermediate_values.items())
    for step, value in reported[study._engine.reports(trial.number):]:
        study._engine.report(trial.number, step, value)
    if trial.state.is_finished():
        study._end_in_engine(trial)


def _engine(directions: List[StudyDirection], sampler: BaseSampler, pruner: BasePruner,
            **file: Any) -> Engine:
    limits = int(sampler.constraints_func is not None)
    arguments, seed = sampler.engine_arguments()
    prunes = pruner.engine_arguments() if len(directions) == 1 else {}
    maximize = [each == StudyDirection.MAXIMIZE for each in directions]
    return Engine(AttuneStudy(objectives=objectives(maximize, limits), seed=seed, **arguments,
                              **prunes, **file), limits)


def _algorithms(sampler: Optional[BaseSampler], pruner: Optional[BasePruner],
                count: int) -> Tuple[BaseSampler, BasePruner]:
    if sampler is not None and not isinstance(sampler, BaseSampler):
        raise TypeError('sampler: must be one of attune.compat.optuna.samplers, got '
                        f'{sampler!r:.100}')
    if pruner is not None and not isinstance(pruner, BasePruner):
        raise TypeError(f'pruner: must be one of attune.compat.optuna.pruners, got {pruner!r:.100}')
    return sampler or (NSGAIISampler() if count > 1 else TPESampler()), pruner or MedianPruner()


def _directions(direction: Optional[_Direction],
                directions: Optional[Sequence[_Direction]]) -> List[StudyDirection]:
    if direction is not None and directions is not None:
        raise ValueError('Specify only one of `direction` and `directions`.')
    given = [direction or 'minimize'] if directions is None else list(directions)
    if not given:
        raise ValueError('The number of objectives must be greater than 0.')
    names = {'minimize': StudyDirection.MINIMIZE, 'maximize': StudyDirection.MAXIMIZE}
    found = [each if isinstance(each, StudyDirection) else names.get(each) for each in given]
    if any(each in (None, StudyDirection.NOT_SET) for each in found):
        raise ValueError("Please set either 'minimize' or 'maximize' to direction, got "
                         f'{given!r:.100}')
    return found


def _path(storage: _Path) -> Optional[str]:
    if storage is None:
        return None
    if not isinstance(storage, (str, os.PathLike)):
        raise TypeError(f'storage: must be the path of a file, got {storage!r:.100}')
    path = os.fspath(storage)
    if '://' in path:
        raise ValueError(f'storage: {path!r} is a database; here it is the path of a file, as '
                         "'experiment.study'")
    return path
