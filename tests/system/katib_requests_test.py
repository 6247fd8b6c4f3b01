#!/usr/bin/env python3
"""What attune-katib makes of search spaces, settings, bad requests, and many of them.

    katib_requests_test.py ATTUNE_KATIB [unittest arguments]
"""
import collections
import concurrent.futures
import math
import subprocess

import grpc

import katib_controller as katib
from katib_controller import Controller, KatibCase, LINE, api, experiment, main, parameter, points, values_of


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


class Requests(KatibCase):
    def test_health(self):
        service = self.serve()
        self.assertTrue(katib.health(service))
        self.assertTrue(katib.health(service, 'manager.v1beta1.Suggestion'))
        with self.assertRaises(grpc.RpcError) as caught:
            katib.health(service, 'nothing')
        self.assertEqual(caught.exception.code(), grpc.StatusCode.NOT_FOUND)
        self.assertEqual(service.end(), 0)

    def test_all_types(self):
        grid = {'step': [5 + 0.8 * i for i in range(7)], 'log-step': [1 + 0.5 * i for i in range(9)],
                'int': range(-2, 8), 'int-step': range(16, 257, 16)}
        for algorithm in subprocess.run([self.program, '--list'], text=True, check=True,
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
        aimless = good.request(1)
        aimless.experiment.spec.ClearField('objective')
        self.assert_refused('objective.type', service.call, 'GetSuggestions', aimless,
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

    def test_the_command_line(self):
        def run(*options):
            return subprocess.run([self.program, *options], text=True, capture_output=True, timeout=60)

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
    main()
