"""What the tests of the page share: experiments, attune dashboard and a browser that shows it.

    class ThePage(page_case.PageCase):
        def prepare(cls): …    # experiments that all tests look at

    if __name__ == "__main__":
        page_case.main()       # ATTUNE [unittest's arguments]; exits with 77 where there is no browser
"""

import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from urllib.parse import quote  # noqa: F401

import browser

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "system"))
from dashboard_server import Dashboard  # noqa: E402
from pool_programs import wait_for, wait_until_unused  # noqa: E402

ATTUNE = None  # the program, see main()
STATUSES = ["pending", "running", "paused", "succeeded", "failed", "early_stopped", "user_canceled"]


def main():
    global ATTUNE
    ATTUNE = sys.argv.pop(1)
    # Test modules import this one by its name, while unittest runs __main__.
    browser.main()


def rows_of(text):
    """The rows of a CSV, as dictionaries by its headings."""
    csv.field_size_limit(1 << 30)
    return list(csv.DictReader(io.StringIO(text, newline="")))


class Workshop:
    """A working directory with experiments, and the managers that were started in it."""

    def __init__(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="page-")
        self.path = pathlib.Path(self.temporary.name)
        self.managers = []

    def write(self, **keys):
        """Writes an experiment file; YAML reads JSON."""
        file = self.path / "experiment.yaml"
        file.write_text(json.dumps(keys))
        return str(file)

    def command(self, *words, code=0):
        """Runs attune to its end; returns what it printed."""
        done = subprocess.run([ATTUNE, *words], cwd=self.path, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=300)
        assert done.returncode == code, (words, done.returncode, done.stderr)
        return done.stdout

    def json(self, *words):
        return json.loads(self.command(*words, "--json"))

    def lines(self, *words):
        """Of commands that print one object a line."""
        text = self.command(*words, "--json").strip()
        value = json.loads(text)
        return value if isinstance(value, list) else [value]

    def simulate(self, *options, **keys):
        """Runs an experiment in virtual time; returns its id."""
        known = self.ids()
        self.command("simulate", self.write(trialCommand="true", **keys), "--quiet", *options)
        return (self.ids() - known).pop()

    def run(self, code=0, **keys):
        """Runs an experiment to its end; returns its id."""
        known = self.ids()
        self.command("run", self.write(**keys), "--quiet", code=code)
        return (self.ids() - known).pop()

    def start(self, *words):
        """A manager that runs on: attune with these words."""
        manager = subprocess.Popen([ATTUNE, *words], cwd=self.path, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.managers.append(manager)
        return manager

    def start_run(self, **keys):
        """Starts an experiment; returns its manager and its id."""
        known = self.ids()
        manager = self.start("run", self.write(**keys), "--quiet")
        wait_for(lambda: self.ids() - known or manager.poll() is not None, "the new experiment")
        return manager, (self.ids() - known).pop()

    def ids(self):
        if not (self.path / "attune-experiments").exists():
            return set()
        try:
            return {one["experiment_id"] for one in self.json("list")}
        except AssertionError:  # the store is just being made
            return set()

    def trials(self, experiment):
        """As the store holds them, by number."""
        return {one["sequence"]: one for one in self.json("trials", experiment)}

    def close_managers(self):
        for manager in self.managers:
            if manager.poll() is None:
                manager.terminate()
        for manager in self.managers:
            try:
                manager.wait(60)
            except subprocess.TimeoutExpired:
                manager.kill()
                manager.wait()
        self.managers.clear()

    def close(self):
        self.close_managers()
        wait_until_unused(self.path)  # the server's resume starts managers that outlive it
        self.temporary.cleanup()


class PageCase(unittest.TestCase):
    """Each test begins on an empty page and must leave no error, no violation of the policy and no problem."""

    options = ()  # of attune dashboard
    browser_options = {}

    @classmethod
    def prepare(cls):
        """Makes experiments in cls.workshop."""

    @classmethod
    def setUpClass(cls):
        cls.workshop = Workshop()
        cls.addClassCleanup(cls.workshop.close)
        cls.prepare()
        # Below the folder, but hidden: the server looks for experiments there.
        (cls.workshop.path / ".dashboard").mkdir()
        cls.token_file = str(cls.workshop.path / ".dashboard" / "token")
        cls.serve()
        cls.addClassCleanup(lambda: cls.dashboard.close())  # that which runs then
        cls.browser = cls.enterClassContext(browser.Browser(**cls.browser_options))
        cls.browser.open(cls.dashboard.link)
        cls.browser.wait("document.querySelector('h1')?.textContent === 'Experiments'")

    @classmethod
    def serve(cls, listen="127.0.0.1:0"):
        """Starts the server, with the token that it had before."""
        cls.dashboard = Dashboard(ATTUNE, cls.workshop.path, "--token-file", cls.token_file, *cls.options, listen=listen)

    def setUp(self):
        self.browser.problems.clear()

    def tearDown(self):
        # 409 says that there are too few results for a model; browsers write each such status to the console.
        self.assertEqual([one for one in self.browser.problems if "status of 409" not in one], [])

    def show(self, address, heading=None):
        """Loads the page anew with an address, such as "#/e/abc", and waits for its heading."""
        self.browser.open("about:blank")
        self.browser.open(f"http://127.0.0.1:{self.dashboard.port}/{address}")
        self.browser.wait("""(text) => {
            const found = document.querySelector('h1')?.textContent;
            return found && (text === null || found === text);
        }""", heading)

    def show_experiment(self, experiment, query="", heading=None):
        self.show(f"#/e/{experiment}" + (f"?{query}" if query else ""), heading)
        self.browser.wait("attune.openExperiment(attune.route.value.path[1]).loading.value === false")

    def see(self, title):
        """Scrolls to a panel and waits until it is built; returns its selector."""
        selector = f"section[aria-label={json.dumps(title)}]"
        self.browser.wait("""(selector) => {
            const found = document.querySelector(selector);
            found?.scrollIntoView({block: 'center', behavior: 'instant'});
            return !!found?.querySelector('.body')?.firstChild;
        }""", selector)
        return selector

    def drawn(self, title):
        """Waits until the figure of a panel shows what the server answered; returns the sentence that tells it."""
        return self.browser.wait("""(selector) => {
            const canvas = document.querySelector(selector + ' canvas[role=img]');
            const text = canvas?.getAttribute('aria-label');
            return canvas?.width && canvas.ariaBusy === 'false' && text?.includes(' ') ? text : null;
        }""", self.see(title))

    def table_of(self, caption, rows=0):
        """The cells of a small table, as lists of texts, without its heading. Waits until it has so many rows."""
        return self.browser.wait("""(caption, rows) => {
            const found = [...document.querySelectorAll('caption')].find((one) => one.textContent === caption);
            const body = found.parentElement.tBodies[0].rows;
            return body.length >= rows && [...body].map((row) => [...row.cells].map((one) => one.innerText));
        }""", caption, rows)

    def facts(self):
        return self.browser.evaluate("""Object.fromEntries([...document.querySelectorAll('.facts div')]
            .map((one) => [one.children[0].textContent, one.children[1].innerText]))""")

    def saved(self, press):
        """What the page saves as a file when it is pressed: its name and text."""
        self.browser.evaluate("""() => {
            window.saved = null;
            window.realSave ??= attune.save;
            attune.save = async (name, content) => {
                window.saved = {name, text: content instanceof Blob ? await content.text() : content};
            };
        }""", None)
        self.browser.evaluate("(selector) => document.querySelector(selector).click()", press)
        found = self.browser.wait("window.saved")
        self.browser.evaluate("attune.save = window.realSave, null")
        return found["name"], found["text"]

    def csv(self, title):
        """The values that a panel saves, as dictionaries by its headings."""
        self.drawn(title)
        selector = f"section[aria-label={json.dumps(title)}] [aria-label='Save these values as CSV']"
        return rows_of(self.saved(selector)[1])

    def aria_rows(self):
        """The number of rows of the table of trials."""
        self.see("Trials")
        return self.browser.wait("Number(document.querySelector('[role=grid]')?.getAttribute('aria-rowcount'))") - 1
