"""Several objectives with a limit, and options with parameters of their own: ATTUNE [unittest's arguments]"""

import page_case

SPACE = {
    "x": {"_type": "uniform", "_value": [0, 1]},
    "net": {"_type": "choice", "_value": [{"_name": "conv", "kernel": {"_type": "randint", "_value": [1, 8]}},
                                          {"_name": "mlp"}]},
}
OBJECTIVES = [{"metric": "loss"}, {"metric": "size"}, {"metric": "seconds", "limit": 2.5}]
COMMAND = """awk 'BEGIN {{ x = {x}; printf "loss=%.4f size=%.4f seconds=%.4f\\n", x * x, 1 - x, 1 + 3 * (1 - x) }}'"""
REPORT = r"loss=(?<loss>\S+) size=(?<size>\S+) seconds=(?<seconds>\S+)"


class ObjectivesTest(page_case.PageCase):
    @classmethod
    def prepare(cls):
        cls.id = cls.workshop.run(experimentName="both", searchSpace=SPACE, trialCommand=COMMAND, trialConcurrency=2,
                                  maxTrialNumber=30, objectives=OBJECTIVES, tuner={"name": "Random"},
                                  report={"regex": REPORT})
        cls.trials = cls.workshop.trials(cls.id)
        cls.front = {one["sequence"] for one in cls.workshop.lines("best", cls.id)}
        cls.results = {i: cls.metrics(one["final"]) for i, one in cls.trials.items()}
        assert len(cls.trials) == 30 and 1 < len(cls.front) < 30

    @staticmethod
    def metrics(final):
        return {name: final[name] for name in ("loss", "size", "seconds")}

    def test_trade_offs(self):
        self.show_experiment(self.id)
        label = self.drawn("Trade-offs")
        self.assertIn("between loss and size", label)
        self.browser.wait("""(text) => document.querySelector('section[aria-label=Trade-offs] canvas[role=img]')
            .getAttribute('aria-label').endsWith(text)""", f": {len(self.front)} trials are on the front.")
        broken = 0
        for row in self.csv("Trade-offs"):
            wanted = self.results[int(row["trial"])]
            for name, value in wanted.items():
                self.assertAlmostEqual(float(row[name]), value, places=9)
            breaks = wanted["seconds"] > 2.5
            self.assertEqual(float(row["violation"]) > 0, breaks)
            broken += breaks
        self.assertGreater(broken, 0)
        self.assertTrue(all(self.results[i]["seconds"] <= 2.5 for i in self.front))
        self.browser.wait("document.querySelector('section[aria-label=Trade-offs]').innerText.includes('Volume that the front covers')")

    def test_other_axes_are_in_the_address(self):
        self.show_experiment(self.id, "front.x=2&front.y=0")
        self.assertIn("between seconds and loss", self.drawn("Trade-offs"))

    def test_history_of_another_objective(self):
        self.show_experiment(self.id)
        rows = {int(row["trial"]): row for row in self.csv("History")}
        self.assertEqual(set(rows), set(self.trials))
        for i, row in rows.items():
            self.assertAlmostEqual(float(row["size"]), self.results[i]["size"], places=9)

    def test_the_best_are_the_front(self):
        self.show_experiment(self.id)
        self.assertIn(f"{len(self.front)}", self.browser.text())
        held = set(self.dashboard.get(f"/experiments/{self.id}/front")["front"])
        self.assertEqual(held, self.front)

    def test_a_parameter_of_an_option(self):
        self.show_experiment(self.id)
        kernel = next(name for name in (one["name"] for one in self.dashboard.get(f"/experiments/{self.id}")["space"])
                      if "kernel" in name)
        with_kernel = {i for i, one in self.trials.items() if one["parameters"]["net"]["_name"] == "conv"}
        for row in self.csv("Parallel coordinates"):
            i = int(row["trial"])
            self.assertEqual(row[kernel] != "", i in with_kernel, row)
            if i in with_kernel:
                self.assertEqual(float(row[kernel]), self.trials[i]["parameters"]["net"]["kernel"])
        self.show_experiment(self.id, f"f=p:{kernel}~1~3")
        wanted = {i for i in with_kernel if self.trials[i]["parameters"]["net"]["kernel"] <= 3}
        self.assertTrue(wanted)
        self.browser.wait_text(f"{len(wanted)} of 30 trials")
        self.assertEqual(self.aria_rows(), len(wanted))

    def test_importance_of_a_parameter_of_an_option(self):
        self.show_experiment(self.id)
        held = self.workshop.json("importance", self.id)["parameters"]
        shown = {row["parameter"]: float(row["share"]) for row in self.csv("Importance")}
        self.assertEqual(set(shown), {one["parameter"] for one in held})
        for one in held:
            self.assertAlmostEqual(shown[one["parameter"]], one["share"], places=6)


if __name__ == "__main__":
    page_case.main()
