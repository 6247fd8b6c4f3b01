"""What has happened to a study since its document was written, done again."""
from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, List, Tuple

from .study_file import Event
from .study_trial import DaemonTrial

if TYPE_CHECKING:
    from .daemon_study import DaemonStudy


def replay(study: 'DaemonStudy', events: List[Event]) -> None:
    """The same calls give the same answers. Where another version of attuned answers otherwise,
    what was answered then counts, and attuned is told all of it at the end, with a warning."""
    for event in events:
        if 'ask' in event:
            _ask(study, event)
        elif 'report' in event:
            study.report(event['report'], event['value'])
        elif 'tell' in event:
            study.tell(event['tell'], event['value'])
        elif 'fail' in event:
            study.fail(event['fail'])
        elif 'stop' in event:
            study.stop(event['stop'])
        elif 'again' in event:
            study._begin_again(study._trials[event['again']])
        elif 'enqueue' in event:
            study._enqueued.append(event['enqueue'])
        elif 'import' in event:
            study._import([{'parameter': record['parameters'], 'value': record['value']}
                           for record in event['import']])
        else:
            raise KeyError(f'unknown event {next(iter(event), "")!r}')
    if isinstance(study._daemon, _Nobody):
        study._start()
        study._tell_all()
        warnings.warn('this attuned proposes other trials than the one that has run the study; '
                      'all results count, but it goes on otherwise', RuntimeWarning, stacklevel=4)


def _ask(study: 'DaemonStudy', event: Event) -> None:
    proposals = event['trials']
    begin = len(study._trials)
    if not isinstance(study._daemon, _Nobody):
        found = study._ask(event['ask'])
        if [trial.proposal for trial in found] == proposals:
            return
        # From here on nobody is asked.
        del study._trials[begin:]
        study._ready.clear()
        study._requested = 0
        study._exhausted = False
        study._enqueued.extendleft(reversed([trial.parameters for trial in found
                                             if _is_of_user(trial.proposal)]))
        study._daemon.close()
        study._daemons[:] = [_Nobody()]
    for proposal in proposals:
        fields = json.loads(proposal)
        if _is_of_user(proposal) and study._enqueued:
            study._enqueued.popleft()
        study._next_id = max(study._next_id, fields['parameter_id'] + 1)
        study._trials.append(DaemonTrial(len(study._trials), fields['parameters'], owner=study,
                                         proposal=proposal, parameter_id=fields['parameter_id']))


def _is_of_user(proposal: str) -> bool:
    return json.loads(proposal)['parameter_source'] == 'customized'


class _Nobody:
    """In the place of an attuned that is not to be asked any more."""

    sent = received = 0
    died = False

    def send(self, *commands: Tuple[str, str]) -> None:
        """Is not heard."""

    def receive(self) -> Tuple[str, str]:
        """All was handled."""
        return 'PO', 'sync'

    def close(self, reason: str = '') -> None:
        """There is nothing to end."""
