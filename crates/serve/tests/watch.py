"""Looks at the page of `rehearsal watch` and of `rehearsal run --watch` in headless Chromium, light and dark, at 1280 and 400 pixels.

    python3 watch.py PROGRAM AXE [--screenshots DIR]

A run with --watch shows what it replays, conflicting and aligned side by side, while it learns; the page says when it has
ended. Then a grid's directory is watched: every run is listed, one is chosen by its button. Fails if one of these does not
work, if axe-core finds a serious violation, if the page is wider than the window, or if the browser reports an error.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

from page import LOOKS, Reader
from browser import Browser, check  # noqa: E402

SMALL = ["--classes", "6", "--tasks", "3", "--train-per-class", "120", "--test-per-class", "20", "--memory", "60", "--width", "8", "--threads", "1"]


class Looker(Reader):
    """A reader of this page, which is there when the runs are described."""

    def open(self, width, scheme):
        self.look = f"{width}-{scheme}"
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.load()
        self.until("document.getElementById('about').textContent !== 'Reading the runs…'", "the runs are described")


class Showing:
    """A program that shows a page, at the address that it says."""

    def __init__(self, command):
        self.process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        said = []
        for line in self.process.stderr:
            said.append(line)
            if "http://" in line:
                self.address = line[line.index("http://"):].strip()
                return
        sys.exit(f"there is no page: {''.join(said)}")

    def end(self):
        self.process.terminate()
        return self.process.wait(60)


def running(reader_of, program, place):
    """A run that goes on."""
    showing = Showing([program, "run", "--out", place / "run", "--watch=0", "--diagnostics", "--epochs", "200", *SMALL])
    try:
        for width, scheme in LOOKS:
            reader = reader_of(showing.address)
            reader.open(width, scheme)
            reader.until("document.querySelectorAll('#replayed .conflicting img').length && document.querySelectorAll('#replayed .aligned img').length", "photos are replayed, conflicting and aligned")
            reader.until("[...document.querySelectorAll('#replayed img')].every((image) => image.naturalWidth)", "with pictures")
            reader.until("/^[+−]/.test(document.querySelector('#replayed .change').textContent)", "with their change of loss")
            reader.until("document.querySelector('#loss path')", "the loss is drawn")
            check(reader.ask("document.getElementById('runs').hidden"), "one run needs no list")
            before = reader.ask("document.getElementById('replayed-about').textContent")
            reader.until(f"document.getElementById('replayed-about').textContent !== {before!r}", "the page follows the run")
            reader.inspect("running")
            check(reader.errors() == [], f"no errors {reader.errors() or ''}")
    finally:
        check(showing.end() == 130, "the run stops at a checkpoint")
    reader.until("document.querySelector('.toast.bad').textContent.includes('has ended')", "the end of the server is said")
    reader.inspect("ended")


def grid(reader_of, program, place):
    """Two runs that are finished and one that was stopped: as the runs of a grid."""
    for seed in (0, 1):
        done = subprocess.run([program, "run", "--quiet", "--out", place / f"grid/pcr-seed{seed}", "--seed", str(seed), "--diagnostics", *SMALL])
        check(done.returncode == 0, f"run {seed}")
    (place / "run").rename(place / "grid/stopped")
    showing = Showing([program, "watch", place / "grid", "--port", "0"])
    try:
        for width, scheme in LOOKS:
            reader = reader_of(showing.address)
            reader.open(width, scheme)
            reader.until("document.querySelectorAll('#run-list tbody tr').length === 3", "three runs are listed")
            check(reader.ask("document.getElementById('about').textContent") == "3 runs, 2 finished, 1 stopped", "and counted")
            reader.press("pcr-seed1", "#run-list")
            reader.until("document.getElementById('run-name').textContent.startsWith('pcr-seed1')", "one is chosen")
            reader.until("document.querySelectorAll('#matrix tbody tr').length === 3 && document.querySelector('#matrix td.heat')", "its accuracies are shown")
            reader.until("document.querySelector('#task-sides .conflicting li') && document.querySelector('#task-sides .aligned li')", "what was replayed is counted")
            reader.until("document.querySelector('#changes rect')", "changes of loss are drawn")
            check(reader.ask("document.getElementById('replayed').hidden"), "a finished run replays nothing")
            reader.inspect("grid")
            reader.ask("(() => { const e = document.getElementById('task'); e.value = '1'; e.dispatchEvent(new Event('change')); })()")
            reader.press("stopped", "#run-list")
            reader.until("document.querySelector('#run-name .badge').textContent === 'stopped'", "another is chosen")
            reader.inspect("stopped")
            check(reader.errors() == [], f"no errors {reader.errors() or ''}")
    finally:
        check(showing.end() == 0, "the server ends")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program", type=pathlib.Path)
    arguments.add_argument("axe", type=pathlib.Path)
    arguments.add_argument("--screenshots", type=pathlib.Path)
    given = arguments.parse_args()
    if given.screenshots:
        given.screenshots.mkdir(parents=True, exist_ok=True)
    axe = given.axe.read_text()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        place = pathlib.Path(place)
        browser = Browser(place / "profile")
        try:
            reader_of = lambda address: Looker(browser, address, axe, given.screenshots)
            running(reader_of, given.program.resolve(), place)
            grid(reader_of, given.program.resolve(), place)
        finally:
            browser.close()


if __name__ == "__main__":
    main()
