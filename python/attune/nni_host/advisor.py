"""Hosts a subclass of nni's MsgDispatcherBase, which replaces tuner and assessor."""
from __future__ import annotations

import json
import threading
import time
from collections import deque
from typing import Any, Deque, Dict, List, NamedTuple, Optional, Set

from .channel import Channel
from .errors import HostError, call, finish
from .loading import Loaded
from .results import Json, Results, job_id
from .texts import to_text
from .tuner import EXHAUSTED, NOT_YET, Answer

_EVENTS = {'completed': 'SUCCEEDED', 'stopped': 'EARLY_STOPPED'}
_PATIENCE = 10.0  # s


class _Job(NamedTuple):
    parameter_id: Any  # the advisor's own: often a text
    payload: str  # of its NewTrialJob


class AdvisorHost:
    """One advisor. Its parameter_ids are its own: each is kept with the trial that got it."""

    wants_reports = True

    def __init__(self, loaded: Loaded, arguments: Json, results: Results, channel: Channel):
        self._name = loaded.name
        self._results = results
        self._channel = channel
        self._advisor = call(self._name, loaded.type, **arguments)
        self._offered: Deque[Json] = deque()  # NewTrialJobs that no id was asked for yet
        self._jobs: Dict[int, _Job] = {}  # of running trials
        self._foreign: Dict[int, Any] = {}
        self._waiting: Set[int] = set()
        self._told: Set[int] = set()
        self._decisions: List[Json] = []
        self._no_more = False  # said since the last NewTrialJob
        self._has_space = False

    def set_space(self, space: Any) -> None:
        """The first space, or another one."""
        first = not self._has_space
        self._has_space = True
        self._call('handle_initialize' if first else 'handle_update_search_space', space)

    def ask(self, ids: List[int]) -> List[Answer]:
        """One answer for each id."""
        fresh = [i for i in ids if i not in self._waiting]
        if fresh:
            self._no_more = False
            self._call('handle_request_trial_jobs', len(fresh))
        self._wait_for_threads()
        answers = [self._answer(i) for i in ids]
        self._waiting = {i for i, answer in zip(ids, answers) if answer == NOT_YET} | (
            self._waiting - set(ids))
        return answers

    def withdraw(self, trial: int) -> None:
        """The proposal was not carried out."""
        self._jobs.pop(trial, None)

    def tell(self, outcomes: List[Json]) -> None:
        """Results and ends."""
        records = []
        for outcome in outcomes:
            trial, end = outcome['id'], outcome['end']
            value = self._results.of(outcome)
            if trial in self._told:
                continue  # a new search space: the advisor still knows the results
            if trial not in self._jobs:
                parameters = self._foreign.pop(trial, outcome['parameters'])
                if value is not None:
                    records.append({'parameter': parameters, 'value': value})
            else:
                job = self._jobs.pop(trial)
                if value is not None:
                    self._metric(trial, job, 'FINAL', 0, value)
                self._call('handle_trial_end', {
                    'trial_job_id': job_id(trial), 'event': _EVENTS.get(end, 'FAILED'),
                    'hyper_params': job.payload})
            if end != 'imported':
                self._told.add(trial)
        if records:
            self._call('handle_import_data', records)

    def adopt(self, trial: int, parameters: Any) -> None:
        """A trial runs that this object did not propose."""
        if trial not in self._jobs and trial not in self._told:
            self._foreign[trial] = parameters

    def report(self, trial: int, step: int, metrics: Json) -> List[Json]:
        """An intermediate result. Returns decisions."""
        job = self._jobs.get(trial)
        if job is not None:
            self._metric(trial, job, 'PERIODICAL', step, self._results.value(metrics))
        decisions, self._decisions = self._decisions, []
        return decisions

    # If nothing runs, only a thread of the advisor itself can have something to say.
    def _wait_for_threads(self) -> None:
        end = time.monotonic() + _PATIENCE
        while not (self._offered or self._jobs or self._foreign or self._no_more):
            left = end - time.monotonic()
            if left <= 0 or threading.active_count() == 1:
                break
            self._channel.wait(left)
            self._take()

    def _metric(self, trial: int, job: _Job, kind: str, sequence: int, value: Any) -> None:
        self._call('handle_report_metric_data', {
            'parameter_id': job.parameter_id, 'trial_job_id': job_id(trial), 'type': kind,
            'sequence': sequence, 'value': json.dumps(value)})

    def _answer(self, trial: int) -> Answer:
        if not self._offered:
            return NOT_YET if self._jobs or self._foreign else EXHAUSTED
        offer = self._offered.popleft()
        self._jobs[trial] = _Job(offer['parameter_id'], json.dumps(offer))
        return {'parameters': offer['parameters']}

    def _call(self, method: str, argument: Any) -> None:
        call(f'{self._name}.{method}', getattr(self._advisor, method), argument)
        self._take()

    def _take(self) -> None:
        for code, payload in self._channel.take():
            if code == 'TR':
                if not (isinstance(payload, dict) and 'parameter_id' in payload
                        and payload.get('parameters') is not None):
                    raise HostError(f'{self._name}: a NewTrialJob needs parameter_id and '
                                    f'parameters, got {payload!r:.100}')
                to_text(payload, f'{self._name}: NewTrialJob')  # NaN is read, but not passed on
                self._offered.append(payload)
                self._no_more = False
            elif code == 'NO':
                self._no_more = True
            elif code == 'KI':
                self._kill(payload)

    def _kill(self, job: Any) -> None:
        trial: Optional[int] = next((i for i in self._jobs if job_id(i) == job), None)
        if trial is not None:
            self._decisions.append({'id': trial, 'action': 'stop',
                                    'reason': f'{self._name} killed it'})

    def close(self) -> None:
        """The last call. NNI's base classes have a hook for it."""
        finish(self._name, self._advisor)
