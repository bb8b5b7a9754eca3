#!/usr/bin/env python3
"""How alike are the features of a photo and of the same photo cut by 5 %, 10 % brighter or darker and saved
again as JPEG, and of different photos of one class? The limit of near-duplicates comes from this.

    pip install numpy pillow
    python scripts/measure_near_duplicates.py target/release/rehearsal photos/ [more/ ...]

Every folder has photos in folders named after their class, at any depth; 300 of them are taken.
"""

import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image, ImageEnhance


def features(program, folder):
    out = folder.with_suffix(".npy")
    subprocess.run([program, "features", folder, "-o", out, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    values = np.load(out)
    return values / np.linalg.norm(values, axis=1, keepdims=True)


def shot_again(image, number, rng):
    width, height = image.size
    cut = (int(0.05 * width), int(0.05 * height))
    x, y = rng.randint(0, cut[0]), rng.randint(0, cut[1])
    image = image.crop((x, y, x + width - cut[0], y + height - cut[1]))
    return ImageEnhance.Brightness(image).enhance(1.1 if number % 2 else 0.9)


def main():
    program, folders = sys.argv[1], sys.argv[2:]
    for folder in folders:
        rng = random.Random(0)
        files = sorted(Path(folder).rglob("*.jpg"))
        rng.shuffle(files)
        files = files[:300]
        with tempfile.TemporaryDirectory() as place:
            first, again = Path(place) / "first", Path(place) / "again"
            first.mkdir(), again.mkdir()
            for number, file in enumerate(files):
                image = Image.open(file).convert("RGB")
                image.save(first / f"{number:04}.png")
                shot_again(image, number, rng).save(again / f"{number:04}.jpg", quality=75)
            x, y = features(program, first), features(program, again)
        alike = (x * y).sum(axis=1)
        classes = np.array([file.parent.name for file in files])
        pairs = np.triu(classes[:, None] == classes[None, :], 1)
        others = (x @ x.T)[pairs]
        print(f"{folder}: shot again, 5 % below {np.quantile(alike, 0.05):.3f}; "
              f"different photos of a class, 99.9 % below {np.quantile(others, 0.999):.3f}")


if __name__ == "__main__":
    main()
