"""Learns to predict a chaotic series, as a script for Syne Tune: arguments in, Reporter out.

The series is that of Mackey and Glass (Science 197, 1977, equation 4b) with a delay of 17; the
learner is an adaptive linear filter (normalised least mean squares).
"""
import argparse
import json
import os

from syne_tune import Reporter
from syne_tune.utils import (add_checkpointing_to_argparse, checkpoint_model_at_rung_level,
                             resume_from_checkpointed_model)

AHEAD, TRAINING, TEST = 6, 600, 300  # steps


def series(count, delay=17, substeps=10):
    values = [1.2] * (delay * substeps + 1)
    for _ in range((count + 100) * substeps):
        late = values[-1 - delay * substeps]
        values.append(values[-1] + (0.2 * late / (1 + late ** 10) - 0.1 * values[-1]) / substeps)
    return values[-count * substeps::substeps]


def examples(values, taps, spacing):
    first = (taps - 1) * spacing
    return [([values[t - k * spacing] for k in range(taps)] + [1.0], values[t + AHEAD])
            for t in range(first, len(values) - AHEAD)]


def predict(weights, inputs):
    return sum(w * x for w, x in zip(weights, inputs))


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--epochs', type=int, default=6)
    parser.add_argument('--taps', type=int, required=True)
    parser.add_argument('--spacing', type=int, required=True)
    parser.add_argument('--rate', type=float, required=True)
    add_checkpointing_to_argparse(parser)
    config = vars(parser.parse_args())

    data = examples(series(TRAINING + TEST), config['taps'], config['spacing'])
    training, test = data[:-TEST], data[-TEST:]
    weights = [0.0] * (config['taps'] + 1)

    def load_model(folder):
        path = os.path.join(folder, 'weights.json')
        if not os.path.exists(path):
            return 0
        with open(path) as file:
            state = json.load(file)
        weights[:] = state['weights']
        return state['epoch']

    def save_model(folder, epoch):
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, 'weights.json')
        with open(path + '.new', 'w') as file:
            json.dump({'weights': weights, 'epoch': epoch}, file)
        os.replace(path + '.new', path)

    report = Reporter()
    for epoch in range(resume_from_checkpointed_model(config, load_model) + 1,
                       config['epochs'] + 1):
        for inputs, target in training:
            error = target - predict(weights, inputs)
            step = config['rate'] * error / sum(x * x for x in inputs)
            weights[:] = [w + step * x for w, x in zip(weights, inputs)]
        mse = sum((predict(weights, inputs) - target) ** 2 for inputs, target in test) / len(test)
        checkpoint_model_at_rung_level(config, save_model, epoch)
        report(epoch=epoch, mse=mse)
