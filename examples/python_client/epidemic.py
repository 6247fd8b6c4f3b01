#!/usr/bin/env python3
"""Fits the SIR model of an epidemic to a real one, asking a study what to try.

The data: boys confined to bed at an English boarding school of 763, day by day; influenza,
January 1978 (British Medical Journal, 4 March 1978, p. 587).

    PYTHONPATH=python python3 examples/python_client/epidemic.py [trials] [seed]

ATTUNED=path names the program where it is neither in PATH nor in build/release/bin.
"""
import math
import sys

import attune

IN_BED = [3, 8, 26, 76, 225, 298, 258, 233, 189, 128, 68, 29, 14, 4]
BOYS = 763
STEPS = 24  # of the integration, a day

SPACE = {
    'infection': {'_type': 'loguniform', '_value': [0.2, 10]},  # contacts that infect, a day
    'recovery': {'_type': 'loguniform', '_value': [0.05, 2]},  # share that recovers, a day
    'first': {'_type': 'loguniform', '_value': [0.1, 20]},  # infected on the first day
}


def simulate(infection, recovery, first):
    """Infected boys at each day of IN_BED. Midpoint rule."""
    def slopes(susceptible, infected):
        new = infection * susceptible * infected / BOYS
        return -new, new - recovery * infected

    susceptible, infected, curve = BOYS - first, first, []
    for _ in IN_BED:
        curve.append(infected)
        for _ in range(STEPS):
            ds, di = slopes(susceptible, infected)
            ds, di = slopes(susceptible + ds / STEPS / 2, infected + di / STEPS / 2)
            susceptible, infected = susceptible + ds / STEPS, infected + di / STEPS
    return curve


def error(parameters):
    """Root mean square, in boys."""
    curve = simulate(**parameters)
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(curve, IN_BED)) / len(IN_BED))


def main():
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with attune.Study(SPACE, tuner='TPE', seed=seed) as study:
        for _ in range(trials):
            trial = study.ask()
            study.tell(trial, error(trial.parameters))
        best = study.best
    found = best.parameters
    print(f'error {study.value(best):.2f} boys (trial {best.number} of {trials})')
    print(f'infection {found["infection"]:.3f}, recovery {found["recovery"]:.3f}: '
          f'each infects {found["infection"] / found["recovery"]:.2f} others at first')


if __name__ == '__main__':
    main()
