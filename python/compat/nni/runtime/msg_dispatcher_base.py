"""The base class of advisors."""
from __future__ import annotations

from typing import Any, Dict, List

from . import protocol
from .protocol import CommandType

__all__ = ['MsgDispatcherBase']

Payload = Dict[str, Any]


class MsgDispatcherBase:
    """Answers a manager's commands by itself, through send()."""

    def __init__(self, command_channel_url: Any = None) -> None:
        self.stopping = False

    def send(self, command: CommandType, data: str) -> None:
        """As nni.runtime.protocol.send(): the way of NNI 2.8 and later."""
        protocol.send(command, data)

    def handle_initialize(self, data: Payload) -> None:
        """The search space: to be answered with Initialized."""
        raise NotImplementedError('handle_initialize() is not implemented')

    def handle_request_trial_jobs(self, data: int) -> None:
        """So many NewTrialJobs are wanted, now or later."""
        raise NotImplementedError('handle_request_trial_jobs() is not implemented')

    def handle_update_search_space(self, data: Payload) -> None:
        """Another search space."""
        raise NotImplementedError('handle_update_search_space() is not implemented')

    def handle_import_data(self, data: List[Payload]) -> None:
        """Results from elsewhere: [{'parameter': ..., 'value': ...}]."""
        raise NotImplementedError('handle_import_data() is not implemented')

    def handle_add_customized_trial(self, data: Payload) -> None:
        """A trial that the user has added."""
        raise NotImplementedError('handle_add_customized_trial() is not implemented')

    def handle_report_metric_data(self, data: Payload) -> None:
        """A result: parameter_id, trial_job_id, type (PERIODICAL or FINAL), sequence, and value,
        which is a JSON text."""
        raise NotImplementedError('handle_report_metric_data() is not implemented')

    def handle_trial_end(self, data: Payload) -> None:
        """The end of a trial: trial_job_id, event (SUCCEEDED or another), and hyper_params, the
        text of its NewTrialJob."""
        raise NotImplementedError('handle_trial_end() is not implemented')
