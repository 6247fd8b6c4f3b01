"""attune.sklearn.SearchCV, with the real scikit-learn."""
import copy
import pathlib
import pickle
import tempfile
import unittest
import warnings

import attune
from support import need

need('sklearn')

import numpy as np
from scipy.stats import expon, loguniform, randint, uniform
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.datasets import load_iris, make_regression
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, RandomizedSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

from attune.sklearn import SearchCV
from attune.sklearn_folds import Folds
from attune.sklearn_space import Space

C = {'C': loguniform(1e-3, 1e3)}


class Sometimes(ClassifierMixin, BaseEstimator):
    """A classifier that cannot be fitted with `broken`; counts the rows that it sees."""

    rows = []

    def __init__(self, broken=False, answer=0):
        self.broken = broken
        self.answer = answer

    def fit(self, X, y, sample_weight=None):
        if self.broken:
            raise RuntimeError('broken')
        self.rows.append((len(X), sample_weight is not None))
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[self.answer % len(self.classes_)])


class SearchCase(unittest.TestCase):
    def setUp(self):
        self.X, self.y = load_iris(return_X_y=True)
        Sometimes.rows.clear()

    def search(self, estimator, space, **named):
        search = SearchCV(estimator, space, **{'n_trials': 6, 'cv': 3, 'random_state': 1, **named})
        return search.fit(self.X, self.y)


class Search(SearchCase):
    def test_it_finds_and_delegates(self):
        space = {'C': loguniform(1e-3, 1e3), 'gamma': loguniform(1e-4, 10)}
        search = self.search(SVC(probability=True), space, n_trials=15)
        self.assertGreater(search.best_score_, 0.96)
        self.assertEqual(search.best_score_, search.study_.best_value)
        self.assertEqual(search.best_params_, search.study_.best_parameters)
        self.assertEqual(search.best_estimator_.C, search.best_params_['C'])
        self.assertGreater(search.score(self.X, self.y), 0.95)
        self.assertEqual(search.predict(self.X).shape, (150,))
        self.assertEqual(search.predict_proba(self.X).shape, (150, 3))
        self.assertEqual(search.n_splits_, 3)
        self.assertEqual(search.n_features_in_, 4)
        self.assertTrue(is_classifier(search))
        self.assertEqual(list(search.classes_), [0, 1, 2])

    def test_results_as_those_of_sklearn(self):
        space = {'max_depth': [1, 2, 3], 'criterion': ['gini', 'entropy']}
        tree = DecisionTreeClassifier(random_state=0)
        ours = self.search(tree, space, n_trials=50, return_train_score=True)
        theirs = RandomizedSearchCV(tree, space, n_iter=6, cv=3, random_state=1,
                                    return_train_score=True).fit(self.X, self.y)
        self.assertEqual(set(ours.cv_results_), set(theirs.cv_results_) | {'trial'})
        self.assertEqual(list(ours.cv_results_['trial']), [0, 1, 2, 3, 4, 5])
        scores = [{tuple(sorted(params.items())): score for params, score in
                   zip(found.cv_results_['params'], found.cv_results_['mean_test_score'])}
                  for found in (ours, theirs)]
        self.assertEqual(scores[0], scores[1])  # the same six: a finite space ends
        self.assertEqual(ours.best_score_, theirs.best_score_)
        self.assertEqual(ours.cv_results_['rank_test_score'][ours.best_index_], 1)
        self.assertIsInstance(ours.cv_results_['param_max_depth'], np.ma.MaskedArray)

    def test_the_same_seed_gives_the_same_trials(self):
        first, second = (self.search(SVC(), C) for _ in range(2))
        self.assertEqual(first.cv_results_['params'], second.cv_results_['params'])
        other = self.search(SVC(), C, random_state=2)
        self.assertNotEqual(first.cv_results_['params'], other.cv_results_['params'])

    def test_clone_parameters_and_pickles(self):
        search = SearchCV(SVC(), C, n_trials=3, tuner='TPE')
        self.assertEqual(clone(search).get_params()['tuner'], 'TPE')
        search.set_params(estimator__kernel='poly', n_trials=4, cv=3).fit(self.X, self.y)
        self.assertEqual(len(search.cv_results_['params']), 4)
        self.assertEqual(search.best_estimator_.kernel, 'poly')
        for other in (pickle.loads(pickle.dumps(search)), copy.deepcopy(search)):
            self.assertEqual(list(other.predict(self.X)), list(search.predict(self.X)))
            self.assertEqual(other.best_params_, search.best_params_)
            self.assertFalse(hasattr(other, 'study_'))

    def test_of_a_pipeline_and_in_one(self):
        pipeline = Pipeline([('reduce', PCA()), ('model', SVC())])
        space = {'reduce__n_components': randint(1, 5), 'model': [SVC(), KNeighborsClassifier()]}
        search = self.search(pipeline, space)
        self.assertIn(search.best_params_['reduce__n_components'], {1, 2, 3, 4})
        self.assertEqual(len({type(params['model']) for params in search.cv_results_['params']}), 2)
        inside = Pipeline([('reduce', PCA()), ('search', SearchCV(SVC(), C, n_trials=2, cv=2))])
        self.assertGreater(inside.fit(self.X, self.y).score(self.X, self.y), 0.5)

    def test_several_scores(self):
        search = self.search(SVC(), C, scoring=['accuracy', 'f1_macro'], refit='f1_macro')
        results = search.cv_results_
        self.assertEqual(search.best_score_, results['mean_test_f1_macro'].max())
        self.assertTrue(search.multimetric_)
        best = search.study_.best
        self.assertEqual(best.metrics['default'], best.metrics['f1_macro'])
        self.assertEqual(set(best.metrics), {'default', 'accuracy', 'f1_macro'})
        unfitted = self.search(SVC(), C, scoring=['f1_macro', 'accuracy'], refit=False)
        self.assertFalse(hasattr(unfitted, 'best_params_'))
        self.assertFalse(hasattr(unfitted, 'predict'))
        chosen = self.search(SVC(), C, refit=lambda results: 2)
        self.assertEqual(chosen.best_index_, 2)
        named = self.search(SVC(), C, scoring=lambda model, X, y: {'c': model.C}, refit='c')
        self.assertAlmostEqual(named.best_score_, named.best_params_['C'])

    def test_fit_parameters_and_groups(self):
        groups = np.arange(150) % 5
        search = SearchCV(Sometimes(), {'answer': [0, 1, 2]}, n_trials=2, cv=GroupKFold(5))
        search.fit(self.X, self.y, groups=groups, sample_weight=np.ones(150))
        self.assertEqual(Sometimes.rows, [(120, True)] * 10 + [(150, True)])

    def test_a_configuration_that_cannot_be_fitted(self):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter('always')
            search = self.search(Sometimes(), {'broken': [True, False]})
        self.assertTrue(any('All the 3 fits failed' in str(each.message) for each in said))
        self.assertEqual(search.best_params_, {'broken': False})
        self.assertEqual(len(search.cv_results_['params']), 1)
        self.assertTrue(any(np.isnan(trial.metrics['default']) for trial in search.study_.trials))
        with self.assertRaisesRegex(RuntimeError, 'broken'):
            self.search(Sometimes(), {'broken': [True, False]}, error_score='raise')
        with self.assertRaisesRegex(ValueError, 'fits failed'), warnings.catch_warnings():
            warnings.simplefilter('ignore')
            self.search(Sometimes(broken=True), {'answer': [0, 1]})

    def test_a_file_that_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / 'svc.study'
            first = self.search(SVC(), C, n_trials=8, file=file)
            with self.assertRaises(attune.StudyError):
                self.search(SVC(), C, n_trials=10, file=file)
            more = self.search(SVC(), C, n_trials=10, file=file, if_exists='continue')
            self.assertEqual(len(more.study_.trials), 10)
            self.assertEqual(len(more.cv_results_['params']), 3)  # the best of the file, and two more
            self.assertEqual(more.best_score_, more.study_.best_value)
            self.assertGreaterEqual(more.best_score_, first.best_score_)
            seedless = self.search(SVC(), C, n_trials=10, random_state=None, file=file,
                                   if_exists='continue')
            self.assertEqual(seedless.best_params_, more.best_params_)

    def test_a_time_limit(self):
        search = self.search(Sometimes(), {'answer': randint(0, 1000)}, n_trials=10 ** 6,
                             tuner='Random', timeout=0.5)
        self.assertTrue(1 <= len(search.cv_results_['params']) < 10 ** 6)
        with self.assertRaisesRegex(attune.StudyError, 'timeout: no trial'):
            self.search(Sometimes(), {'answer': [1, 2]}, timeout=0)

    def test_what_sklearn_expects_of_estimators(self):
        for estimator, name in ((LogisticRegression(), 'C'), (Ridge(), 'alpha')):
            for early_stopping in (False, True):
                search = SearchCV(estimator, {name: loguniform(0.1, 10)}, n_trials=2, cv=2,
                                  random_state=0, early_stopping=early_stopping, error_score='raise')
                checks = list(check_estimator(search, generate_only=True))
                self.assertGreater(len(checks), 30)
                for each, check in checks:
                    with self.subTest(check=check, early_stopping=early_stopping), \
                            warnings.catch_warnings():
                        warnings.simplefilter('ignore')
                        try:
                            check(each)
                        except unittest.SkipTest:
                            pass


class Parallel(SearchCase):
    def test_trials_at_a_time(self):
        search = self.search(SVC(), C, n_jobs=2, n_trials=5)
        self.assertEqual(len(search.cv_results_['params']), 5)
        self.assertEqual(search.best_score_, search.study_.best_value)

    def test_parallel_in_parallel(self):
        forest = RandomForestClassifier(n_estimators=4, n_jobs=2, random_state=0)
        search = SearchCV(forest, {'max_depth': randint(1, 5)}, n_trials=4, cv=2, n_jobs=2)
        self.assertEqual(len(cross_val_score(search, self.X, self.y, cv=2, n_jobs=2)), 2)

    def test_in_forked_processes(self):
        import joblib
        search = SearchCV(SVC(), C, n_trials=4, cv=2, n_jobs=2)
        search.fit(self.X, self.y)  # so that the library is loaded before the fork
        with joblib.parallel_backend('multiprocessing'):
            self.assertEqual(len(cross_val_score(search, self.X, self.y, cv=2, n_jobs=2)), 2)


class EarlyStopping(SearchCase):
    def test_the_worst_see_little_of_the_data(self):
        self.X, self.y = np.repeat(self.X, 6, 0), np.repeat(self.y, 6)
        space = {'C': loguniform(1e-6, 1e3), 'gamma': loguniform(1e-6, 1e3)}
        search = self.search(SVC(), space, n_trials=25, early_stopping=True)
        results, trials = search.cv_results_, search.study_.trials
        self.assertEqual(set(results['fraction']), {1 / 3, 1})
        full = results['trial'][results['fraction'] == 1]
        self.assertEqual(list(full), [each.number for each in trials if each.status == 'completed'])
        self.assertTrue(any(each.status == 'stopped' for each in trials))
        self.assertEqual(results['fraction'][search.best_index_], 1)
        self.assertEqual(search.best_score_, search.study_.best_value)
        self.assertGreater(search.best_score_, 0.95)

    def test_several_scores(self):
        search = self.search(SVC(), C, early_stopping=True, scoring=['accuracy', 'f1_macro'],
                             refit='f1_macro')
        rows = search.cv_results_['fraction'] == 1
        self.assertEqual(search.best_score_, search.cv_results_['mean_test_f1_macro'][rows].max())
        self.assertEqual(search.best_score_, search.study_.best_value)

    def test_a_configuration_that_cannot_be_fitted(self):
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            search = self.search(Sometimes(), {'broken': [True, False], 'answer': [0, 1, 2]},
                                 early_stopping=True)
        self.assertFalse(search.best_params_['broken'])
        self.assertEqual(len(search.study_.trials), 6)

    def test_trials_at_a_time(self):
        search = self.search(SVC(), C, early_stopping=True, n_jobs=2, n_trials=7)
        self.assertEqual(len(search.study_.trials), 7)
        self.assertEqual(search.best_score_, search.study_.best_value)

    def test_how_many_rows(self):
        self.search(Sometimes(), {'answer': [0]}, early_stopping=True)
        self.assertEqual([rows for rows, _ in Sometimes.rows],
                         [33] * 3 + [100] * 3 + [150])

    def test_parts_of_the_rows(self):
        y = np.array([0] * 90 + [1] * 10)
        folds = Folds(5, classifier=True, seed=1)
        parts = {}
        for folds.fraction in (0.01, 0.1, 0.5, 1):
            parts[folds.fraction] = [(set(train), set(test)) for train, test in folds.split(y, y)]
        for small, half, full in zip(parts[0.1], parts[0.5], parts[1]):
            self.assertTrue(small[0] < half[0] < full[0])
            self.assertTrue(small[1] == half[1] == full[1])
            self.assertFalse(full[0] & full[1])
            self.assertEqual((len(small[0]), len(half[0]), len(full[0])), (8, 40, 80))
            self.assertEqual(sum(y[list(half[0])]), 4)
        for part, _ in parts[0.01]:
            self.assertEqual((len(part), sum(y[list(part)])), (4, 2))

    def test_regression(self):
        self.X, self.y = make_regression(90, 4, random_state=0, noise=1)
        search = self.search(Ridge(), {'alpha': loguniform(1e-3, 1e3)}, early_stopping=True)
        self.assertGreater(search.best_score_, 0.9)


class Spaces(SearchCase):
    def test_what_they_become(self):
        for given, native in (
                ([1, 'a', None, True], {'_type': 'choice', '_value': [1, 'a', None, True]}),
                (np.array([0.5, 1]), {'_type': 'choice', '_value': [0.5, 1.0]}),
                ((PCA(), SVC()), {'_type': 'choice', '_value': ['0', '1']}),
                (uniform(2, 3), {'_type': 'uniform', '_value': [2, 5]}),
                (loguniform(0.01, 10), {'_type': 'loguniform', '_value': [0.01, 10]}),
                (randint(1, 9), {'_type': 'randint', '_value': [1, 9]}),
                ({'_type': 'normal', '_value': [0, 1]}, {'_type': 'normal', '_value': [0, 1]})):
            self.assertEqual(Space({'p': given}).native['p'], native)

    def test_candidates_of_any_kind(self):
        candidates = [(1, 2), SVC, np.nan, {'a': 1}, 2 ** 70]
        space = Space({'p': candidates})
        self.assertIs(space.parameters({'p': '1'})['p'], SVC)
        self.assertEqual(space.parameters({'p': '3'})['p'], {'a': 1})

    def test_options(self):
        space = {'kernel': {'_type': 'choice', '_value': [
            {'_name': 'linear'},
            {'_name': 'rbf', 'gamma': {'_type': 'loguniform', '_value': [0.01, 1]}}]}, **C}
        search = self.search(SVC(), space, n_trials=10)
        names = {(params['kernel'], *sorted(params)) for params in search.cv_results_['params']}
        self.assertEqual(names, {('linear', 'C', 'kernel'), ('rbf', 'C', 'gamma', 'kernel')})
        self.assertTrue(search.cv_results_['param_gamma'].mask.any())

    def test_what_cannot_be_used(self):
        for space, words in (
                ({'C': expon()}, r"C: the distribution 'expon' is not known here; take uniform"),
                ({'C': loguniform(1, 2, loc=3)}, 'leave loc out'),
                ({'C': 'abc'}, 'C: must be a list of candidates'),
                ({'C': 5}, 'C: must be a list of candidates'),
                ({'C': {'a': 1}}, 'C: a dict needs _type'),
                ({'C': []}, 'at least one candidate'),
                ([C], 'space: must be a dict'),
                ({'C': {'_type': 'unifrom', '_value': [0, 1]}}, 'did you mean "uniform"')):
            with self.subTest(words=words), self.assertRaisesRegex(attune.StudyError, words):
                self.search(SVC(), space)
        for named, words in (({'n_trials': 0}, 'n_trials: must be'),
                             ({'tuner': 'TPEE'}, 'did you mean "TPE"')):
            with self.subTest(words=words), self.assertRaisesRegex(attune.StudyError, words):
                self.search(SVC(), C, **named)
        with self.assertRaisesRegex(ValueError, 'give list|inconsistent|empty'):
            self.search(SVC(), C, cv=iter([]))
        with self.assertRaisesRegex(ValueError, 'Invalid parameter'):
            self.search(SVC(), {'D': [1]})


if __name__ == '__main__':
    unittest.main()
