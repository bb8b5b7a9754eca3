"""Times `PhotoClassifier.partial_fit` against the command `rehearsal learn` on the same photos, which does the same
in Rust alone: photos are read, turned into features without a cache, learned, and the head is computed.

    python scripts/measure_python.py [PHOTOS] [ROUNDS]

Each is a process of its own, whose start is not counted; both in turn, with one thread."""
import os, pathlib, statistics, subprocess, sys, tempfile, time

import numpy as np
from PIL import Image

PYTHON = """
import pathlib, sys, time
from rehearsal_learn import PhotoClassifier
paths = sorted(pathlib.Path(sys.argv[1]).rglob("*.jpg"))
start = time.process_time()
classifier = PhotoClassifier(threads=1).partial_fit(paths, [path.parent.name for path in paths])
classifier.save(sys.argv[2])
print(time.process_time() - start)
"""
count, rounds = (int(word) for word in (sys.argv[1:] + ["1000", "3"][len(sys.argv) - 1:]))
program = pathlib.Path(sys.executable).with_name("rehearsal")
rng = np.random.default_rng(0)


def seconds(words, place):
    """Seconds of the processor that a command takes, with its own data directory."""
    environment = {**os.environ, "REHEARSAL_DATA": str(place)}
    before = os.times()
    done = subprocess.run(words, env=environment, check=True, capture_output=True, text=True)
    after = os.times()
    return done.stdout, after.children_user + after.children_system - before.children_user - before.children_system


with tempfile.TemporaryDirectory() as directory:
    root = pathlib.Path(directory)
    for number in range(count):
        place = root / "photos" / f"class{number % 10}"
        place.mkdir(parents=True, exist_ok=True)
        coarse = rng.integers(0, 255, (12, 16, 3), dtype=np.uint8)
        Image.fromarray(coarse).resize((640, 480), Image.Resampling.BICUBIC).save(place / f"{number}.jpg")
    took = {"rust": [], "python": []}
    for round_ in range(rounds):
        home = root / f"home{round_}"
        start = seconds([program, "show", "--help"], home)[1]
        rust = seconds([program, "learn", root / f"{round_}.model", root / "photos", "--threads", "1", "--quiet"], home)[1]
        took["rust"].append(rust - start)
        words = [sys.executable, "-c", PYTHON, root / "photos", root / f"{round_}.file"]
        took["python"].append(float(seconds(words, root / f"python{round_}")[0]))
    print({name: [round(value, 2) for value in values] for name, values in took.items()})
    rust, python = (statistics.median(took[name]) for name in ("rust", "python"))
    # The machine's speed changes from minute to minute, so only neighbours are compared.
    more = sorted(100 * (python / rust - 1) for rust, python in zip(took["rust"], took["python"]))
    print(f"{count} photos: rust {rust:.2f} s, python {python:.2f} s of processor time (medians)")
    print(f"python needs {statistics.median(more):+.1f} % more (median of {rounds} rounds, from {more[0]:+.1f} to {more[-1]:+.1f})")
