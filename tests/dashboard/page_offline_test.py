"""attune report: one file that shows an experiment without server and network: ATTUNE [unittest's arguments]"""

import page_case

NAME = "</script><script>window.hurt = 1</script><!--\u2028"


class OfflineTest(page_case.PageCase):
    """The page case's server is not used but to compare."""

    @classmethod
    def prepare(cls):
        space = {"lr": {"_type": "loguniform", "_value": [1e-4, 1]},
                 "act": {"_type": "choice", "_value": ["relu", "</script><b>tanh</b>"]}}
        cls.id = cls.workshop.simulate("--epochs", "8", "--seed", "2", experimentName=NAME, searchSpace=space,
                                       trialConcurrency=4, maxTrialNumber=40, tuner={"name": "Random"})
        cls.trials = cls.workshop.trials(cls.id)
        # The folder of experiments may stand in place of an id.
        cls.workshop.command("report", "attune-experiments", "-o", "report.html")
        cls.url = (cls.workshop.path / "report.html").as_uri()

    def setUp(self):
        super().setUp()
        self.browser.open("about:blank")
        self.browser.requests.clear()
        self.browser.open(self.url)
        self.browser.wait("document.querySelector('h1')?.textContent.includes('window.hurt')")

    def tearDown(self):
        super().tearDown()
        self.assertEqual([one for one in self.browser.requests if not one.startswith(("file:", "data:", "about:", "blob:"))], [])
        self.assertFalse(self.browser.evaluate("'hurt' in window"))

    def test_its_values_are_those_of_the_store(self):
        for row in self.csv("History"):
            trial = self.trials[int(row["trial"])]
            self.assertEqual(row["status"], trial["status"])
            self.assertAlmostEqual(float(row["default"]), trial["score"], places=9)
        for row in self.csv("Parallel coordinates"):
            given = self.trials[int(row["trial"])]["parameters"]
            self.assertEqual(row["act"], given["act"])
            self.assertAlmostEqual(float(row["lr"]) / given["lr"], 1, places=5)  # single precision
        self.assertEqual(self.aria_rows(), len(self.trials))

    def test_every_panel_is_drawn(self):
        for title in ("History", "Learning curves", "Parallel coordinates", "Importance", "Slices of the model",
                      "Workers and GPUs"):
            self.assertTrue(self.drawn(title), title)

    def test_importance(self):
        held = self.workshop.json("importance", self.id)["parameters"]
        shown = {row["parameter"]: float(row["share"]) for row in self.csv("Importance")}
        for one in held:
            self.assertAlmostEqual(shown[one["parameter"]], one["share"], places=6)

    def test_a_selection_filters_all(self):
        address = self.browser.evaluate("location.hash")
        self.assertEqual(address, f"#/e/{self.id}")
        self.browser.evaluate("(address) => { location.hash = address }", address + "?f=p:act~v~0")
        wanted = {i for i, one in self.trials.items() if one["parameters"]["act"] == "relu"}
        self.browser.wait_text(f"{len(wanted)} of {len(self.trials)} trials")
        self.assertEqual(self.aria_rows(), len(wanted))

    def test_nothing_can_be_changed(self):
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('[aria-label=Actions]').length"), 0)
        self.assertNotIn("Log out", self.browser.text())


if __name__ == "__main__":
    page_case.main()
