"""Uses the page of `rehearsal serve` in headless Chromium as a reader would, light and dark, at 1280 and 400 pixels.

    python3 page.py PROGRAM PHOTOS AXE [--screenshots DIR]

PROGRAM is `rehearsal`, PHOTOS the directory that `rehearsal learn --demo` makes, AXE the file axe.min.js of axe-core.
A new model is taught two classes and then two more, asked, a remembered photo is moved and another deleted, and the
model goes back a version. Fails if one of these does not work, if axe-core finds a serious violation, if the page is
wider than the window, or if the browser reports an error.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "report" / "tests"))
import browser as chromium  # noqa: E402
from browser import Browser, check  # noqa: E402

# A camera that shows a moving figure.
chromium.FLAGS += ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
LOOKS = [(width, scheme) for width in (1280, 400) for scheme in ("light", "dark")]
PHOTOS_OF_A_CLASS = 12
TOKEN = "secret-of-this-test"
MARKUP = "<img src=x onerror=document.title='markup'>"


class Reader:
    """A reader with the page before it."""

    def __init__(self, browser, address, axe, screenshots):
        self.browser, self.address, self.axe, self.screenshots = browser, address, axe, screenshots
        self.ask, self.call = browser.ask, browser.call

    def open(self, width, scheme):
        self.look = f"{width}-{scheme}"
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.load()
        self.until("document.getElementById('about').textContent !== 'Reading the model…'", "the model is described")

    def load(self):
        self.browser.events.clear()
        self.browser.open(self.address)

    def until(self, condition, what):
        """Waits until some JavaScript is true."""
        waited = self.ask(
            "new Promise((end) => { const begun = Date.now(); const look = () => { let is = false; try { is = Boolean("
            f"{condition}); }} catch {{}} if (is || Date.now() - begun > 50000) end(is); else setTimeout(look, 30); }}; look(); }})"
        )
        if not waited:
            self.picture("failed")
            print(self.ask("document.getElementById('message').textContent"), self.errors())
        check(waited, what)

    def click(self, element):
        """Clicks where an element is, given as JavaScript: what lies over it would be clicked instead."""
        x, y = self.ask(
            f"(() => {{ const e = {element}; e.scrollIntoView({{block: 'center'}}); const b = e.getBoundingClientRect();"
            " return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.browser.mouse(kind, x, y)

    def press(self, label, within="body"):
        """Clicks the first visible button with this text."""
        found = (
            f"[...document.querySelectorAll({json.dumps(within + ' :is(button, a)')})]"
            f".find((e) => e.checkVisibility() && e.textContent.trim() === {json.dumps(label)})"
        )
        self.until(f"{found} && !{found}.disabled", f"there is a button: {label}")
        self.click(found)

    def type(self, element, text):
        self.ask(f"{element}.focus(), {element}.select()")
        self.call("Input.insertText", text=text)

    def key(self, key, code):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def choose(self, element, files):
        found = self.call("Runtime.evaluate", expression=element)["result"]["objectId"]
        self.call("DOM.setFileInputFiles", files=[str(file) for file in files], objectId=found)

    def tab(self, name):
        self.click(f"document.getElementById('tab-{name}')")
        check(self.ask(f"!document.getElementById('{name}').hidden && location.hash === '#{name}'"), f"the tab {name}")

    def picture(self, name):
        if self.screenshots:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            self.call("Emulation.setDeviceMetricsOverride", width=size["width"], height=min(size["height"], 2400), deviceScaleFactor=1, mobile=False)
            self.ask("new Promise((end) => setTimeout(end, 400))")  # pictures that came into view
            self.browser.screenshot(self.screenshots / f"{self.look}-{name}.png")
            self.call("Emulation.setDeviceMetricsOverride", width=int(self.look.split("-")[0]), height=900, deviceScaleFactor=1, mobile=False)

    def inspect(self, name):
        """Serious violations that axe-core finds, and whether the page is as wide as its window."""
        self.picture(name)
        self.ask("typeof axe === 'undefined' ? 0 : 1") or self.ask(self.axe + "; 0")
        found = self.ask(
            "axe.run(document, {resultTypes: ['violations']}).then(({violations}) => violations.filter((v) => ['serious', 'critical'].includes(v.impact))"
            ".map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.target + ' ' + n.failureSummary).join('; ')}`))"
        )
        check(found == [], f"{self.look} {name}: axe-core finds no serious violation {found or ''}")
        wide = self.ask("document.documentElement.scrollWidth - innerWidth")
        check(wide <= 0, f"{self.look} {name}: no wider than the window {wide if wide > 0 else ''}")

    def errors(self):
        """What the browser complained about, beside what it asked this server for."""
        ours = (f"asked for {self.address}", "asked for blob:")
        return [error for error in self.browser.errors() if not str(error).startswith(ours)]


def photos(directory, name):
    found = sorted(directory.glob(f"*ary/{name}/*.png"))[:PHOTOS_OF_A_CLASS]
    check(len(found) == PHOTOS_OF_A_CLASS, f"photos of {name}")
    return found


def teach(reader, classes, version):
    """Teaches classes with their photos, in the form of the page."""
    reader.tab("teach")
    card = "[...document.querySelectorAll('#classes .card')].find((c) => !c.querySelector('.thumbs').children.length)"
    for name, files in classes.items():
        if not reader.ask(f"Boolean({card})"):
            reader.press("Add a class")
        reader.type(f"{card}.querySelector('.class-name')", name)
        reader.choose(f"{card}.querySelector('input[type=file]')", files)
        reader.until(f"document.activeElement && [...document.querySelectorAll('.class-name')].some((i) => i.value === {json.dumps(name)})", f"a class {name}")
    counted = f"{PHOTOS_OF_A_CLASS * len(classes)} photos of {len(classes)} classes"
    reader.until(f"document.getElementById('lesson-count').textContent === {json.dumps(counted)}", counted)
    reader.inspect(f"teach-{version}")
    reader.press("Learn")
    reader.until(f"document.querySelector('#session h3').textContent.startsWith('Version {version} has learned')", f"version {version} is learned")
    reader.inspect(f"taught-{version}")


def use(reader, directory):
    check(reader.ask("!document.getElementById('ask-empty').hidden"), "a model that has learned nothing says so")
    reader.inspect("empty")
    reader.press("Teach it")
    reader.press("Learn")
    reader.until("document.querySelector('.toast.bad').textContent.includes('no photos')", "a session without photos is refused")
    teach(reader, {name: photos(directory, name) for name in ("ankle boot", "sandal")}, 1)
    teach(reader, {"bag": photos(directory, "bag"), MARKUP: photos(directory, "dress")}, 2)
    check(reader.ask("document.title.startsWith('shop') && !document.querySelector('[onerror]')"), "the name of a class is text, never markup")
    send_zip(reader, photos(directory, "bag"), "Nothing new")
    ask(reader, directory)
    remember(reader)
    rename(reader)
    go_back(reader)
    check(reader.errors() == [], f"no errors {reader.errors() or ''}")


def send_zip(reader, files, outcome):
    """Teaches a zip file of one class."""
    with tempfile.NamedTemporaryFile(suffix=".zip") as archive:
        with zipfile.ZipFile(archive, "w") as folder:
            for file in files:
                folder.write(file, f"photos/bag/{file.name}")
        archive.flush()
        reader.choose("document.getElementById('zip')", [archive.name])
        reader.until(f"document.querySelector('#session h3').textContent.startsWith({json.dumps(outcome)})", f"a zip file: {outcome}")
    reader.inspect(outcome.split()[0].lower())


def ask(reader, directory):
    reader.tab("ask")
    new = sorted((directory / "new").glob("bag*.png")) + sorted((directory / "new").glob("sandal*.png"))
    reader.choose("document.querySelector('#ask input[type=file]')", new)
    reader.until(f"document.querySelectorAll('#answers .answer .bars').length >= {len(new)}", f"{len(new)} answers")
    shown = reader.ask("[...document.querySelectorAll('#answers .answer')].map((a) => [a.querySelector('figcaption').textContent, a.querySelector('.bars .class').textContent])")
    right = sum(name.startswith(found) for name, found in shown)
    check(right >= len(new) - 2, f"{right} of {len(new)} are right")
    check(reader.ask("[...document.querySelectorAll('.similar img')].length === 3 * document.querySelectorAll('.answer').length"), "each with three photos that are like it")
    reader.inspect("answers")
    reader.press("Clear")
    notes = directory / "notes.png"
    notes.write_text("not a photo")
    reader.choose("document.querySelector('#ask input[type=file]')", [notes])
    # The browser notes the refusal in its console, too: that is no error of the page.
    reader.until("document.querySelector('.answer.failed .bad').textContent.includes('notes.png')", "a damaged photo is named")
    notes.unlink()
    refused = [event for event in reader.browser.events if event["method"] == "Log.entryAdded" and " 422 " in event["params"]["entry"]["text"]]
    check(len(refused) == 1, "one request was refused")
    reader.browser.events.remove(refused[0])
    reader.press("Clear")
    given = (
        "(async () => { const canvas = document.createElement('canvas'); const blob = await new Promise((end) => canvas.toBlob(end));"
        " const data = new DataTransfer(); data.items.add(new File([blob], 'given.png', {type: 'image/png'}));"
    )
    for where, event in (("document", "new ClipboardEvent('paste', {clipboardData: data})"),
                         ("document.querySelector('#ask .drop')", "new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true})")):
        reader.ask(f"{given} {where}.dispatchEvent({event}); }})()")
        reader.until("document.querySelectorAll('#answers .bars').length === 1", f"a photo is answered after {event[4:24]}")
        reader.press("Clear")
    reader.press("Take a photo", "#ask")
    reader.until("document.querySelector('#camera video').videoWidth > 0", "the camera shows something")
    reader.press("Take a photo", "#camera")
    reader.until("document.querySelectorAll('#answers .bars').length >= 1", "a photo of the camera is answered")
    reader.press("Done", "#camera")
    reader.press("Wrong? Teach the right class")
    reader.until("document.activeElement.matches('.class-name') && document.getElementById('lesson-count').textContent === '1 photo of 1 class'", "it can be taught, as soon as its class is named")
    reader.press("Remove")
    reader.until("document.getElementById('lesson-count').textContent === ''", "or left out")


def look_at(reader, view):
    reader.ask(f"(() => {{ const e = document.getElementById('memory-view'); e.value = '{view}'; e.dispatchEvent(new Event('change')); }})()")


def remember(reader):
    reader.tab("memory")
    section = "[...document.querySelectorAll('#pictures section')].find((s) => s.dataset.class === 'bag')"
    reader.until(f"{section}.querySelectorAll('input').length >= 2", "photos of bags are remembered")
    reader.until("[...document.querySelectorAll('#pictures img')].slice(0, 8).every((i) => i.complete && i.naturalWidth)", "with thumbnails")
    moved, deleted = reader.ask(f"[...{section}.querySelectorAll('input')].slice(0, 2).map((i) => i.value)")
    held = "fetch('/v1/memory?limit=1000').then((a) => a.json()).then(({photos}) => photos.find((p) => p.id === '%s')?.class ?? null)"
    before = reader.ask("document.getElementById('about').textContent")

    reader.click(f"{section}.querySelector('input[value=\"{moved}\"]')")
    reader.type("document.getElementById('move-to')", "sandal")
    reader.inspect("selected")
    reader.press("Move")
    reader.until(f"document.getElementById('about').textContent !== {json.dumps(before)}", "moving a photo makes a version")
    check(reader.ask(held % moved) == "sandal", "it is of the other class")

    reader.until(f"document.querySelector('#memory-full[aria-busy=false]') && {section}.querySelector('input[value=\"{deleted}\"]')", "the pictures are shown again")
    reader.click(f"{section}.querySelector('input[value=\"{deleted}\"]')")
    reader.press("Delete", "#selected")
    reader.inspect("delete")
    reader.press("Delete", "#question")
    reader.until("document.querySelector('.toast').textContent.includes('1 photo deleted')", "a photo is deleted")
    check(reader.ask(held % deleted) is None, "it is no longer there")

    look_at(reader, "map")
    reader.until("document.querySelectorAll('#map .point').length > 30", "a map of the photos")
    reader.ask("document.querySelector('#map .map > svg').focus()")
    for key, code in (("ArrowRight", 39), ("ArrowRight", 39), ("Enter", 13)):
        reader.key(key, code)
    check(reader.ask("document.querySelectorAll('#map .point.on').length") == 1, "the keyboard selects a photo on it")
    reader.inspect("map")
    reader.press("Clear", "#selected")


def rename(reader):
    look_at(reader, "pictures")
    section = f"[...document.querySelectorAll('#pictures section')].find((s) => s.dataset.class === {json.dumps(MARKUP)})"
    field, again = "document.getElementById('question-field')", "document.querySelector('#memory-full[aria-busy=false]')"
    button = f"{section}.querySelector('button[aria-label^=%s]')"
    reader.until(f"{again} && {button % 'Merge'}", "each class has buttons")
    reader.click(button % "Merge")
    reader.type(field, "no such class")
    reader.press("Merge", "#question")
    reader.until("!document.getElementById('question-problem').hidden", "an unknown class is no place to merge into")
    reader.inspect("merge")
    reader.key("Escape", 27)
    reader.until("!document.getElementById('question').open", "Escape closes the question")
    reader.click(button % "Rename")
    reader.type(field, "dress")
    reader.press("Rename", "#question")
    reader.until("document.querySelector('.toast').textContent.includes('is called dress now')", "a class is renamed")
    reader.until(f"{again} && [...document.querySelectorAll('#pictures section')].some((s) => s.dataset.class === 'dress')", "and shown so")


def go_back(reader):
    reader.ask("document.getElementById('tab-memory').focus()")
    reader.key("ArrowRight", 39)
    check(reader.ask("document.activeElement.id") == "tab-versions", "arrow keys go from tab to tab")
    reader.until("document.querySelectorAll('.version').length === 4", "four versions are kept")
    reader.until("document.querySelector('#chart svg path')", "with a chart")
    reader.inspect("versions")
    reader.click("[...document.querySelectorAll('.version')].at(-1).querySelector('button')")
    reader.until("document.getElementById('about').textContent.startsWith('Version 1:')", "version 1 answers again")
    check(reader.ask("fetch('/v1/model').then((a) => a.json()).then((m) => m.current.version)") == 1, "the server says so")
    reader.press("Back to version 4")
    reader.until("document.getElementById('about').textContent.startsWith('Version 4:')", "and forward")


def token(reader, directory):
    """The server wants a token: the page asks for it once."""
    reader.call("Emulation.setDeviceMetricsOverride", width=400, height=800, deviceScaleFactor=1, mobile=False)
    reader.look = "400-token"
    reader.load()
    reader.until("document.getElementById('question').open", "the page asks for the token")
    reader.inspect("asked")
    field = "document.getElementById('question-field')"
    reader.type(field, "wrong")
    reader.press("Enter", "#question")
    reader.until("!document.getElementById('question-problem').hidden", "a wrong one is refused")
    reader.type(field, TOKEN)
    reader.press("Enter", "#question")
    reader.until("document.getElementById('name').textContent === 'locked'", "the right one opens it")
    reader.load()
    reader.until("document.getElementById('name').textContent === 'locked'", "and again after loading it again")
    reader.tab("teach")
    send_zip(reader, photos(directory, "bag"), "The session failed")
    check(reader.ask("document.querySelector('#session .bad').textContent.includes('only one class')"), "with the reason")
    reader.choose("document.getElementById('folders')", [directory / "january"])
    cards = "[...document.querySelectorAll('.class-name')].map((name) => name.value).join()"
    reader.until(f"{cards} === 'ankle boot,sandal,sneaker'", "a folder of folders makes classes")
    reader.ask("document.querySelector('#lesson details').open = true")
    reader.type("document.getElementById('max-forgetting')", "101")
    reader.press("Learn")
    reader.until("document.querySelector('.toast.bad').textContent.includes('0 to 100')", "an acceptance check of more than 100 points is refused")
    check(reader.ask("document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)") == "{}{}", "no script can read it")


def read_only(reader):
    reader.open(400, "light")
    reader.look = "400-read-only"
    reader.tab("teach")
    check(reader.ask("document.getElementById('lesson').hidden && document.getElementById('teach-empty').textContent.includes('only answers')"), "nothing can be taught, and the page says why")
    reader.tab("memory")
    reader.until("document.querySelectorAll('#pictures img').length > 10", "what is remembered is shown")
    check(reader.ask("document.querySelectorAll('#pictures input, #pictures button').length") == 0, "and cannot be changed")
    reader.inspect("memory")
    check(reader.errors() == [], f"no errors {reader.errors() or ''}")


def gone(reader):
    """The server has ended."""
    reader.tab("versions")
    reader.until("document.querySelector('.toast.bad').textContent.includes('does not answer')", "a server that does not answer is named, with what to do")
    reader.inspect("gone")


class Serving:
    """A server of a new model, on any port that is free."""

    def __init__(self, program, model, *more):
        self.process = subprocess.Popen([program, "serve", model, "--port", "0", *more], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        said = []
        for line in self.process.stdout:
            said.append(line)
            if address := re.search(r"http://[\d.:]+", line):
                self.address = address[0]
                return
        sys.exit(f"the server did not start: {''.join(said)}")

    def __enter__(self):
        return self.address

    def __exit__(self, *_):
        self.process.terminate()
        check(self.process.wait(60) == 0, "the server ends")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("photos", type=pathlib.Path)
    arguments.add_argument("axe", type=pathlib.Path)
    arguments.add_argument("--screenshots", type=pathlib.Path)
    given = arguments.parse_args()
    if given.screenshots:
        given.screenshots.mkdir(parents=True, exist_ok=True)
    axe = given.axe.read_text()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        directory = pathlib.Path(directory)
        browser = Browser(directory / "profile")
        try:
            for width, scheme in LOOKS:
                model = directory / f"{width}-{scheme}" / "shop.model"
                model.parent.mkdir()
                with Serving(given.program, model) as address:
                    reader = Reader(browser, address, axe, given.screenshots)
                    reader.open(width, scheme)
                    use(reader, given.photos)
            with Serving(given.program, model, "--read-only") as address:
                reader = Reader(browser, address, axe, given.screenshots)
                read_only(reader)
            gone(reader)
            with Serving(given.program, directory / "locked.model", "--token", TOKEN) as address:
                token(Reader(browser, address, axe, given.screenshots), given.photos)
        finally:
            browser.close()


if __name__ == "__main__":
    main()
