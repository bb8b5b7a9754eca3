"""Events of long work as a bar on standard error, in a terminal or a notebook."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable, Literal

Event = dict[str, Any]
Callback = Callable[[Event], object] | Literal["auto"] | None

_WIDTH = 30
_EVERY = 0.1


def listener(callback: Callback) -> Callable[[Event], object] | None:
    """What is called with events: a bar, if that is wanted and somebody can see it."""
    if callback != "auto":
        return callback
    return _Bar() if _is_seen() else None


def _is_seen() -> bool:
    # A notebook's stream is no terminal, but shows a line that is written again.
    is_notebook = "ipykernel" in sys.modules and type(sys.stderr).__module__.startswith("ipykernel")
    try:
        return is_notebook or sys.stderr.isatty()
    except (AttributeError, ValueError):
        return False


class _Bar:
    def __init__(self) -> None:
        self.what, self.total, self.done, self.shown = "", None, 0, 0.0

    def __call__(self, event: Event) -> None:
        kind = event["event"]
        if kind == "begin":
            self.what, self.total, self.done = event["what"], event["total"], 0
        elif kind == "advance":
            self.done += event["by"]
        elif kind == "say":
            print(f"\r\033[K{event['text']}", file=sys.stderr)
            return
        elif kind == "end":
            print("\r\033[K", end="", file=sys.stderr, flush=True)
            return
        else:
            return
        now = time.monotonic()
        if now - self.shown >= _EVERY:
            self.shown = now
            filled = round(_WIDTH * self.done / self.total) if self.total else 0
            bar = "#" * filled + "-" * (_WIDTH - filled)
            total = f"/{self.total}" if self.total else ""
            print(f"\r{self.what} [{bar}] {self.done}{total}", end="", file=sys.stderr, flush=True)
