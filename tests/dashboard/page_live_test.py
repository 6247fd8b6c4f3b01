"""The page follows an experiment that runs, steers it, and outlives managers and servers: ATTUNE [unittest's arguments]"""

import json
import pathlib
import signal
import tempfile

import page_case
from page_case import wait_for

SPACE = {
    "x": {"_type": "uniform", "_value": [0, 1]},
    "net": {"_type": "choice", "_value": [{"_name": "conv", "kernel": {"_type": "randint", "_value": [1, 8]}},
                                          {"_name": "mlp"}]},
    "act": {"_type": "choice", "_value": ["relu", "tanh"]},
}


class LiveCase(page_case.PageCase):
    """Each test has a running experiment, whose trials end when a file with their job id appears."""

    begin = "echo r=0.25"
    tuner = {"name": "Random"}

    def setUp(self):
        super().setUp()
        self.gate = pathlib.Path(tempfile.mkdtemp(dir=self.workshop.path))
        command = (f"{self.begin}; echo line 1; until [ -e {self.gate}/$NNI_TRIAL_JOB_ID -o -e {self.gate}/all ]; "
                   "do sleep 0.05; done; echo r={x}")
        self.manager, self.id = self.workshop.start_run(
            experimentName="live", searchSpace=SPACE, trialCommand=command, trialConcurrency=2, maxTrialNumber=8,
            tuner=self.tuner, report={"regex": "r=(?<default>.*)"})
        self.addCleanup(self.end)
        self.follow("running")
        self.wait_tally("2 running")

    def end(self):
        self.let("all")
        self.browser.open("about:blank")
        self.workshop.close_managers()

    def let(self, name):
        (self.gate / name).touch()

    def follow(self, state):
        self.show_experiment(self.id, heading="live")
        self.wait_state(state)

    def wait_state(self, state):
        self.browser.wait("(state) => document.querySelector('main .badge')?.textContent === state", state)

    def wait_tally(self, text):
        self.browser.wait("""(text) => [...document.querySelectorAll('.facts div')].some(
            (one) => one.children[0].textContent === 'Trials' && one.children[1].textContent.includes(text))""", text)

    def press(self, name):
        self.browser.click("text=" + name)
        return self.browser.wait("document.querySelector('dialog[open] h2')?.textContent")

    def confirm(self, verb, said):
        self.browser.click("text=" + verb)
        self.browser.wait("(text) => document.querySelector('.toast')?.textContent.includes(text)", said)
        self.browser.wait("!document.querySelector('dialog[open]')")

    def state(self):
        return self.dashboard.get(f"/experiments/{self.id}")

    def check_complete(self, count):
        """The page holds each trial once, as the store has it."""
        self.browser.wait("(count) => attune.openExperiment(attune.route.value.path[1]).count === count", count)
        self.assertEqual(self.aria_rows(), count)
        stored = self.workshop.trials(self.id)
        wait_for(lambda: {int(row["trial"]): row["status"] for row in self.csv("History")}
                 == {i: one["status"] for i, one in stored.items()}, "all trials in the page")
        self.assertEqual(len(self.csv("History")), count)


class FollowTest(LiveCase):
    def test_a_running_experiment_is_followed(self):
        self.assertEqual([row[0] for row in self.table_of("Trials that run or wait")], ["t0000", "t0001"])
        self.let("t0000")
        self.wait_tally("1 succeeded")
        self.browser.wait("""[...document.querySelectorAll('section[aria-label="Trials that run or wait"] tbody tr')]
            .map((row) => row.cells[0].innerText).join() === 't0001,t0002'""")
        score = self.browser.evaluate("attune.number", self.workshop.trials(self.id)[0]["score"])
        self.browser.wait("(text) => document.querySelector('.facts dd').innerText.startsWith(text)", score)
        self.see("History")
        self.browser.wait("document.querySelector('section[aria-label=History] canvas').getAttribute('aria-label').includes(': 1 final results')")
        self.show(f"#/e/{self.id}/t/1", "Trial 1")
        self.browser.wait("document.querySelector('pre[aria-label=stdout]')?.textContent.includes('line 1')")
        self.let("t0001")
        self.browser.wait("document.querySelector('main .badge').textContent === 'succeeded'")
        self.browser.wait("document.querySelector('pre[aria-label=stdout]').textContent.trim().split('\\n').length === 3")
        self.browser.evaluate("location.hash = '#/'")
        self.browser.wait("document.querySelector('h1')?.textContent === 'Experiments'")
        self.let("all")
        self.browser.wait("""(id) => [...document.querySelectorAll('tbody tr')].some((row) =>
            row.innerText.includes(id) && row.innerText.includes('completed') && row.cells[4].innerText === '8')""", self.id)
        self.follow("completed")
        self.check_complete(8)

    def test_a_manager_that_is_killed_and_resumed(self):
        self.let("t0000")
        self.wait_tally("1 succeeded")
        self.manager.send_signal(signal.SIGKILL)
        self.manager.wait()
        self.wait_state("killed")
        self.assertEqual(self.browser.evaluate("[...document.querySelectorAll('[aria-label=Actions] button')].map((one) => one.textContent)"),
                         ["Resume…"])
        self.assertEqual(self.press("Resume…"), "Resume the experiment")
        self.confirm("Resume", "A manager starts")
        self.wait_state("running")
        self.let("all")
        self.wait_state("completed")
        self.wait_tally("8 succeeded")
        self.check_complete(8)
        self.assertEqual(self.state()["runs"], 2)

    def test_a_server_that_is_started_again(self):
        self.let("t0000")
        self.wait_tally("1 succeeded")
        port = self.dashboard.port
        self.dashboard.close()
        self.browser.wait_text("connection lost, trying again")
        self.let("t0001")
        wait_for(lambda: self.workshop.trials(self.id)[1]["status"] == "succeeded", "trial 1 to end")
        self.serve(f"127.0.0.1:{port}")
        # Each server draws its cookie and its key anew. The page asks for the token, and stays where it was.
        self.browser.wait_text("Open the link that attune dashboard prints")
        self.browser.fill("input[type=password]", self.dashboard.link)
        self.browser.key("Enter")
        self.wait_tally("2 succeeded")
        self.assertIn(self.id, self.browser.evaluate("location.hash"))
        self.browser.wait("!document.body.innerText.includes('connection lost')")
        self.let("all")
        self.wait_state("completed")
        self.check_complete(8)
        self.browser.problems.clear()  # the connections that were refused meanwhile


class ActionsTest(LiveCase):
    def test_add_a_trial_as_another_one(self):
        first = self.workshop.trials(self.id)[0]["parameters"]
        self.assertEqual(self.press("Add a trial…"), "Add a trial")
        self.browser.fill("dialog input[type=number]", "0")  # as in trial
        self.browser.click("text=Fill in")
        self.browser.wait("(x) => Number(document.querySelector('dialog .fields input').value) === x", first["x"])
        self.browser.fill("dialog .fields input", "0.125")
        self.browser.click("text=Cancel")
        self.browser.wait("!document.querySelector('dialog[open]')")
        self.assertEqual(len(self.workshop.trials(self.id)), 2)  # nothing was added

        self.press("Add a trial…")
        self.browser.fill("dialog input[type=number]", "0")
        self.browser.click("text=Fill in")
        self.browser.wait("(x) => Number(document.querySelector('dialog .fields input').value) === x", first["x"])
        self.browser.fill("dialog .fields input", "0.125")
        self.confirm("Add", "Added t0002")
        added = self.workshop.trials(self.id)[2]
        self.assertEqual(added["parameters"], {**first, "x": 0.125})
        self.assertEqual(added["source"], "customized")
        self.browser.wait("[...document.querySelectorAll('caption')].some((one) => one.parentElement.innerText.includes('t0002'))")

    def test_add_one_that_is_refused(self):
        self.press("Add a trial…")
        self.browser.click("text=As JSON")
        self.browser.fill("dialog textarea", '{"x": 7,\n "net": }')
        self.browser.wait_text("This is not JSON")
        self.browser.fill("dialog textarea", '{"x": 7, "net": {"_name": "mlp"}, "act": "relu"}')
        self.browser.click("text=Add")
        said = self.browser.wait("document.querySelector('dialog[open] [role=alert]')?.textContent")
        self.assertIn("x", said)
        self.browser.fill("dialog textarea", '{"x": 0.5, "net": {"_name": "mlp"}, "act": "relu"}')
        self.confirm("Add", "Added t0002")
        self.assertEqual(self.workshop.trials(self.id)[2]["parameters"], {"x": 0.5, "net": {"_name": "mlp"}, "act": "relu"})
        self.browser.problems.clear()  # the status of the one that was refused

    def test_kill_a_trial(self):
        self.show(f"#/e/{self.id}/t/1", "Trial 1")
        self.browser.wait("document.querySelector('[aria-label=Actions]')")
        self.assertEqual(self.press("Stop this trial…"), "Stop trial 1")
        self.browser.key("Escape")
        self.browser.wait("!document.querySelector('dialog[open]')")
        self.assertEqual(self.workshop.trials(self.id)[1]["status"], "running")
        self.press("Stop this trial…")
        self.confirm("Stop the trial", "Trial 1 is stopped")
        self.browser.wait("document.querySelector('main .badge').textContent === 'canceled'")
        self.assertEqual(self.workshop.trials(self.id)[1]["status"], "user_canceled")

    def test_change_limits(self):
        self.assertEqual(self.press("Limits…"), "Concurrency and limits")
        self.browser.fill("#limit-concurrency", "3")
        self.browser.fill("#limit-max_trials", "5")
        self.browser.click("dialog [aria-label=Close]")
        self.browser.wait("!document.querySelector('dialog[open]')")
        self.assertEqual(self.state()["concurrency"], 2)
        self.press("Limits…")
        self.assertEqual(self.browser.evaluate("document.querySelector('#limit-concurrency').value"), "2")
        self.browser.fill("#limit-concurrency", "3")
        self.browser.fill("#limit-max_trials", "5")
        self.confirm("Change", "The limits are changed")
        self.wait_tally("3 running")
        self.assertEqual((self.state()["concurrency"], self.state()["max_trials"]), (3, 5))
        facts = self.facts()
        self.assertEqual((facts["Runs at once"], facts["Limits"]), ("3", "5 trials"))

    def test_change_the_search_space(self):
        self.press("Search space…")
        space = json.loads(self.browser.evaluate("document.querySelector('dialog textarea').value"))
        self.assertEqual(space, SPACE)
        space["act"]["_value"].append("gelu")
        self.browser.fill("dialog textarea", json.dumps(space))
        self.confirm("Change", "The search space is changed")
        self.browser.wait("attune.openExperiment(attune.route.value.path[1]).space.at(-1).choices.includes('gelu')")

    def test_somebody_else_changes_the_search_space(self):
        other = {**SPACE, "act": {"_type": "choice", "_value": ["tanh", "relu"]}}
        status, _ = self.dashboard.ask(f"/api/v1/experiments/{self.id}", "PATCH", {"search_space": other})
        self.assertEqual(status, 200)
        self.browser.wait("attune.openExperiment(attune.route.value.path[1]).space.at(-1).choices[0] === 'tanh'")
        stored = self.workshop.trials(self.id)
        for row in self.csv("Parallel coordinates"):
            self.assertEqual(row["act"], stored[int(row["trial"])]["parameters"]["act"])

    def test_stop_and_resume(self):
        self.assertEqual(self.press("Stop…"), "Stop the experiment")
        self.browser.click("text=Cancel")
        self.browser.wait("!document.querySelector('dialog[open]')")
        self.assertIsNone(self.manager.poll())
        self.press("Stop…")
        self.browser.click("dialog input[type=checkbox]")  # kill the trials at once
        self.confirm("Stop", "The experiment stops")
        self.wait_state("interrupted")
        self.press("Resume…")
        self.confirm("Resume", "A manager starts")
        self.wait_state("running")
        self.let("all")
        self.wait_state("completed")


class BudgetTest(LiveCase):
    begin = ":"  # a report would use up the budget
    tuner = {"name": "Hyperband", "classArgs": {"optimize_mode": "maximize", "R": 9, "eta": 3}}

    def test_add_one_like_a_trial_with_a_budget(self):
        known = self.workshop.trials(self.id)[0]["parameters"]
        self.assertIn("TRIAL_BUDGET", known)
        self.show(f"#/e/{self.id}/t/0", "Trial 0")
        self.browser.wait("document.querySelector('[aria-label=Actions]')")
        self.press("Add one like this…")
        self.confirm("Add", "Added t0002")
        del known["TRIAL_BUDGET"]
        added = self.workshop.trials(self.id)[2]["parameters"]
        self.assertEqual({name: added[name] for name in known}, known)


class ReadOnlyTest(LiveCase):
    options = ("--read-only",)

    def test_actions_are_hidden(self):
        self.browser.wait_text("read only")
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('[aria-label=Actions]').length"), 0)
        self.show(f"#/e/{self.id}/t/1", "Trial 1")
        self.browser.wait("attune.openExperiment(attune.route.value.path[1]).info.value")
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('[aria-label=Actions]').length"), 0)


if __name__ == "__main__":
    page_case.main()
