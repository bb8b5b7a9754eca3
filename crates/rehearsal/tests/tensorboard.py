"""Opens a run's event files with the real TensorBoard and compares them with what the run logged.

    python tensorboard.py RUN   a run made with --tensorboard, however often it was interrupted

Needs the package `tensorboard` (PyPI).
"""

import json
import logging
import pathlib
import sys

# Not the directory of this file, whose name would hide the package.
sys.path = [entry for entry in sys.path if pathlib.Path(entry or ".").resolve() != pathlib.Path(__file__).parent.resolve()]

import numpy
from tensorboard.backend.event_processing import event_accumulator

# It warns of every resumed run, which is what this is about.
logging.getLogger("tensorboard").setLevel(logging.ERROR)


def shown(directory):
    """{tag: [(step, value), …]}, as TensorBoard keeps them."""
    accumulator = event_accumulator.EventAccumulator(str(directory), size_guidance={event_accumulator.SCALARS: 0})
    accumulator.Reload()
    return {tag: [(event.step, event.value) for event in accumulator.Scalars(tag)] for tag in accumulator.Tags()["scalars"]}


def logged(steps):
    """The same from steps.jsonl. TensorBoard keeps f32."""
    found, last = {}, 0
    for line in map(json.loads, steps.read_text().splitlines()):
        if "step" in line:
            last = line["step"]
            values = {name: line[name] for name in ("loss", "retrieved", "memory") if line[name] is not None}
        else:
            row = line["accuracy"]
            values = {f"accuracy/task {task:02}": value for task, value in enumerate(row, 1)}
            values["accuracy/mean"] = sum(row) / len(row)
        for tag, value in values.items():
            found.setdefault(tag, []).append((last, float(numpy.float32(value))))
    return found


run = pathlib.Path(sys.argv[1])
files = sorted((run / "tensorboard").iterdir())
assert len(files) > 1, "a run that was interrupted has several files: this one was not"
shown, logged = shown(run / "tensorboard"), logged(run / "steps.jsonl")
for tag, series in logged.items():
    assert len(series) == len(shown[tag]), f"{tag}: {len(shown[tag])} values are shown, {len(series)} were logged"
    for (a, x), (b, y) in zip(shown[tag], series):
        assert a == b and abs(x - y) <= 1e-6 * max(1, abs(y)), f"{tag}: {x} at step {a} is shown, {y} at step {b} was logged"
assert "forgetting" in shown, "a run of several tasks shows how much it forgets"
print(f"{sum(map(len, logged.values()))} values in {len(logged)} series from {len(files)} files: shown as logged, each once")
