"""Study.optimize()."""
import tempfile
import threading
import unittest

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
        study.optimize(parabola, 3)
        other.join()
        self.assertEqual([trial.status for trial in study.trials], ['completed'] * 3)

    def test_trials_is_what_the_study_has_in_all(self):
        study = self.study(tuner='Random')
        study.tell(study.ask(), 1)
        study.ask()  # runs elsewhere, and counts
        for workers, total, expected in [(1, 5, 5), (3, 20, 20), (2, 20, 20), (1, 7, 20)]:
            self.assertIs(study.optimize(parabola, total, workers=workers), study.best)
            self.assertEqual(len(study.trials), expected)
        for none in (0, -1):
            with self.assertRaisesRegex(ValueError, f'trials must be positive, got {none}'):
                study.optimize(parabola, none)

    def test_a_space_that_ends(self):
        study = self.study(CHOICE, tuner='GridSearch')
        self.assertEqual(study.optimize(lambda config: config['x'], 10, workers=2).parameters,
                         {'x': 1})
        self.assertEqual(len(study.trials), 3)


if __name__ == '__main__':
    unittest.main()
