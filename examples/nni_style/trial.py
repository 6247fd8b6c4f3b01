"""Nearest neighbours on handwritten digits, as a trial for NNI: `import nni` is all it knows."""
import csv
import logging
import pathlib
import random

import nni

LOG = logging.getLogger('nearest_neighbours')
DATA = pathlib.Path(__file__).resolve().parent.parent / 'digits/data/digits.csv'
IMAGES, FOLDS = 240, 4


def load():
    with open(DATA, newline='', encoding='ascii') as file:
        rows = [[int(cell) for cell in row] for row in csv.reader(file)]
    random.Random(1).shuffle(rows)
    return [(row[:-1], row[-1]) for row in rows[:IMAGES]]


def classify(pixels, known, params):
    power = params['power']
    distances = sorted(
        (sum(abs(a - b) ** power for a, b in zip(pixels, other)), digit) for other, digit in known)
    votes = {}
    for distance, digit in distances[:int(params['neighbours'])]:
        weight = 1 / (distance + 1e-9) if params['weights'] == 'distance' else 1
        votes[digit] = votes.get(digit, 0) + weight
    return max(votes, key=votes.get)


def main(params):
    images = load()
    right = tested = 0
    for fold in range(FOLDS):
        known = [image for index, image in enumerate(images) if index % FOLDS != fold]
        test = images[fold::FOLDS]
        right += sum(classify(pixels, known, params) == digit for pixels, digit in test)
        tested += len(test)
        nni.report_intermediate_result(right / tested)
        LOG.info('fold %d: %.4f', fold, right / tested)
    nni.report_final_result(right / tested)


if __name__ == '__main__':
    params = {'neighbours': 3, 'power': 2, 'weights': 'uniform'}
    params.update(nni.get_next_parameter())
    LOG.info('trial %s: %s', nni.get_trial_id(), params)
    main(params)
