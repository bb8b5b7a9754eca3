"""Opens the page of an evaluation in headless Chromium from disk.

    python3 evaluation_page.py EVALUATION/index.html [--screenshots DIR]

Fails if the photos that were predicted wrong do not come before the tables, if an image is missing, if a table lacks what it should have, if
the page is wider than a window of 1280 or 400 pixels, if it looks the same in dark and light, or if the browser reports any error.
"""

import pathlib
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).parents[2] / "report" / "tests"))
from browser import Browser, check  # noqa: E402


def use(browser, page, screenshots):
    browser.open(page.as_uri())
    top = lambda selector: f"document.querySelector('{selector}').getBoundingClientRect().top"
    browser.ask("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    browser.ask("document.querySelectorAll('img').forEach(i => { i.loading = 'eager'; })")
    images = browser.ask("Promise.all([...document.images].map(i => i.decode().then(() => i.naturalWidth, () => 0)))")
    check(images and all(images), f"{len(images)} thumbnails are shown")
    check(browser.ask(f"{top('figure')} < {top('table')}"), "photos come before tables")
    heads = browser.ask("[...document.querySelectorAll('thead')].map(h => h.textContent)")
    check("recall" in heads[1] and "precision" in heads[1] and "95 %" in heads[0], "tables have recall, precision and intervals")
    rows = browser.ask("document.querySelector('#answers ~ .t tbody').textContent")
    check(all(word in rows for word in ("sure", "unsure", "unknown")), "sure, unsure and unknown answers are counted")
    for width in (1280, 400):
        browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        check(browser.ask(f"document.documentElement.scrollWidth <= {width}"), f"the page fits a window of {width} pixels")
        for theme in ("light", "dark"):
            browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
            if screenshots:
                browser.ask("window.scrollTo(0, 0)")
                browser.screenshot(screenshots / f"{width}-{theme}.png")
                browser.ask("document.getElementById('answers').scrollIntoView()")
                browser.screenshot(screenshots / f"{width}-{theme}-tables.png")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = browser.ask(ground)
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
    check(browser.ask(ground) != dark, "it is dark where the system is")
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
