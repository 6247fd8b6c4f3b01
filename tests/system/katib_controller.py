"""Does what Katib's controller does, as far as a suggestion service notices it: for katib_*_test.py.

The messages are made from katib/api.proto by protoc; the calls are gRPC's generic ones.
"""
import importlib
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import grpc

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load_messages():
    with tempfile.TemporaryDirectory(prefix='attune_katib_') as folder:
        subprocess.run(['protoc', '-I', ROOT, f'--python_out={folder}', 'katib/api.proto'], check=True)
        sys.path.insert(0, folder)
        return importlib.import_module('katib.api_pb2')


api = load_messages()


class Service:
    """A server process; its memory is in `data` if that is given."""

    def __init__(self, program, data=None):
        self.program, self.data = program, data
        self.start()

    def start(self):
        options = ['--listen', '127.0.0.1:0', '--log-level', 'error']
        if self.data:
            options += ['--data', str(self.data)]
        self.process = subprocess.Popen([self.program, *options], stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().split()[-1]
        # The channels of a process share connections: one to the port of a former server may wait.
        self.channel = grpc.insecure_channel(
            self.address, options=[('grpc.use_local_subchannel_pool', 1)])

    def call(self, method, request, reply, service='Suggestion', package='api.v1.beta1.'):
        function = self.channel.unary_unary(f'/{package}{service}/{method}',
                                            request_serializer=type(request).SerializeToString,
                                            response_deserializer=reply.FromString)
        return function(request, timeout=60)

    def end(self, how=signal.SIGTERM):
        self.channel.close()
        self.process.send_signal(how)
        self.process.stdout.close()
        return self.process.wait(30)

    def restart(self, how=signal.SIGKILL):
        self.end(how)
        self.start()


def health(service, name=''):
    """grpc.health.v1: the one field of the request is a text, the one of the reply a number."""
    request = b'\x0a' + bytes([len(name)]) + name.encode() if name else b''
    function = service.channel.unary_unary('/grpc.health.v1.Health/Check')
    return function(request, timeout=60) == b'\x08\x01'  # SERVING


def experiment(parameters, algorithm='attune-random', settings=(), name='my-experiment',
               maximize=False, metric='loss', additional=()):
    made = api.Experiment(name=name)
    spec = made.spec
    for parameter in parameters:
        spec.parameter_specs.parameters.append(parameter)
    spec.objective.type = api.MAXIMIZE if maximize else api.MINIMIZE
    spec.objective.objective_metric_name = metric
    spec.objective.additional_metric_names.extend(additional)
    spec.algorithm.algorithm_name = algorithm
    for key, value in settings:
        spec.algorithm.algorithm_settings.add(name=key, value=value)
    spec.parallel_trial_count, spec.max_trial_count = 3, 100
    return made


def parameter(name, kind, low='', high='', step='', values=(), distribution=0):
    made = api.ParameterSpec(name=name, parameter_type=kind)
    made.feasible_space.min, made.feasible_space.max = low, high
    made.feasible_space.step = step
    made.feasible_space.list.extend(values)
    made.feasible_space.distribution = distribution
    return made


def values_of(assignments):
    return {each.name: each.value for each in assignments}


class Controller:
    """Has the accepted suggestions and the trials of an experiment, and calls the service.

    `uses_names`: gives trials the proposed names (Katib from 0.17 on), else names of its own.
    `echoes`: returns the settings of an answer with the next request, as Katib does.
    """

    def __init__(self, service, made, uses_names=True, echoes=True):
        self.service, self.experiment = service, made
        self.uses_names, self.echoes = uses_names, echoes
        self.suggestions, self.trials = [], []
        self.settings = {}

    def validate(self):
        self.service.call('ValidateAlgorithmSettings',
                          api.ValidateAlgorithmSettingsRequest(experiment=self.experiment),
                          api.ValidateAlgorithmSettingsReply)

    def request(self, count):
        request = api.GetSuggestionsRequest(experiment=self.experiment, trials=self.trials,
                                            current_request_number=count,
                                            total_request_number=len(self.suggestions) + count)
        for key, value in self.settings.items():
            request.experiment.spec.algorithm.algorithm_settings.add(name=key, value=value)
        return request

    def ask(self, count):
        """The answer, which counts as lost: nothing is accepted."""
        reply = self.service.call('GetSuggestions', self.request(count), api.GetSuggestionsReply)
        assert len(reply.parameter_assignments) == count, reply
        return reply

    def accept(self, reply):
        self.suggestions.extend(reply.parameter_assignments)
        if self.echoes:
            for setting in reply.algorithm.algorithm_settings:
                self.settings[setting.name] = setting.value

    def start(self, count):
        """Makes trials of the oldest suggestions that have none."""
        for _ in range(count):
            number = len(self.trials)
            suggestion = self.suggestions[number]
            name = suggestion.trial_name if self.uses_names else f'{self.experiment.name}-x{number}z'
            trial = api.Trial(name=name)
            spec = api.TrialSpec()
            spec.parameter_assignments.assignments.extend(suggestion.assignments)
            trial.spec = spec.SerializeToString()
            trial.status.condition = api.TrialStatus.RUNNING
            self.trials.append(trial)

    def finish(self, number, condition=None, **metrics):
        status = self.trials[number].status
        status.condition = api.TrialStatus.SUCCEEDED if condition is None else condition
        for name, value in metrics.items():
            status.observation.metrics.add(name=name, value=str(value))


def points(suggestions):
    return [tuple(each.value for each in suggestion.assignments) for suggestion in suggestions]


LINE = (parameter('x', api.DOUBLE, '0', '1'),)


class KatibCase(unittest.TestCase):
    """A test of the program that the command line of the test names."""
    program = sys.argv[1] if len(sys.argv) > 1 else 'attune-katib'

    def serve(self, data=False):
        folder = None
        if data:
            folder = pathlib.Path(tempfile.mkdtemp(prefix='attune_katib_'))
            self.addCleanup(shutil.rmtree, folder)
        service = Service(self.program, folder)
        self.addCleanup(lambda: service.end(signal.SIGKILL) if service.process.poll() is None else 0)
        return service

    def assert_refused(self, words, function, *arguments):
        with self.assertRaises(grpc.RpcError) as caught:
            function(*arguments)
        self.assertEqual(caught.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
        self.assertIn(words, caught.exception.details())


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
