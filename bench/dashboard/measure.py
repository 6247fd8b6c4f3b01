#!/usr/bin/env python3
"""How quickly the dashboard shows a large experiment: ATTUNE FOLDER...

Serves each folder (make_store.py), and looks at its experiment with Debian's chromium, on this
machine and without a graphics card. Prints milliseconds, and the most memory that the server used.
An interaction is timed from the event until the frame after it was drawn.
"""
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / 'tests/system'), str(ROOT / 'tests/dashboard')]

from browser import Browser  # noqa: E402
from dashboard_server import Dashboard  # noqa: E402

LATENCIES = '''
window.latencies = [];
for (const kind of ["pointermove", "click", "input", "change"])
  addEventListener(kind, () => {
    const begin = performance.now();
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => latencies.push(performance.now() - begin);
      channel.port2.postMessage(0);
    });
  }, true);
true
'''
# Gives the canvases of two panels names.
NAMED = """(() => {
  for (const panel of document.querySelectorAll(".panel")) {
    const name = panel.querySelector("h2")?.textContent;
    const canvas = panel.querySelector("canvas.over");
    if (canvas && name === "History") canvas.id = "measured-history";
    if (canvas && name === "Parallel coordinates") canvas.id = "measured-parallel";
  }
  return ["history", "parallel"].every((name) => document.getElementById("measured-" + name));
})()
"""
PAINT = 'performance.getEntriesByName("first-contentful-paint")[0]?.startTime || 0'
DRAWN = '[...document.querySelectorAll(".panel canvas")].some((c) => c.width > 300)'


def drag(browser, selector, start, end, steps=12):
    browser.evaluate('latencies.length = 0')
    browser.drag(selector, start, end, steps)
    browser.wait('latencies.length > 0')
    found = browser.evaluate('latencies')
    return f'{statistics.median(found):.0f} (at most {max(found):.0f})'


def measure(attune, folder):
    with Dashboard(attune, folder) as server, Browser(1280, 900, timeout=120) as browser:
        experiment = server.get('/experiments')['experiments'][0]
        trials = sum(experiment['trials'].values())
        browser.open(server.link)
        browser.wait_text('1 experiment')
        page = server.link.split('#')[0] + '#/e/' + experiment['experiment_id']
        for visit in ('first', 'second'):
            browser.open('about:blank')
            begin = time.monotonic()
            browser.open(page)
            browser.wait(DRAWN)
            drawn = browser.evaluate('performance.now()')
            browser.wait(f'(attune.openExperiment({experiment["experiment_id"]!r}).count) == {trials}')
            print(f'{trials:>9,} trials, {visit} visit: first paint {browser.evaluate(PAINT):.0f}, '
                  f'first picture {drawn:.0f}, all rows {1000 * (time.monotonic() - begin):.0f}')
        browser.evaluate(LATENCIES)
        browser.evaluate('window.scrollTo(0, 0)')
        browser.wait(NAMED)
        browser.evaluate('document.getElementById("measured-parallel").scrollIntoView()')
        for _ in range(2):  # the first drag also compiles
            axis = drag(browser, '#measured-parallel', (0.045, 0.3), (0.045, 0.6))
        print(f'{"":>17} brush an axis, per step {axis}')
        hover = drag(browser, '#measured-history', (0.2, 0.5), (0.8, 0.5))
        print(f'{"":>17} drag over the history, per step {hover}')
        print(f'{"":>17} server: {server.memory() / 2**20:.0f} MiB at most')
        assert not browser.problems, browser.problems


if __name__ == '__main__':
    for each in sys.argv[2:]:
        measure(sys.argv[1], each)
