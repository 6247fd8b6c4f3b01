"""Names and output that are made to be taken for markup, code or layout are shown as text: ATTUNE [unittest's arguments]"""

import json

import page_case

LONG = "x" * 1_000_000
SCRIPT = "<script>window.pwned=1</script>"
IMAGE = "<img src=x onerror=window.pwned=1>"
TURNED = "abc\u202efed"  # an override of the direction of writing
NAME = IMAGE + "\"'&amp; \U0001f600 שלום " + TURNED
METRIC = "<i onclick=pwned=1>m</i> \"q\" 'r' \U0001f600"
LIMITED = TURNED + "~=1+1"
CHOICES = [SCRIPT, "\"quoted\" & 'more'", TURNED, "=cmd|' /C calc'!A0", "\U0001f600" * 40, "\x00\x1b[31m\x7f", LONG]
SPACE = {
    "x": {"_type": "uniform", "_value": [0, 1]},
    IMAGE: {"_type": "choice", "_value": CHOICES},
    "\"'`${pwned=1}\\ ~&?#/%00": {"_type": "uniform", "_value": [0, 1]},
    "שלום \U0001f600 " + TURNED: {"_type": "choice", "_value": [
        {"_name": SCRIPT, "in.ner~[0]": {"_type": "uniform", "_value": [0, 1]}}, {"_name": "constructor"}]},
    "__proto__": {"_type": "uniform", "_value": [0, 1]},
    LONG: {"_type": "uniform", "_value": [0, 1]},
}
LOG = f"{IMAGE}{SCRIPT}\n\x1b[31mred\x1b[0m \u202eturned\n{LONG}\n".encode() + b"\xff\xfe\x80 not UTF-8\nthe end\n"


class HostileTest(page_case.PageCase):
    @classmethod
    def prepare(cls):
        folder = cls.workshop.path
        (folder / "log").write_bytes(LOG)
        (folder / "result").write_text(json.dumps({METRIC: "SCORE", LIMITED: 1.5, SCRIPT: LONG}).replace('"SCORE"', "SCORE"))
        command = (f"cat {folder}/log; cat {folder}/log >&2; "
                   f"sed s/SCORE/{{x}}/ {folder}/result > $NNI_SYS_DIR/result.json")
        cls.id = cls.workshop.run(
            experimentName=NAME + LONG[:800], searchSpace=SPACE, trialConcurrency=4, maxTrialNumber=12, trialCommand=command,
            objectives=[{"metric": METRIC}, {"metric": LIMITED, "limit": 2}], report={"file": "result.json"},
            tuner={"name": "Random"})
        cls.other = cls.workshop.simulate("--epochs", "3", experimentName="‮" + SCRIPT, maxTrialNumber=5,
                                          searchSpace={IMAGE: SPACE["x"]})

    def check(self, wide=False):
        """Nothing of what was made up became an element, ran, or broke the layout."""
        found = self.browser.evaluate("""({
            elements: [...document.querySelectorAll('main img, main script, main i, main [onclick], main [onerror], iframe')]
                .map((one) => one.outerHTML.slice(0, 100)),
            pwned: window.pwned ?? null,
            wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
            failed: [...document.querySelectorAll('p.notice')].map((one) => one.textContent).filter((text) => text.includes('This part failed')),
        })""")
        self.assertEqual(found, {"elements": [], "pwned": None, "wide": 0, "failed": []})
        asked = [event for event in self.browser._events if event["method"] == "Page.javascriptDialogOpening"]
        self.assertEqual(asked, [])

    def test_the_list(self):
        self.show("#/", "Experiments")
        self.browser.wait("(text) => document.querySelector('tbody')?.innerText.includes(text)", IMAGE)
        self.browser.wait("(text) => document.querySelector('tbody')?.innerText.includes(text)", SCRIPT)
        self.check()
        self.browser.fill("[data-search]", "ONERROR=window")
        self.browser.wait_text("1 found")
        self.check()

    def test_panels(self):
        self.show_experiment(self.id)
        self.assertTrue(self.browser.evaluate("document.querySelector('h1').textContent").startswith(IMAGE))
        for title in ("History", "Trade-offs", "Parallel coordinates", "Slices of the model", "Workers and GPUs", "Learning curves", "Importance"):
            with self.subTest(title):
                self.drawn(title)
                self.check()
        self.browser.wait("document.querySelector('canvas[aria-label^=\"Importance:\"]')")
        self.see("Slices of the model")
        self.browser.wait("document.querySelector('canvas[aria-label^=\"Expected\"]')?.width")
        self.assertEqual(self.aria_rows(), 12)
        self.browser.wait("(text) => document.querySelector('[role=grid]').textContent.includes(text)", METRIC)
        self.check()
        rows = {row["trial"]: row for row in self.csv("Parallel coordinates")}
        for number, trial in self.workshop.trials(self.id).items():
            choice = trial["parameters"][IMAGE]
            # A spreadsheet must not run it.
            self.assertIn(rows[str(number)][IMAGE], (choice, "'" + choice))
            self.assertFalse(rows[str(number)][IMAGE].startswith("="))

    def test_slices_over_each_parameter(self):
        for parameter in self.dashboard.get(f"/experiments/{self.id}")["space"]:
            if len(parameter["name"]) > 1000:
                continue
            with self.subTest(parameter["name"]):
                self.show_experiment(self.id, "panel=slices&slices.x=" + page_case.quote(parameter["name"]))
                self.drawn("Slices of the model")
                self.browser.wait("""document.querySelector('canvas[aria-label^="Expected"]')?.width
                    || document.querySelector('section[aria-label="Slices of the model"] p.quiet[role=status]')""")
                self.check()

    def test_a_parameter_too_long_for_an_address(self):
        self.show_experiment(self.id, "panel=slices")
        self.drawn("Slices of the model")
        self.browser.evaluate("""() => {
            const choice = document.querySelector('section[aria-label="Slices of the model"] select');
            choice.selectedIndex = choice.options.length - 1;
            choice.dispatchEvent(new Event('change', {bubbles: true}));
        }""", None)
        self.browser.wait("document.querySelector('section[aria-label=\"Slices of the model\"] p.quiet[role=status]')")
        self.check()
        self.browser.problems.clear()  # the server refused the address

    def test_filters(self):
        self.show_experiment(self.id)
        self.browser.click("text=Filter…")
        count = self.browser.wait("document.querySelector('dialog[open] select')?.options.length")
        for at in range(count):
            self.browser.evaluate("""(at) => {
                const choice = document.querySelector('dialog select');
                choice.selectedIndex = at;
                choice.dispatchEvent(new Event('change', {bubbles: true}));
            }""", at)
            self.browser.wait("document.querySelector('dialog[open] input')")
            self.check()
        self.browser.key("Escape")
        self.browser.evaluate("(name) => attune.openExperiment(attune.route.value.path[1]).setFilter('p:' + name, {values: [0, 2]})", IMAGE)
        self.browser.wait("(text) => document.querySelector('.chips li')?.textContent.includes(text)", SCRIPT)
        self.browser.wait("location.hash.includes('f=')")
        kept = sum(one["parameters"][IMAGE] in (CHOICES[0], CHOICES[2]) for one in self.workshop.trials(self.id).values())
        hash = self.browser.evaluate("location.hash")
        self.show(hash)
        self.browser.wait_text(f"{kept} of 12 trials")
        self.check()

    def test_a_trial(self):
        for number in range(3):
            self.show(f"#/e/{self.id}/t/{number}", f"Trial {number}")
            self.assertIn(IMAGE, [row[0] for row in self.table_of("Parameters")])
            self.browser.wait("document.querySelector('pre[aria-label=stdout]')?.textContent.endsWith('the end\\n')")
            self.browser.click("text=The newest reports as text") if number == 0 else None
            self.check()
        self.assertIn(METRIC, [row[0] for row in self.table_of("Metrics")])

    def test_text_cannot_turn_what_follows_it(self):
        self.show_experiment(self.other)
        self.browser.wait("document.querySelector('h1').textContent.includes('<script>')")
        self.assertNotIn("\u202e", self.browser.evaluate("document.querySelector('main').textContent"))

    def test_compare(self):
        self.show(f"#/compare?e={self.id},{self.other}", "Compare")
        self.table_of("Final bests")
        self.browser.wait("document.querySelectorAll('section.panel canvas[role=img]').length === 2")
        self.check()

    def test_narrow(self):
        self.addCleanup(self.browser.resize, 1280, 900)
        self.browser.resize(360, 700)
        self.show_experiment(self.id)
        for title in ("History", "Trade-offs", "Parallel coordinates", "Slices of the model", "Trials"):
            self.see(title)
            self.check()
        self.show(f"#/e/{self.id}/t/1", "Trial 1")
        self.browser.wait("document.querySelector('pre[aria-label=stdout]')")
        self.check()
        self.show("#/", "Experiments")
        self.browser.wait("document.querySelector('tbody')")
        self.check()


if __name__ == "__main__":
    page_case.main()
