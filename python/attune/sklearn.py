"""A search for scikit-learn in which a tuner of attune proposes the parameters (docs/frameworks.md)."""
from __future__ import annotations

import os
import time
import warnings
from typing import Any, Callable, Dict, List, Optional, Union

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection._search import BaseSearchCV  # what all searches there derive from
from sklearn.model_selection._validation import _warn_or_raise_about_fit_failures
from sklearn.utils import check_random_state

from .batches import next_batch
from .errors import StudyError
from .library_study import LibraryStudy
from .sklearn_folds import Folds
from .sklearn_space import Space
from .study import Study
from .study_trial import StudyTrial

# With early stopping a trial is fitted on so many thirds of the data. More and smaller levels were
# worse (docs/frameworks.md).
_LEVELS = (1, 3)
_ASSESSOR = {'assessor': 'ASHA', 'assessor_args': {
    'max_t': _LEVELS[-1], 'reduction_factor': 3, 'optimize_mode': 'maximize'}}


class SearchCV(BaseSearchCV):
    """As RandomizedSearchCV, whose attributes and functions it has: of `n_trials` configurations of
    the estimator the one with the best cross-validated score, fitted to all of the data.

    estimator, scoring, cv, refit, error_score, verbose, return_train_score: as there. `cv` must not
        be an iterator. With several scores the one that `refit` names counts, else the first.
    space: for each parameter (`step__parameter` of a pipeline) a list of candidates, a uniform,
        loguniform or randint of scipy.stats, or a type of docs/search-space.md
    tuner, tuner_args: as in attune.Study; the tuner always maximizes
    n_jobs: so many trials at a time, with joblib; the next ones are asked for when all have ended
    early_stopping: each trial is fitted on a third of the training rows first, and on all of them if
        ASHA does not end it: it keeps the best third. cv_results_ then has a row for each fit, with
        the `fraction` of the rows.
    file, if_exists: the study is kept there, and 'continue' goes on with it, see attune.Study. The
        file's trials count for n_trials. cv_results_ has those of this fit, and the file's best.
    timeout: no trial starts after so many seconds

    study_ is the attune.Study (closed if there is a file; not pickled), and cv_results_['trial']
    the trial of each row. A trial of which all fits fail has no row, and nan as its result.
    """

    _required_parameters = ['estimator', 'space']

    def __init__(self, estimator: Any, space: Dict[str, Any], *, n_trials: int = 50,
                 tuner: str = 'auto', tuner_args: Optional[Dict[str, Any]] = None,
                 scoring: Any = None, cv: Any = None, refit: Union[bool, str, Callable] = True,
                 n_jobs: Optional[int] = None, random_state: Any = None,
                 early_stopping: bool = False, error_score: Union[float, str] = np.nan,
                 verbose: int = 0, return_train_score: bool = False,
                 file: Union[str, 'os.PathLike[str]', None] = None, if_exists: str = 'fail',
                 timeout: Optional[float] = None):
        super().__init__(estimator, scoring=scoring, n_jobs=n_jobs, refit=refit, cv=cv,
                         verbose=verbose, error_score=error_score,
                         return_train_score=return_train_score)
        self.space = space
        self.n_trials = n_trials
        self.tuner = tuner
        self.tuner_args = tuner_args
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.file = file
        self.if_exists = if_exists
        self.timeout = timeout

    def _run_search(self, evaluate_candidates: Callable[..., Dict[str, Any]]) -> None:
        _check(self.n_trials, self.cv)
        vars(self).pop('study_', None)  # its file, if it has one
        began = time.monotonic()
        random = check_random_state(self.random_state)
        folds = Folds(self.cv, is_classifier(self.estimator), random.randint(1 << 31))
        space = Space(self.space)
        jobs = effective_n_jobs(self.n_jobs)
        study = self.study_ = self._open(space, jobs, random)
        evaluation = _Evaluation(self, evaluate_candidates, space, folds)
        try:
            if study.best is not None:
                evaluation.run([study.best], _LEVELS[-1])  # of the file; first: it wins of equals
            while self.timeout is None or time.monotonic() - began < self.timeout:
                trials = next_batch(study, jobs, self.n_trials)
                if not trials:
                    break
                self._try(study, trials, evaluation)
            if not evaluation.has_rows:
                raise evaluation.failure or StudyError('timeout: no trial was started; make it longer')
        finally:
            if self.file is not None:
                study.close()

    def _open(self, space: Space, jobs: int, random: np.random.RandomState) -> Study:
        named: Dict[str, Any] = dict(_ASSESSOR) if self.early_stopping else {}
        # Of a file that goes on the seed is there.
        seed = None if self.file is not None and self.random_state is None else random.randint(1 << 31)
        return LibraryStudy(space.native, self.tuner, self.tuner_args, maximize=True, seed=seed,
                            concurrency=jobs, file=self.file, if_exists=self.if_exists, **named)

    def _try(self, study: Study, trials: List[StudyTrial], evaluation: '_Evaluation') -> None:
        """Until all of them have ended."""
        for level in _LEVELS[:-1] if self.early_stopping else ():
            for trial, metrics in zip(trials, evaluation.run(trials, level)):
                if not study.report(trial, {**metrics, 'training_iteration': level}):
                    study.stop(trial)
            trials = [trial for trial in trials if trial.status == 'running']
            if not trials:
                return
        for trial, metrics in zip(trials, evaluation.run(trials, _LEVELS[-1])):
            study.tell(trial, metrics)

    @staticmethod
    def _select_best_index(refit: Any, refit_metric: str, results: Dict[str, Any]) -> int:
        """Of those that were fitted on the most data."""
        if callable(refit) or 'fraction' not in results:
            return BaseSearchCV._select_best_index(refit, refit_metric, results)
        rows = np.flatnonzero(results['fraction'] == results['fraction'].max())
        scores = results[f'mean_test_{refit_metric}'][rows]
        return int(rows[0 if np.isnan(scores).all() else np.nanargmax(scores)])

    def __getstate__(self) -> Dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != 'study_'}


class _Evaluation:
    """Runs trials through the search's evaluate_candidates()."""

    def __init__(self, search: SearchCV, evaluate: Callable[..., Dict[str, Any]], space: Space,
                 folds: Folds):
        self.has_rows = False
        self.failure: Optional[ValueError] = None  # that of the last trials of which all fits failed
        self._search = search
        self._evaluate = evaluate
        self._space = space
        self._folds = folds

    def run(self, trials: List[StudyTrial], level: int) -> List[Dict[str, float]]:
        """The mean scores of each trial; `default` is the one that counts."""
        self._folds.fraction = level / _LEVELS[-1]
        more: Dict[str, List[Any]] = {'trial': [trial.number for trial in trials]}
        if self._search.early_stopping:
            more['fraction'] = [self._folds.fraction] * len(trials)
        candidates = [self._space.parameters(trial.parameters) for trial in trials]
        try:
            results = self._evaluate(candidates, cv=self._folds, more_results=more)
        except ValueError as error:
            # sklearn gives up when all fits of one call have failed: here that is one trial of many.
            if not _is_of_failed_fits(error):
                raise
            warnings.warn(str(error), FitFailedWarning)
            self.failure = error
            return [{'default': np.nan}] * len(trials)
        self.has_rows = True
        return [self._metrics(results, row - len(trials)) for row in range(len(trials))]

    def _metrics(self, results: Dict[str, Any], row: int) -> Dict[str, float]:
        prefix = 'mean_test_'
        means = {key[len(prefix):]: float(results[key][row]) for key in results
                 if key.startswith(prefix)}
        counts = self._search.refit if self._search.refit in means else next(iter(means))
        return {'default': means[counts], **(means if len(means) > 1 else {})}


def _is_of_failed_fits(error: BaseException) -> bool:
    """Whether sklearn has raised it because all fits failed, by where it was raised."""
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame.f_code is _warn_or_raise_about_fit_failures.__code__


def _check(n_trials: Any, cv: Any) -> None:
    if isinstance(n_trials, bool) or not isinstance(n_trials, (int, np.integer)) or n_trials < 1:
        raise StudyError(f'n_trials: must be an integer from 1 on, got {n_trials!r:.100}')
    if hasattr(cv, '__next__'):
        raise StudyError('cv: an iterator can be used only once; give list(cv)')
