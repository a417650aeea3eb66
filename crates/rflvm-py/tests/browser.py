"""A browser that opens reports from disk, and notes everything that they should not do."""

import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

#: Names of the program on Debian, Ubuntu, Fedora and others.
NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
#: Where screenshots are kept for people to look at.
SHOTS = Path(__file__).parents[3] / "target" / "report-screenshots"

#: The desk shows the whole map without scrolling.
SIZES = {"desk": {"width": 1280, "height": 1100}, "phone": {"width": 390, "height": 844}}


@contextmanager
def browser():
    """A running browser; skips the test where there is none."""
    api = pytest.importorskip("playwright.sync_api")
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("the report in a browser: no Chromium; on Debian, apt-get install chromium")
    with api.sync_playwright() as playwright:
        # Containers run as root, where Chromium's own sandbox does not work; these pages are ours.
        running = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield running
        running.close()


class Opened:
    """A report in a tab."""

    def __init__(self, browser, path, size="desk", scheme="light"):
        self.context = browser.new_context(viewport=SIZES[size], color_scheme=scheme, has_touch=size == "phone")
        self.page = self.context.new_page()
        self.troubles, self.requests = [], []
        self.page.on("console", lambda message: message.type in ("error", "warning") and self.troubles.append(message.text))
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.troubles.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.url = Path(path).resolve().as_uri()
        self.page.goto(self.url)
        self.page.wait_for_selector("html[data-ready]")
        self.settle()

    def close(self):
        self.context.close()

    def settle(self):
        """Waits until everything that is due has been drawn."""
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def places(self, plane="map"):
        """Where rows are on the screen."""
        script = """plane => { const p = report[plane]; p.view.project(); const box = p.canvas.getBoundingClientRect();
            return Array.from(p.view.x, (x, n) => [box.left + x, box.top + p.view.y[n]]); }"""
        return self.page.evaluate(script, plane)

    def pixels(self, plane="map"):
        self.settle()
        return self.page.evaluate("plane => report[plane].canvas.toDataURL()", plane)

    def shot(self, name):
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.page.evaluate("window.scrollTo(0, 0)")
        self.page.screenshot(path=SHOTS / f"{name}.png", full_page=True)
