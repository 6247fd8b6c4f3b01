"""Hosts a subclass of nni.tuner.Tuner."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Set, Union

from .errors import HostError, call, finish
from .loading import Loaded
from .results import Json, Results, job_id
from .texts import to_text

NOT_YET, EXHAUSTED = 'not_yet', 'exhausted'
Answer = Union[str, Json]


class TunerHost:
    """One tuner. It sees each id once, as under NNI: what it refuses, it may still give later,
    through the st_callback that came with the request."""

    wants_reports = False

    def __init__(self, loaded: Loaded, arguments: Json, results: Results):
        self._name = loaded.name
        self._results = results
        self._tuner = call(self._name, loaded.type, **arguments)
        self._given: Dict[int, Any] = {}  # parameters of running trials, as the tuner made them
        self._foreign: Dict[int, Any] = {}  # running trials that this tuner did not propose
        self._ready: Dict[int, Any] = {}  # given through st_callback, and not yet asked for again
        self._refused: Set[int] = set()
        self._told: Set[int] = set()
        self._imported: Set[str] = set()
        self._to_import: List[Json] = []

    def set_space(self, space: Any) -> None:
        """The first space, or another one. A tuner of NNI keeps what it knows."""
        self._call('update_search_space', space)

    def ask(self, ids: List[int]) -> List[Answer]:
        """One answer for each id."""
        self._flush()
        fresh = [i for i in ids if i not in self._refused and i not in self._ready]
        if fresh:
            self._generate(fresh)
        return [self._answer(i) for i in ids]

    def withdraw(self, trial: int) -> None:
        """The proposal was not carried out."""
        self._given.pop(trial, None)

    def tell(self, outcomes: List[Json]) -> None:
        """Results and ends."""
        for outcome in outcomes:
            trial = outcome['id']
            if trial in self._told:
                continue  # a new search space: the tuner still knows the results
            value = self._results.of(outcome)
            if outcome['end'] == 'imported':
                self._remember(outcome['parameters'], value)
                continue
            self._told.add(trial)
            if trial in self._foreign:
                self._tell_foreign(trial, self._foreign.pop(trial), value)
            elif trial in self._given:
                self._tell(trial, self._given.pop(trial), value, outcome['end'] == 'completed')
            else:  # of an earlier process, before the search space that this one began with
                self._tell_foreign(trial, outcome['parameters'], value)

    def adopt(self, trial: int, parameters: Any) -> None:
        """A trial runs that this object did not propose."""
        if trial not in self._given and trial not in self._told:
            self._foreign[trial] = parameters

    def _generate(self, ids: List[int]) -> None:
        made = self._call('generate_multiple_parameters', ids, st_callback=self._on_late)
        if not isinstance(made, (list, tuple)) or len(made) > len(ids):
            raise HostError(f'{self._name}.generate_multiple_parameters: a list of at most '
                            f'{len(ids)} parameters expected, not {made!r:.100}')
        self._ready.update(zip(ids, made))
        self._refused.update(ids[len(made):])

    def _on_late(self, trial: int, parameters: Any) -> None:
        if trial not in self._refused:
            raise HostError(f'{self._name}: st_callback for {trial!r}, which does not wait for '
                            'parameters')
        self._refused.discard(trial)
        self._ready[trial] = parameters

    def _answer(self, trial: int) -> Answer:
        if trial not in self._ready:
            # If nothing runs, nothing will make it change its mind.
            return NOT_YET if self._given or self._foreign or self._ready else EXHAUSTED
        parameters = self._ready.pop(trial)
        where = f'{self._name}: the parameters of {trial}'
        if parameters is None:
            raise HostError(f'{where}: None')
        to_text(parameters, where)
        self._given[trial] = parameters
        return {'parameters': parameters}

    def _tell(self, trial: int, parameters: Any, value: Any, completed: bool) -> None:
        self._flush()
        if value is not None:
            self._call('receive_trial_result', trial, parameters, value, customized=False,
                       trial_job_id=job_id(trial))
        self._call('trial_end', trial, completed)

    def _tell_foreign(self, trial: int, parameters: Any, value: Any) -> None:
        if trial >= 0:  # of the same experiment: an earlier process has proposed it
            self._remember(parameters, value)
        elif value is not None and getattr(self._tuner, '_accept_customized', False):
            self._flush()
            self._call('receive_trial_result', trial, parameters, value, customized=True,
                       trial_job_id=job_id(trial))

    def _remember(self, parameters: Any, value: Any) -> None:
        record = {'parameter': parameters, 'value': value}
        text = to_text(record, 'an imported result') if value is not None else ''
        if text and text not in self._imported:
            self._imported.add(text)
            self._to_import.append(record)

    # All at once, as under NNI: a tuner may fit a model in import_data().
    def _flush(self) -> None:
        if self._to_import:
            records, self._to_import = self._to_import, []
            self._call('import_data', records)

    def _call(self, method: str, *arguments: Any, **named: Any) -> Optional[Any]:
        return call(f'{self._name}.{method}', getattr(self._tuner, method), *arguments, **named)

    def close(self) -> None:
        """The last call. NNI's base classes have a hook for it."""
        finish(self._name, self._tuner)
