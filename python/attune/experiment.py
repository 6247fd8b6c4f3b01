"""An experiment of attune run: what has become of it, also while it runs."""
from __future__ import annotations

import json
import math
import os
import pathlib
import sqlite3
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple, Union

from . import standing
from .errors import ExperimentError
from .store import Store, is_locked

if TYPE_CHECKING:
    import pandas

_FORMAT = 1  # docs/commands.md, JSON
# With the present configuration of each: the newest one of index 0.
_TRIALS = '''
SELECT t.*, p.parameter_id, p.parameters FROM trials AS t JOIN parameters AS p
USING (experiment, trial)
WHERE t.experiment = ? AND p.parameter_index = 0 AND p.attempt = (
  SELECT max(attempt) FROM parameters AS q WHERE q.experiment = t.experiment
  AND q.trial = t.trial AND q.parameter_index = 0)
ORDER BY t.trial'''
_REPORTS = '''
SELECT r.*, t.job_id FROM reports AS r JOIN trials AS t USING (experiment, trial)
WHERE r.experiment = ? AND r.type = 'periodical' AND (? IS NULL OR t.job_id = ?)
ORDER BY r.trial, r.report'''


class Experiment:
    """An experiment in a store, read only. Each call looks anew: it may run meanwhile.

    directory: what attune run had as --dir (or `experimentWorkingDirectory`), or the folder of an
        experiment
    experiment: its id, the beginning of it, or its name; None: that of the folder, else the newest

    ExperimentError (a ValueError): there is none, or another version has written it.
    """

    def __init__(self, directory: Union[str, 'os.PathLike[str]'],
                 experiment: Optional[str] = None):
        folder = pathlib.Path(directory)
        self._store = Store(folder)
        self._number = self._find(folder, experiment)

    @property
    def id(self) -> str:
        """As attune list shows it."""
        return self._row()['id']

    @property
    def name(self) -> str:
        """experimentName; may be empty."""
        return self._row()['name']

    @property
    def status(self) -> str:
        """running, completed, interrupted, failed; killed: its manager died, attune resume goes
        on."""
        row = self._row()
        if row['status'] == 'running' and not is_locked(row['directory']):
            row = self._row()  # it may have ended well between the two looks
            return 'killed' if row['status'] == 'running' else row['status']
        return row['status']

    @property
    def objectives(self) -> List[Dict[str, Any]]:
        """Dicts with metric, mode and perhaps limit; the first decides which trial is best."""
        row = self._row()
        others = _json(row['file'])
        others = others.get('objectives') if isinstance(others, dict) else None
        first = {'metric': row['objective'], 'mode': 'maximize' if row['maximize'] else 'minimize'}
        return [first, *(each for each in (others or [])[1:] if isinstance(each, dict))]

    def trials(self) -> List[Dict[str, Any]]:
        """All trials by number, each with the keys of `attune trials --json` (docs/commands.md)."""
        objectives = self.objectives
        return [_trial(row, objectives) for row in self._store.rows(_TRIALS, (self._number,))]

    def best(self) -> Optional[Dict[str, Any]]:
        """The succeeded trial that is best in the first objective, among those that keep the
        limits; while none does, the nearest one. None: no trial has a finite number of each."""
        ranked = self._ranked()
        return min(ranked, key=lambda pair: pair[0])[1] if ranked else None

    def trade_offs(self) -> List[Dict[str, Any]]:
        """The succeeded trials that keep the limits and that no other is better than in
        everything, by the first objective; of one objective the best one."""
        return standing.trade_offs(self._ranked())

    def reports(self, trial: Optional[str] = None) -> List[Dict[str, Any]]:
        """Intermediate results in the order in which they came, trial by trial, of all or of one
        (its trial_job_id). Dicts: trial_job_id, attempt, report, sequence, time, seconds, score,
        metrics (as reported), late, ignored (why it did not count; empty: it did)."""
        rows = self._store.rows(_REPORTS, (self._number, trial, trial))
        return [{'trial_job_id': row['job_id'], 'attempt': row['attempt'], 'report': row['report'],
                 'sequence': row['sequence'], 'time': row['time'], 'seconds': row['ran'],
                 'score': row['value'], 'metrics': _reported(row['text']),
                 'late': bool(row['late']), 'ignored': row['ignored']} for row in rows]

    def dataframe(self) -> 'pandas.DataFrame':
        """A row for each trial, with the columns of attune export. ImportError: pandas is not
        installed."""
        try:
            import pandas  # pylint: disable=import-outside-toplevel
        except ImportError as error:
            raise ImportError('Experiment.dataframe() needs pandas, which is not installed: '
                              'pip install pandas, or use trials()') from error
        return pandas.DataFrame([_flat(trial) for trial in self.trials()])

    def _row(self) -> sqlite3.Row:
        rows = self._store.rows('SELECT * FROM experiments WHERE experiment = ?', (self._number,))
        if not rows:
            raise ExperimentError(f'{self._store.path}: the experiment is not in it any more')
        return rows[0]

    def _find(self, folder: pathlib.Path, wanted: Optional[str]) -> int:
        rows = self._store.rows('SELECT * FROM experiments ORDER BY experiment DESC')
        if not rows:
            raise ExperimentError(f'{self._store.path}: no experiment is in it yet')
        if wanted is None:
            here = os.path.realpath(folder)
            own = [row for row in rows
                   if self._store.is_link and os.path.realpath(row['directory']) == here]
            return (own or rows)[0]['experiment']
        begin = [row for row in rows if wanted and row['id'].startswith(wanted)]
        for found in ([row for row in rows if row['id'] == wanted],
                      begin if len(begin) == 1 else [],
                      [row for row in rows if row['name'] == wanted]):
            if found:
                return found[0]['experiment']
        there = ', '.join(row['id'] + (f' ({row["name"]})' if row['name'] else '') for row in rows)
        raise ExperimentError(f'{self._store.path}: '
                              + (f'{wanted!r} begins several ids' if begin
                                 else f'no experiment {wanted!r}') + f'; there are: {there}')

    def _ranked(self) -> List[Tuple[standing.Standing, Dict[str, Any]]]:
        objectives = self.objectives
        ranked = ((standing.of(trial['final'], objectives), trial) for trial in self.trials()
                  if trial['status'] == 'succeeded' and trial['final'] is not None)
        return [(rank, trial) for rank, trial in ranked if rank is not None]


def _json(text: Optional[str]) -> Any:
    """None: nothing was written. NaN and infinities are None, as in the output of attune."""
    try:
        return json.loads(text, parse_constant=lambda _: None) if text else None
    except ValueError:
        return None


def _reported(text: str) -> Any:
    """The metrics in a report: JSON within a record of JSON."""
    record = _json(text)
    value = record.get('value') if isinstance(record, dict) else None
    return _json(value) if isinstance(value, str) else value


def _number(metrics: Any, name: str, first: bool) -> Optional[float]:
    """A bare number is of the first objective. None: there is no finite number."""
    value = metrics.get(name) if isinstance(metrics, dict) else metrics if first else None
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value)


def _trial(row: sqlite3.Row, objectives: List[Dict[str, Any]]) -> Dict[str, Any]:
    final = _json(row['final_metric'])
    status = row['status'].lower()  # the store has NNI's words
    trial = {
        'format': _FORMAT, 'trial_job_id': row['job_id'], 'sequence': row['trial'],
        'source': row['source'], 'status': status, 'reason': row['reason'],
        'parameter_id': _json(row['parameter_id']), 'parameters': _json(row['parameters']),
        'score': _number(final, objectives[0]['metric'], True), 'final': final,
        'last': _json(row['last_metric']), 'attempts': row['attempts'],
        'failures': row['failures'], 'reports': row['reports'], 'checkpoint': row['checkpoint'],
        'started': row['started_at'] or None, 'ended': row['ended_at'] or None}
    if len(objectives) > 1 and status not in ('pending', 'running', 'paused'):
        trial['objectives'] = {each['metric']: _number(final, each['metric'], index == 0)
                               for index, each in enumerate(objectives)}
        rank = standing.of(final, objectives) if final is not None else None
        trial['violation'] = None if rank is None else rank[0]
    return trial


def _flat(trial: Dict[str, Any]) -> Dict[str, Any]:
    row = {name: trial[name] for name in (
        'trial_job_id', 'sequence', 'source', 'status', 'reason', 'attempts', 'failures',
        'reports', 'started', 'ended')}
    began, ended = trial['started'], trial['ended']
    row['seconds'] = ended - began if began is not None and ended is not None else None
    row['score'] = trial['score']
    final = trial['final']
    metrics = final if isinstance(final, dict) else {} if final is None else {'default': final}
    row.update({f'metrics.{name}': value for name, value in metrics.items()})
    row.update({f'parameters.{name}': value for name, value in trial['parameters'].items()})
    return row
