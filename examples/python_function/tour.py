#!/usr/bin/env python3
"""A short round trip through 60 cities by simulated annealing: a function as a trial.

What is tuned is how it cools. Alone: PYTHONPATH=../../python python3 tour.py
"""
import math
import random

import attune

CITIES, ROUNDS, MOVES = 60, 6, 2000  # reports; moves between two


def length(tour):
    return sum(math.dist(a, b) for a, b in zip(tour, tour[1:] + tour[:1]))


def anneal(config):
    """Yields the length of the best tour so far; the square that holds the cities has side 1."""
    rng = random.Random(7)
    tour = [(rng.random(), rng.random()) for _ in range(CITIES)]
    temperature = config['start']
    cooling = config['end'] / config['start']
    best = current = length(tour)
    for _ in range(ROUNDS):
        for _ in range(MOVES):
            i, j = sorted(rng.sample(range(1, CITIES), 2))
            if rng.random() < config['reversals']:
                other = tour[:i] + tour[i:j][::-1] + tour[j:]
            else:  # one city moves elsewhere
                other = tour[:i] + tour[i + 1:j + 1] + [tour[i]] + tour[j + 1:]
            change = length(other) - current
            if change < 0 or rng.random() < math.exp(-change / temperature):
                tour, current = other, current + change
                best = min(best, current)
            temperature *= cooling ** (1 / (ROUNDS * MOVES))
        yield best


if __name__ == '__main__':
    attune.run(anneal, defaults={'start': 1.0, 'end': 0.001, 'reversals': 0.5})
