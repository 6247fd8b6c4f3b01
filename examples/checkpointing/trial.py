#!/usr/bin/env python3
"""A trial that goes on where it was interrupted: softmax regression on handwritten digits.

After each epoch it saves all that the next one depends on, and reports. An attempt that finds
something saved goes on behind it, with the very numbers that an uninterrupted run would have had:
whether the trial was paused, stopped with its experiment, or killed cannot be seen in its results.

    PYTHONPATH=../../python python3 trial.py     alone, with the defaults
"""

import csv
import json
import math
import pathlib
import random

import attune

DATA = pathlib.Path(__file__).resolve().parent.parent / "digits" / "data" / "digits.csv"
TRAIN, VALIDATION = 600, 400  # images
CLASSES = 10
EPOCHS = 8
DEFAULTS = {"lr": 0.1, "momentum": 0.5}


def read_images():
    """(pixels in [0, 1] and a constant, digit) of each image."""
    with open(DATA, newline="", encoding="ascii") as file:
        rows = list(csv.reader(file))[: TRAIN + VALIDATION]
    return [([int(x) / 16 for x in row[:-1]] + [1.0], int(row[-1])) for row in rows]


def probabilities(weights, pixels):
    scores = [sum(map(float.__mul__, row, pixels)) for row in weights]
    top = max(scores)
    powers = [math.exp(score - top) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]


def train_epoch(state, images, lr, momentum):
    """One pass in an order that depends on nothing but the epoch."""
    order = list(range(len(images)))
    random.Random(state["epoch"]).shuffle(order)
    weights, velocity = state["weights"], state["velocity"]
    for i in order:
        pixels, digit = images[i]
        for k, p in enumerate(probabilities(weights, pixels)):
            slope = lr * (p - (k == digit))
            velocity[k] = [momentum * v - slope * x for v, x in zip(velocity[k], pixels)]
            weights[k] = [w + v for w, v in zip(weights[k], velocity[k])]
    state["epoch"] += 1


def accuracy(weights, images):
    right = 0
    for pixels, digit in images:
        p = probabilities(weights, pixels)
        right += p.index(max(p)) == digit
    return right / len(images)


def main():
    parameters = {**DEFAULTS, **attune.next_parameters(defaults=DEFAULTS)}
    images = read_images()
    saved = attune.restore("state.json")
    if saved is not None:
        state = json.loads(saved)
        print(f"going on behind epoch {state['epoch']}")
    else:
        zeros = [[0.0] * len(images[0][0]) for _ in range(CLASSES)]
        state = {"epoch": 0, "weights": zeros, "velocity": [list(row) for row in zeros]}
    result = accuracy(state["weights"], images[TRAIN:])
    while state["epoch"] < EPOCHS:
        train_epoch(state, images[:TRAIN], parameters["lr"], parameters["momentum"])
        result = accuracy(state["weights"], images[TRAIN:])
        # Saved first, so that no epoch is done twice. A trial that is killed between the two lines
        # leaves an epoch out; training_iteration tells attune so.
        attune.save("state.json", json.dumps(state).encode())
        attune.report(
            {"default": result, "epoch": state["epoch"], "training_iteration": state["epoch"]}
        )
    attune.final(result)


if __name__ == "__main__":
    main()
