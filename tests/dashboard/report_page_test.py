"""The page as a report, which needs no server: what it shows of a small experiment, filters, sorting, trials."""

import math
import pathlib
import tempfile
import unittest

import browser
import sample_report


class ReportPageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        path = pathlib.Path(cls.folder.name) / "report.html"
        cls.rows = sample_report.write(path)
        cls.url = path.as_uri()
        cls.browser = cls.enterClassContext(browser.Browser())

    def setUp(self):
        self.browser.problems.clear()
        self.browser.open("about:blank")

    def tearDown(self):
        self.assertEqual(self.browser.problems, [])

    def show(self, address, heading):
        self.browser.open(self.url + address)
        self.browser.wait("(text) => document.querySelector('h1')?.textContent === text", heading)

    def press(self, selector):
        self.browser.evaluate("(selector) => document.querySelector(selector).click()", selector)

    def table(self):
        """Scrolls to the table; waits until it is there."""
        return self.browser.wait("""(() => {
            document.querySelector('section[aria-label=Trials]')?.scrollIntoView();
            return Number(document.querySelector('[role=grid]')?.getAttribute('aria-rowcount'));
        })()""")

    def shown_trials(self):
        return [int(text) for text in self.browser.evaluate(
            "[...document.querySelectorAll('[role=grid] .rows [role=row]')].map((row) => row.firstElementChild.textContent)")]

    def test_begins_with_its_only_experiment(self):
        self.show("", sample_report.NAME)
        self.assertEqual(self.browser.evaluate("location.hash"), "#/e/abc")
        self.assertEqual(self.table(), len(self.rows) + 1)  # and the heading

    def test_names_and_values_are_text(self):
        self.show("#/e/abc?panel=table", sample_report.NAME)
        self.table()
        self.browser.wait_text("<b>mlp</b>")
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('img, main b').length"), 0)

    def test_nothing_can_be_changed(self):
        self.show("#/e/abc", sample_report.NAME)
        for name in ("Stop…", "Resume…", "Add a trial…", "Log out"):
            self.assertNotIn(name, self.browser.text())

    def test_filters_come_from_the_address_and_go_there(self):
        self.show("#/e/abc?f=p:lr~0.01~0.1&f=status~v~3", sample_report.NAME)
        wanted = [row for row in self.rows if 0.01 <= row["p:lr"] <= 0.1 and row["status"] == sample_report.SUCCEEDED]
        self.browser.wait_text(f"{len(wanted)} of {len(self.rows)} trials")
        self.assertEqual(self.table(), len(wanted) + 1)
        self.press("[aria-label='Remove the filter of lr']")
        self.browser.wait("!decodeURIComponent(location.hash).includes('p:lr')")
        self.assertIn("status~v~3", self.browser.evaluate("decodeURIComponent(location.hash)"))
        self.press("[aria-label=Filters] > button:last-of-type")
        self.browser.wait("(count) => Number(document.querySelector('[role=grid]').getAttribute('aria-rowcount')) === count",
                          len(self.rows) + 1)

    def test_sorts_by_a_column_and_puts_absent_values_last(self):
        self.show("#/e/abc?sort=m:loss", sample_report.NAME)
        self.table()
        known = sorted((row for row in self.rows if not math.isnan(row["m:loss"])), key=lambda row: row["m:loss"])
        self.browser.wait("document.querySelectorAll('[role=grid] .rows [role=row]').length")
        shown = self.shown_trials()
        self.assertEqual(shown, [row["trial"] for row in known[:len(shown)]])
        self.browser.evaluate("(grid => { grid.scrollTop = grid.scrollHeight })(document.querySelector('[role=grid]'))")
        failed = [row["trial"] for row in self.rows if math.isnan(row["m:loss"])]
        self.browser.wait("""(last) => document.querySelector('[role=grid] .rows').lastElementChild
                             .firstElementChild.textContent === String(last)""", failed[-1])

    def test_shows_trials_of_which_it_holds_only_the_columns(self):
        self.show("#/e/abc/t/2", "Trial 2")
        text = self.browser.wait_text("net.kernel") and self.browser.text()
        self.assertIn("succeeded", text)
        self.assertIn("Difference to the best", text)
        self.show("#/e/abc/t/3", "Trial 3")
        self.assertIn("failed", self.browser.text())

    def test_says_which_trial_is_absent(self):
        self.show("#/e/abc/t/5000", "Trial 5000")
        self.browser.wait_text("This report does not hold this part")

    def test_keys_reach_the_best_trial_and_the_way_back(self):
        self.show("#/e/abc", sample_report.NAME)
        self.table()
        best = min((row for row in self.rows if not math.isnan(row["m:loss"])), key=lambda row: row["m:loss"])
        self.browser.key("b")
        self.browser.wait("(text) => document.querySelector('h1')?.textContent === text", f"Trial {best['trial']}")
        self.browser.wait_text("This is the best trial.")
        self.browser.key("u")
        self.browser.wait("(text) => document.querySelector('h1')?.textContent === text", sample_report.NAME)


if __name__ == "__main__":
    browser.main()
