"""Reads what `attune run` leaves of examples/digits: one JSON object per trial in results.jsonl."""
import json
import pathlib


class Run:
    """One experiment: its best trial by validation accuracy, and how much work it was."""

    def __init__(self, directory):
        path = pathlib.Path(directory) / 'results.jsonl'
        self.trials = [json.loads(line) for line in path.read_text().splitlines()]
        finished = [t for t in self.trials if t['status'] == 'SUCCEEDED' and t['final']]
        if not finished:
            raise ValueError(f'{path}: no trial succeeded')
        best = max(finished, key=lambda t: t['final']['default'])  # of equals the first
        self.validation = best['final']['default']
        self.test = best['final']['test']
        self.parameters = best['parameters']
        self.stopped = sum(t['status'] == 'EARLY_STOPPED' for t in self.trials)
        self.failed = sum(t['status'] == 'FAILED' for t in self.trials)
        self.seconds = (max(t['end_time'] for t in self.trials) -
                        min(t['start_time'] for t in self.trials))
