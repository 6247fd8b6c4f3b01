#!/usr/bin/env python3
"""Softmax regression on handwritten digits, as a trial that goes on where it was stopped.

Alone it runs with DEFAULTS: PYTHONPATH=../../python python3 trial.py
"""
import csv
import json
import math
import pathlib
import random
from operator import mul

import attune

DATA = pathlib.Path(__file__).resolve().parent.parent / 'digits/data/digits.csv'
DEFAULTS = {'lr': 0.1, 'l2': 0.0001, 'batch_size': 16, 'decay': 1.0}
EPOCHS, TRAINING, VALIDATION = 8, 300, 400  # passes; images


def load():
    with open(DATA, newline='', encoding='ascii') as file:
        rows = [[int(cell) for cell in row] for row in csv.reader(file)]
    random.Random(1).shuffle(rows)  # the file is sorted by writer
    images = [([pixel / 16 for pixel in row[:-1]] + [1.0], row[-1]) for row in rows]
    return images[:TRAINING], images[TRAINING:TRAINING + VALIDATION]


def probabilities(weights, pixels):
    scores = [sum(map(mul, row, pixels)) for row in weights]
    largest = max(scores)
    powers = [math.exp(score - largest) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]


def train_epoch(weights, images, epoch, config):
    order = random.Random(epoch).sample(images, len(images))  # the same after a pause
    rate = config['lr'] * config['decay'] ** epoch
    size = int(config['batch_size'])
    for start in range(0, len(order), size):
        batch = order[start:start + size]
        slopes = [[config['l2'] * w for w in row] for row in weights]
        for pixels, digit in batch:
            for label, probability in enumerate(probabilities(weights, pixels)):
                error = (probability - (label == digit)) / len(batch)
                slopes[label] = [s + error * x for s, x in zip(slopes[label], pixels)]
        for row, slope in zip(weights, slopes):
            row[:] = [w - rate * s for w, s in zip(row, slope)]


def accuracy(weights, images):
    right = 0
    for pixels, digit in images:
        scores = probabilities(weights, pixels)
        right += scores.index(max(scores)) == digit
    return right / len(images)


def main():
    config = attune.next_parameters(DEFAULTS)
    training, validation = load()
    saved = attune.restore('state.json')
    state = json.loads(saved) if saved else {'epoch': 0, 'weights': [[0.0] * 65 for _ in range(10)]}
    weights = state['weights']
    for epoch in range(state['epoch'], EPOCHS):
        train_epoch(weights, training, epoch, config)
        state = {'epoch': epoch + 1, 'weights': weights}
        # Before the report: who pauses the trial because of that goes on after this epoch.
        attune.save('state.json', json.dumps(state).encode())
        attune.report(accuracy(weights, validation))
        print(f'epoch {epoch} is done', flush=True)
    attune.final(accuracy(weights, validation))


if __name__ == '__main__':
    main()
