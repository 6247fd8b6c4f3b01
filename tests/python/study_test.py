"""attune.Study against the attuned that was built."""
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings

import attune
from attune.daemon import find_attuned

UNIFORM = {'x': {'_type': 'uniform', '_value': [0, 1]}}
CHOICE = {'x': {'_type': 'choice', '_value': [1, 2, 3]}}


def parabola(config):
    return (config['x'] - 0.3) ** 2


class StudyCase(unittest.TestCase):
    def study(self, *arguments, **named):
        study = attune.Study(*(arguments or (UNIFORM,)), **{'seed': 1, **named})
        self.addCleanup(study.close)
        return study


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
        for count in (0, -1):
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
        together = threading.Barrier(4, timeout=60)

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
        study.optimize(parabola, 1)
        other.join()
        self.assertEqual([trial.status for trial in study.trials], ['completed'] * 3)

    def test_a_space_that_ends(self):
        study = self.study(CHOICE, tuner='GridSearch')
        self.assertEqual(study.optimize(lambda config: config['x'], 10, workers=2).parameters,
                         {'x': 1})
        self.assertEqual(len(study.trials), 3)


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


class SavingAndLoading(StudyCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / 'study.json'

    def load(self):
        study = attune.Study.load(self.path)
        self.addCleanup(study.close)
        return study

    def go_on(self, study, count=15):
        study.optimize(parabola, count)
        return [(trial.number, trial.parameters) for trial in study.trials]

    def test_three_ways_to_the_same_end(self):
        for tuner in ('TPE', 'Random', 'Anneal', 'Evolution'):
            with self.subTest(tuner=tuner):
                never = self.study(tuner=tuner)
                self.go_on(never, 30)
                saved = self.study(tuner=tuner)
                self.go_on(saved, 30)
                saved.save(self.path)
                ways = [self.go_on(study) for study in (never, saved, self.load())]
                self.assertEqual(ways[0], ways[1])
                self.assertEqual(ways[0], ways[2])

    def test_what_runs_goes_on(self):
        study = self.study(assessor='Medianstop', assessor_args={'start_step': 2})
        for _ in range(4):
            trial = study.ask()
            for _ in range(3):
                study.report(trial, 1)
            study.tell(trial, {'default': 1, 'note': 'é'})
        running = study.ask()
        study.report(running, 9)
        study.save(self.path)
        for again in (study, self.load()):
            self.assertEqual(again.best.metrics, {'default': 1, 'note': 'é'})
            trial = again.trials[-1]
            self.assertEqual((trial.status, trial.reports, trial.parameters),
                             ('running', [9], running.parameters))
            self.assertFalse(again.report(trial, 9))  # the assessor knows the first report
            again.stop(trial)
            self.assertEqual(again.ask().number, 5)

    def test_a_request_that_waits(self):
        study = self.study(tuner='Evolution', tuner_args={'population_size': 2})
        study.ask(2)
        with self.assertRaises(attune.WaitForResults):
            study.ask()
        study.save(self.path)
        for again in (study, self.load()):
            again.tell(again.trials[0], 1)
            self.assertEqual(again.ask().number, 2)

    def test_proposed_and_not_asked_for(self):
        study = self.study(tuner='Evolution', tuner_args={'population_size': 2})
        first = study.ask(2)
        with self.assertRaises(attune.WaitForResults):
            study.ask()
        study.tell(first[0], 1)
        study.report(first[1], 1)  # here the answer to the third arrives
        study.save(self.path)
        self.assertEqual(study.ask().parameters, self.load().ask().parameters)

    def test_a_space_that_has_ended(self):
        study = self.study(CHOICE, tuner='GridSearch')
        study.optimize(lambda config: 1, 10)
        study.save(self.path)
        with self.assertRaises(attune.NoMoreTrials):
            self.load().ask()

    def test_another_version_of_attuned_gets_the_results(self):
        study = self.study(CHOICE, tuner='GridSearch')
        first = study.ask()
        study.tell(first, 1)
        running = study.ask()
        study.save(self.path)
        document = json.loads(self.path.read_text())
        document['state'] = 'attuned checkpoint 999 00000000 0\n'
        self.path.write_text(json.dumps(document))
        again = self.load()
        known = {first.parameters['x'], running.parameters['x']}
        self.assertEqual(known | {again.ask().parameters['x']}, {1, 2, 3})

    def test_refused_files(self):
        for text in ('{', '[]', '{}', '{"attune_study": 99}'):
            self.path.write_text(text)
            with self.assertRaisesRegex(ValueError, str(self.path)):
                self.load()

    def test_a_save_that_fails_leaves_file_and_study(self):
        study = self.study()
        study.save(self.path)
        before = self.path.read_bytes()
        with self.assertRaises(OSError):
            study.save(self.path / 'below-a-file')
        study.tell(study.ask(), 1)
        self.assertEqual(self.path.read_bytes(), before)
        self.assertEqual(os.listdir(self.path.parent), ['study.json'])


def open_descriptors():
    return set(os.listdir('/proc/self/fd'))


class Ends(StudyCase):
    def test_arguments_that_attuned_refuses(self):
        before = open_descriptors()
        for named, words in [
                ({'tuner': 'TPEE'}, 'unknown tuner "TPEE"; did you mean "TPE"'),
                ({'tuner_args': {'speed': 1}}, 'TPE: unknown argument "speed"'),
                ({'assessor': 'Some'}, 'unknown assessor "Some"'),
                ({'constraints': ['y < 1']}, 'unknown parameter "y"'),
                ({'space': {'x': {'_type': 'uni', '_value': [0, 1]}}}, 'x._type: unknown type'),
                ({'space': 5}, 'search')]:
            with self.subTest(named=named), self.assertRaises(attune.DaemonError) as caught:
                attune.Study(**{'space': UNIFORM, **named})
            self.assertIn(words, str(caught.exception))
        with self.assertRaises(ValueError):
            attune.Study(UNIFORM, maximize=True, objectives=[{'metric': 'a'}])
        self.assertEqual(open_descriptors(), before)

    def test_no_such_program(self):
        with self.assertRaisesRegex(attune.DaemonError, 'no program /none'):
            attune.Study(UNIFORM, attuned='/none')
        with tempfile.NamedTemporaryFile(delete=False) as script:
            script.write(b'not a program')
        self.addCleanup(os.unlink, script.name)
        os.chmod(script.name, 0o755)
        with self.assertRaisesRegex(attune.DaemonError, 'cannot start'):
            attune.Study(UNIFORM, attuned=script.name)
        with self.assertRaisesRegex(attune.DaemonError, 'exit code 1'):
            attune.Study(UNIFORM, attuned='false')
        self.assertTrue(os.path.samefile(find_attuned(), os.environ['ATTUNED']))

    def test_killed(self):
        study = self.study()
        study.tell(study.ask(), 4)
        trial = study.ask()
        os.kill(study._daemon.pid, signal.SIGKILL)
        for call in (study.ask, lambda: study.tell(trial, 1), lambda: study.report(trial, 1),
                     lambda: study.save('/dev/null'), study.ask):
            with self.assertRaisesRegex(attune.DaemonError, 'signal 9'):
                # A command can still fit into the pipe; that it had no reader shows next.
                for _ in range(2):
                    call()
        self.assertEqual(study.best.metrics, 4)
        study.close()

    def test_killed_while_others_wait(self):
        study = self.study()
        os.kill(study._daemon.pid, signal.SIGSTOP)
        errors = []

        def work():
            try:
                study.ask()
            except attune.DaemonError as error:
                errors.append(str(error))

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        os.kill(study._daemon.pid, signal.SIGKILL)
        for thread in threads:
            thread.join(60)
        self.assertEqual(len(errors), 3)

    def test_killed_while_it_optimizes(self):
        def function(config):
            if len(study.trials) > 5:
                os.kill(study._daemon.pid, signal.SIGKILL)
            return 1

        for workers in (1, 3):
            study = self.study()
            with self.assertRaises(attune.DaemonError):
                study.optimize(function, 10_000, workers=workers)

    def test_nothing_is_left(self):
        before, threads = open_descriptors(), threading.active_count()
        for end in ('close', 'with', 'kill', 'forget'):
            study = attune.Study(UNIFORM)
            pid, folder = study._daemon.pid, study._folder
            study.tell(study.ask(), 1)
            if end == 'close':
                study.close()
                study.close()
            elif end == 'with':
                with study:
                    study.ask()
            elif end == 'kill':
                os.kill(pid, signal.SIGKILL)
                study.close()
            with warnings.catch_warnings():
                warnings.simplefilter('error')
                del study
            with self.assertRaises(ChildProcessError):  # it is neither running nor a zombie
                os.waitpid(pid, os.WNOHANG)
            self.assertFalse(os.path.exists(folder))
            self.assertEqual(open_descriptors(), before, end)
        self.assertEqual(threading.active_count(), threads)

    def test_closed(self):
        study = self.study()
        study.tell(study.ask(), 2)
        study.close()
        with self.assertRaisesRegex(attune.DaemonError, 'was ended'):
            study.ask()
        self.assertEqual(study.best.metrics, 2)

    def test_the_end_of_the_process_is_the_daemons(self):
        # The daemon holds the pipe's other end: it is at its end when both are gone.
        code = ('import attune, sys; study = attune.Study({"x": {"_type": "uniform", "_value": '
                '[0, 1]}}); print(study._daemon.pid, study._folder, flush=True); sys.stdin.read()')
        process = subprocess.Popen([sys.executable, '-B', '-c', code], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        pid, folder = process.stdout.readline().split()
        daemon = os.pidfd_open(int(pid)) if hasattr(os, 'pidfd_open') else None
        process.kill()
        process.communicate()
        if daemon is not None:
            import select
            self.assertEqual(select.select([daemon], [], [], 30)[0], [daemon])
            os.close(daemon)
        import shutil
        shutil.rmtree(folder)

    def test_what_a_manager_told_this_process_is_not_the_daemons(self):
        with tempfile.TemporaryDirectory() as folder:
            names = {'NNI_LOG_DIRECTORY': folder, 'NNI_MODE': 'resume',
                     'NNI_CHECKPOINT_DIRECTORY': folder,
                     'NNI_TUNER_COMMAND_CHANNEL': 'ws://127.0.0.1:1'}
            os.environ.update(names)
            try:
                with attune.Study(UNIFORM) as study:
                    study.ask()
            finally:
                for name in names:
                    del os.environ[name]
            self.assertEqual(os.listdir(folder), [])


if __name__ == '__main__':
    unittest.main()
