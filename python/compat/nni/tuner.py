"""The base class of tuners."""
from __future__ import annotations

import logging
from typing import Any, Callable, Dict, List

from . import NoMoreTrialError

__all__ = ['Tuner']

_logger = logging.getLogger(__name__)
Record = Dict[str, Any]


class Tuner:
    """Proposes parameters. Only generate_parameters() and what it needs must be written."""

    def generate_parameters(self, parameter_id: int, **kwargs: Any) -> Record:
        """One set of parameters. NoMoreTrialError: there is none, perhaps only for now."""
        raise NotImplementedError('generate_parameters() is not implemented')

    def generate_multiple_parameters(self, parameter_id_list: List[int],
                                     **kwargs: Any) -> List[Record]:
        """As many as there are, at most one for each id. kwargs['st_callback'](id, parameters)
        may later give those of an id for which there were none."""
        made = []
        for parameter_id in parameter_id_list:
            try:
                made.append(self.generate_parameters(parameter_id, **kwargs))
            except NoMoreTrialError:
                break
        return made

    def receive_trial_result(self, parameter_id: int, parameters: Record, value: Any,
                             **kwargs: Any) -> None:
        """The final result: a number, or a dict with a number under 'default'."""
        raise NotImplementedError('receive_trial_result() is not implemented')

    def trial_end(self, parameter_id: int, success: bool, **kwargs: Any) -> None:
        """A trial has ended."""

    def update_search_space(self, search_space: Record) -> None:
        """The search space: called once before anything else, and for each later change."""
        raise NotImplementedError('update_search_space() is not implemented')

    def import_data(self, data: List[Record]) -> None:
        """Results from elsewhere: [{'parameter': ..., 'value': ...}]."""

    def load_checkpoint(self) -> None:
        """Does nothing, as in NNI."""
        _logger.info('load_checkpoint() is not implemented')

    def save_checkpoint(self) -> None:
        """Nobody calls it, as in NNI."""

    def _accept_customized_trials(self, accept: bool = True) -> None:
        """Whether results of trials that the user has added are wanted, too."""
        self._accept_customized = accept

    def _on_exit(self) -> None:
        pass

    def _on_error(self) -> None:
        pass
