#!/usr/bin/env python3
"""Trains a small network on handwritten digits: one trial of an experiment, or on its own.

Python's standard library only, so it runs wherever Python 3.9 does. With NNI_SYS_DIR in the
environment the configuration comes from that folder's parameter.cfg, and the accuracies are
reported to its .nni/metrics; without it, from CONFIG.json or from the defaults.
See docs/example-digits.md.
"""

import argparse
import csv
import json
import math
import os
import pathlib
import random
import sys
from operator import mul

DATA = pathlib.Path(__file__).resolve().parent.parent / "digits" / "data" / "digits.csv"
TRAIN, VALIDATION, TEST = 150, 400, 400  # images; fewer than in C++, for the sake of time
EPOCHS, PASSES = 10, 3
CLASSES = 10
EXP_LIMIT = 700.0  # math.exp() raises an exception beyond, where C++ has infinity

DEFAULTS = {
    "hidden": 16,
    "layers": 1,
    "activation": "relu",
    "init_scale": 1.0,
    "batch_size": 16,
    "dropout": 0.0,
    "l2": 0.0001,
    "lr_decay": 1.0,
    "optimizer": {"_name": "sgd", "lr": 0.05, "momentum": 0.9},
    "seed": 1,
}
OPTIMIZERS = {
    "sgd": {"lr": 0.05, "momentum": 0.9},
    "adam": {"lr": 0.001, "beta2": 0.999},
}
# Name: lowest, highest, whole numbers only.
LIMITS = {
    "hidden": (1, 256, True),
    "layers": (1, 8, True),
    "init_scale": (0, 1000, False),
    "batch_size": (1, 1024, True),
    "dropout": (0, 0.95, False),
    "l2": (0, 1000, False),
    "lr_decay": (0, 1, False),
    "seed": (0, 1e15, True),
    "lr": (0, 1000, False),
    "momentum": (0, 0.9999, False),
    "beta2": (0, 0.99999, False),
}


class TrialError(Exception):
    """What the user did wrong, in one line."""


# ---- configuration -------------------------------------------------------------------------------


def merge(given, defaults, path):
    """Defaults for what is absent; an error for what is unknown, as it would have no effect."""
    if not isinstance(given, dict):
        raise TrialError(f"{path}: must be an object")
    for name, value in given.items():
        if name not in defaults:
            raise TrialError(f"{path}.{name}: is not a parameter; accepted: {', '.join(defaults)}")
        if name in LIMITS:
            check_number(value, f"{path}.{name}", *LIMITS[name])
    return {**defaults, **given}


def check_number(value, path, low, high, whole):
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    # Quantised types of a search space yield whole numbers as floats: 16.0 is as good as 16.
    if not is_number or not low <= value <= high or (whole and value != int(value)):
        kind = "whole number" if whole else "number"
        raise TrialError(f"{path}: must be a {kind} from {low} to {high}, got {json.dumps(value)}")


def check_word(value, path, words):
    if value not in words:
        accepted = ", ".join(json.dumps(word) for word in words)
        raise TrialError(f"{path}: must be one of {accepted}, got {json.dumps(value)}")


def parse_config(parameters):
    config = merge(parameters, DEFAULTS, "parameters")
    check_word(config["activation"], "parameters.activation", list(ACTIVATIONS))
    optimizer = config["optimizer"]
    name = optimizer.get("_name", "sgd") if isinstance(optimizer, dict) else None
    check_word(name, "parameters.optimizer._name", list(OPTIMIZERS))
    defaults = {"_name": name, **OPTIMIZERS[name]}
    config["optimizer"] = merge(optimizer, defaults, "parameters.optimizer")
    for name in ("hidden", "layers", "batch_size", "seed"):
        config[name] = int(config[name])
    return config


# ---- data ----------------------------------------------------------------------------------------


def load_split(path):
    """Lists of (pixels 0..1, digit) for training, validation, test: the same for every trial."""
    try:
        with open(path, newline="", encoding="ascii") as file:
            rows = [[int(cell) for cell in row] for row in csv.reader(file)]
    except OSError as error:
        raise TrialError(f"cannot read the data file '{path}': {error.strerror}") from error
    except ValueError as error:
        raise TrialError(f"{path}: {error}") from error
    if len(rows) < TRAIN + VALIDATION + TEST or any(len(row) != 65 for row in rows):
        needed = TRAIN + VALIDATION + TEST
        raise TrialError(f"{path}: expected {needed} lines or more of 65 numbers")
    images = [([pixel / 16 for pixel in row[:64]], row[64]) for row in rows]
    random.Random(20240229).shuffle(images)  # the file is sorted by writer
    held_out = VALIDATION + TEST
    return images[held_out:held_out + TRAIN], images[:VALIDATION], images[VALIDATION:held_out]


# ---- network -------------------------------------------------------------------------------------


def sigmoid(x):
    return 1 / (1 + math.exp(-x)) if x > -EXP_LIMIT else 0.0


# Name: the function, and its slope as a function of its value.
ACTIVATIONS = {
    "relu": (lambda x: x if x > 0 else 0.0, lambda y: 1.0 if y > 0 else 0.0),
    "tanh": (math.tanh, lambda y: 1 - y * y),
    "sigmoid": (sigmoid, lambda y: y * (1 - y)),
}


class Network:
    """Weights and gradients are one list per unit: a weight for each input, then the bias.

    The inputs of every layer carry a constant 1 at their end, which makes the bias a weight.
    """

    def __init__(self, config, rng):
        self.activate, self.slope = ACTIVATIONS[config["activation"]]
        self.dropout = config["dropout"]
        self.l2 = config["l2"]
        sizes = [64] + [config["hidden"]] * config["layers"] + [CLASSES]
        self.layers = []
        for inputs, outputs in zip(sizes, sizes[1:]):
            scale = config["init_scale"] / math.sqrt(inputs)
            self.layers.append([[rng.gauss(0, scale) for _ in range(inputs)] + [0.0]
                                for _ in range(outputs)])

    def rows(self):
        return [row for layer in self.layers for row in layer]

    def scores(self, pixels):
        values = pixels + [1.0]
        for layer in self.layers[:-1]:
            values = [self.activate(sum(map(mul, row, values))) for row in layer] + [1.0]
        return [sum(map(mul, row, values)) for row in self.layers[-1]]

    def accuracy(self, images):
        right = 0
        for pixels, digit in images:
            scores = self.scores(pixels)
            right += scores.index(max(scores)) == digit
        return right / len(images)

    def batch_gradients(self, batch, rng):
        """Gradients of the mean cross-entropy plus L2 penalty, in the order of rows()."""
        gradients = [[[0.0] * len(row) for row in layer] for layer in self.layers]
        for pixels, digit in batch:
            self.add_gradients(pixels, digit, gradients, rng)
        share = 1 / len(batch)
        flat = [gradient for layer in gradients for gradient in layer]
        for row, gradient in zip(self.rows(), flat):
            bias = gradient[-1] * share  # not penalised
            gradient[:] = [g * share + self.l2 * w for g, w in zip(gradient, row)]
            gradient[-1] = bias
        return flat

    def add_gradients(self, pixels, digit, gradients, rng):
        inputs = [pixels + [1.0]]
        slopes = []
        for layer in self.layers[:-1]:
            values = [self.activate(sum(map(mul, row, inputs[-1]))) for row in layer]
            slope = list(map(self.slope, values))
            if self.dropout:
                # What is kept is scaled up here, so that evaluation has nothing to scale.
                kept = 1 / (1 - self.dropout)
                mask = [0.0 if rng.random() < self.dropout else kept for _ in values]
                values = list(map(mul, values, mask))
                slope = list(map(mul, slope, mask))
            slopes.append(slope)
            inputs.append(values + [1.0])

        scores = [sum(map(mul, row, inputs[-1])) for row in self.layers[-1]]
        largest = max(scores)
        exps = [math.exp(score - largest) for score in scores]
        total = sum(exps)
        deltas = [e / total for e in exps]
        deltas[digit] -= 1
        for index in range(len(self.layers) - 1, -1, -1):
            values = inputs[index]
            below = [0.0] * len(values)
            for row, gradient, delta in zip(self.layers[index], gradients[index], deltas):
                if delta == 0:
                    continue
                gradient[:] = [g + delta * v for g, v in zip(gradient, values)]
                if index > 0:
                    below = [b + delta * w for b, w in zip(below, row)]
            if index > 0:
                deltas = list(map(mul, below, slopes[index - 1]))  # leaves out the constant input


class Optimizer:
    BETA1 = 0.9

    def __init__(self, config, rows):
        self.config = config
        self.first = [[0.0] * len(row) for row in rows]  # velocity, or Adam's mean
        self.second = [[0.0] * len(row) for row in rows]
        self.steps = 0

    def step(self, rows, gradients, rate_factor):
        self.steps += 1
        rate = self.config["lr"] * rate_factor
        update = self.sgd if self.config["_name"] == "sgd" else self.adam
        for unit, (row, gradient) in enumerate(zip(rows, gradients)):
            update(unit, row, gradient, rate)

    def sgd(self, unit, row, gradient, rate):
        momentum = self.config["momentum"]
        velocity = [momentum * v - rate * g for v, g in zip(self.first[unit], gradient)]
        self.first[unit] = velocity
        row[:] = [w + v for w, v in zip(row, velocity)]

    def adam(self, unit, row, gradient, rate):
        beta1, beta2 = self.BETA1, self.config["beta2"]
        rate *= math.sqrt(1 - beta2**self.steps) / (1 - beta1**self.steps)
        mean = [beta1 * m + (1 - beta1) * g for m, g in zip(self.first[unit], gradient)]
        square = [beta2 * s + (1 - beta2) * g * g for s, g in zip(self.second[unit], gradient)]
        self.first[unit], self.second[unit] = mean, square
        row[:] = [w - rate * m / (math.sqrt(s) + 1e-8) for w, m, s in zip(row, mean, square)]


def train(config, data, on_epoch):
    """Returns validation and test accuracy; calls on_epoch(epoch, validation accuracy)."""
    images, validation, test = data
    rng = random.Random(config["seed"])
    network = Network(config, rng)
    optimizer = Optimizer(config["optimizer"], network.rows())
    rate_factor = 1.0
    order = list(images)
    for epoch in range(EPOCHS):
        for _ in range(PASSES):
            rng.shuffle(order)
            for first in range(0, len(order), config["batch_size"]):
                batch = order[first:first + config["batch_size"]]
                gradients = network.batch_gradients(batch, rng)
                optimizer.step(network.rows(), gradients, rate_factor)
        rate_factor *= config["lr_decay"]
        accuracy = network.accuracy(validation)
        on_epoch(epoch, accuracy)
    return accuracy, network.accuracy(test)


# ---- the trial side of NNI's file protocol -------------------------------------------------------


class Reporter:
    def __init__(self, sys_dir):
        self.metrics = pathlib.Path(sys_dir) / ".nni" / "metrics"
        self.sequence = 0
        path = pathlib.Path(sys_dir) / "parameter.cfg"
        try:
            proposal = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise TrialError(f"cannot read '{path}': {error.strerror}") from error
        except ValueError as error:
            raise TrialError(f"{path}: not valid JSON") from error
        if not isinstance(proposal, dict) or "parameters" not in proposal:
            raise TrialError(f'{path}: expected a JSON object with the key "parameters"')
        self.parameters = proposal["parameters"]
        self.parameter_id = proposal.get("parameter_id")

    def intermediate(self, metric):
        self.append("PERIODICAL", self.sequence, metric)
        self.sequence += 1

    def final(self, metric):
        self.append("FINAL", 0, metric)

    def append(self, kind, sequence, metric):
        record = {"parameter_id": self.parameter_id,
                  "trial_job_id": os.environ.get("NNI_TRIAL_JOB_ID", ""),
                  "type": kind, "sequence": sequence,
                  "value": json.dumps(metric)}  # JSON text inside a JSON string
        body = (json.dumps(record) + "\n").encode()
        self.metrics.parent.mkdir(parents=True, exist_ok=True)
        # Unbuffered: one write for one record, so that a reader sees all of it or nothing.
        with open(self.metrics, "ab", buffering=0) as file:
            file.write(b"ME%06d%s" % (len(body), body))
        os.utime(self.metrics)  # some managers watch the time stamp


def run(options):
    reporter = None
    parameters = {}
    if os.environ.get("NNI_SYS_DIR"):
        if options.config:
            raise TrialError("NNI_SYS_DIR is set: CONFIG.json has no meaning")
        reporter = Reporter(os.environ["NNI_SYS_DIR"])
        parameters = reporter.parameters
    elif options.config:
        try:
            parameters = json.loads(pathlib.Path(options.config).read_text(encoding="utf-8"))
        except OSError as error:
            raise TrialError(f"cannot read '{options.config}': {error.strerror}") from error
        except ValueError as error:
            raise TrialError(f"{options.config}: not valid JSON") from error
    config = parse_config(parameters)
    if options.seed is not None:
        config["seed"] = options.seed

    def on_epoch(epoch, accuracy):
        print(f"epoch {epoch:2}  validation {accuracy:.4f}", flush=True)
        if reporter:
            reporter.intermediate(accuracy)

    validation, test = train(config, load_split(options.data), on_epoch)
    print(f"validation {validation:.4f}  test {test:.4f}")
    if reporter:
        reporter.final({"default": validation, "test": test})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=DATA, help="the images (default: those of ../digits)")
    parser.add_argument("--seed", type=int, help="seed of the training")
    parser.add_argument("config", nargs="?", help="CONFIG.json, an object of hyperparameters")
    try:
        run(parser.parse_args())
    except (TrialError, OSError) as error:
        sys.exit(f"trial.py: {error}")


if __name__ == "__main__":
    main()
