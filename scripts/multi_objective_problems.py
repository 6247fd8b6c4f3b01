"""Problems with several objectives for compare_multi_objective.py, and their hypervolume.

A problem has a search space in NNI's form, the objectives as the experiment has them, a reference
point of the minimised objectives, and evaluate(parameters) -> {metric: number}.

ZDT: Zitzler, Deb, Thiele, "Comparison of Multiobjective Evolutionary Algorithms: Empirical Results"
(Evolutionary Computation 2000). DTLZ: Deb, Thiele, Laumanns, Zitzler, "Scalable Test Problems for
Evolutionary Multiobjective Optimization" (2005).
"""
import math


class Problem:
    def __init__(self, name, space, modes, reference, evaluate, ideal):
        self.name = name
        self.space = space
        self.modes = modes  # {metric: 'minimize' or 'maximize'}
        self.reference = reference
        self.evaluate = evaluate
        self.ideal = ideal  # the hypervolume of the true front, or a bound of it

    def objectives(self):
        return [{'metric': metric, 'mode': mode} for metric, mode in self.modes.items()]

    def minimised(self, metrics):
        return tuple(-metrics[metric] if mode == 'maximize' else metrics[metric]
                     for metric, mode in self.modes.items())


def hypervolume(rows, reference):
    """Of minimised rows of two or three numbers."""
    rows = sorted({tuple(row) for row in rows if all(x < r for x, r in zip(row, reference))},
                  key=lambda row: row[::-1])
    if len(reference) == 2:
        return _area(rows, reference)
    volume = 0
    for i, row in enumerate(rows):
        top = rows[i + 1][2] if i + 1 < len(rows) else reference[2]
        if top > row[2]:
            volume += (top - row[2]) * _area([other[:2] for other in rows[:i + 1]], reference)
    return volume


def _area(rows, reference):
    area, lowest = 0, reference[1]
    for x, y in sorted(rows):
        if y < lowest:
            area += (reference[0] - x) * (lowest - y)
            lowest = y
    return area


def ideal_of_front(front, reference, cells=20000):
    """The hypervolume of f2 = front(f1), 0 <= f1 <= 1, by the rule of the middle."""
    volume, lowest = 0, math.inf
    for i in range(cells):
        lowest = min(lowest, front((i + 0.5) / cells))
        volume += max(0, reference[1] - lowest) / cells
    return volume + (reference[0] - 1) * (reference[1] - min(lowest, front(1)))


def _cube(dimensions, low=0, high=1):
    return {f'x{i}': {'_type': 'uniform', '_value': [0, 1] if i == 0 else [low, high]}
            for i in range(dimensions)}


def _named(function):
    def evaluate(parameters):
        x = [parameters[f'x{i}'] for i in range(len(parameters))]
        return {f'f{i + 1}': value for i, value in enumerate(function(x))}
    return evaluate


def _mean(values):
    return sum(values) / len(values)


def zdt1(x):
    g = 1 + 9 * _mean(x[1:])
    return x[0], g * (1 - math.sqrt(x[0] / g))


def zdt2(x):
    g = 1 + 9 * _mean(x[1:])
    return x[0], g * (1 - (x[0] / g) ** 2)


def _wavy(f1, g):
    return g * (1 - math.sqrt(f1 / g) - f1 / g * math.sin(10 * math.pi * f1))


def zdt3(x):
    return x[0], _wavy(x[0], 1 + 9 * _mean(x[1:]))


def zdt4(x):
    g = 1 + sum(10 + v * v - 10 * math.cos(4 * math.pi * v) for v in x[1:])
    return x[0], g * (1 - math.sqrt(x[0] / g))


def zdt6(x):
    f1 = 1 - math.exp(-4 * x[0]) * math.sin(6 * math.pi * x[0]) ** 6
    g = 1 + 9 * _mean(x[1:]) ** 0.25
    return f1, g * (1 - (f1 / g) ** 2)


def dtlz2(x):
    g = sum((v - 0.5) ** 2 for v in x[2:])
    a, b = x[0] * math.pi / 2, x[1] * math.pi / 2
    return ((1 + g) * math.cos(a) * math.cos(b), (1 + g) * math.cos(a) * math.sin(b),
            (1 + g) * math.sin(a))


def _wave(f):
    return f * (1 + math.sin(3 * math.pi * f))


def dtlz7(x):
    g = 1 + 9 * _mean(x[2:])
    return x[0], x[1], 3 * (1 + g) - _wave(x[0]) - _wave(x[1])


def dtlz7_ideal(reference, cells=300):
    """At g = 1, where f3 is 6 less the two waves: a grid, and what is best up to each cell."""
    wave = [_wave((i + 0.5) / cells) for i in range(cells)]
    best = [max(wave[:i + 1]) for i in range(cells)]
    # Beyond 1 the last cell goes on up to the reference.
    widths = [1 / cells] * (cells - 1) + [1 / cells + reference[0] - 1]
    return sum(max(0, reference[2] - 6 + best[i] + best[j]) * widths[i] * widths[j]
               for i in range(cells) for j in range(cells))


def _minimised(count):
    return {f'f{i + 1}': 'minimize' for i in range(count)}


def synthetic():
    """Reference points are about the worst of what random search finds, so that every progress is
    seen; the number of parameters is that of the papers."""
    def two(name, function, dimensions, top, front, low=0, high=1, start=0):
        reference = (1.1, top)
        ideal = ideal_of_front(lambda f1: front(f1) if f1 >= start else top, reference)
        return Problem(name, _cube(dimensions, low, high), _minimised(2), reference,
                       _named(function), ideal)

    root, square = (lambda f1: 1 - math.sqrt(f1)), (lambda f1: 1 - f1 * f1)
    return [
        two('ZDT1', zdt1, 30, 6, root),
        two('ZDT2', zdt2, 30, 6, square),
        two('ZDT3', zdt3, 30, 6, lambda f1: _wavy(f1, 1)),
        two('ZDT4', zdt4, 10, 150, root, -5, 5),
        two('ZDT6', zdt6, 10, 10, square, start=0.2807753191),
        Problem('DTLZ2', _cube(12), _minimised(3), (2.0, 2.0, 2.0), _named(dtlz2),
                8 - math.pi / 6),
        Problem('DTLZ7', _cube(22), _minimised(3), (1.1, 1.1, 25.0), _named(dtlz7),
                dtlz7_ideal((1.1, 1.1, 25.0))),
    ]
