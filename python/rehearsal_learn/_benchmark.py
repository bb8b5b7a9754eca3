"""Runs of the benchmark: methods of continual learning on streams of tasks."""

from __future__ import annotations

import json
import os
import pathlib
from dataclasses import dataclass, field
from typing import Any, Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from . import _rehearsal
from ._progress import Callback, Event, listener

Hear = Callable[[Event], object]

# What may be given when a run continues: it does not change results, or the result says so.
_MAY_CHANGE = {"data", "device", "threads"}
# Changes of loss, labels and tasks of the candidates, and how many to choose → indices of candidates.
Retrieval = Callable[
    [NDArray[np.float32], NDArray[np.int64], NDArray[np.int64], int], "Iterable[int] | NDArray[np.integer[Any]]"
]


@dataclass(frozen=True)
class Result:
    """The result of a run; `record` is all of it, as `result.json` has it."""

    record: dict[str, Any] = field(repr=False)
    directory: pathlib.Path | None = None

    @property
    def matrix(self) -> NDArray[np.float64]:
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
    def correct(self) -> NDArray[np.bool_] | None:
        """For each test image whether its prediction was right, in order; `None` of a run without a directory."""
        if self.directory is None:
            return None
        return np.frombuffer((self.directory / "predictions.bin").read_bytes(), np.uint8).astype(bool)


def run(
    *,
    out: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
    retrieval: str | Retrieval | None = None,
    on_step: Hear | None = None,
    on_task: Hear | None = None,
    callback: Callback = "auto",
    **settings: Any,
) -> Result:
    """Run an experiment, and give its result.

    `settings` are those of `rehearsal run --help`, with `_` for `-`: `dataset`, `method`, `tasks`, `epochs`, `memory`,
    `seed` and so on. With `out` a directory is written, and `resume` continues the run of one. `on_step` is called
    with a dictionary (`task`, `epoch`, `step`, `loss`) after each step, `on_task` (`task`, `accuracies`) after each task.

    `retrieval` is a name, or a function of three arrays, about candidates drawn from the memory, and a number: how much
    the coming update would change the loss of each, its label, its task, and how many to replay. It gives indices of
    candidates. Settings and results call it by its name; `resume` needs a function of the same name.

    Ctrl-C, or an exception of a function, stops the run. With `out`, `resume` continues it to the same bits.

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
    if resume is not None:
        _check_resumed(out, retrieval, settings)
        if (finished := _rehearsal.read_record(resume)) is not None:
            return Result(json.loads(finished), pathlib.Path(resume))
    if out is not None and not os.fspath(out):
        raise ValueError("out is an empty path: expected a directory")
    function = None
    if callable(retrieval):
        function = (getattr(retrieval, "__name__", type(retrieval).__name__), retrieval)
    elif retrieval is not None:
        settings["retrieval"] = retrieval
    hear = _listener(listener(callback), on_step, on_task)
    record = _rehearsal.run(_json(settings), out, resume, function, hear)
    directory = resume if out is None else out
    return Result(json.loads(record), None if directory is None else pathlib.Path(directory))


def _check_resumed(out: Any, retrieval: Any, settings: dict[str, Any]) -> None:
    """Refuse what would change a run that continues."""
    allowed = {"data"} if callable(retrieval) else _MAY_CHANGE
    given = settings.keys() - allowed
    given |= {"out"} if out is not None else set()
    given |= {"retrieval"} if retrieval is not None and not callable(retrieval) else set()
    if given:
        raise ValueError(f"`resume` continues with the settings of the run: {', '.join(sorted(given))} cannot be given")


def _listener(shown: Hear | None, on_step: Hear | None, on_task: Hear | None) -> Hear | None:
    """What is called with every event: those of the three that want it."""
    functions: dict[str, Hear | None] = {"step": on_step, "task": on_task}
    if shown is None and on_step is None and on_task is None:
        return None

    def hear(event: Event) -> None:
        for function in (shown, functions.get(event["event"])):
            if function is not None:
                function(event)

    return hear


def read_runs(directory: str | os.PathLike[str]) -> Any:
    """The finished runs below a directory, a row each: settings and measures.

    A pandas frame if pandas is there, else a list of dictionaries. A damaged result raises `RehearsalError`.
    """
    _needs_training()
    root = pathlib.Path(directory)
    if not os.path.isdir(root):
        raise FileNotFoundError(f"there is no directory {root}")
    rows = []
    for place in sorted(path.parent for path in root.rglob("result.json")):
        if (record := _rehearsal.read_record(place)) is None:
            continue
        result = Result(json.loads(record), place)
        rows.append({"directory": str(place), **result.settings, **result.measures, "steps": result.record["steps"]})
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)


def _needs_training() -> None:
    if not _rehearsal.TRAINING:
        raise NotImplementedError("this wheel was built without the feature `training`, which the benchmark needs")


def _json(settings: dict[str, Any]) -> str:
    """Settings by the names that an experiment file has."""
    given = {name.replace("_", "-"): value for name, value in settings.items() if value is not None}
    try:
        return json.dumps(given, default=_plain, allow_nan=False)
    except ValueError as error:
        raise ValueError(f"a setting is not finite, or contains itself: {error}") from None


def _plain(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"a setting is {value!r}, of the type {type(value).__name__}: expected a number, a text or a list")
