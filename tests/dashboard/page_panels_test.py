"""Every panel and page shows what the store holds: ATTUNE [unittest's arguments]"""

import json
import pathlib
import tempfile

import page_case

SPACE = {
    "lr": {"_type": "loguniform", "_value": [1e-4, 1]},
    "units": {"_type": "randint", "_value": [4, 65]},
    "act": {"_type": "choice", "_value": ["relu", "tanh", "gelu"]},
}
# Prints what it got, and a result.
COMMAND = "echo begun with {lr}; echo to the other stream >&2; echo r={units}"


def rounded(value, digits=6):
    return None if value in (None, "") else float(f"{float(value):.{digits}g}")


class PanelsTest(page_case.PageCase):
    @classmethod
    def prepare(cls):
        tuner = {"name": "TPE", "classArgs": {"optimize_mode": "maximize"}}
        common = {"searchSpace": SPACE, "trialConcurrency": 4, "maxTrialNumber": 60, "tuner": tuner}
        cls.digits = cls.workshop.simulate("--epochs", "12", "--seed", "3", experimentName="digits", **common,
                                           simulation={"failRate": 0.2})
        stopped = {"name": "Medianstop", "classArgs": {"optimize_mode": "maximize", "start_step": 3}}
        cls.early = cls.workshop.simulate("--epochs", "12", "--seed", "4", experimentName="early", **common,
                                          assessor=stopped)
        cls.real = cls.workshop.run(experimentName="real", **{**common, "maxTrialNumber": 3}, trialCommand=COMMAND,
                                    report={"regex": "r=(?<default>.*)"})
        cls.trials = cls.workshop.trials(cls.digits)
        cls.scores = {i: one["score"] for i, one in cls.trials.items() if one["score"] is not None}
        cls.best = max(cls.scores, key=lambda i: cls.scores[i])
        assert 0 < len(cls.scores) < len(cls.trials), "some of the trials have to fail"

    def number(self, value):
        """A number as the page writes it."""
        return self.browser.evaluate("attune.number", value)

    def test_the_list(self):
        self.show("#/", "Experiments")
        rows = {row[1].split("\n")[0]: row for row in self.table_of("Experiments")}
        for one in self.workshop.lines("list"):
            row = rows.pop(one["name"])
            trials = one["trials"]
            self.assertEqual(row[1].split("\n")[-1], one["experiment_id"])
            self.assertEqual(row[2], "completed")
            self.assertEqual(row[3].split("\n")[0], self.number(one["best"]["score"]))
            self.assertEqual(row[4], str(trials["succeeded"] + trials["failed"] + trials["early_stopped"]))
            self.assertEqual(row[7], str(trials["failed"]))
        self.assertEqual(rows, {})
        self.browser.wait_text(f"{len(self.workshop.ids())} experiments, 0 running.")
        self.browser.fill("[data-search]", "digi")
        self.browser.wait_text("1 found")
        self.assertEqual(len(self.table_of("Experiments")), 1)
        self.assertIn("q=digi", self.browser.evaluate("location.hash"))

    def test_the_head_of_an_experiment(self):
        self.show_experiment(self.digits, heading="digits")
        facts = self.facts()
        failed = len(self.trials) - len(self.scores)
        self.assertEqual(facts["Best"], f"{self.number(self.scores[self.best])} (default ↑, trial {self.best})")
        self.assertEqual(facts["Trials"], f"{len(self.scores)} succeeded, {failed} failed")
        self.assertEqual((facts["Runs at once"], facts["Limits"], facts["Tuner"]), ("4", "60 trials", "TPE"))
        self.browser.wait_text(f"{failed} × exit code 1")
        example = self.browser.evaluate("document.querySelector('[aria-label=Failures] li a').hash")
        self.assertEqual(self.trials[int(example.split("/")[-1])]["status"], "failed")
        self.browser.click("text=Events of the experiment")
        self.browser.wait_text("There are none.")
        self.browser.click("text=Experiment file")
        file = json.loads(self.browser.wait("[...document.querySelectorAll('details[open] pre')].at(-1)?.textContent"))
        self.assertEqual(file["searchSpace"], SPACE)

    def test_history(self):
        self.show_experiment(self.digits)
        sentence = self.drawn("History")
        self.assertIn(f"{len(self.scores)} final results", sentence)
        self.assertIn(f"{self.number(self.scores[self.best])} of trial {self.best}", sentence)
        rows = self.csv("History")
        self.assertEqual([int(row["trial"]) for row in rows], sorted(self.trials))
        for row in rows:
            trial = self.trials[int(row["trial"])]
            self.assertEqual(row["status"], trial["status"])
            self.assertEqual(rounded(row["default"]), rounded(trial["score"]))

    def test_curves(self):
        self.show_experiment(self.digits, "curves.best=5")
        self.see("Learning curves")
        self.browser.wait("document.querySelector('canvas[aria-label^=\"Learning curves of 5 trials\"]')?.width")
        lines = {}
        for row in self.csv("Learning curves"):
            lines.setdefault(row["line"], []).append(float(row["default"]))
        wanted = sorted(self.scores, key=lambda i: -self.scores[i])[:5]
        self.assertEqual([name for name in lines if name.startswith("trial")], [f"trial {i}" for i in wanted])
        for i in wanted:
            reports = self.workshop.json("show", str(i), "-e", self.digits)["report_list"]
            values = [one["score"] for one in reports if one["type"] == "periodical"]
            self.assertEqual(lines[f"trial {i}"], values)

    def test_parallel_coordinates(self):
        self.show_experiment(self.digits)
        self.assertEqual(self.drawn("Parallel coordinates"), "Parallel coordinates of 60 trials over lr, units, act, default.")
        for row in self.csv("Parallel coordinates"):
            trial = self.trials[int(row["trial"])]
            self.assertAlmostEqual(float(row["lr"]) / trial["parameters"]["lr"], 1, places=6)  # 24 bits
            self.assertEqual(int(row["units"]), trial["parameters"]["units"])
            self.assertEqual(row["act"], trial["parameters"]["act"])

    def test_importance(self):
        for query, options in (("", ()), ("importance.method=fanova", ("--method", "fanova"))):
            with self.subTest(query):
                self.show_experiment(self.digits, query)
                self.see("Importance")
                self.browser.wait("document.querySelector('canvas[aria-label^=\"Importance:\"]')?.width")
                wanted = self.workshop.json("importance", self.digits, *options)
                shown = {row["parameter"]: float(row["share"]) for row in self.csv("Importance")}
                self.assertEqual(shown.keys(), {one["parameter"] for one in wanted["parameters"]})
                for one in wanted["parameters"]:
                    self.assertAlmostEqual(shown[one["parameter"]], one["share"], places=9)

    def test_importance_of_pairs(self):
        self.show_experiment(self.digits, "importance.method=fanova&importance.pairs=1")
        self.see("Importance")
        self.browser.wait("document.querySelector('canvas[aria-label^=\"Importance:\"]')?.width")
        shown = {row["parameter"]: float(row["share"]) for row in self.csv("Importance")}
        wanted = self.workshop.json("importance", self.digits, "--pairs")
        self.assertTrue(wanted["pairs"])
        for one in wanted["pairs"]:
            self.assertAlmostEqual(shown[" × ".join(one["parameters"])], one["share"], places=9)

    def test_slices(self):
        self.show_experiment(self.digits)
        self.see("Slices of the model")
        self.browser.wait("document.querySelector('canvas[aria-label^=\"Expected default over lr\"]')?.width")
        held = self.dashboard.get(f"/experiments/{self.digits}/posterior?x=lr")
        rows = self.csv("Slices of the model")
        self.assertEqual([float(row["mean"]) for row in rows], held["mean"])
        self.assertEqual([float(row["lr"]) for row in rows], held["x"]["values"])
        # What varies is none of the others, which stay as they are in the best trial.
        others = self.trials[self.best]["parameters"]
        self.browser.wait_text(f"Others: units = {others['units']}, act = {others['act']}")

    def test_a_map_of_the_model(self):
        self.show_experiment(self.digits, "slices.x=lr&slices.y=units&panel=slices")
        self.browser.wait("document.querySelector('canvas[aria-label^=\"Map of the uncertainty\"]')?.width")
        held = self.dashboard.get(f"/experiments/{self.digits}/posterior?x=lr&y=units")
        rows = self.csv("Slices of the model")
        self.assertEqual([float(row["mean"]) for row in rows], held["mean"])
        width = len(held["x"]["values"])
        self.assertEqual(float(rows[width + 1]["lr"]), held["x"]["values"][1])
        self.assertEqual(float(rows[width + 1]["units"]), held["y"]["values"][1])

    def test_timeline(self):
        self.show_experiment(self.digits)
        self.assertIn("Timeline of 4 workers", self.drawn("Workers and GPUs"))
        for row in self.csv("Workers and GPUs"):
            trial = self.trials[int(row["trial"])]
            self.assertAlmostEqual(float(row["started"]), trial["started"], places=3)
            self.assertAlmostEqual(float(row["ended"]), trial["ended"], places=3)

    def test_timeline_of_gpus(self):
        experiment = self.workshop.run(
            experimentName="gpus", searchSpace={"x": {"_type": "uniform", "_value": [0, 1]}}, maxTrialNumber=3,
            trialConcurrency=1, trialCommand="echo r={x}", report={"regex": "r=(?<default>.*)"}, trialGpuNumber=2,
            trainingService={"platform": "local", "gpuIndices": [0, 1, 5]}, tuner={"name": "Random"})
        held = [self.workshop.json("show", "--dir", "attune-experiments", "-e", experiment, str(i))["attempt_list"][0]["gpus"]
                for i in range(3)]
        self.show_experiment(experiment)
        self.assertIn("Timeline of 3 workers", self.drawn("Workers and GPUs"))
        self.assertEqual([row["worker"] for row in self.csv("Workers and GPUs")], ["gpu " + gpus for gpus in held])
        self.assertEqual(len(set(held)), 3)
        # The address names the place: each page numbers the places anew.
        self.show_experiment(experiment, "f=worker~n~" + page_case.quote(page_case.quote("gpu " + held[2], safe=""), safe=""))
        self.browser.wait_text("1 of 3 trials")
        self.assertEqual([row["trial"] for row in self.csv("Workers and GPUs")], ["2"])
        self.browser.wait_text("worker: gpu " + held[2])

    def test_the_table(self):
        self.show_experiment(self.digits, "sort=-m:default")
        self.assertEqual(self.aria_rows(), 60)
        first = self.browser.wait("""(() => {
            const row = document.querySelector('[role=grid] .rows [role=row]');
            return row && [...row.children].map((one) => one.textContent);
        })()""")
        self.assertEqual(first[:3], [str(self.best), "succeeded", self.number(self.scores[self.best])])
        name, text = self.saved("section[aria-label=Trials] .body button")
        self.assertEqual(name, f"{self.digits}-trials.csv")
        rows = page_case.rows_of(text)
        scores = [float(row["default"]) for row in rows if row["default"]]
        self.assertEqual(scores, sorted(self.scores.values(), reverse=True))
        self.assertEqual({int(row["trial"]) for row in rows}, set(self.trials))
        self.assertEqual({row["act"] for row in rows}, set(SPACE["act"]["_value"]))
        for row in rows:
            known = self.trials[int(row["trial"])]
            self.assertEqual(row["status"], known["status"])
            self.assertLess(len(row["lr"]), 13)  # the digits of a float, not those of a double
            self.assertAlmostEqual(float(row["lr"]) / known["parameters"]["lr"], 1, places=6)

    def test_large_integers_sets_and_equal_candidates(self):
        space = {"seed": {"_type": "randint", "_value": [0, 2000000000]},
                 "parts": {"_type": "input_choice", "_value": {"candidates": ["a", "b", "c"], "n_chosen": 2}},
                 "size": {"_type": "choice", "_value": [1, 1, 2]}}
        experiment = self.workshop.simulate("--epochs", "2", experimentName="sets", searchSpace=space, maxTrialNumber=12,
                                            trialConcurrency=2, tuner={"name": "Random"})
        held = self.workshop.trials(experiment)
        self.show_experiment(experiment, heading="sets")
        self.see("Trials")
        rows = page_case.rows_of(self.saved("section[aria-label=Trials] .body button")[1])
        self.assertEqual(len(rows), 12)
        for row in rows:
            known = held[int(row["trial"])]["parameters"]
            self.assertEqual(int(row["seed"]), known["seed"])
            self.assertEqual(row["parts"], " + ".join(known["parts"]["_value"]))
        shown = self.browser.evaluate("""[...document.querySelectorAll('[role=grid] .rows [role=row]')]
            .map((one) => [one.children[0], one.children[6]].map((cell) => cell.textContent))""")
        for trial, parts in shown:
            self.assertEqual(parts, " + ".join(held[int(trial)]["parameters"]["parts"]["_value"]))
        self.show_experiment(experiment, "slices.x=size&panel=slices", "sets")
        self.assertEqual([row["size"] for row in self.csv("Slices of the model")], ["1", "2"])

    def test_timeline_of_paused_trials(self):
        experiment = self.workshop.simulate(
            "--epochs", "9", "--seed", "5", experimentName="halving", searchSpace=SPACE, trialConcurrency=3, maxTrialNumber=12,
            tuner={"name": "ASHA", "classArgs": {"optimize_mode": "maximize", "max_t": 9, "reduction_factor": 3}})
        held = {i: self.workshop.json("show", "-e", experiment, str(i))["attempt_list"]
                for i in self.workshop.trials(experiment)}
        self.assertTrue(any(len(attempts) > 1 for attempts in held.values()), "some of the trials have to be paused")
        self.show_experiment(experiment, heading="halving")
        self.drawn("Workers and GPUs")
        rows = self.csv("Workers and GPUs")
        for i, attempts in held.items():
            mine = [row for row in rows if int(row["trial"]) == i]
            self.assertEqual(len(mine), len(attempts))
            for row, attempt in zip(mine, attempts):
                self.assertAlmostEqual(float(row["started"]), attempt["started"], places=3)
                self.assertAlmostEqual(float(row["ended"]), attempt["ended"], places=3)
            self.assertEqual({row["status"] for row in mine[:-1]} - {"paused"}, set())

    def test_a_figure_is_saved_as_a_file(self):
        self.show_experiment(self.digits)
        self.drawn("History")
        with tempfile.TemporaryDirectory() as folder:
            self.browser.downloads(folder)
            self.browser.click("section[aria-label=History] [aria-label='Save this figure as SVG']")
            file = pathlib.Path(folder) / "history.svg"
            page_case.wait_for(file.exists, "the download")
            text = file.read_text()
        self.assertTrue(text.startswith("<svg") and text.rstrip().endswith("</svg>"), text[:200])
        self.assertIn("best so far", text)

    def test_a_simulated_trial(self):
        known = self.workshop.json("show", str(self.best), "-e", self.digits)
        self.show(f"#/e/{self.digits}/t/{self.best}", f"Trial {self.best}")
        self.browser.wait_text("This is the best trial.")
        self.assertEqual(self.facts()["Score"], self.number(known["score"]))
        shown = {row[0]: row[1] for row in self.table_of("Parameters")}
        self.assertEqual(shown, {name: self.number(value) for name, value in known["parameters"].items()})
        self.assertIn(f"{len(known['report_list']) - 1} values", self.drawn("Reports"))
        self.browser.click("text=The newest reports as text")
        reports = self.table_of("Reports")
        self.assertEqual([row[3] for row in reports], [self.number(one["score"]) for one in known["report_list"]][::-1])
        self.assertNotIn("Output", self.browser.evaluate("[...document.querySelectorAll('h2')].map((one) => one.textContent)"))

    def test_decisions_with_their_reasons(self):
        stopped = next(i for i, one in self.workshop.trials(self.early).items() if one["status"] == "early_stopped")
        known = self.workshop.json("show", str(stopped), "-e", self.early)
        self.show(f"#/e/{self.early}/t/{stopped}", f"Trial {stopped}")
        rows = self.table_of("Decisions")
        self.assertEqual([row[1:] for row in rows], [[one["action"], one["by"], one["reason"]] for one in known["decision_list"]])
        self.assertTrue(known["reason"])
        self.assertIn(known["reason"], self.browser.text())

    def test_a_real_trial_has_its_output_and_files(self):
        known = self.workshop.json("show", "1", "-e", self.real)
        self.show(f"#/e/{self.real}/t/1", "Trial 1")
        log = self.browser.wait("document.querySelector('pre[aria-label=stdout]')?.textContent")
        self.assertIn("begun with", log)
        self.assertIn(f"r={known['parameters']['units']}\n", log)
        self.browser.click("[aria-label=Stream] button:last-child")
        self.browser.wait("document.querySelector('pre[aria-label=stderr]')?.textContent === 'to the other stream\\n'")
        self.assertIn("log=stderr", self.browser.evaluate("location.hash"))
        place = 1 + [row[0] for row in self.table_of("Files")].index("parameter.cfg")
        (attempt,) = self.table_of("Attempts")
        self.assertEqual(attempt[3], "succeeded: exit code 0")
        name, text = self.saved(f"[aria-label=Files] tbody tr:nth-child({place}) button")
        self.assertEqual(name, "parameter.cfg")
        self.assertEqual(json.loads(text)["parameters"], known["parameters"])

    def test_compare(self):
        self.show("#/", "Experiments")
        for name in ("digits", "early"):
            self.browser.click(f"label=Choose {name} to compare")
        self.browser.click("text=Compare 2")
        self.browser.wait("document.querySelector('h1')?.textContent === 'Compare'")
        rows = {row[0]: row for row in self.table_of("Final bests", rows=2)}
        for one in self.workshop.lines("list"):
            if one["name"] != "real":
                self.assertEqual(rows[one["name"]][2], self.number(one["best"]["score"]))
        self.browser.wait("document.querySelectorAll('section.panel canvas[role=img]').length === 2")
        lines = {}
        for row in self.csv("Best so far over trials"):
            lines.setdefault(row["line"], []).append((int(row["trials that ended"]), float(row["default, default"
                                                      if "default, default" in row else "default"])))
        # The best so far, told again from the store: trials count when they end.
        best, wanted = None, []
        ended = sorted(self.trials.values(), key=lambda one: (one["ended"], one["sequence"]))
        for place, trial in enumerate(ended, 1):
            if trial["score"] is not None and (best is None or trial["score"] > best):
                best = trial["score"]
                wanted.append((place, best))
        self.assertEqual(lines["digits"][:len(wanted)], wanted)


if __name__ == "__main__":
    page_case.main()
