#!/usr/bin/env python3
"""Seconds and bytes of `rehearsal learn` with many classes and photos, on made-up features: files that are no images,
whose features are in the cache already.

    pip install numpy
    python scripts/measure_growth.py target/release/rehearsal WORK_DIR [--classes 1000] [--photos 100000]
"""

import argparse
import hashlib
import json
import os
import struct
import subprocess
import time
import zlib
from pathlib import Path

import numpy as np

DIMENSIONS = 1280


def png(size):
    """A black square."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0))
    rows = chunk(b"IDAT", zlib.compress(bytes(size * (1 + 3 * size))))
    return b"\x89PNG\r\n\x1a\n" + header + rows + chunk(b"IEND", b"")


def cache_folder(program, home):
    """The folder that the program keeps features in, found by computing those of one image."""
    probe = home / "probe"
    probe.mkdir(parents=True)
    (probe / "a.png").write_bytes(png(8))
    run(program, home, "features", probe, "-o", home / "probe.npy", "-q")
    return next((home / "features").iterdir())


def run(program, home, *words):
    start = time.time()
    environment = {**os.environ, "REHEARSAL_DATA": str(home)}
    with subprocess.Popen([program, *map(str, words)], env=environment, stdout=subprocess.PIPE, text=True) as process:
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{words} failed")
    return output, time.time() - start, usage.ru_maxrss


def make(folder, cache, classes, photos, seed):
    """Files `folder/CLASS/N.jpg`, and their features: a mean per class, with noise."""
    rng = np.random.default_rng(seed)
    for number in range(classes):
        mean = np.random.default_rng(number).normal(size=DIMENSIONS)
        place = folder / f"class{number:04}"
        place.mkdir(parents=True)
        values = mean + 1.5 * rng.normal(size=(photos // classes, DIMENSIONS))
        values *= np.sqrt(DIMENSIONS / (values**2).sum(axis=1, keepdims=True))
        for index, row in enumerate(np.rint(values * 4096).clip(-32767, 32767).astype("<i2")):
            content = f"made up {seed} {number} {index}".encode()
            (place / f"{index:04}.jpg").write_bytes(content)
            name, features = hashlib.sha256(content).hexdigest(), row.tobytes()
            (cache / name[:2]).mkdir(exist_ok=True)
            (cache / name[:2] / name[2:]).write_bytes(features + zlib.crc32(features).to_bytes(4, "little"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("work", type=Path)
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--photos", type=int, default=100_000)
    arguments = parser.parse_args()
    work, program = arguments.work.resolve(), str(Path(arguments.program).resolve())
    cache = cache_folder(program, work / "home")
    make(work / "all", cache, arguments.classes, arguments.photos, 0)
    make(work / "more", cache, min(10, arguments.classes), 100, 1)
    memory = arguments.photos + 1000
    for folder in ("all", "more"):
        report, seconds, peak = run(
            program, work / "home", "learn", work / "model", work / folder, "--json", "-q", "--memory", memory
        )
        report = json.loads(report)
        print(f"{folder}: {report['images']} photos, {report['classes']} classes, {seconds:.1f} s, peak {peak / 1024:.0f} MB, "
              f"file {report['bytes'] / 1e6:.1f} MB, holdout {report['holdout']}")
    one = next((work / "more").rglob("*.jpg"))
    _, seconds, peak = run(program, work / "home", "predict", work / "model", one)
    print(f"predict one: {seconds:.2f} s, peak {peak / 1024:.0f} MB")


if __name__ == "__main__":
    main()
