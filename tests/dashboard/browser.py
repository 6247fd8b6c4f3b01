"""Drives a browser for the tests of the dashboard's page: Debian's chromium without a window, over the DevTools protocol.

    with Browser() as browser:
        browser.open("http://127.0.0.1:1234/#token=…")
        browser.wait("document.querySelector('h1')?.textContent == 'Experiments'")
        browser.click("text=Stop")
        assert not browser.problems

One Browser has one tab. All calls block; one that waits raises TimeoutError with what it waited for. Needs Debian's
python3-websockets. Not for use by several threads.

With ATTUNE_PAGE=dashboard/page in the environment, the page's files come from that folder instead of the server: a change
can be tried without building anything. The headers, and so the content security policy, stay those of the server.
"""

import asyncio
import base64
import json
import mimetypes
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

try:
    import websockets
except ImportError:
    websockets = None

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
KEYS = {"Enter": 13, "Escape": 27, "Tab": 9, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}


def find_program():
    """The path of a browser, or None, also if it could not be driven: tests are then skipped."""
    return next((path for path in map(shutil.which, PROGRAMS) if path), None) if websockets else None


def main():
    """Runs the tests of the main module; exits with 77, which ctest takes as skipped, where there is no browser."""
    if not find_program():
        print("skipped: needs chromium and python3-websockets")
        sys.exit(77)
    unittest.main()


class PageError(Exception):
    """A script of evaluate() threw; the text is the page's."""


class Browser:
    """A browser with one tab. `problems` lists uncaught errors, console errors and violations of the content security
    policy since the start or the last `problems.clear()`."""

    def __init__(self, width=1280, height=900, dark=False, timeout=120.0):
        self.timeout = timeout
        self.problems = []
        self.requests = []  # URLs, in order
        self._next = 0
        self._answers = {}
        self._events = []
        self._size = (width, height)
        self._dark = dark
        self._page = os.environ.get("ATTUNE_PAGE")

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True)
        flags = ["--headless=new", "--disable-gpu", "--remote-debugging-port=0", "--no-first-run", "--mute-audio",
                 "--disable-extensions", "--disable-background-networking", "--disable-component-update",
                 "--disable-sync", "--hide-scrollbars", "--disable-dev-shm-usage",
                 f"--user-data-dir={self._folder.name}", "--window-size=%d,%d" % self._size, "about:blank"]
        if os.geteuid() == 0:
            flags.insert(0, "--no-sandbox")  # chromium's sandbox refuses to work for root
        self._process = subprocess.Popen([find_program(), *flags], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL, start_new_session=True)
        self._loop = asyncio.new_event_loop()
        try:
            self._loop.run_until_complete(self._connect())
        except BaseException:
            self._close()
            raise
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        if self._page:
            self.call("Fetch.enable", patterns=[{"urlPattern": "http://*", "requestStage": "Response", "resourceType": kind}
                                                for kind in ("Document", "Script", "Stylesheet")])
        self.resize(*self._size)
        self.emulate(dark=self._dark)
        return self

    def __exit__(self, *_):
        self._close()

    def _close(self):
        socket = getattr(self, "_socket", None)
        if socket:
            self._loop.run_until_complete(socket.close())
        self._loop.close()
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()

    async def _connect(self):
        port_file = os.path.join(self._folder.name, "DevToolsActivePort")
        end = time.monotonic() + self.timeout
        while not (os.path.exists(port_file) and os.path.getsize(port_file) > 20):
            if self._process.poll() is not None or time.monotonic() > end:
                raise TimeoutError("the browser opened no port for DevTools")
            await asyncio.sleep(0.02)
        with open(port_file) as file:
            port, path = file.read().split()
        # The library's own limits are 10 and 20 s: little for the first browser of a fresh machine.
        self._socket = await websockets.connect(f"ws://127.0.0.1:{port}{path}", max_size=None, ping_interval=None,
                                                open_timeout=self.timeout)
        # The port may be there before the tab is.
        tabs = []
        while not tabs:
            if time.monotonic() > end:
                raise TimeoutError("the browser opened no tab")
            targets = (await self._send("Target.getTargets", {}, None))["targetInfos"]
            tabs = [one["targetId"] for one in targets if one["type"] == "page"]
        attached = await self._send("Target.attachToTarget", {"targetId": tabs[0], "flatten": True}, None)
        self._session = attached["sessionId"]

    async def _send(self, method, parameters, session):
        self._next += 1
        number = self._next
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        await self._socket.send(json.dumps(message))
        end = time.monotonic() + self.timeout
        while number not in self._answers:
            await self._receive(end, method)
        answer = self._answers.pop(number)
        if "error" in answer:
            raise PageError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    async def _receive(self, end, what):
        try:
            message = json.loads(await asyncio.wait_for(self._socket.recv(), max(0.001, end - time.monotonic())))
        except asyncio.TimeoutError:
            raise TimeoutError(f"no answer within {self.timeout} s: {what}") from None
        if "id" in message:  # an answer of _replace() stays here unread
            self._answers[message["id"]] = message
            return
        if message["method"] == "Fetch.requestPaused":
            await self._replace(message["params"])
            return
        self._events.append(message)
        self._note(message["method"], message["params"])

    async def _replace(self, paused):
        """Answers a request for a file of the page with that of the folder ATTUNE_PAGE."""
        path = urllib.parse.urlsplit(paused["request"]["url"]).path.lstrip("/") or "index.html"
        file = pathlib.Path(self._page) / path
        method, parameters = "Fetch.continueRequest", {"requestId": paused["requestId"]}
        if file.is_file() and "responseHeaders" in paused:
            method = "Fetch.fulfillRequest"
            # The program has these files in one, so that its answer for a single one is "not found".
            kind = {"name": "Content-Type", "value": mimetypes.guess_type(file)[0]}
            gone = ("content-encoding", "content-length", "content-type")
            kept = [one for one in paused["responseHeaders"] if one["name"].lower() not in gone]
            parameters.update(responseCode=200, responseHeaders=[*kept, kind],
                              body=base64.b64encode(file.read_bytes()).decode())
        self._next += 1  # nobody waits for the answer
        await self._socket.send(json.dumps({"id": self._next, "method": method, "params": parameters,
                                            "sessionId": self._session}))

    def _note(self, method, event):
        if method == "Runtime.exceptionThrown":
            details = event["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and event["type"] in ("error", "assert"):
            self.problems.append(" ".join(str(one.get("value", one.get("description"))) for one in event["args"]))
        elif method == "Log.entryAdded" and event["entry"]["level"] == "error":
            self.problems.append(event["entry"]["text"] + " " + event["entry"].get("url", ""))
        elif method == "Network.requestWillBeSent":
            self.requests.append(event["request"]["url"])

    def call(self, method, **parameters):
        """Any method of the DevTools protocol, for what has no function here. Returns its result."""
        return self._loop.run_until_complete(self._send(method, parameters, self._session))

    def open(self, url):
        """Opens a page and waits for its load event. A change of the fragment alone loads nothing."""
        self._events.clear()
        answer = self.call("Page.navigate", url=url)
        if answer.get("errorText"):
            raise PageError(f"{url}: {answer['errorText']}")
        if "loaderId" in answer:
            self.event("Page.loadEventFired")

    def event(self, method):
        """Waits for an event of the protocol that came since open(); returns its parameters."""
        end = time.monotonic() + self.timeout

        async def found():
            while True:
                for event in self._events:
                    if event["method"] == method:
                        return event["params"]
                await self._receive(end, method)

        return self._loop.run_until_complete(found())

    def evaluate(self, script, *arguments):
        """The JSON value of an expression; with arguments, of a function called with them. A promise is awaited.
        Raises PageError if the script throws."""
        if arguments:
            script = f"({script})(...{json.dumps(arguments)})"
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True,
                           userGesture=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise PageError(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def wait(self, script, *arguments, timeout=None):
        """Waits until evaluate() gives something true, and returns it. It looks once a frame, inside of the page."""
        seconds = timeout or self.timeout
        looker = f"((look) => () => look(...{json.dumps(arguments)}))({script})" if arguments else f"() => ({script})"
        loop = """new Promise((done) => {
            const end = performance.now() + %d;
            const found = %s;
            const look = () => {
                let value = null;
                try { value = found(); } catch (error) { value = null; }
                if (value || performance.now() > end) done(value || null);
                else setTimeout(look, 16);
            };
            look();
        })""" % (seconds * 1000, looker)
        before, self.timeout = self.timeout, seconds + 10
        try:
            value = self.evaluate(loop)
        finally:
            self.timeout = before
        if value is None:
            raise TimeoutError(f"not within {seconds} s: {script} {arguments or ''}\n{self.text()[:2000]}")
        return value

    def text(self):
        """All text that the page shows."""
        return self.evaluate("document.body.innerText") or ""

    def wait_text(self, text):
        """Waits until the page shows a text."""
        return self.wait("(text) => document.body.innerText.includes(text)", text)

    # The element of a selector: CSS, or "text=…" for the smallest visible one with that text, or "label=…" for the one
    # of that accessible name.
    _FIND = """(selector) => {
        const visible = (one) => one.getClientRects().length > 0;
        if (selector.startsWith('text=')) {
            const text = selector.slice(5);
            const all = [...document.querySelectorAll('button, a, summary, label, th, td, h1, h2, h3, li, p, span, div')];
            const top = [...document.querySelectorAll('dialog[open]')].pop();
            return all.filter((one) => (!top || top.contains(one)) && visible(one) && one.innerText.trim() === text).pop();
        }
        if (selector.startsWith('label=')) {
            const name = selector.slice(6);
            const named = [...document.querySelectorAll('[aria-label]')].find((one) => one.getAttribute('aria-label') === name);
            return named || [...document.querySelectorAll('label')].find((one) => one.innerText.trim() === name)?.control;
        }
        return document.querySelector(selector);
    }"""

    def place(self, selector):
        """Waits for an element, scrolls to it and returns {left, top, width, height} in the window, in CSS pixels, once
        they have rested for a tenth of a second: parts above may still grow."""
        return self.wait("""(() => {
            let before = '', looks = 0;
            return (selector) => {
                const found = (%s)(selector);
                if (!found) return null;
                found.scrollIntoView({block: 'nearest', inline: 'nearest', behavior: 'instant'});
                const {left, top, width, height} = found.getBoundingClientRect();
                const now = [left, top, width, height].join();
                looks = now === before ? looks + 1 : 0;
                before = now;
                return width && looks >= 6 ? {left, top, width, height} : null;
            };
        })()""" % self._FIND, selector)

    def mouse(self, kind, x, y, buttons=0):
        """kind: mouseMoved, mousePressed, mouseReleased."""
        button = "left" if buttons or kind != "mouseMoved" else "none"
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=buttons,
                  clickCount=0 if kind == "mouseMoved" else 1)

    def click(self, selector, dx=0.5, dy=0.5):
        """Clicks an element at a share of its width and height, with the mouse."""
        box = self.place(selector)
        x, y = box["left"] + dx * box["width"], box["top"] + dy * box["height"]
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, 1)
        self.mouse("mouseReleased", x, y)

    def hover(self, selector, dx=0.5, dy=0.5):
        box = self.place(selector)
        self.mouse("mouseMoved", box["left"] + dx * box["width"], box["top"] + dy * box["height"])

    def drag(self, selector, start, end, steps=10):
        """Drags inside an element between two places, given as shares (x, y) of its size."""
        box = self.place(selector)
        points = [(box["left"] + (start[0] + (end[0] - start[0]) * i / steps) * box["width"],
                   box["top"] + (start[1] + (end[1] - start[1]) * i / steps) * box["height"]) for i in range(steps + 1)]
        self.mouse("mouseMoved", *points[0])
        self.mouse("mousePressed", *points[0], 1)
        for point in points[1:]:
            self.mouse("mouseMoved", *point, 1)
        self.mouse("mouseReleased", *points[-1])

    def type(self, text):
        """Types into what has the focus."""
        self.call("Input.insertText", text=text)

    def fill(self, selector, text):
        """Replaces the text of a field."""
        self.click(selector)
        self.evaluate("document.activeElement.select?.()")
        self.type(text)

    def key(self, key, modifiers=0):
        """Presses a key: a character, or one of KEYS. modifiers: 1 Alt, 2 Ctrl, 4 Meta, 8 Shift."""
        code = KEYS.get(key) or ord(key.upper())
        extra = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, modifiers=modifiers,
                      **(extra if kind == "keyDown" else {}))

    def resize(self, width, height, scale=1):
        """Sets the size of the page in CSS pixels, and device pixels for each of them."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                  mobile=width < 500)

    def emulate(self, dark=False, reduced_motion=False):
        """What the page learns of the user's wishes."""
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                    {"name": "prefers-reduced-motion", "value": "reduce" if reduced_motion else "no-preference"}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def screenshot(self, path, full=False):
        """Writes a PNG of what is visible, or of the full page."""
        options = {"format": "png"}
        if full:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            options.update(captureBeyondViewport=True,
                           clip={"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1})
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", **options)["data"]))

    def downloads(self, folder):
        """Lets the page save files into a folder."""
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
