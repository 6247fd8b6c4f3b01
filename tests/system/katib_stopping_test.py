#!/usr/bin/env python3
"""The rules for early stopping that attune-katib makes of the reports in Katib's DB manager.

    katib_stopping_test.py ATTUNE_KATIB [unittest arguments]
"""
import concurrent.futures

import grpc

from katib_controller import KatibCase, LINE, api, experiment, main


class EarlyStopping(KatibCase):
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


if __name__ == '__main__':
    main()
