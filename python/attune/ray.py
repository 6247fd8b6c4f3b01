"""A searcher for Ray Tune in which a tuner of attune proposes the configurations
(docs/frameworks.md)."""
from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Dict, List, Optional, Union

from ray.tune.search import Searcher as RaySearcher

from .errors import NoMoreTrials, StudyError, WaitForResults
from .ray_space import Space
from .study import Study

_ANONYMOUS = '_metric'  # what Ray calls the one number that a function returns


class Searcher(RaySearcher):
    """For TuneConfig(search_alg=...).

    space: a config of Ray Tune; None: the param_space of the Tuner
    metric, mode: as everywhere in Ray Tune; lists of them for several objectives
    tuner, tuner_args, seed: as in attune.Study
    points_to_evaluate: configs that come first

    Which trials end early is for a scheduler of Ray; what such a trial has reported last counts as
    its result.
    """

    def __init__(self, space: Optional[Dict[str, Any]] = None,
                 metric: Union[str, List[str], None] = None,
                 mode: Union[str, List[str], None] = None, *, tuner: str = 'auto',
                 tuner_args: Optional[Dict[str, Any]] = None, seed: Optional[int] = None,
                 points_to_evaluate: Optional[List[Dict[str, Any]]] = None):
        super().__init__(metric=metric, mode=mode)
        self._named = {'tuner': tuner, 'tuner_args': tuner_args, 'seed': seed}
        self._points = points_to_evaluate or []
        self._concurrency = 1
        self._numbers: Dict[str, int] = {}  # of the study's trials that run, by Ray's ids
        self._space: Optional[Space] = Space(space) if space else None
        self._study: Optional[Study] = None

    # ---- what Ray calls --------------------------------------------------------------------------

    def set_search_properties(self, metric: Optional[str], mode: Optional[str],
                              config: Dict[str, Any], **spec: Any) -> bool:
        """False: there is a space already, or `config` has none."""
        self._metric = metric or self._metric
        self._mode = mode or self._mode
        if self._space is not None:
            return False
        space = Space(config)
        if not space.native:
            return False
        self._space = space
        return True

    def set_max_concurrency(self, max_concurrent: int) -> bool:
        """The tuner knows it then; that no more run is for ConcurrencyLimiter."""
        self._concurrency = max_concurrent
        return False

    def suggest(self, trial_id: str) -> Union[Dict[str, Any], str, None]:
        """The config of the trial. FINISHED: there is no other; None: wait for a result."""
        study = self._opened()
        try:
            trial = study.ask()
        except NoMoreTrials:
            return self.FINISHED
        except WaitForResults:
            return None
        self._numbers[trial_id] = trial.number
        return self._space.config(trial.parameters)

    def on_trial_result(self, trial_id: str, result: Dict[str, Any]) -> None:
        """An intermediate result; without all objectives it is left out."""
        metrics = self._metrics(result)
        if metrics is not None and trial_id in self._numbers:
            self._opened().report(self._numbers[trial_id], metrics)

    def on_trial_complete(self, trial_id: str, result: Optional[Dict[str, Any]] = None,
                          error: bool = False) -> None:
        """The end of a trial, with a result or without. Only the first one counts."""
        number = self._numbers.pop(trial_id, None)
        if number is None:
            return
        study, metrics = self._opened(), self._metrics(result or {})
        if metrics is not None and not error:
            study.tell(number, metrics)
        elif error:
            study.fail(number)
        else:
            study.stop(number)

    def add_evaluated_point(self, parameters: Dict[str, Any], value: float, error: bool = False,
                            pruned: bool = False,
                            intermediate_values: Optional[List[float]] = None) -> None:
        """The tuner learns from it; not from one that failed or was stopped."""
        if not error and not pruned:
            study = self._opened()
            study.import_results([{'parameters': self._space.point(parameters), 'value': value}])

    def save(self, checkpoint_path: str) -> None:
        """Everything but the space, in one file."""
        with open(checkpoint_path, 'w', encoding='utf-8') as file:
            json.dump({'study': _text_of(self._study), 'numbers': self._numbers,
                       'metric': self._metric, 'mode': self._mode}, file)

    def restore(self, checkpoint_path: str) -> None:
        """Goes on with what save() wrote. StudyError: the space is another one."""
        with open(checkpoint_path, encoding='utf-8') as file:
            found = json.load(file)
        self._study = _study_of(found['study'])
        self._numbers = found['numbers']
        self._metric, self._mode = found['metric'], found['mode']

    # ---- the study -------------------------------------------------------------------------------

    def _opened(self) -> Study:
        """The study, made when it is needed first: Ray tells us piece by piece what it is."""
        if self._space is None:
            raise StudyError('space: there is none; give one to Searcher, or param_space to Tuner')
        if not self._mode:
            raise StudyError("mode: say 'min' or 'max', to Searcher or to TuneConfig")
        if self._study is None:
            self._study = Study(self._space.native, objectives=self._objectives(),
                                concurrency=self._concurrency, **self._named)
            for point in self._points:
                self._study.enqueue(self._space.point(point))
        elif self._study._settings['space'] != self._space.native:
            raise StudyError('space: that of the restored searcher is another one; give it')
        return self._study

    def _objectives(self) -> List[Dict[str, str]]:
        metrics = self._metric or _ANONYMOUS
        modes = self._mode
        if isinstance(metrics, str):
            metrics, modes = [metrics], [modes]
        return [{'metric': metric, 'mode': 'maximize' if mode == 'max' else 'minimize'}
                for metric, mode in zip(metrics, modes) if mode != 'obs']

    def _metrics(self, result: Dict[str, Any]) -> Optional[Dict[str, Any]]:
        names = [each['metric'] for each in self._objectives()]
        if any(result.get(name) is None for name in names):
            return None
        return {name: result[name] for name in (*names, 'training_iteration') if name in result}

    def __getstate__(self) -> Dict[str, Any]:
        return {**vars(self), '_study': _text_of(self._study)}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        vars(self).update(state, _study=_study_of(state['_study']))


def _text_of(study: Optional[Study]) -> Optional[str]:
    """The file of a study."""
    if study is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'study')
        study.save(path)
        with open(path, encoding='utf-8') as file:
            return file.read()


def _study_of(text: Optional[str]) -> Optional[Study]:
    if text is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'study')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        return Study.load(path)
