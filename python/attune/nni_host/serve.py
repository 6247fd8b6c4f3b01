"""The operations of docs/plugin-protocol.md, for one class."""
from __future__ import annotations

import json
from typing import Any, Dict, Optional, Union

from ..plugin_lines import Lines
from .advisor import AdvisorHost
from .assessor import AssessorHost
from .channel import Channel
from .errors import HostError
from .loading import Loaded, load_class, provide_nni
from .results import Json, Results
from .texts import to_text
from .tuner import TunerHost

Host = Union[TunerHost, AdvisorHost, AssessorHost]


class Server:
    """Loads the class with the first request, and makes one object of it with `init`."""

    def __init__(self, kind: str, name: str, directory: str):
        self._wanted = kind, name, directory
        self._loaded: Optional[Loaded] = None
        self._channel = Channel()
        self._host: Any = None

    def run(self, lines: Lines) -> None:
        """Answers each request, in order."""
        for request in lines.requests():
            if request['op'] == 'exit':
                break
            try:
                text = to_text(self._answer(request), 'the answer')
            except HostError as error:
                text = json.dumps({'error': str(error)})
            lines.reply(text)
        if self._host is not None:
            self._host.close()

    def _answer(self, request: Json) -> Json:
        operation = getattr(self, f"_op_{request['op']}", None)
        if operation is None:  # of a later protocol
            return {}
        if self._loaded is None:
            self._loaded = self._load()
        return operation(request) or {}

    def _load(self) -> Loaded:
        kind, name, directory = self._wanted
        provide_nni()
        self._channel.install()
        return load_class(name, directory, kind)

    def _op_describe(self, _: Json) -> Json:
        assert self._loaded
        is_assessor = self._loaded.kind == 'assessor'
        return {'protocol': 1, 'algorithms': [{
            'kind': 'assessor' if is_assessor else 'tuner', 'name': self._loaded.name,
            'summary': f'a class of NNI: {self._loaded.kind}',
            'optimize_mode': 'maximize', 'wants_reports': self._loaded.kind == 'advisor',
            'any_arguments': True, 'any_parameters': not is_assessor}]}

    def _op_init(self, request: Json) -> None:
        assert self._loaded
        if self._host is None:
            self._host = self._make(request)
        if self._loaded.kind != 'assessor':
            self._host.set_space(request['space'])

    def _make(self, request: Json) -> Host:
        assert self._loaded
        results = Results(request.get('context'))
        arguments: Dict[str, Any] = request.get('arguments') or {}
        if self._loaded.kind == 'assessor':
            return AssessorHost(self._loaded, arguments, results)
        if self._loaded.kind == 'advisor':
            return AdvisorHost(self._loaded, arguments, results, self._channel)
        return TunerHost(self._loaded, arguments, results)

    def _op_ask(self, request: Json) -> Json:
        return {'answers': self._host.ask(request['ids'])}

    def _op_withdraw(self, request: Json) -> None:
        self._host.withdraw(request['id'])

    def _op_tell(self, request: Json) -> None:
        self._host.tell(request['outcomes'])

    def _op_adopt(self, request: Json) -> None:
        self._host.adopt(request['id'], request['parameters'])

    def _op_report(self, request: Json) -> Json:
        return {'decisions': self._host.report(request['id'], request['step'],
                                               request['metrics'])}

    def _op_assess(self, request: Json) -> Json:
        return self._host.assess(request['id'], request['from'], request['reports'])

    def _op_trial_end(self, request: Json) -> None:
        self._host.trial_end(request['id'], request['end'])
