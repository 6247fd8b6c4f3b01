"""attune.Study: asking and telling, against the attuned that was built."""
import math
import threading
import unittest
from unittest import mock

import attune
from support import CHOICE, UNIFORM, StudyCase, parabola


class AskAndTell(StudyCase):
    def test_tpe_finds_the_minimum(self):
        study = self.study()
        for _ in range(80):
            trial = study.ask()
            study.tell(trial, parabola(trial.parameters))
        self.assertAlmostEqual(study.best.parameters['x'], 0.3, delta=0.02)
        self.assertEqual(study.value(study.best), parabola(study.best.parameters))
        self.assertEqual([trial.number for trial in study.trials], list(range(80)))

    def test_maximize(self):
        study = self.study(maximize=True)
        study.optimize(lambda config: -parabola(config), 80)
        self.assertAlmostEqual(study.best.parameters['x'], 0.3, delta=0.02)

    def test_same_seed_same_answers(self):
        def answers(**named):
            study = self.study(**named)
            study.optimize(parabola, 40)
            return [trial.parameters for trial in study.trials]

        self.assertEqual(answers(), answers())
        self.assertNotEqual(answers(), answers(seed=2))
        drawn = self.study(seed=None)
        self.assertEqual(drawn.ask().parameters, self.study(seed=drawn.seed).ask().parameters)

    def test_seed_that_tuner_args_give(self):
        study = self.study(seed=None, tuner_args={'seed': 5})
        self.assertEqual(study.seed, 5)
        self.assertEqual(study.ask().parameters, self.study(seed=5).ask().parameters)

    def test_batches(self):
        study = self.study(tuner='Random')
        trials = study.ask(50)
        self.assertEqual([trial.number for trial in trials], list(range(50)))
        self.assertEqual(len({trial.parameters['x'] for trial in trials}), 50)
        for count in (0, -1, 100_001):
            with self.assertRaises(ValueError):
                study.ask(count)

    def test_a_space_that_ends(self):
        study = self.study(CHOICE, tuner='GridSearch')
        self.assertEqual(sorted(trial.parameters['x'] for trial in study.ask(5)), [1, 2, 3])
        for count in (None, 2):
            with self.assertRaises(attune.NoMoreTrials):
                study.ask(count)

    def test_a_tuner_that_has_to_wait(self):
        study = self.study(tuner='Evolution', tuner_args={'population_size': 2})
        first = study.ask(2)
        for _ in range(3):  # however often: one request is kept
            with self.assertRaises(attune.WaitForResults):
                study.ask()
        study.tell(first[0], 1)
        study.ask()
        with self.assertRaises(attune.WaitForResults):
            study.ask()
        study.fail(first[1])
        self.assertEqual(study.ask().number, 3)

    def test_an_integer_beyond_all_floats_is_no_number(self):
        study = self.study(objectives=[{'metric': 'a', 'mode': 'minimize'},
                                       {'metric': 'b', 'mode': 'minimize'}])
        first, second = study.ask(), study.ask()
        study.tell(first, {'a': 1, 'b': 10 ** 400})
        study.tell(second, {'a': 2, 'b': 1})
        self.assertEqual(study.best, second)

    def test_dicts_and_objectives(self):
        study = self.study(objectives=[{'metric': 'accuracy', 'mode': 'maximize'},
                                       {'metric': 'seconds', 'mode': 'minimize'}])
        for accuracy in (0.5, 0.9, 0.7):
            study.tell(study.ask(), {'accuracy': accuracy, 'seconds': 1, 'note': 'text'})
        self.assertEqual(study.value(study.best), 0.9)
        self.assertEqual(study.best.number, 1)
        trial = study.ask()
        for bad in ({'seconds': 1}, {'accuracy': 'high'}, {'accuracy': True}):
            with self.assertRaisesRegex(ValueError, 'accuracy'):
                study.tell(trial, bad)
        self.assertEqual(trial.status, 'running')
        study = self.study()
        study.tell(study.ask(), {'default': 4})
        self.assertEqual(study.value(study.best), 4)

    def test_the_best_keeps_the_limits(self):
        study = self.study(objectives=[{'metric': 'accuracy', 'mode': 'maximize'},
                                       {'metric': 'seconds', 'mode': 'minimize', 'limit': 2}])
        for result in ({'accuracy': 0.99}, {'accuracy': 0.99, 'seconds': math.nan}, 0.99):
            study.tell(study.ask(), result)
        self.assertIsNone(study.best)
        for accuracy, seconds in ((0.9, 5), (0.8, 3)):
            study.tell(study.ask(), {'accuracy': accuracy, 'seconds': seconds})
        self.assertEqual(study.value(study.best), 0.8)
        self.assertFalse(study.keeps_limits(study.best))
        self.assertEqual(study.trade_offs, [])
        for accuracy, seconds in ((0.3, 2), (0.2, 1)):
            study.tell(study.ask(), {'accuracy': accuracy, 'seconds': seconds})
        self.assertEqual(study.value(study.best), 0.3)
        self.assertTrue(study.keeps_limits(study.best))
        self.assertEqual(study.trade_offs, [study.best])

    def test_trade_offs(self):
        for third in (False, True):  # they are found in another way
            study = self.study(objectives=[{'metric': 'accuracy', 'mode': 'maximize'},
                                           {'metric': 'seconds', 'mode': 'minimize'},
                                           {'metric': 'size', 'mode': 'minimize'}][:2 + third])
            for accuracy, seconds in ((0.5, 1), (0.9, 4), (0.8, 5), (0.7, 2), (0.7, 2), (0.9, 5)):
                study.tell(study.ask(), {'accuracy': accuracy, 'seconds': seconds, 'size': 1})
            self.assertEqual([trial.number for trial in study.trade_offs], [1, 3, 4, 0])
            self.assertIs(study.best, study.trade_offs[0])

    def test_constraints(self):
        study = self.study(tuner='Random', constraints=['x < 0.5'])
        self.assertLess(max(trial.parameters['x'] for trial in study.ask(40)), 0.5)

    def test_best_leaves_out_what_is_no_number(self):
        study = self.study()
        self.assertIsNone(study.best)
        for value in (math.nan, -math.inf, 3, 2, 2):
            study.tell(study.ask(), value)
        study.fail(study.ask())
        self.assertEqual(study.best.number, 3)
        self.assertTrue(math.isnan(study.value(study.trials[5])))

    def test_a_trial_ends_once_and_here(self):
        study = self.study()
        trial = study.ask()
        with self.assertRaisesRegex(ValueError, 'not of this study'):
            self.study().tell(trial, 1)
        study.tell(trial, 1)
        for again in (lambda: study.tell(trial, 1), lambda: study.fail(trial),
                      lambda: study.stop(trial), lambda: study.report(trial, 1)):
            with self.assertRaisesRegex(ValueError, 'completed'):
                again()

    def test_by_number(self):
        study = self.study()
        trials = study.ask(4)
        self.assertTrue(study.report(0, 2))
        study.tell(0, 1)
        study.fail(1)
        study.stop(2)
        self.assertEqual([trial.status for trial in trials],
                         ['completed', 'failed', 'stopped', 'running'])
        self.assertEqual((trials[0].reports, trials[0].metrics), ([2], 1))
        with self.assertRaisesRegex(ValueError, 'trial 1 has ended already: failed'):
            study.tell(1, 1)
        for number in (-1, 4):
            with self.assertRaisesRegex(ValueError, f'trial {number} is not of this study'):
                study.tell(number, 1)
        for bad in (1.0, '3', None, True):
            with self.assertRaisesRegex(TypeError, 'a trial of ask\\(\\), or its number'):
                study.tell(bad, 1)

    def test_a_trial_that_is_completed_has_its_result(self):
        # Ctrl-C right when the end is made known, which is after the end.
        for call in (lambda trial: study.tell(trial, 1), lambda trial: study.fail(trial)):
            study = self.study()
            trial = study.ask()
            with mock.patch.object(study.changed, 'notify_all', side_effect=KeyboardInterrupt), \
                    self.assertRaises(KeyboardInterrupt):
                call(trial)
            self.assertEqual(trial.status == 'completed', trial.metrics == 1)
            self.assertNotEqual(trial.status, 'running')

    def test_unusable_values_change_nothing(self):
        study = self.study()
        trial = study.ask()
        for bad in (None, 'good', {}, True):
            with self.assertRaises(TypeError):
                study.tell(trial, bad)
        study.tell(trial, 1)

    def test_many_answers_at_once(self):
        # More bytes than a pipe holds, in both directions.
        study = self.study({f'parameter_{n}': UNIFORM['x'] for n in range(30)}, tuner='Random')
        trials = study.ask(2000)
        for trial in trials:
            study.tell(trial, {'default': 1, 'note': 'x' * 1000})
        self.assertEqual(len(study.trials), 2000)


class Assessing(StudyCase):
    def test_a_hopeless_trial_is_stopped(self):
        study = self.study(assessor='Medianstop', assessor_args={'start_step': 2})
        for _ in range(3):
            trial = study.ask()
            for step in range(5):
                self.assertTrue(study.report(trial, 1 - step / 10))
            study.tell(trial, 0.5)
        trial = study.ask()
        self.assertEqual([study.report(trial, 9) for _ in range(4)], [True, False, False, False])
        self.assertIn('median', trial.stop_reason)
        study.stop(trial)
        self.assertEqual((trial.status, trial.reports), ('stopped', [9] * 4))
        self.assertNotEqual(study.best, trial)
        study.tell(study.ask(), 0.1)

    def test_told_in_spite_of_it(self):
        study = self.study(assessor='Medianstop', assessor_args={'start_step': 1})
        for value in (1, 1, 9):
            trial = study.ask()
            study.report(trial, value)
            study.tell(trial, value)
        self.assertIsNotNone(trial.stop_reason)
        self.assertEqual(trial.status, 'completed')

    def test_stopped_by_the_user(self):
        study = self.study()
        trial = study.ask()
        study.stop(trial)
        self.assertEqual((trial.status, trial.stop_reason), ('stopped', None))


class Threads(StudyCase):
    def test_two_threads_ask_and_tell(self):
        study = self.study(tuner='Random')
        seen = [[], []]

        def work(mine):
            for _ in range(150):
                trial = study.ask()
                study.report(trial, 1)
                study.tell(trial, trial.parameters['x'])
                mine.append(trial.number)

        threads = [threading.Thread(target=work, args=(mine,)) for mine in seen]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(seen[0] + seen[1]), list(range(300)))
        self.assertEqual({trial.status for trial in study.trials}, {'completed'})


if __name__ == '__main__':
    unittest.main()
