"""Opens a report in headless Chromium from disk and uses it as a reader would.

    python3 browser.py REPORT/index.html [--screenshots DIR]

Fails if the page has no tables or figures, if figures do not come before tables, if one is cut off or illegible in a window of 400 pixels,
if two do not stand beside each other in one of 1280, if a legend entry does not hide and show its series, if pointing at a mark says nothing, if the
colours do not change with the theme, if a link leads nowhere, if the page is wider than a window of 1280 or 400 pixels, if a table or figure is cut
off in one of 1280, if one of 400 leaves no room for a table's numbers or sets them too small, or if the browser reports any error. Speaks to the browser through a pipe
(--remote-debugging-pipe): needs Python's standard library and Chromium, nothing else.
"""

import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
    "--window-size=1300,1000",
]
SECONDS = 60


class Browser:
    """A browser and the one page it shows."""

    def __init__(self, profile):
        program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
        if not program:
            sys.exit("there is no chromium: install it, or name it in CHROMIUM")
        to_browser, self.writing = os.pipe()
        self.reading, from_browser = os.pipe()
        # The browser reads descriptor 3 and writes descriptor 4.
        command = 'exec "$0" "$@" 3<&{} 4>&{}'.format(to_browser, from_browser)
        self.process = subprocess.Popen(
            ["/bin/bash", "-c", command, program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.events, self.number, self.session = b"", [], 0, None
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writing, json.dumps(message).encode() + b"\0")
        return self.wait(lambda answer: answer.get("id") == self.number, method).get("result", {})

    def wait(self, wanted, what):
        deadline = time.monotonic() + SECONDS
        while True:
            while b"\0" in self.buffer:
                line, self.buffer = self.buffer.split(b"\0", 1)
                message = json.loads(line)
                if "method" in message:
                    self.events.append(message)
                if wanted(message):
                    if "error" in message:
                        sys.exit(f"{what}: {message['error']}")
                    return message
            ready, _, _ = select.select([self.reading], [], [], max(0, deadline - time.monotonic()))
            chunk = os.read(self.reading, 1 << 20) if ready else b""
            if not chunk:
                sys.exit(f"the browser did not answer: {what}")
            self.buffer += chunk

    def open(self, address):
        self.call("Page.navigate", url=address)
        if not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.wait(lambda message: message.get("method") == "Page.loadEventFired", "loading")

    def ask(self, expression):
        """The value of some JavaScript."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            sys.exit(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def mouse(self, kind, x, y):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def middle(self, selector):
        """Scrolls to an element and says where its middle is."""
        return self.ask(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}});"
            " const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def errors(self):
        """Whatever the browser complained about, and whatever the page asked the network for."""
        found = []
        for event in self.events:
            method, parameters = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                found.append(parameters["exceptionDetails"].get("text"))
            elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
                found.append(parameters["args"])
            elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                found.append(parameters["entry"]["text"])
            elif method == "Network.requestWillBeSent":
                address = parameters["request"]["url"]
                if not address.startswith(("file:", "data:", "about:")):
                    found.append(f"asked for {address}")
        return found

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def check(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")
    print(f"ok: {what}")


def use(browser, page, screenshots):
    browser.open(page.as_uri())
    tables = browser.ask("document.querySelectorAll('section.table table').length")
    figures = browser.ask("document.querySelectorAll('figure').length")
    check(tables >= 2 and figures >= 4, f"{tables} tables, {figures} figures")
    check(browser.ask("[...document.querySelectorAll('figure .wide svg')].every(f => f.getBoundingClientRect().height > 100)"), "figures have a size")
    first = "(section, what) => (section.querySelector(what) ?? {getBoundingClientRect: () => ({top: Infinity})}).getBoundingClientRect().top"
    ordered = f"[...document.querySelectorAll('main > section')].every(s => !s.querySelector('figure') || ({first})(s, 'figure') < ({first})(s, 'section.table'))"
    check(browser.ask(ordered), "figures come before tables")
    check(browser.ask("[...document.querySelectorAll('nav a')].every(a => document.querySelector(a.getAttribute('href')))"), "the contents lead somewhere")
    links = browser.ask("[...document.querySelectorAll('td a')].every(a => document.querySelector(a.getAttribute('href')))")
    check(links and browser.ask("document.querySelectorAll('td a').length") > 10, "numbers link to their runs")

    # The first figure that has a legend.
    figure = browser.ask("document.querySelector('figure:has(.legend)').id")
    entry = f"#{figure} .legend text"
    series = browser.ask(f"document.querySelector('#{figure} .legend').dataset.series")
    shown = f"getComputedStyle(document.querySelector('#{figure} .series[data-series=\"{series}\"]')).display !== 'none'"
    check(browser.ask(shown), "a series is shown")
    for expected, what in ((False, "a click hides it"), (True, "another shows it")):
        x, y = browser.middle(entry)
        browser.mouse("mousePressed", x, y)
        browser.mouse("mouseReleased", x, y)
        check(browser.ask(shown) is expected, what)
    browser.ask(
        f"document.querySelector('#{figure} .legend').dispatchEvent(new KeyboardEvent('keydown', {{key: 'Enter', bubbles: true}}))"
    )
    check(browser.ask(shown) is False, "so does the keyboard")
    if screenshots:
        browser.screenshot(screenshots / "hidden.png")

    mark = f"#{figure} .series:not(.off) [data-tip]"
    x, y = browser.middle(mark)
    browser.mouse("mouseMoved", x, y)
    said = browser.ask("getComputedStyle(tip).visibility === 'visible' ? tip.textContent : ''")
    check(any(digit in said for digit in "0123456789"), f"pointing at a mark says: {said}")
    if screenshots:
        browser.screenshot(screenshots / "hover.png")

    ground = "getComputedStyle(document.body).backgroundColor"
    light = browser.ask(ground)
    browser.ask("document.getElementById('theme').click()")
    check(browser.ask(ground) != light, "the button turns light and dark")
    if screenshots:
        browser.screenshot(screenshots / "dark.png")
    # As wide as a small laptop, and as a phone: wide tables scroll inside their own frame, and numbers have room.
    browser.call("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False)
    check(browser.ask("document.documentElement.scrollWidth <= 1280"), "the page is as wide as a window of 1280 pixels")
    beside = browser.ask(
        "(() => { const tops = [...document.querySelectorAll('figure:not(.broad)')].map(f => Math.round(f.getBoundingClientRect().top));"
        " return tops.length < 2 || new Set(tops).size < tops.length; })()"
    )
    check(beside, "figures stand in two columns")
    if screenshots:
        browser.ask("document.querySelector('figure').scrollIntoView()")
        browser.screenshot(screenshots / "laptop.png")
    cut = browser.ask("[...document.querySelectorAll('.scroll')].filter(s => s.scrollWidth > s.clientWidth).map(s => s.parentElement.id)")
    check(cut == [], f"every table and figure is whole there {cut or ''}")
    browser.call("Emulation.setDeviceMetricsOverride", width=400, height=800, deviceScaleFactor=1, mobile=False)
    check(browser.ask("document.documentElement.scrollWidth <= 400"), "the page is as wide as a window of 400 pixels")
    narrow = "[...document.querySelectorAll('figure svg')].filter(s => s.getBoundingClientRect().height > 0)"
    cut = browser.ask(f"{narrow}.filter(s => s.getBoundingClientRect().right > 400).length")
    check(cut == 0 and browser.ask(f"{narrow}.length") == figures, "every figure is whole there")
    letters = browser.ask(
        f"Math.min(...{narrow}.map(s => s.getBoundingClientRect().width / s.viewBox.baseVal.width * 10))"
    )
    check(letters >= 8.5, f"letters of figures have {letters:.1f} pixels at least")
    if screenshots:
        browser.ask("document.querySelector('figure').scrollIntoView()")
        browser.screenshot(screenshots / "phone.png")
    room = browser.ask(
        "[...document.querySelectorAll('section.table')].filter(s => s.querySelector('tbody th').getBoundingClientRect().width"
        " > 0.5 * s.getBoundingClientRect().width).map(s => s.id)"
    )
    check(room == [], f"names leave half of it to numbers {room or ''}")
    smallest = browser.ask("Math.min(...[...document.querySelectorAll('section.table td, section.table small')].map(c => parseFloat(getComputedStyle(c).fontSize)))")
    check(smallest >= 11, f"letters of tables have {smallest} pixels at least")
    if screenshots:
        browser.ask("document.querySelector('section.table').scrollIntoView()")
        browser.screenshot(screenshots / "narrow.png")
    browser.call("Emulation.clearDeviceMetricsOverride")
    files = browser.ask("[...document.querySelectorAll('.files a')].map(a => a.getAttribute('href'))")
    check(files and all((page.parent / file).is_file() for file in files), f"{len(files)} files beside the page")
    check(browser.errors() == [], f"no errors {browser.errors() or ''}")


def main():
    page = pathlib.Path(sys.argv[1]).resolve()
    screenshots = pathlib.Path(sys.argv[3]) if sys.argv[2:3] == ["--screenshots"] else None
    if screenshots:
        screenshots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        try:
            use(browser, page, screenshots)
        finally:
            browser.close()


if __name__ == "__main__":
    main()
