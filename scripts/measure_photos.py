#!/usr/bin/env python3
"""Measures `rehearsal learn` on folders of photos: accuracy after sessions of two classes, a joint linear
probe on the same features, and how well unknown classes are told from known ones.

    pip install numpy scikit-learn
    python scripts/measure_photos.py target/release/rehearsal photos/ [more/ ...] [--splits 3]

Every folder is FOLDER/CLASS/*.jpg or FOLDER/{train,test}/CLASS/*.jpg; all of its photos are split anew, 80 %
for training, with the seeds 0, 1, 2.
"""

import argparse
import json
import os
import random
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score


def photos_by_class(folder):
    roots = [folder / part for part in ("train", "test", "val") if (folder / part).is_dir()] or [folder]
    found = {}
    for root in roots:
        for directory in sorted(root.iterdir()):
            if directory.is_dir():
                found.setdefault(directory.name, []).extend(sorted(directory.iterdir()))
    return found


def link(photos, into):
    into.mkdir(parents=True)
    for number, photo in enumerate(photos):
        os.symlink(photo.resolve(), into / f"{number:05}{photo.suffix}")


def run(program, *words):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{words}: {done.stderr}")
    return done.stdout


def features(program, folder, out):
    run(program, "features", folder, "-o", out, "--follow-links", "--quiet")
    paths = Path(out).with_suffix(".txt").read_text().splitlines()
    values = np.load(out)
    return values / np.linalg.norm(values, axis=1, keepdims=True), [Path(path).parent.name for path in paths]


def measure(program, folder, seed):
    by_class = photos_by_class(folder)
    with tempfile.TemporaryDirectory() as place:
        place = Path(place)
        for name, photos in by_class.items():
            photos = photos[:]
            random.Random(f"{seed} {name}").shuffle(photos)
            cut = round(0.8 * len(photos))
            link(photos[:cut], place / "train" / name)
            link(photos[cut:], place / "test" / name)
        names = sorted(by_class)
        start, model = time.time(), place / "model"
        for first in range(0, len(names), 2):
            session = place / f"session{first}"
            session.mkdir()
            for name in names[first : first + 2]:
                os.symlink(place / "train" / name, session / name)
            run(program, "learn", model, session, "--follow-links", "--accept", "--quiet")
        seconds = time.time() - start
        evaluated = json.loads(run(program, "evaluate", model, place / "test", "--follow-links", "--json", "--quiet"))
        sure = evaluated["sure"] or {"right": 0, "total": 0}
        x, y = features(program, place / "train", place / "train.npy")
        x_test, y_test = features(program, place / "test", place / "test.npy")
        probe = LogisticRegression(C=10, max_iter=5000).fit(x, y).score(x_test, y_test)
        known = place / "known"
        half = names[: (len(names) + 1) // 2]
        for name in half:
            known.mkdir(exist_ok=True)
            os.symlink(place / "train" / name, known / name)
        run(program, "learn", place / "half", known, "--follow-links", "--quiet")
        lines = run(program, "predict", place / "half", place / "test", "--follow-links", "--json").splitlines()
        answers = [json.loads(line) for line in lines]
        unknown = [Path(answer["path"]).parent.name not in half for answer in answers]
        called = [answer["answer"] == "unknown" for answer in answers]
        return {
            "accuracy": evaluated["accuracy"],
            "probe": probe,
            "seconds": seconds,
            "photos": evaluated["photos"],
            "sure": sure["total"],
            "sure_right": sure["right"],
            "auroc": roc_auc_score(unknown, [answer["distance"] for answer in answers]),
            "known_called_unknown": np.mean([c for c, u in zip(called, unknown) if not u]),
            "unknown_called_unknown": np.mean([c for c, u in zip(called, unknown) if u]),
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--splits", type=int, default=3)
    arguments = parser.parse_args()
    for folder in arguments.folders:
        rows = [measure(arguments.program, folder, seed) for seed in range(arguments.splits)]
        means = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
        sure = means.pop("sure")
        means["sure_right"] = means["sure_right"] / max(sure, 1e-9)
        means["sure"] = sure / means.pop("photos")
        spread = float(np.std([row["accuracy"] for row in rows], ddof=1)) if len(rows) > 1 else None
        print(json.dumps({"photos": folder.name, "spread": spread, **means}, indent=None))


if __name__ == "__main__":
    main()
