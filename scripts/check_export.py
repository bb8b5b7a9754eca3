"""Compares an exported model in the real onnxruntime with what `rehearsal predict --json` printed of the same photos:
the same class for every photo, and probabilities and (relative to it) distance within 1e-3.

    python3 scripts/check_export.py MODEL.onnx PREDICTIONS.jsonl
    python3 scripts/check_export.py --lossless OUT FOLDER...

Photos are named relative to the current directory. Pillow and Rehearsal decode a JPEG to bytes that differ by up to 4,
which alone changes probabilities by more than 1e-3: predict and compare lossless photos. The second form makes them: PNG
copies of the photos in FOLDER/CLASS as OUT/CLASS/NAME.png. Needs onnxruntime, numpy and Pillow."""
import json, pathlib, statistics, sys
import numpy as np, onnxruntime
from PIL import Image, ImageOps

TOLERANCE = 1e-3


def pixels(path):
    """The bytes [height, width, 3] of a photo, turned as EXIF says."""
    with Image.open(path) as photo:
        return np.asarray(ImageOps.exif_transpose(photo).convert("RGB"))


def difference(probabilities, line):
    """The largest difference of the probabilities that a line names."""
    named = [line, *line["others"]]
    return max(abs(probabilities[each["class"]] - each["probability"]) for each in named)


def relative(distance, line):
    """How far the distance is from that of a line."""
    return abs(float(distance) - line["distance"]) / line["distance"]


def copy_lossless(out, *folders):
    """Writes the photos of folders as PNG, in the same folders of classes."""
    for folder in map(pathlib.Path, folders):
        for path in sorted(path for path in folder.glob("*/*") if path.is_file()):
            to = pathlib.Path(out, path.parent.name, f"{path.stem}.png")
            to.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(pixels(path)).save(to)


def compare(model, predictions):
    """Runs the model on the photos of every line and prints what differs."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    classes = json.loads(session.get_modelmeta().custom_metadata_map["classes"])
    differences, farthest, other_class = [], 0, 0
    for line in map(json.loads, pathlib.Path(predictions).read_text().splitlines()):
        outputs = session.run(["probabilities", "class", "distance"], {"image": pixels(line["path"])})
        found = classes[int(outputs[1])]
        of_distance = relative(outputs[2], line)
        farthest = max(farthest, of_distance)
        differences.append(difference(dict(zip(classes, map(float, outputs[0]))), line))
        other_class += found != line["class"]
        if found != line["class"] or not max(differences[-1], of_distance) <= TOLERANCE:
            print(f"{line['path']}: {line['class']} {line['probability']:.4f}, exported {found}, difference {differences[-1]:.2e}, distance {of_distance:.2e}")
    if not differences:
        sys.exit("no predictions to compare")
    print(f"{len(differences)} photos, {other_class} of another class, probabilities differ by at most {max(differences):.2e}, "
          f"median {statistics.median(differences):.2e}; distances by at most {farthest:.2e} of themselves")
    if other_class or not max(farthest, *differences) <= TOLERANCE:
        sys.exit(f"not the same classes, or probabilities or distances differ by more than {TOLERANCE}")


if __name__ == "__main__":
    if len(sys.argv) > 3 and sys.argv[1] == "--lossless":
        copy_lossless(*sys.argv[2:])
    elif len(sys.argv) == 3:
        compare(*sys.argv[1:])
    else:
        sys.exit(__doc__)
