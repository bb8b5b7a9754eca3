"""Runs of the benchmark: methods of continual learning on streams of tasks."""

from __future__ import annotations

import json
import os
import pathlib
from dataclasses import dataclass, field
from typing import Any, Callable, Iterable

import numpy as np

from . import _rehearsal
from ._progress import Callback, listener

# What may be given when a run continues: it does not change results, or the result says so.
_MAY_CHANGE = {"data", "device", "threads"}
# Changes of loss, labels and tasks of the candidates, and how many to choose → indices of candidates.
Retrieval = Callable[[np.ndarray, np.ndarray, np.ndarray, int], Iterable[int]]


@dataclass(frozen=True)
class Result:
    """The result of a run; `record` is all of it, as `result.json` has it."""

    record: dict[str, Any] = field(repr=False)
    directory: pathlib.Path | None = None

    @property
    def matrix(self) -> np.ndarray:
        """Accuracies as fractions: a row after each task, a column for each task; NaN where it was yet to come."""
        return np.array(self.record["matrix"], dtype=float)

    @property
    def accuracy(self) -> float | None:
        """Mean accuracy over all tasks at the end."""
        return self.record["accuracy"]

    @property
    def forgetting(self) -> float | None:
        """Mean loss from each task's best accuracy to its last."""
        return self.record["forgetting"]

    @property
    def measures(self) -> dict[str, float | None]:
        """All measures by name."""
        names = ("accuracy", "forgetting", "forgetting_from_first", "retention", "average_incremental_accuracy",
                 "backward_transfer")
        return {name: self.record[name] for name in names}

    @property
    def settings(self) -> dict[str, Any]:
        """Every setting of the run."""
        return self.record["config"]

    @property
    def correct(self) -> np.ndarray | None:
        """For each test image whether its prediction was right, in order; `None` of a run without a directory."""
        if self.directory is None:
            return None
        return np.frombuffer((self.directory / "predictions.bin").read_bytes(), np.uint8).astype(bool)


def run(
    *,
    out: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
    retrieval: str | Retrieval | None = None,
    on_step: Callable[[dict[str, Any]], object] | None = None,
    on_task: Callable[[dict[str, Any]], object] | None = None,
    callback: Callback = "auto",
    **settings: Any,
) -> Result:
    """Run an experiment, and give its result.

    `settings` are those of `rehearsal run --help`, with `_` for `-`: `dataset`, `method`, `tasks`, `epochs`, `memory`,
    `seed` and so on. With `out` a directory is written, and `resume` continues the run of one. `on_step` is called
    with a dictionary (`task`, `epoch`, `step`, `loss`) after each step, `on_task` (`task`, `accuracies`) after each task.

    `retrieval` is a name, or a function of three arrays, about drawn candidates of the memory, and a number: how much
    the coming update would change the loss of each, its label, its task, and how many to replay. It gives indices of
    candidates. A run with a function cannot be resumed.

    Ctrl-C, or an exception of a function, stops the run; with `out` it continues by `resume`.

    >>> result = run(method="er", retrieval="random", backbone="tiny", width=8, train_per_class=20, test_per_class=10,
    ...              threads=1, callback=None)
    >>> result.matrix.shape
    (5, 5)
    >>> hardest = lambda losses, labels, tasks, count: losses.argsort()[::-1][:count]
    >>> result = run(method="er", retrieval=hardest, backbone="tiny", width=8, train_per_class=20, test_per_class=10,
    ...              threads=1, callback=None)
    >>> result.settings["custom-retrieval"]
    '<lambda>'
    """
    _needs_training()
    custom = (getattr(retrieval, "__name__", type(retrieval).__name__), retrieval) if callable(retrieval) else None
    if retrieval is not None and custom is None:
        settings["retrieval"] = retrieval
    if resume is not None and (retrieval is not None or out is not None or not settings.keys() <= _MAY_CHANGE):
        raise ValueError(f"`resume` continues with the settings of the run: only {', '.join(sorted(_MAY_CHANGE))} may be given with it")
    if resume is not None and (finished := _rehearsal.read_record(resume)) is not None:
        return Result(json.loads(finished), pathlib.Path(resume))
    told, own = listener(callback), {"step": on_step, "task": on_task}

    def hear(event: dict[str, Any]) -> None:
        for function in (told, own.get(event["event"])):
            if function is not None:
                function(event)

    hears = told is not None or on_step is not None or on_task is not None
    record = _rehearsal.run(_toml(settings), out, resume, custom, hear if hears else None)
    directory = resume if out is None else out
    return Result(json.loads(record), None if directory is None else pathlib.Path(directory))


def read_runs(directory: str | os.PathLike[str]) -> Any:
    """The finished runs below a directory, a row each: settings and measures.

    A pandas frame if pandas is there, else a list of dictionaries. A damaged result raises `RehearsalError`.
    """
    _needs_training()
    root = pathlib.Path(directory)
    if not root.is_dir():
        raise FileNotFoundError(f"there is no directory {root}")
    rows = []
    for place in sorted(path.parent for path in root.rglob("result.json")):
        result = Result(json.loads(_rehearsal.read_record(place)), place)
        rows.append({"directory": str(place), **result.settings, **result.measures, "steps": result.record["steps"]})
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)


def _needs_training() -> None:
    if not _rehearsal.TRAINING:
        raise NotImplementedError("this build has no training by gradients: build it with the feature `training`")


def _toml(settings: dict[str, Any]) -> str:
    """Settings as an experiment file has them. Numbers, texts and lists are written in TOML as in JSON."""
    given = {name.replace("_", "-"): value for name, value in settings.items() if value is not None}
    return "".join(f"{name} = {json.dumps(value, default=_plain, allow_nan=False)}\n" for name, value in given.items())


def _plain(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a setting is {value!r}, of the type {type(value).__name__}: expected a number, a text or a list")
