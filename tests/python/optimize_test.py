"""Study.optimize()."""
import tempfile
import threading
import unittest

import attune
from support import CHOICE, StudyCase, parabola


class Optimizing(StudyCase):
    def test_every_shape(self):
        def generator(config):
            yield 2
            yield parabola(config)

        def with_reporter(config, reporter):
            self.assertRegex(reporter.trial_id, r't\d{4}')
            reporter(default=1)
            reporter.report(0.5)

        def with_checkpoint(config, checkpoint_dir=None):
            self.assertIsNone(checkpoint_dir)
            return {'default': 1}

        for function, reports in [(parabola, 0), (generator, 2), (with_reporter, 2),
                                  (with_checkpoint, 0)]:
            study = self.study()
            best = study.optimize(function, 4)
            self.assertEqual(best, study.best)
            self.assertEqual([len(trial.reports) for trial in study.trials], [reports] * 4)
            self.assertEqual({trial.status for trial in study.trials}, {'completed'})
        with self.assertRaises(ValueError):
            study.optimize(lambda config, other: 1, 1)

    def test_stopped_trials_unwind_the_function(self):
        ended = []

        def function(config):
            try:
                for step in range(10):
                    yield config['x'] - step / 100
                ended.append('whole')
            finally:
                ended.append('closed')

        study = self.study(tuner='Random', assessor='Medianstop', assessor_args={'start_step': 2})
        study.optimize(function, 30)
        stopped = [trial for trial in study.trials if trial.status == 'stopped']
        self.assertGreater(len(stopped), 5)
        self.assertTrue(all(trial.stop_reason and len(trial.reports) < 10 for trial in stopped))
        self.assertEqual(ended.count('closed'), 30)
        self.assertEqual(ended.count('whole'), 30 - len(stopped))

    def test_exceptions(self):
        def function(config):
            if len(study.trials) == 3:
                raise OSError('boom')
            return 1

        study = self.study()
        with self.assertRaisesRegex(OSError, 'boom'):
            study.optimize(function, 10)
        self.assertEqual([trial.status for trial in study.trials],
                         ['completed', 'completed', 'failed'])
        study = self.study()
        study.optimize(function, 10, catch=(OSError,))
        self.assertEqual(len(study.trials), 10)
        self.assertEqual(study.trials[2].status, 'failed')

    def test_a_function_may_change_its_config(self):
        def function(config):
            return config.pop('x')

        study = self.study(CHOICE, tuner='GridSearch')
        with tempfile.TemporaryDirectory() as folder:
            study.optimize(function, 2)
            study.save(f'{folder}/study')
            self.assertEqual([trial.parameters for trial in study.trials], [{'x': 1}, {'x': 2}])
        self.assertEqual(study.ask().parameters, {'x': 3})

    def test_a_function_without_a_result(self):
        study = self.study()
        with self.assertRaisesRegex(RuntimeError, 'without reporting'):
            study.optimize(lambda config: None, 3)
        self.assertEqual(study.trials[0].status, 'failed')

    def test_interrupted(self):
        def function(config):
            raise KeyboardInterrupt

        for workers in (1, 3):
            study = self.study()
            with self.assertRaises(KeyboardInterrupt):
                study.optimize(function, 9, workers=workers)
            self.assertLessEqual(len(study.trials), workers)
            study.tell(study.ask(), 1)  # it is as usable as before

    def test_workers_run_at_the_same_time(self):
        together = threading.Barrier(4, timeout=200)

        def function(config):
            together.wait()
            return parabola(config)

        before = threading.active_count()
        study = self.study(tuner='Random')
        study.optimize(function, 40, workers=4)
        self.assertEqual([trial.status for trial in study.trials], ['completed'] * 40)
        self.assertEqual(threading.active_count(), before)

    def test_workers_that_wait_for_the_tuner(self):
        study = self.study(tuner='Evolution', tuner_args={'population_size': 2})
        study.optimize(parabola, 30, workers=4)
        self.assertEqual(len(study.trials), 30)

    def test_trials_of_others_are_waited_for(self):
        study = self.study(tuner='Evolution', tuner_args={'population_size': 2})
        first = study.ask(2)
        other = threading.Thread(target=lambda: [study.tell(trial, 1) for trial in first])
        other.start()
        study.optimize(parabola, until=3)
        other.join()
        self.assertEqual([trial.status for trial in study.trials], ['completed'] * 3)

    def test_so_many_more_or_so_many_in_all(self):
        study = self.study(tuner='Random')
        study.tell(study.ask(), 1)
        study.ask()  # runs elsewhere, and counts for `until`
        for how, expected in [({'until': 5}, 5), ({'until': 20, 'workers': 3}, 20),
                              ({'until': 20, 'workers': 2}, 20), ({'until': 7}, 20),
                              ({'n': 2}, 22), ({'n': 7, 'workers': 3}, 29)]:
            self.assertIs(study.optimize(parabola, **how), study.best)
            self.assertEqual(len(study.trials), expected)

    def test_callbacks_hear_of_every_end(self):
        def function(config):
            if len(study.trials) == 2:
                raise OSError
            return parabola(config)

        heard = []
        study = self.study(tuner='Random')
        study.optimize(function, 12, workers=3, catch=(OSError,), callbacks=[
            lambda whose, trial: heard.append((whose, trial.number, trial.status))])
        self.assertEqual(sorted(heard, key=lambda each: each[1]),
                         [(study, trial.number, trial.status) for trial in study.trials])

    def test_a_callback_stops_it(self):
        for workers in (1, 3):
            study = self.study(tuner='Random')

            def enough(whose, trial):
                if whose.best_value < 0.5:
                    whose.stop()

            study.optimize(parabola, 1000, workers=workers, callbacks=[enough])
            self.assertLess(len(study.trials), 1000)
            self.assertEqual({trial.status for trial in study.trials}, {'completed'})
            before = len(study.trials)
            study.optimize(parabola, 2)  # it was stopped once
            self.assertEqual(len(study.trials), before + 2)

    def test_a_callback_that_raises_ends_it(self):
        def broken(whose, trial):
            raise OSError('the callback')

        for workers in (1, 3):
            study = self.study(tuner='Random')
            with self.assertRaisesRegex(OSError, 'the callback'):
                study.optimize(parabola, 1000, workers=workers, catch=(OSError,),
                               callbacks=[broken])
            self.assertLessEqual(len(study.trials), workers)
            self.assertEqual({trial.status for trial in study.trials}, {'completed'})

    def test_the_best_by_its_names(self):
        study = self.study()
        for name in ('best_trial', 'best_parameters', 'best_value'):
            with self.assertRaisesRegex(attune.StudyError, 'no best trial'):
                getattr(study, name)
        study.optimize(parabola, 5)
        self.assertIs(study.best_trial, study.best)
        self.assertIs(study.best_parameters, study.best.parameters)
        self.assertEqual(study.best_value, parabola(study.best.parameters))

    def test_a_space_that_ends(self):
        study = self.study(CHOICE, tuner='GridSearch')
        self.assertEqual(study.optimize(lambda config: config['x'], 10, workers=2).parameters,
                         {'x': 1})
        self.assertEqual(len(study.trials), 3)


if __name__ == '__main__':
    unittest.main()
