"""Reads a run of examples/digits, as `attune export --format jsonl` writes it to trials.jsonl."""
import json
import pathlib


# What digits_trial prints, which some runs are read from, has four digits. Two accuracies that are
# not equal differ by 1 / 2400.
ROUNDING = 0.0001


def best_so_far(trials):
    """The best validation accuracy of the trials that succeeded, after each trial in the order in
    which they were proposed; 0 before the first. A trial that was stopped early counts as one."""
    best, curve = 0.0, []
    for t in trials:
        if t['status'] == 'succeeded' and t['score'] is not None:
            best = max(best, t['score'])
        curve.append(best)
    return curve


def trials_until(curve, accuracy):
    """How many trials it took to be as good as that; None: they never were."""
    return next((i + 1 for i, best in enumerate(curve) if best >= accuracy - ROUNDING), None)


class Run:
    """One experiment: its best trial by validation accuracy, and how much work it was."""

    def __init__(self, directory):
        path = pathlib.Path(directory) / 'trials.jsonl'
        self.trials = [json.loads(line) for line in path.read_text().splitlines()]
        finished = [t for t in self.trials
                    if t['status'] == 'succeeded' and t['score'] is not None]
        if not finished:
            raise ValueError(f'{path}: no trial succeeded')
        best = max(finished, key=lambda t: t['score'])  # of equals the first
        self.validation = best['score']
        self.test = best['metrics.test']
        self.parameters = {key.removeprefix('parameters.'): value for key, value in best.items()
                           if key.startswith('parameters.') and value is not None}
        self.stopped = sum(t['status'] == 'early_stopped' for t in self.trials)
        self.failed = sum(t['status'] == 'failed' for t in self.trials)
        self.best_so_far = best_so_far(self.trials)
        self.seconds = (max(t['ended'] for t in self.trials) -
                        min(t['started'] for t in self.trials))
