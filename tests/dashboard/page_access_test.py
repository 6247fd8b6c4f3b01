"""The page for those who see, point or have room otherwise: ATTUNE [unittest's arguments]"""

import page_case

# Text whose contrast to what is behind it is below 4.5 (3 for large text; WCAG 2.1, 1.4.3): [[text, ratio]…]. Text over
# a canvas or a gradient does not count.
PALE = """(() => {
    const channel = (value) => (value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
    const pen = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const parts = (color) => {
        pen.clearRect(0, 0, 1, 1); pen.fillStyle = color; pen.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
        return [r, g, b, a / 255];
    };
    const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
    const behind = (one) => {
        if (!one) return [255, 255, 255];
        const color = parts(getComputedStyle(one).backgroundColor);
        return color[3] === 1 ? color : over(color, behind(one.parentElement));
    };
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const one = walker.currentNode.parentElement, text = walker.currentNode.textContent.trim();
        if (!text || !one.checkVisibility({opacityProperty: true, visibilityProperty: true}) || one.closest(':disabled, canvas')) continue;
        const style = getComputedStyle(one), back = behind(one);
        const [a, b] = [light(over(parts(style.color), back)), light(back)].sort((x, y) => y - x);
        const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
        const ratio = (a + 0.05) / (b + 0.05);
        if (ratio < (large ? 3 : 4.5)) found.push([text.slice(0, 40), Math.round(ratio * 100) / 100]);
    }
    return found;
})()"""
# What can be operated and has no name that a screen reader could say.
NAMELESS = """[...document.querySelectorAll('a[href], button, input, select, textarea, canvas, [role=grid], [tabindex]')]
    .filter((one) => one.checkVisibility() && one.tabIndex >= 0)
    .filter((one) => !(one.getAttribute('aria-label') || one.getAttribute('aria-labelledby') || one.labels?.length
                       || one.innerText?.trim() || one.title || one.closest('label')))
    .map((one) => one.outerHTML.slice(0, 120))"""
WIDE = "document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth"


class AccessTest(page_case.PageCase):
    @classmethod
    def prepare(cls):
        space = {"lr": {"_type": "loguniform", "_value": [1e-4, 1]}, "units": {"_type": "randint", "_value": [4, 65]}}
        cls.id = cls.workshop.simulate("--epochs", "6", "--seed", "5", experimentName="digits", searchSpace=space,
                                       trialConcurrency=4, maxTrialNumber=30, tuner={"name": "Random"},
                                       simulation={"failRate": 0.2})

    def pages(self):
        """Shows the kinds of pages, one after the other."""
        self.show("#/", "Experiments")
        self.browser.wait_text("digits")
        yield "list"
        self.show_experiment(self.id, heading="digits")
        for title in ("History", "Parallel coordinates", "Importance", "Trials"):
            self.see(title)
        yield "experiment"
        self.show(f"#/e/{self.id}/t/1", "Trial 1")
        self.browser.wait_text("units")
        yield "trial"
        self.show("#/", "Experiments")
        self.browser.key("?")
        self.browser.wait("document.querySelector('dialog[open]')")
        yield "help"
        self.browser.key("Escape")
        self.browser.wait("!document.querySelector('dialog[open]')")

    def test_contrast(self):
        self.addCleanup(self.browser.emulate)
        for dark in (False, True):
            self.browser.emulate(dark=dark)
            for page in self.pages():
                dark_now = self.browser.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
                self.assertEqual(dark_now, dark)
                self.assertEqual(self.browser.evaluate(PALE), [], (page, dark))

    def test_everything_has_a_name(self):
        for page in self.pages():
            self.assertEqual(self.browser.evaluate(NAMELESS), [], page)
            self.assertTrue(self.browser.evaluate("document.documentElement.lang && document.title"))
            self.assertEqual(self.browser.evaluate("document.querySelectorAll('h1').length"), 1, page)

    def test_narrow_and_large(self):
        self.addCleanup(self.browser.resize, 1280, 900)
        for width, height in ((320, 600), (360, 700), (768, 1024), (2560, 1440)):
            self.browser.resize(width, height)
            for page in self.pages():
                self.assertLessEqual(self.browser.evaluate(WIDE), 0, (page, width))

    def test_the_whole_page_by_keyboard(self):
        self.show_experiment(self.id, heading="digits")
        self.drawn("History")
        self.browser.evaluate("(document.activeElement.blur(), scrollTo(0, 0))")
        self.browser.key("Tab")
        self.assertEqual(self.browser.evaluate("document.activeElement.textContent"), "To the content")
        seen, last = [], None
        for _ in range(400):
            self.browser.key("Tab")
            # A panel builds its body once it is in sight: what is in it follows its heading.
            self.browser.wait("""[document.activeElement.closest('section.panel')].every((panel) =>
                !panel || panel.querySelector('.body').firstChild)""")
            now = self.browser.evaluate("""(() => {
                const one = document.activeElement;
                if (one === document.body) return null;
                window.tabbed ??= new Map();
                if (!window.tabbed.has(one)) window.tabbed.set(one, window.tabbed.size);
                return window.tabbed.get(one);
            })()""")
            if now is None or now in seen:
                last = now
                break
            seen.append(now)
        else:
            self.fail("Tab does not come to the end of the page")
        self.assertTrue(last is None or last == seen[0] or last == 0, "Tab goes around in a part of the page")
        controls = self.browser.evaluate("""[...document.querySelectorAll('button, select, canvas[tabindex]')]
            .filter((one) => one.checkVisibility() && !one.disabled && one.tabIndex >= 0 && !window.tabbed.has(one))
            .map((one) => one.outerHTML.slice(0, 100))""")
        self.assertEqual(controls, [])

    def test_a_dialog_gives_the_focus_back(self):
        self.show_experiment(self.id, heading="digits")
        opener = "document.querySelector('[aria-label=Filters] > button')"
        self.browser.wait(opener)
        self.browser.evaluate(opener + ".focus()")
        self.browser.key("Enter")
        self.browser.wait("document.querySelector('dialog[open]')?.contains(document.activeElement)")
        self.browser.key("Escape")
        self.browser.wait("!document.querySelector('dialog[open]')")
        self.assertTrue(self.browser.evaluate(f"document.activeElement === {opener}"))
        self.browser.key("Enter")
        self.browser.wait("document.querySelector('dialog[open]')?.contains(document.activeElement)")
        self.browser.click("text=Cancel")
        self.browser.wait("!document.querySelector('dialog')")
        self.assertTrue(self.browser.evaluate(f"document.activeElement === {opener}"))

    def test_reduced_motion(self):
        self.addCleanup(self.browser.emulate)
        self.browser.emulate(reduced_motion=True)
        self.show_experiment(self.id, heading="digits")
        self.drawn("History")
        moving = self.browser.evaluate("document.getAnimations().filter((one) => one.effect.getTiming().duration > 1).length")
        self.assertEqual(moving, 0)


if __name__ == "__main__":
    page_case.main()
