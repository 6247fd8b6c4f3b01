#!/usr/bin/env python3
"""attune-katib under a controller that does what Katib's does, in its order: answers are lost, and the
service is killed.

    katib_restarts_test.py ATTUNE_KATIB [unittest arguments]
"""
import random

from katib_controller import Controller, KatibCase, LINE, api, experiment, main, points, values_of


def loss(suggestion):
    return sum((float(value) - 0.3) ** 2 for value in values_of(suggestion.assignments).values())


class Restarts(KatibCase):
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


if __name__ == '__main__':
    main()
