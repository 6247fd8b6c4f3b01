#!/usr/bin/env python3
"""attune-katib under a controller that does what Katib's does, in its order.

    katib_test.py ATTUNE_KATIB [unittest arguments]
"""
import collections
import concurrent.futures
import math
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import grpc

import katib_controller as katib
from katib_controller import Controller, Service, api, experiment, parameter, values_of

PROGRAM = sys.argv[1] if len(sys.argv) > 1 else 'attune-katib'
LINE = (parameter('x', api.DOUBLE, '0', '1'),)
ALL_TYPES = (
    parameter('uniform', api.DOUBLE, '-1', '1'),
    parameter('log', api.DOUBLE, '1e-5', '0.1', distribution=api.LOG_UNIFORM),
    parameter('normal', api.DOUBLE, '-3', '3', distribution=api.NORMAL),
    parameter('log-normal', api.DOUBLE, '0.01', '100', distribution=api.LOG_NORMAL),
    parameter('step', api.DOUBLE, '5', '10', step='0.8', distribution=api.UNIFORM),
    parameter('log-step', api.DOUBLE, '1', '5', step='0.5', distribution=api.LOG_UNIFORM),
    parameter('int', api.INT, '-2', '7'),
    parameter('int-step', api.INT, '16', '256', step='16'),
    parameter('int-log', api.INT, '1', '1000', distribution=api.LOG_UNIFORM),
    parameter('int-normal', api.INT, '0', '60', distribution=api.NORMAL),
    parameter('discrete', api.DISCRETE, values=('3', '2', '0.50', '6')),
    parameter('categorical', api.CATEGORICAL, values=('sgd', 'adam', 'ftrl')))


def loss(suggestion):
    return sum((float(value) - 0.3) ** 2 for value in values_of(suggestion.assignments).values())


def points(suggestions):
    return [tuple(each.value for each in suggestion.assignments) for suggestion in suggestions]


class Katib(unittest.TestCase):
    def serve(self, data=False):
        folder = None
        if data:
            folder = pathlib.Path(tempfile.mkdtemp(prefix='attune_katib_'))
            self.addCleanup(shutil.rmtree, folder)
        service = Service(PROGRAM, folder)
        self.addCleanup(lambda: service.end(signal.SIGKILL) if service.process.poll() is None else 0)
        return service

    def assert_refused(self, words, function, *arguments):
        with self.assertRaises(grpc.RpcError) as caught:
            function(*arguments)
        self.assertEqual(caught.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
        self.assertIn(words, caught.exception.details())

    def run_search(self, service, random_seed, trouble, **options):
        """30 trials. `trouble(controller, step)` is called before each call."""
        chance = random.Random(random_seed)
        controller = Controller(service, experiment(LINE, 'attune-tpe'), **options)
        controller.validate()
        step = 0
        while len(controller.suggestions) < 30:
            trouble(controller, step)
            step += 1
            count = chance.randint(1, 3)
            reply = controller.ask(count)
            if chance.random() < 0.3:  # it is lost
                trouble(controller, step)
                reply = controller.ask(count)
            controller.accept(reply)
            # The cache that Katib reads its trials from may be behind.
            controller.start(chance.randint(0, len(controller.suggestions) - len(controller.trials)))
            for number, trial in enumerate(controller.trials):
                if trial.status.condition == api.TrialStatus.RUNNING and chance.random() < 0.6:
                    condition = chance.choice([2, 2, 2, 2, 3, 4, 5, 6])
                    value = loss(controller.suggestions[number]) if condition in (2, 6) else 'unavailable'
                    controller.finish(number, condition, loss=value)
        return controller

    def check_search(self, controller):
        seen = points(controller.suggestions)
        self.assertEqual(len(seen), len(set(seen)), 'a point was proposed twice')
        names = [each.trial_name for each in controller.suggestions]
        self.assertEqual(len(names), len(set(names)))
        for name in names:
            self.assertRegex(name, r'^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$')
        for (x,) in seen:
            self.assertTrue(0 <= float(x) <= 1)

    def test_health(self):
        service = self.serve()
        self.assertTrue(katib.health(service))
        self.assertTrue(katib.health(service, 'manager.v1beta1.Suggestion'))
        with self.assertRaises(grpc.RpcError) as caught:
            katib.health(service, 'nothing')
        self.assertEqual(caught.exception.code(), grpc.StatusCode.NOT_FOUND)
        self.assertEqual(service.end(), 0)

    def test_the_same_request_gets_the_same_answer(self):
        for data in False, True:
            service = self.serve(data)
            for algorithm in 'random', 'tpe', 'auto', 'cma-es', 'qmc':
                with self.subTest(data=data, algorithm=algorithm):
                    made = experiment(LINE, f'attune-{algorithm}', name=algorithm)
                    self.check_answers(Controller(service, made))

    def check_answers(self, controller):
        for _ in range(6):
            reply = controller.ask(2)
            self.assertEqual(controller.ask(2), reply)
            # Less than what was lost is its beginning; more begins with it.
            self.assertEqual(points(controller.ask(1).parameter_assignments),
                             points(reply.parameter_assignments)[:1])
            self.assertEqual(points(controller.ask(5).parameter_assignments)[:2],
                             points(reply.parameter_assignments))
            controller.service.restart()
            self.assertEqual(points(controller.ask(2).parameter_assignments),
                             points(reply.parameter_assignments))
            controller.accept(reply)
            controller.start(2)
            controller.finish(len(controller.trials) - 1, loss=0.5)

    def test_a_search_without_trouble(self):
        self.check_search(self.run_search(self.serve(), 1, lambda *_: None))

    def test_restarts_between_any_two_calls(self):
        for data in False, True:
            for seed in range(3):
                for options in {}, {'echoes': False}, {'uses_names': False}:
                    with self.subTest(data=data, seed=seed, **options):
                        service = self.serve(data)
                        self.check_search(self.run_search(
                            service, seed, lambda *_: service.restart(), **options))
                        service.end()

    def test_a_volume_that_comes_and_goes(self):
        service = self.serve(data=True)
        folder = service.data

        def trouble(_, step):
            service.data = folder if step % 3 else None
            service.restart()

        self.check_search(self.run_search(service, 5, trouble))

    def test_a_damaged_volume(self):
        service = self.serve(data=True)

        def trouble(_, step):
            for file in service.data.iterdir():
                size = file.stat().st_size
                if step % 4 == 1:
                    file.write_bytes(file.read_bytes()[:size // 2])
                if step % 4 == 3:
                    file.write_text(file.read_text().replace('[', '{', 7))
            service.restart()

        self.check_search(self.run_search(service, 6, trouble))

    def test_learning_survives_a_restart(self):
        service = self.serve()
        for restarts in False, True:
            controller = Controller(service, experiment(LINE, 'attune-tpe', name=f'e{restarts:d}'))
            for number in range(40):
                if restarts:
                    service.restart()
                controller.accept(controller.ask(1))
                controller.start(1)
                controller.finish(number, loss=loss(controller.suggestions[number]))
            late = [loss(each) for each in controller.suggestions[25:]]
            # Random points have a mean of 0.12 here.
            self.assertLess(sum(late) / len(late), 0.06)

    def test_deleted_trials(self):
        """Katib deletes running trials, and their suggestions, when fewer may run."""
        service = self.serve()
        for echoes in True, False:
            controller = Controller(service, experiment(LINE, name=f'e{echoes:d}'), echoes=echoes)
            everything = []
            for _ in range(6):
                reply = controller.ask(3)
                self.assertEqual(controller.ask(3), reply)
                everything += reply.parameter_assignments
                controller.accept(reply)
                controller.start(len(controller.suggestions) - len(controller.trials))
                controller.ask(1)
                del controller.suggestions[-1], controller.trials[-1]
            self.assertEqual(len(set(points(everything))), len(everything))

    def test_an_experiment_that_is_made_again(self):
        service = self.serve(data=True)
        first = Controller(service, experiment(LINE))
        beginning = first.ask(2)
        first.accept(beginning)
        first.start(2)
        first.ask(2)
        self.assertEqual(Controller(service, experiment(LINE)).ask(2), beginning)

    def test_all_types(self):
        grid = {'step': [5 + 0.8 * i for i in range(7)], 'log-step': [1 + 0.5 * i for i in range(9)],
                'int': range(-2, 8), 'int-step': range(16, 257, 16)}
        for algorithm in subprocess.run([PROGRAM, '--list'], text=True, check=True,
                                        stdout=subprocess.PIPE).stdout.split():
            with self.subTest(algorithm=algorithm):
                service = self.serve()
                parameters = ALL_TYPES[-2:] if algorithm == 'attune-ppo' else ALL_TYPES
                made = experiment(parameters, algorithm, maximize=True, additional=('time',))
                controller = Controller(service, made)
                controller.validate()
                seen = collections.defaultdict(set)
                for number in range(12):
                    service.restart() if number % 5 == 4 else None
                    controller.accept(controller.ask(1))
                    controller.start(1)
                    controller.finish(number, loss=number, time='12s' if number % 2 else '3.5')
                    for name, text in values_of(controller.suggestions[-1].assignments).items():
                        seen[name].add(text)
                self.assertEqual(set(seen), {each.name for each in parameters})
                for name, values in grid.items():
                    for text in seen[name]:
                        self.assertTrue(any(math.isclose(float(text), x) for x in values), (name, text))
                for each in parameters:
                    space = each.feasible_space
                    if space.list:
                        self.assertLessEqual(seen[each.name], set(space.list))
                    for text in seen[each.name] if space.min else ():
                        self.assertTrue(float(space.min) <= float(text) <= float(space.max), text)
                        if each.parameter_type == api.INT:
                            int(text)
                service.end()

    def test_finite_spaces_give_every_point_and_then_repeat(self):
        service = self.serve()
        tiny = (parameter('a', api.CATEGORICAL, values='xyz'), parameter('b', api.INT, '1', '2'))
        for algorithm in 'attune-gridsearch', 'attune-random', 'attune-qmc', 'attune-auto':
            controller = Controller(service, experiment(tiny, algorithm, name=algorithm))
            for number in range(10):
                controller.accept(controller.ask(1))
                controller.start(1)
                controller.finish(number, loss=number)
                service.restart() if number % 4 == 2 else None
            self.assertEqual(len(set(points(controller.suggestions[:6]))), 6, algorithm)
        # All at once, with nothing finished yet.
        controller = Controller(service, experiment(tiny, 'attune-gridsearch', name='at-once'))
        self.assertEqual(len(set(points(controller.ask(20).parameter_assignments))), 6)

    def test_settings(self):
        controller = Controller(self.serve(), experiment(LINE))

        def validate(algorithm, *settings):
            controller.experiment = experiment(LINE, algorithm, settings)
            controller.validate()

        validate('attune-tpe', ('tpe_args.gamma', '0.3'), ('seed', '5'))
        validate('attune-tpe', ('tpe_args', '{"gamma": 0.3}'), ('random_state', '5'))
        validate('attune-gp', ('utility', 'ucb'), ('kappa', '2.5'))
        validate('tpe')
        for words, algorithm, *settings in (
                ('Accepted: attune-auto, ', 'attune-unknown'),
                ('reports', 'attune-hyperband'),
                ('attune-random', 'attune-pbt'),
                ('Accepted: optimize_mode, seed', 'attune-tpe', ('sed', '1')),
                ('did you mean "gamma"', 'attune-tpe', ('tpe_args.gama', '1')),
                ('tpe_args.gamma', 'attune-tpe', ('tpe_args.gamma', 'many')),
                ('seed', 'attune-tpe', ('seed', '-1')),
                ('utility', 'attune-gp', ('utility', 'best')),
                ('given twice', 'attune-tpe', ('seed', '1'), ('random_state', '1')),
                ('reports', 'attune-auto', ('max_t', '81')),
                ('minimize', 'attune-tpe', ('optimize_mode', 'maximize'))):
            self.assert_refused(words, validate, algorithm, *settings)
        # Without parameters only the algorithm is checked.
        controller.experiment = api.Experiment()
        controller.experiment.spec.algorithm.algorithm_name = 'attune-tpe'
        controller.validate()

    def test_hostile_requests(self):
        service = self.serve()
        huge = parameter('n' * 100_000, api.INT, '5', '1')
        for words, *parameters in (
                ('at least one', ),
                ('no name', parameter('', api.DOUBLE, '0', '1')),
                ('twice', *LINE, *LINE),
                ('above max', parameter('x', api.DOUBLE, '1', '0')),
                ('x.feasible_space.min', parameter('x', api.DOUBLE, 'nan', '1')),
                ('x.feasible_space.max', parameter('x', api.DOUBLE, '0', 'inf')),
                ('x.feasible_space.max', parameter('x', api.DOUBLE, '0')),
                ('too large', parameter('x', api.DOUBLE, '-1.7e308', '1.7e308')),
                ('an integer', parameter('x', api.INT, '0.5', '2')),
                ('2^53', parameter('x', api.INT, '0', '1e300')),
                ('step', parameter('x', api.DOUBLE, '0', '1', step='0')),
                ('step', parameter('x', api.DOUBLE, '0', '1', step='1e-300')),
                ('above 0', parameter('x', api.DOUBLE, '0', '1', distribution=api.LOG_UNIFORM)),
                ('at least one', parameter('x', api.CATEGORICAL)),
                ('twice', parameter('x', api.DISCRETE, values=('1', '1.0'))),
                ('not a number', parameter('x', api.DISCRETE, values=('one',))),
                ('candidates', parameter('x', api.CATEGORICAL, values=map(str, range(200_000)))),
                ('parameter_type', parameter('x', api.UNKNOWN_TYPE, '0', '1')),
                ('n', huge)):
            made = Controller(service, experiment(parameters))
            self.assert_refused(words, made.ask, 1)
        good = Controller(service, experiment(LINE))
        self.assert_refused('current_request_number', good.ask, 1_000_000)
        for current, total in ((-1, 0), (1, -1), (-2**31, 2**31 - 1)):
            request = good.request(0)
            request.current_request_number, request.total_request_number = current, total
            self.assert_refused('request_number', service.call, 'GetSuggestions', request,
                                api.GetSuggestionsReply)
        self.assert_refused('objective.type', service.call, 'GetSuggestions',
                            api.GetSuggestionsRequest(experiment=api.Experiment(
                                spec=api.ExperimentSpec(parameter_specs=made.experiment.spec.parameter_specs
                                                        if False else good.experiment.spec.parameter_specs))),
                            api.GetSuggestionsReply)
        self.assert_refused('at least one', service.call, 'GetSuggestions', api.GetSuggestionsRequest(),
                            api.GetSuggestionsReply)
        # More are accepted than anybody has proposed, trials without names and values, wrong values.
        good.suggestions = [None] * 50
        for name in '', 'a', 'a', 'my-experiment-99999999999999999999-00000000', 'x' * 10_000, 'b', 'c':
            good.trials.append(api.Trial(name=name))
        for number, value in enumerate(('0.5', 'nan', '7', '')):
            spec = api.TrialSpec()
            for name in 'x', 'y':
                spec.parameter_assignments.assignments.add(name=name, value=value)
            good.trials[number].spec = spec.SerializeToString()
            good.finish(number, loss='nan')
        reply = good.ask(2)
        self.assertEqual(good.ask(2), reply)
        for echo in '{', '[]', '{"next": 1e9, "open": 3}', '{"next": 9, "open": [[1, ["x"]], [2, [3]]]}':
            good.settings['attune-state'] = echo
            good.ask(2)
        with self.assertRaises(grpc.RpcError):  # no message at all
            service.channel.unary_unary('/api.v1.beta1.Suggestion/GetSuggestions')(b'\xff' * 100)
        self.assertTrue(katib.health(service))
        self.assertEqual(service.end(), 0)

    def test_many_callers(self):
        service = self.serve()
        controllers = [Controller(service, experiment(LINE, name=f'e{i % 12}')) for i in range(24)]
        with concurrent.futures.ThreadPoolExecutor(24) as pool:
            replies = list(pool.map(lambda each: each.ask(2), controllers))
        for i in range(12):
            self.assertEqual(replies[i], replies[i + 12])

    def test_ten_thousand_trials(self):
        service = self.serve()
        controller = Controller(service, experiment(ALL_TYPES, 'attune-tpe'))
        for _ in range(10):
            controller.accept(controller.ask(1000))
        controller.start(10_000)
        for number in range(10_000):
            controller.finish(number, loss=(number * 7919) % 10_007)
        controller.ask(3)
        service.restart()
        self.assertNotIn(points(controller.ask(3).parameter_assignments)[0],
                         set(points(controller.suggestions)))

    def test_early_stopping(self):
        service = self.serve()
        reports = {'t0': (5, 4, 3, 2, 1), 't1': (9, 8, 7, 6, 5), 't2': (3, 3, 3, 3, 0)}

        class DBManager(grpc.GenericRpcHandler):
            def service(self, details):
                def answer(request, _):
                    reply = api.GetObservationLogReply()
                    for value in reports[request.trial_name]:
                        log = reply.observation_log.metric_logs.add(time_stamp='2026-01-01T00:00:00Z')
                        log.metric.name, log.metric.value = request.metric_name, str(value)
                    return reply
                return grpc.unary_unary_rpc_method_handler(
                    answer, api.GetObservationLogRequest.FromString,
                    api.GetObservationLogReply.SerializeToString)

        manager = grpc.server(concurrent.futures.ThreadPoolExecutor(1), (DBManager(),))
        port = manager.add_insecure_port('127.0.0.1:0')
        manager.start()
        self.addCleanup(lambda: manager.stop(None))

        def rules(algorithm, *settings, trials=3, maximize=False, address=f'127.0.0.1:{port}'):
            made = experiment(LINE, maximize=maximize)
            made.spec.early_stopping.algorithm_name = algorithm
            for name, value in settings:
                made.spec.early_stopping.algorithm_settings.add(name=name, value=value)
            service.call('ValidateEarlyStoppingSettings',
                         api.ValidateEarlyStoppingSettingsRequest(early_stopping=made.spec.early_stopping),
                         api.ValidateEarlyStoppingSettingsReply, 'EarlyStopping')
            request = api.GetEarlyStoppingRulesRequest(experiment=made, db_manager_address=address)
            for number in range(trials):
                trial = request.trials.add(name=f't{number}')
                trial.status.condition = api.TrialStatus.SUCCEEDED
                trial.status.observation.metrics.add(name='loss', value=str(number))
            reply = service.call('GetEarlyStoppingRules', request, api.GetEarlyStoppingRulesReply,
                                 'EarlyStopping')
            return [(each.name, float(each.value), each.comparison, each.start_step)
                    for each in reply.early_stopping_rules]

        self.assertEqual(rules('medianstop'), [('loss', 3.5, api.GREATER, 4)])
        self.assertEqual(rules('medianstop', ('start_step', '2'), maximize=True),
                         [('loss', 4.5, api.LESS, 2)])
        self.assertEqual(rules('medianstop', trials=2), [])
        self.assertEqual(rules('medianstop', ('min_trials_required', '1'), trials=1),
                         [('loss', 3.5, api.GREATER, 4)])
        self.assertEqual(rules('medianstop', ('min_trials_required', '3'), address=''),
                         [('loss', 1, api.GREATER, 4)])
        self.assertEqual(rules('attune-medianstop', ('start_step', '5')), [('loss', 3, api.GREATER, 5)])
        self.assertEqual(rules('attune-percentile', ('percentile', '50'), ('n_startup_trials', '1'),
                               ('n_warmup_steps', '4')), [('loss', 1, api.GREATER, 5)])
        self.assertEqual(rules('attune-threshold', ('lower', '-1'), ('upper', '1e3')),
                         [('loss', -1, api.LESS, 1), ('loss', 1000, api.GREATER, 1)])
        # Reports that cannot be read now are read later.
        self.assertEqual(rules('medianstop', ('start_step', '3'), address='127.0.0.1:1'), [])
        self.assertEqual(rules('medianstop', ('start_step', '3')), [('loss', 4, api.GREATER, 3)])
        for words, algorithm, *settings in (('Accepted', 'attune-curvefitting'), ('Accepted', ''),
                                            ('Accepted', 'medianstop', ('step', '1')),
                                            ('start_step', 'medianstop', ('start_step', '0')),
                                            ('lower', 'attune-threshold')):
            self.assert_refused(words, rules, algorithm, *settings)

    def test_the_command_line(self):
        def run(*options):
            return subprocess.run([PROGRAM, *options], text=True, capture_output=True, timeout=60)

        self.assertIn('--listen', run('--help').stdout)
        self.assertIn('.TH ATTUNE-KATIB 1', run('--man').stdout)
        self.assertRegex(run('--version').stdout, r'^attune-katib \d')
        for options in ('--lisen', 'x'), ('--listen', 'nowhere'), ('--log-level', 'loud'), \
                ('--data', '/proc/nothing'):
            failed = run(*options)
            self.assertEqual(failed.returncode, 2)
            self.assertIn('attune-katib: ', failed.stderr)
        service = self.serve()
        failed = run('--listen', service.address)
        self.assertEqual(failed.returncode, 2, failed)


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
