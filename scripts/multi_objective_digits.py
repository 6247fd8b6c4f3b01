"""Accuracy against size on scikit-learn's digits, for compare_multi_objective.py. Two models that
are quick to fit and never random; each is fitted to one half of the images and tested on the other,
both ways. The size is a logarithm to base 10, so that a hypervolume does not only count large models.
"""
import functools
import json
import math

import numpy
from sklearn.datasets import load_digits
from sklearn.tree import DecisionTreeClassifier

from multi_objective_problems import Problem


@functools.cache
def halves():
    x, y = load_digits(return_X_y=True)
    order = numpy.random.RandomState(0).permutation(len(y))
    one, other = order[::2], order[1::2]
    return [(x[one], y[one], x[other], y[other]), (x[other], y[other], x[one], y[one])]


def tree(parameters):
    accuracy, nodes = [], []
    for x, y, test_x, test_y in halves():
        model = DecisionTreeClassifier(random_state=0, **parameters).fit(x, y)
        accuracy.append(model.score(test_x, test_y))
        nodes.append(model.tree_.node_count)
    return {'accuracy': float(numpy.mean(accuracy)), 'size': math.log10(numpy.mean(nodes))}


TREE_SPACE = {
    'max_depth': {'_type': 'randint', '_value': [1, 21]},
    'max_leaf_nodes': {'_type': 'qloguniform', '_value': [2, 300, 1]},
    'min_samples_leaf': {'_type': 'qloguniform', '_value': [1, 100, 1]},
    'ccp_alpha': {'_type': 'loguniform', '_value': [1e-5, 0.1]},
    'max_features': {'_type': 'uniform', '_value': [0.05, 1]},
    'criterion': {'_type': 'choice', '_value': ['gini', 'entropy']},
    'splitter': {'_type': 'choice', '_value': ['best', 'random']},
}


def tree_of(parameters):
    whole = {key: int(parameters[key])
             for key in ('max_depth', 'max_leaf_nodes', 'min_samples_leaf')}
    return tree({**parameters, **whole})


@functools.cache
def principal(half):
    """Mean, deviations and axes of the images that a model is fitted to, the largest first."""
    x = halves()[half][0]
    mean = x.mean(axis=0)
    _, scales, axes = numpy.linalg.svd(x - mean, full_matrices=False)
    return mean, scales / math.sqrt(len(x)), axes


def prototypes(parameters):
    """The nearest prototype decides: means of clusters (Lloyd) of each class, in the space of the
    largest principal components. The size is the count of numbers that are stored."""
    count, power = int(parameters['components']), 0.0
    if parameters['scaling']['_name'] == 'whiten':
        power = parameters['scaling']['power']
    accuracy = []
    for half, (x, y, test_x, test_y) in enumerate(halves()):
        mean, scales, axes = principal(half)
        project = lambda rows: (rows - mean) @ axes[:count].T / scales[:count] ** power  # noqa
        inside, centres, labels = project(x), [], []
        for label in range(10):
            rows = inside[y == label]
            wanted = min(int(parameters['per_class']), len(rows))
            # The first clusters are slices along the first component.
            order = numpy.argsort(rows[:, 0], kind='stable')
            means = numpy.array([rows[part].mean(axis=0)
                                 for part in numpy.array_split(order, wanted)])
            for _ in range(int(parameters['iterations'])):
                nearest = distances(rows, means).argmin(axis=1)
                for k in numpy.unique(nearest):
                    means[k] = rows[nearest == k].mean(axis=0)
            centres.append(means + parameters['shrinkage'] * (rows.mean(axis=0) - means))
            labels += [label] * wanted
        chosen = distances(project(test_x), numpy.concatenate(centres)).argmin(axis=1)
        accuracy.append(float((numpy.array(labels)[chosen] == test_y).mean()))
    stored = len(labels) * count + 64 * count
    return {'accuracy': float(numpy.mean(accuracy)), 'size': math.log10(stored)}


def distances(rows, centres):
    """Squared, less what is the same for all centres."""
    return (centres ** 2).sum(axis=1) - 2 * rows @ centres.T


PROTOTYPE_SPACE = {
    'components': {'_type': 'randint', '_value': [2, 61]},
    'per_class': {'_type': 'qloguniform', '_value': [1, 60, 1]},
    'iterations': {'_type': 'choice', '_value': [0, 1, 2, 5, 10]},
    'shrinkage': {'_type': 'uniform', '_value': [-0.5, 1]},
    'scaling': {'_type': 'choice', '_value': [
        {'_name': 'none'}, {'_name': 'whiten', 'power': {'_type': 'uniform', '_value': [0, 1.5]}}]},
}


class Kept:
    """What was computed once is in a file, a line each."""

    def __init__(self, evaluate, path):
        self._evaluate = evaluate
        self._path = path
        self._known = {}
        if path.exists():
            for line in path.read_text().splitlines():
                key, metrics = json.loads(line)
                self._known[key] = metrics

    def __call__(self, parameters):
        key = json.dumps(parameters, sort_keys=True)
        if key not in self._known:
            self._known[key] = self._evaluate(parameters)
            with self._path.open('a') as file:
                file.write(json.dumps([key, self._known[key]]) + '\n')
        return self._known[key]


def real(cache):
    """The problems; `cache` is a folder."""
    modes = {'accuracy': 'maximize', 'size': 'minimize'}

    def box(name, space, evaluate, largest, smallest):
        """What is possible: from an accuracy of 0.1, as of guesses, to 1, and of the sizes."""
        kept = Kept(evaluate, cache / f'{name}.jsonl')
        return Problem(f'digits: {name}', space, modes, (-0.1, math.log10(largest)), kept,
                       0.9 * (math.log10(largest) - math.log10(smallest)))

    return [box('tree', TREE_SPACE, tree_of, 600, 3),
            box('prototypes', PROTOTYPE_SPACE, prototypes, 30000, 64 * 2 + 10 * 2)]
