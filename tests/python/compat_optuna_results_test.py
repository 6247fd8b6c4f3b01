"""attune.compat.optuna: tell(), given trials, objectives, samplers."""
import math
import unittest
import warnings

from optuna_pair import Both, parabola, suite_of


class Telling(Both):
    def test_ask_and_tell(self):
        study = self.study()
        trial = study.ask()
        self.assertEqual(self.state_names(study), ['RUNNING'])
        x = trial.suggest_float('x', 0, 1)
        ended = study.tell(trial, 0.5)
        self.assertEqual((ended.number, ended.state.name, ended.value, ended.params),
                         (0, 'COMPLETE', 0.5, {'x': x}))

    def test_by_number(self):
        study = self.study()
        study.ask()
        study.ask()
        study.tell(1, 3)
        self.assertEqual(self.state_names(study), ['RUNNING', 'COMPLETE'])
        with self.assertRaises(ValueError):
            study.tell(7, 1)
        with self.assertRaises(TypeError):
            study.tell('1', 1)

    def test_twice(self):
        study = self.study()
        study.ask()
        study.tell(0, 1)
        with self.assertRaises(ValueError):
            study.tell(0, 2)
        self.assertEqual(study.tell(0, 2, skip_if_finished=True).value, 1)

    def test_states(self):
        study = self.study()
        for state in (self.states.FAIL, self.states.PRUNED):
            study.tell(study.ask(), state=state)
        for arguments in ({'state': self.states.COMPLETE}, {'values': 1, 'state': self.states.FAIL},
                          {'values': 1, 'state': self.states.PRUNED},
                          {'state': self.states.RUNNING}, {'state': self.states.WAITING},
                          {'values': 'a', 'state': self.states.COMPLETE},
                          {'values': [1, 2], 'state': self.states.COMPLETE}):
            trial = study.ask()
            with self.assertRaises(ValueError):
                study.tell(trial, **arguments)
            study.tell(trial, 1)
        self.assertEqual(self.state_names(study), ['FAIL', 'PRUNED'] + ['COMPLETE'] * 7)

    def test_values_that_fail_with_a_warning(self):
        study = self.study()
        for values in (None, math.nan, 'a', [1, 2], []):
            with self.assertWarns(UserWarning):
                study.tell(study.ask(), values)
        self.assertEqual(set(self.state_names(study)), {'FAIL'})

    def test_fixed_distributions(self):
        kinds = self.optuna.distributions
        trial = self.study().ask({'x': kinds.FloatDistribution(0, 1),
                                  'c': kinds.CategoricalDistribution(['a', 'b'])})
        self.assertEqual(list(trial.params), ['x', 'c'])

    def test_attributes(self):
        study = self.study()
        study.set_user_attr('of', {'the': ['study']})
        self.assertEqual(study.user_attrs, {'of': {'the': ['study']}})
        trial = study.ask()
        trial.set_user_attr('a', 1)
        self.assertEqual(trial.user_attrs, {'a': 1})
        study.tell(trial, 1)
        self.assertEqual(study.trials[0].user_attrs, {'a': 1})
        with self.assertRaises(RuntimeError):
            trial.set_user_attr('b', 1)

    def test_trials_are_copies(self):
        study = self.study()
        study.optimize(parabola, n_trials=1)
        study.trials[0].params['x'] = 'changed'
        self.assertNotEqual(study.trials[0].params['x'], 'changed')

    def test_trials_by_state(self):
        study = self.study()
        study.tell(study.ask(), 1)
        study.tell(study.ask(), state=self.states.FAIL)
        study.ask()
        self.assertEqual([trial.number for trial in study.get_trials(
            deepcopy=False, states=(self.states.FAIL, self.states.RUNNING))], [1, 2])


class Given(Both):
    """Enqueued and added trials."""

    def test_enqueued(self):
        study = self.study()
        study.enqueue_trial({'x': 1, 'n': 3.0, 'c': 'b'}, user_attrs={'mine': True})
        study.enqueue_trial({'x': 2})
        self.assertEqual(self.state_names(study), ['WAITING', 'WAITING'])

        def objective(trial):
            trial.suggest_int('n', 1, 9)
            trial.suggest_categorical('c', ['a', 'b'])
            return parabola(trial)

        study.optimize(objective, n_trials=3)
        first, second, third = study.trials
        self.assertEqual(first.params, {'n': 3, 'c': 'b', 'x': 1})
        self.assertEqual([type(first.params[name]) for name in ('n', 'x')], [int, float])
        self.assertEqual(first.user_attrs, {'mine': True})
        self.assertEqual(second.params['x'], 2)
        self.assertEqual(len(third.params), 3)
        self.assertEqual([trial.value for trial in (first, second)], [1, 0])

    def test_enqueued_out_of_range(self):
        study = self.study()
        study.enqueue_trial({'x': 9})
        with self.assertWarns(UserWarning):
            study.optimize(parabola, n_trials=1)
        self.assertEqual(study.trials[0].params, {'x': 9})
        study.enqueue_trial({'c': 'z'})
        with self.assertRaises(ValueError):
            study.optimize(lambda trial: trial.suggest_categorical('c', ['a', 'b']), n_trials=1)
        study.optimize(parabola, n_trials=1)
        self.assertEqual(self.state_names(study), ['COMPLETE', 'FAIL', 'COMPLETE'])

    def test_enqueued_once(self):
        study = self.study()
        for params in ({'x': 1}, {'x': 1}, {'x': 1.0000000001}, {'x': 2}, {'y': 1}, {'x': 'a'}):
            study.enqueue_trial(params, skip_if_exists=True)
        study.optimize(parabola, n_trials=1)
        before = len(study.trials)
        study.enqueue_trial({'x': 1}, skip_if_exists=True)
        self.assertEqual(len(study.trials), before)
        study.enqueue_trial({'x': 1})
        self.assertEqual(len(study.trials), before + 1)

    def test_added(self):
        study = self.study()
        kinds, create = self.optuna.distributions, self.optuna.trial.create_trial
        study.add_trial(create(params={'x': 1.5}, value=0.25, user_attrs={'from': 'elsewhere'},
                               distributions={'x': kinds.FloatDistribution(-5, 5)},
                               intermediate_values={0: 3, 2: 1}))
        study.add_trials([create(state=self.states.FAIL), create(state=self.states.PRUNED),
                          create(state=self.states.WAITING,
                                 system_attrs={'fixed_params': {'x': 2}})])
        self.assertEqual(self.state_names(study), ['COMPLETE', 'FAIL', 'PRUNED', 'WAITING'])
        first = study.trials[0]
        self.assertEqual((first.number, first.value, first.params, first.user_attrs),
                         (0, 0.25, {'x': 1.5}, {'from': 'elsewhere'}))
        self.assertEqual(study.best_trial.number, 0)
        study.optimize(parabola, n_trials=2)
        self.assertEqual([trial.number for trial in study.trials], [0, 1, 2, 3, 4])
        self.assertEqual(study.best_trial.number, 3)

    def test_of_another_study(self):
        one, other = self.study(), self.study()
        one.optimize(parabola, n_trials=3)
        other.add_trials(one.trials)
        self.assertEqual([trial.params for trial in other.trials],
                         [trial.params for trial in one.trials])

    def test_trials_that_cannot_be(self):
        create = self.optuna.trial.create_trial
        space = {'x': self.optuna.distributions.FloatDistribution(0, 1)}
        for arguments in ({}, {'params': {'x': 1}, 'value': 1}, {'value': 1, 'values': [1]},
                          {'params': {'x': 9}, 'distributions': space, 'value': 1}):
            with self.assertRaises(ValueError):
                create(**arguments)


class Objectives(Both):
    def test_directions(self):
        study = self.study(direction='maximize')
        self.assertEqual(study.direction.name, 'MAXIMIZE')
        self.assertEqual(study.direction, self.optuna.study.StudyDirection.MAXIMIZE)
        for arguments in ({'direction': 'up'}, {'directions': []},
                          {'directions': ['minimize', 'x']},
                          {'direction': 'minimize', 'directions': ['minimize']}):
            with self.assertRaises(ValueError):
                self.study(**arguments)

    def test_several(self):
        study = self.study(directions=['minimize', 'maximize'])
        points = iter([(1, 1), (2, 2), (2, 1), (0, 0), (1, 1)])
        study.optimize(lambda trial: next(points), n_trials=5)
        self.assertEqual(study.trials[1].values, [2, 2])
        self.assertEqual([trial.number for trial in study.best_trials], [0, 1, 3, 4])
        self.assertEqual([each.name for each in study.directions], ['MINIMIZE', 'MAXIMIZE'])
        for call in (lambda: study.direction, lambda: study.best_trial, lambda: study.best_value,
                     lambda: study.trials[0].value):
            with self.assertRaises(RuntimeError):
                call()

    def test_no_pruning(self):
        trial = self.study(directions=['minimize', 'minimize']).ask()
        with self.assertRaises(NotImplementedError):
            trial.report(1, 0)
        with self.assertRaises(NotImplementedError):
            trial.should_prune()

    def test_a_number_is_missing(self):
        study = self.study(directions=['minimize', 'minimize'])
        study.optimize(lambda trial: [1] * trial.number, n_trials=3)
        self.assertEqual(self.state_names(study), ['FAIL', 'FAIL', 'COMPLETE'])

    def test_dataframe(self):
        try:
            import pandas  # noqa: F401  pylint: disable=import-outside-toplevel,unused-import
        except ImportError:
            self.skipTest('pandas is not installed')
        study = self.study()
        self.assertTrue(study.trials_dataframe().empty)
        study.optimize(parabola, n_trials=3)
        study.ask()
        table = study.trials_dataframe()
        self.assertEqual(list(table.columns),
                         ['number', 'value', 'datetime_start', 'datetime_complete', 'duration',
                          'params_x', 'state'])
        self.assertEqual(list(table['state']), ['COMPLETE'] * 3 + ['RUNNING'])
        self.assertIn(('params', 'x'), study.trials_dataframe(multi_index=True).columns)


class Samplers(Both):
    def test_a_grid(self):
        sampler = self.optuna.samplers.GridSampler({'x': [-1, 2], 'c': ['a', None]}, seed=1)
        study = self.study(sampler=sampler)

        def objective(trial):
            trial.suggest_categorical('c', ['a', None])
            return parabola(trial)

        study.optimize(objective, n_trials=50)
        self.assertEqual({(trial.params['x'], trial.params['c']) for trial in study.trials},
                         {(-1, 'a'), (-1, None), (2, 'a'), (2, None)})
        self.assertEqual(len(study.trials), 4)
        with self.assertRaises(ValueError):
            study.optimize(lambda trial: trial.suggest_float('y', 0, 1), n_trials=1)

    def test_enqueued_for_a_grid(self):
        study = self.study(sampler=self.optuna.samplers.GridSampler({'x': [-1, 2]}))
        study.enqueue_trial({'x': 1})
        study.enqueue_trial({})
        study.optimize(parabola, n_trials=1)
        with self.assertRaisesRegex(ValueError, '(?i)all parameters'):
            study.optimize(parabola, n_trials=1)
        study.optimize(parabola, n_trials=9)
        self.assertEqual(sorted(trial.params['x'] for trial in study.trials[2:]), [-1, 2])

    def test_arguments_of_pruners_that_cannot_be(self):
        pruners = self.optuna.pruners
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            for make in (lambda: pruners.MedianPruner(n_startup_trials=-1),
                         lambda: pruners.PercentilePruner(101),
                         lambda: pruners.PercentilePruner(25, interval_steps=0),
                         lambda: pruners.PatientPruner(None, -1),
                         lambda: pruners.PatientPruner(None, 1, -1),
                         lambda: pruners.SuccessiveHalvingPruner(min_resource='low'),
                         lambda: pruners.SuccessiveHalvingPruner(reduction_factor=1),
                         lambda: pruners.SuccessiveHalvingPruner(bootstrap_count=1),
                         lambda: pruners.HyperbandPruner(max_resource='much'),
                         lambda: pruners.HyperbandPruner(bootstrap_count=1)):
                with self.assertRaises(ValueError):
                    make()
        for bounds in ({'lower': 'low'}, {'upper': 'high'}, {}):
            with self.assertRaises(TypeError):
                pruners.ThresholdPruner(**bounds)

    def test_all_there_is(self):
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            sampler = self.optuna.samplers.BruteForceSampler(seed=1)
        study = self.study(sampler=sampler)

        def objective(trial):
            if trial.suggest_categorical('c', ['a', 'b']) == 'a':
                return trial.suggest_int('n', 1, 3)
            return trial.suggest_float('f', 0, 1, step=0.5) + trial.suggest_int('m', 0, 1)

        study.optimize(objective, n_trials=50)
        self.assertEqual(len(study.trials), 9)
        self.assertEqual(len({tuple(trial.params.items()) for trial in study.trials}), 9)

    def test_some_fixed(self):
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            sampler = self.optuna.samplers.PartialFixedSampler(
                {'y': 0.5}, self.optuna.samplers.TPESampler(seed=1))
        study = self.study(sampler=sampler)
        study.optimize(lambda trial: parabola(trial) + trial.suggest_float('y', 0, 1), n_trials=15)
        self.assertEqual({trial.params['y'] for trial in study.trials}, {0.5})
        self.assertGreater(len({trial.params['x'] for trial in study.trials}), 10)

    def test_some_fixed_from_now_on(self):
        study = self.study(sampler=self.optuna.samplers.TPESampler(seed=1))
        objective = lambda trial: parabola(trial) + trial.suggest_float('y', 0, 1)
        study.optimize(objective, n_trials=2)
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            study.sampler = self.optuna.samplers.PartialFixedSampler({'y': 0.5}, study.sampler)
        study.optimize(objective, n_trials=2)
        self.assertEqual([trial.params['y'] == 0.5 for trial in study.trials],
                         [False, False, True, True])

    def test_they_find_it(self):
        for name, most in (('TPESampler', 0.3), ('RandomSampler', 2), ('CmaEsSampler', 0.3)):
            try:
                sampler = getattr(self.optuna.samplers, name)(seed=2)
            except ImportError:
                continue  # Optuna's needs another package
            study = self.study(sampler=sampler)
            study.optimize(parabola, n_trials=60)
            self.assertLess(study.best_value, most, name)


def load_tests(loader, _tests, _pattern):
    return suite_of(loader, (Telling, Given, Objectives, Samplers))


if __name__ == '__main__':
    unittest.main()
