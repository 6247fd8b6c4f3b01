"""The rows that each fit of attune.sklearn.SearchCV sees."""
from __future__ import annotations

from typing import Any, Iterator, List, Optional, Tuple

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils.multiclass import type_of_target

_FEWEST = 2  # rows of each class in a part, if there are so many; without classes of all rows


class Folds:
    """A splitter that gives the same folds at each call, so that trials can be compared.

    `fraction`: of the training rows of each fold so many are used, those of a smaller fraction
    among them; of a classifier's rows about the same part of each class, and never less than
    _FEWEST of each. The test rows are whole.
    """

    def __init__(self, cv: Any, classifier: bool, seed: int):
        self.fraction = 1.0
        self._cv = cv
        self._classifier = classifier
        self._seed = seed
        self._folds: Optional[List[Tuple[np.ndarray, int, np.ndarray]]] = None

    def split(self, X: Any, y: Any = None,
              groups: Any = None) -> Iterator[Tuple[np.ndarray, np.ndarray]]:
        """As splitters of scikit-learn have it."""
        if self._folds is None:
            cv = check_cv(self._cv, y, classifier=self._classifier)
            random = np.random.RandomState(self._seed)
            classes = self._classes(y)
            self._folds = [(*_ordered(np.asarray(train), classes, random), test)
                           for train, test in cv.split(X, y, groups)]
        for train, fewest, test in self._folds:
            # In the order of the data, as without fractions.
            yield np.sort(train[:max(fewest, round(self.fraction * len(train)))]), test

    def _classes(self, y: Any) -> Optional[np.ndarray]:
        if self._classifier and type_of_target(y) in ('binary', 'multiclass'):
            return np.unique(np.asarray(y).ravel(), return_inverse=True)[1].ravel()
        return None


def _ordered(rows: np.ndarray, classes: Optional[np.ndarray],
             random: np.random.RandomState) -> Tuple[np.ndarray, int]:
    """The rows so that each beginning of them is a random part, with all classes alike; and how many
    the smallest part has."""
    rows = random.permutation(rows)
    if classes is None:
        return rows, min(_FEWEST, len(rows))
    position = np.empty(len(rows))  # within the class, from 0 to 1; those of the smallest part: -1
    for each in np.unique(classes[rows]):
        mine = np.flatnonzero(classes[rows] == each)
        position[mine] = (np.arange(len(mine)) + random.uniform()) / len(mine)
        position[mine[:_FEWEST]] = -1
    return rows[np.argsort(position, kind='stable')], int(np.sum(position == -1))
