"""Parts of the page that count: columns, sorting, forms, text of numbers. They run in the browser, within a report."""

import base64
import pathlib
import tempfile
import unittest

import browser
import sample_report


class PagePartsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / "report.html"
        sample_report.write(path)
        cls.browser = cls.enterClassContext(browser.Browser())
        cls.browser.open(path.as_uri())
        cls.browser.wait("window.attune?.sortedRows !== undefined")

    def merged(self, *answers):
        """Merges answers into new columns; returns what they then hold."""
        return self.browser.evaluate("""(...answers) => {
            const columns = new attune.Columns();
            for (const text of answers) columns.merge(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
            const list = (name) => columns.column(name) && [...columns.column(name).subarray(0, columns.count)];
            return {count: columns.count, trials: list('trial'), losses: list('m:loss'), workers: list('worker'),
                    names: columns.workers, row5: columns.rowOf(5), row900: columns.rowOf(900000)};
        }""", *(base64.b64encode(answer).decode() for answer in answers))

    def test_columns_keep_the_row_of_a_trial_that_changes(self):
        rows = sample_report.trials(8)
        later = [{**rows[5], "m:loss": 0.25}, {**rows[0], "trial": 8, "m:loss": 0.5}]
        held = self.merged(sample_report.columns(rows), sample_report.columns(later))
        self.assertEqual(held["trials"], list(range(9)))
        self.assertEqual((held["row5"], held["losses"][5], held["losses"][8]), (5, 0.25, 0.5))
        self.assertEqual(held["row900"], -1)

    def test_columns_grow_over_many_answers(self):
        rows = sample_report.trials(3000)
        held = self.merged(*(sample_report.columns(rows[at:at + 500], total=3000) for at in range(0, 3000, 500)))
        self.assertEqual(held["trials"], list(range(3000)))
        self.assertEqual(held["losses"][2998], rows[2998]["m:loss"])

    def test_each_answer_numbers_its_own_workers(self):
        one, other = sample_report.trials(2)
        held = self.merged(sample_report.columns([{**one, "worker": 0}], workers=["a"]),
                           sample_report.columns([{**other, "worker": 0}], workers=["b"]))
        self.assertEqual([held["names"][i] for i in held["workers"]], ["a", "b"])

    def test_runs_of_paused_trials_are_replaced(self):
        rows = sample_report.trials(3)
        run = {"trial": 1, "started": 0, "ended": 2, "worker": 0, "status": 2}
        later = [run, {**run, "started": 5, "ended": 7, "worker": 1, "status": 3}]
        held = self.browser.evaluate("""(first, second) => {
            const columns = new attune.Columns();
            const merge = (text) => columns.merge(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
            const ran = () => [...columns.runs].map(([trial, runs]) => [trial, runs.map((run) => [run.started, run.worker, run.status])]);
            return [merge(first), ran(), merge(second), ran(), columns.workers];
        }""", *(base64.b64encode(answer).decode() for answer in (
            sample_report.columns(rows, [run], workers=["a"]),
            sample_report.columns([{**rows[1], "worker": 0}], later, workers=["b", "a"]))))
        self.assertEqual(held[1], [[1, [[0, 0, 2]]]])
        self.assertEqual(held[3], [[1, [[0, 1, 2], [5, 0, 3]]]])
        self.assertEqual(held[4], ["a", "b"])

    def test_a_reset_forgets_all(self):
        held = self.merged(sample_report.columns(sample_report.trials(9)),
                           sample_report.columns(sample_report.trials(2), reset=True))
        self.assertEqual((held["count"], held["row5"]), (2, -1))

    def test_sorts_as_numbers_with_absent_ones_last(self):
        wrong = self.browser.evaluate("""(() => {
            const values = [() => Math.random() - 0.5, () => Math.floor(Math.random() * 5) - 2,
                            () => 1e6 + Math.random() * 1e-6, () => (Math.random() < 0.3 ? NaN : Math.random()),
                            () => (Math.random() < 0.5 ? -0 : 0), () => [Infinity, -Infinity, 0, 1e-310][Math.floor(Math.random() * 4)]];
            for (let round = 0; round < 240; round++) {
                const Type = [Float64Array, Float32Array, Uint8Array, Uint32Array][round % 4];
                const column = new Type(round + 3).map(values[round % 6]);
                for (const down of [false, true]) {
                    const all = [...column.keys()].slice(0, round);
                    const known = all.filter((i) => !Number.isNaN(column[i]));
                    // 0 is equal to -0, and equal infinities have the difference NaN.
                    known.sort((a, b) => (column[a] === column[b] ? a - b : (column[a] < column[b]) === down ? 1 : -1));
                    const wanted = [...known, ...all.filter((i) => Number.isNaN(column[i]))];
                    if ([...attune.sortedRows(column, round, down)].join() !== wanted.join()) return [round, down];
                }
            }
            return null;
        })()""")
        self.assertIsNone(wrong)

    def test_a_growing_column_sorts_at_once(self):
        rows = self.browser.evaluate("[...attune.sortedRows(Uint32Array.of(3, 4, 9, 7), 3, true)]")
        self.assertEqual(rows, [2, 1, 0])

    def test_a_form_begins_within_the_ranges(self):
        space = {**sample_report.FILE["searchSpace"], "q": {"_type": "quniform", "_value": [1, 9, 2]},
                 "n": {"_type": "lognormal", "_value": [0, 1]}}
        values = self.browser.evaluate("attune.defaults", space)
        self.assertAlmostEqual(values["lr"], 0.01)
        self.assertEqual(values["net"], {"_name": "conv", "kernel": 4})
        self.assertEqual((values["q"], values["n"]), (6, 1))

    def test_numbers_and_times_as_text(self):
        cases = {"attune.number(0.000123456)": "0.00012346", "attune.number(1234567.8)": "1.235e+6",
                 "attune.number(null)": "–", "attune.number(12)": "12", "attune.duration(3725)": "1 h 2 min",
                 "attune.duration(0.25)": "250 ms", "attune.bytes(1536)": "1.5 KiB", "attune.text('x'.repeat(900)).length": 200,
                 "attune.trialNumber('t0012')": 12}
        for script, wanted in cases.items():
            self.assertEqual(self.browser.evaluate(script), wanted, script)


if __name__ == "__main__":
    browser.main()
