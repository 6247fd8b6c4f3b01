"""One selection for all panels, by mouse and keyboard, and in the address: ATTUNE [unittest's arguments]"""

import page_case

SPACE = {
    "lr": {"_type": "loguniform", "_value": [1e-4, 1]},
    "units": {"_type": "randint", "_value": [4, 65]},
    "act": {"_type": "choice", "_value": ["relu", "tanh", "gelu"]},
}


class FiltersTest(page_case.PageCase):
    @classmethod
    def prepare(cls):
        cls.id = cls.workshop.simulate("--epochs", "6", "--seed", "3", experimentName="digits", searchSpace=SPACE,
                                       trialConcurrency=4, maxTrialNumber=60, simulation={"failRate": 0.2},
                                       tuner={"name": "Random"}, objectives=[{"metric": "loss"}])
        cls.trials = cls.workshop.trials(cls.id)

    def axis(self, number, shares, of=4):
        """Drags along an axis of the parallel coordinates, between two shares of its height from its upper end."""
        self.drawn("Parallel coordinates")
        canvas = "section[aria-label='Parallel coordinates'] canvas"
        box = self.browser.place(canvas)
        x = (46 + number * (box["width"] - 92) / (of - 1)) / box["width"]
        y = [(26 + share * (box["height"] - 60)) / box["height"] for share in shares]
        self.browser.drag(canvas, (x, y[0]), (x, y[1]))

    def filters(self):
        return self.browser.evaluate("attune.openExperiment(attune.route.value.path[1]).filters.value")

    def check_all_show(self, wanted):
        """All panels and the table show these trials alone."""
        count = len(wanted)
        self.browser.wait_text(f"{count} of 60 trials")
        self.see("Parallel coordinates")
        self.browser.wait("(text) => document.querySelector(`canvas[aria-label^='${text}']`)",
                          f"Parallel coordinates of {count} trials")
        for title in ("History", "Parallel coordinates", "Workers and GPUs"):
            self.assertEqual({int(row["trial"]) for row in self.csv(title)}, wanted, title)
        self.see("Learning curves")
        most = min(10, sum(self.trials[i]["reports"] > 0 for i in wanted))
        page_case.wait_for(lambda: self.curves() <= wanted and len(self.curves()) == most, "the curves of these trials")
        self.assertEqual(self.aria_rows(), count)
        self.browser.wait("document.querySelector('[role=grid] .rows [role=row]')")
        shown = self.browser.evaluate(
            "[...document.querySelectorAll('[role=grid] .rows [role=row]')].map((one) => Number(one.firstElementChild.textContent))")
        self.assertEqual(shown, sorted(wanted, reverse=True)[:len(shown)])

    def curves(self):
        """The trials whose learning curves are shown."""
        lines = {row["line"] for row in self.csv("Learning curves")}
        return {int(name.split()[1]) for name in lines if name.startswith("trial")}

    def hash_with(self, text):
        self.browser.wait("(text) => decodeURIComponent(location.hash).includes(text)", text)
        return self.browser.evaluate("location.hash")

    def within(self, found):
        return {i for i, one in self.trials.items() if found["low"] <= one["parameters"][found["column"][2:]] <= found["high"]}

    def test_a_drag_along_an_axis_selects_everywhere(self):
        self.show_experiment(self.id)
        self.axis(0, (0.25, 0.75))
        (found,) = self.filters()
        self.assertEqual(found["column"], "p:lr")
        self.assertAlmostEqual(found["low"], 1e-3, delta=1e-4)  # a quarter of four powers of ten
        self.assertAlmostEqual(found["high"], 1e-1, delta=1e-2)
        wanted = self.within(found)
        self.assertTrue(0 < len(wanted) < 60)
        self.check_all_show(wanted)
        address = self.hash_with("f=p:lr~")

        self.axis(2, (0.6, 1.0))  # the lowest of the three choices
        wanted &= {i for i, one in self.trials.items() if one["parameters"]["act"] == "relu"}
        self.check_all_show(wanted)
        longer = self.hash_with("f=p:act~v~0")

        self.show(longer)  # as after a reload, or by somebody who got the link
        self.check_all_show(wanted)
        self.assertEqual(self.browser.evaluate("location.hash"), longer)

        self.browser.click("label=Remove the filter of act")
        self.browser.wait("(hash) => location.hash === hash", address)
        self.check_all_show(self.within(found))
        self.browser.evaluate("document.activeElement.blur()")
        self.browser.key("x")  # removes all
        self.browser.wait("!location.hash.includes('f=')")
        self.assertEqual(self.aria_rows(), 60)

    def test_a_drag_over_the_history_selects_a_rectangle(self):
        self.show_experiment(self.id)
        self.drawn("History")
        self.browser.drag("section[aria-label=History] canvas", (0.3, 0.4), (0.7, 0.6))
        ranges = {one["column"]: one for one in self.filters()}
        self.assertEqual(ranges.keys(), {"trial", "m:loss"})
        wanted = {i for i, one in self.trials.items() if ranges["trial"]["low"] <= i <= ranges["trial"]["high"]
                  and one["score"] is not None and ranges["m:loss"]["low"] <= one["score"] <= ranges["m:loss"]["high"]}
        self.assertTrue(wanted)
        self.check_all_show(wanted)
        self.browser.click("section[aria-label=History] canvas", 0.5, 0.05)  # beside all marks: lets go
        self.browser.wait("attune.openExperiment(attune.route.value.path[1]).filters.value.length === 0")

    def test_a_filter_by_keyboard(self):
        self.show_experiment(self.id)
        keys = self.browser.key
        keys("/")
        keys("Enter")
        self.browser.wait("document.querySelector('dialog[open]')")
        self.tab_to("SELECT")
        for _ in range(5):  # status, loss, lr, units: "u" would do where no other begins with it
            if self.browser.evaluate("document.activeElement.value") == "p:units":
                break
            keys("ArrowDown")
        self.browser.wait("document.activeElement.value === 'p:units' && document.querySelector('dialog [name=low]')")
        self.tab_to("INPUT")
        self.browser.type("10")
        keys("Tab")
        self.browser.type("30")
        keys("Enter")
        self.browser.wait("!document.querySelector('dialog[open]')")
        self.hash_with("f=p:units~10~30")
        self.check_all_show({i for i, one in self.trials.items() if 10 <= one["parameters"]["units"] <= 30})

        keys("/")
        keys("Enter")
        self.browser.wait("document.querySelector('dialog[open]')")
        self.tab_to("INPUT")
        for _ in range(page_case.STATUSES.index("failed")):
            keys("Tab")
        keys(" ")
        keys("Enter")
        self.hash_with("f=status~v~4")
        self.check_all_show({i for i, one in self.trials.items()
                             if 10 <= one["parameters"]["units"] <= 30 and one["status"] == "failed"})
        self.browser.evaluate("document.activeElement.blur()")

    def tab_to(self, tag):
        for _ in range(12):
            self.browser.key("Tab")
            if self.browser.evaluate("document.activeElement.tagName") == tag:
                return
        self.fail(f"Tab reaches no {tag}")

    def test_a_figure_by_keyboard(self):
        self.show_experiment(self.id, "f=p:act~v~1")
        self.drawn("History")
        self.browser.wait_text("of 60 trials")
        self.browser.evaluate("document.querySelector('section[aria-label=History] canvas').focus()")
        self.browser.key("ArrowRight")
        self.browser.key("ArrowRight")
        tip = self.browser.wait("document.querySelector('section[aria-label=History] .tip:not([hidden])')?.innerText")
        finished = [i for i, one in sorted(self.trials.items()) if one["parameters"]["act"] == "tanh"
                    and (one["score"] is not None or one["last"] is not None)]
        self.assertTrue(tip.startswith(f"trial {finished[1]}, "), (tip, finished))
        self.browser.key("Enter")
        self.browser.wait("(text) => document.querySelector('h1')?.textContent === text", f"Trial {finished[1]}")
        self.browser.evaluate("history.back()")
        self.browser.wait("document.querySelector('h1')?.textContent === 'digits'")
        self.check_all_show({i for i, one in self.trials.items() if one["parameters"]["act"] == "tanh"})

    def test_filters_are_there_after_a_look_at_a_trial(self):
        self.show_experiment(self.id, "f=p:act~v~1&sort=trial")
        before = self.browser.evaluate("location.hash")
        self.browser.evaluate("attune.openExperiment(attune.route.value.path[1]).openTrial(3), null")
        self.browser.wait("document.querySelector('h1')?.textContent === 'Trial 3'")
        self.browser.key("u")
        self.browser.wait("(hash) => decodeURIComponent(location.hash) === hash", before)
        self.browser.wait_text("of 60 trials")

    def test_a_computed_panel_says_that_it_shows_all_trials(self):
        self.show_experiment(self.id, "f=p:act~v~1&panel=importance")
        self.browser.wait_text("This is computed from all trials, whatever is selected.")

    def test_filters_of_an_old_address(self):
        for query in ("f=p:gone~1~2", "f=nonsense", "f=p:lr~a~b", "f=~~", "panel=gone&sort=gone&history.metric=9", "f=%"):
            with self.subTest(query):
                self.show_experiment(self.id, query, "digits")
                self.aria_rows()


if __name__ == "__main__":
    page_case.main()
