"""Study.save() and load()."""
import base64
import errno
import json
import os
import pathlib
import tempfile
import unittest
from unittest import mock

import attune
from support import CHOICE, StudyCase, parabola


class SavingAndLoading(StudyCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / 'study.json'

    def load(self):
        study = attune.Study.load(self.path)
        self.addCleanup(study.close)
        return study

    def go_on(self, study, count=45):
        study.optimize(parabola, until=count)
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

    def test_an_attuned_that_cannot_go_on_gets_the_results(self):
        study = self.study(CHOICE, tuner='GridSearch')
        first = study.ask()
        study.tell(first, 1)
        running = study.ask()
        study.save(self.path)
        document = json.loads(self.path.read_text())
        journal = base64.b64decode(document['journal'])
        document['journal'] = base64.b64encode(journal[:100] + b'x' + journal[101:]).decode()
        self.path.write_text(json.dumps(document))
        again = self.load()
        known = {first.parameters['x'], running.parameters['x']}
        self.assertEqual(known | {again.ask().parameters['x']}, {1, 2, 3})

    def test_a_file_of_version_2(self):
        study = self.study(tuner='Random')
        study.tell(study.ask(), 1)
        running = study.ask()
        study.save(self.path)
        document = json.loads(self.path.read_text())
        for name in ('next_id', 'enqueued', 'imported'):
            del document[name]
        self.path.write_text(json.dumps({**document, 'attune_study': 2}))
        again = self.load()
        again.tell(running.number, 2)
        self.assertEqual(again.ask().parameters, study.ask().parameters)
        again.enqueue({'x': 0.5})
        self.assertEqual(again.ask().parameters, {'x': 0.5})

    def test_refused_files(self):
        for text in ('{', '[]', '{}', '{"attune_study": 99}'):
            self.path.write_text(text)
            with self.assertRaisesRegex(ValueError, str(self.path)):
                self.load()

    def test_a_save_that_fails_leaves_file_and_study(self):
        study = self.study()
        study.save(self.path)
        before = self.path.read_bytes()
        below, nowhere = self.path / 'below-a-file', self.path.parent / 'none/study'
        for bad in (below, str(nowhere), self.path.parent):
            with self.assertRaises(OSError) as caught:
                study.save(bad)
            # What the caller has named, and no file of ours.
            self.assertEqual(caught.exception.filename, str(bad))
            self.assertTrue(str(caught.exception).endswith(f": '{bad}'"), caught.exception)
        with mock.patch.object(os, 'fsync', side_effect=OSError(errno.ENOSPC, 'disk full')), \
                self.assertRaisesRegex(OSError, f"disk full: '{self.path}'"):
            study.save(self.path)
        study.tell(study.ask(), 1)
        self.assertEqual(self.path.read_bytes(), before)
        self.assertEqual(os.listdir(self.path.parent), ['study.json'])


if __name__ == '__main__':
    unittest.main()
