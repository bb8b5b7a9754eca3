"""Compares an exported model in the real onnxruntime with what `rehearsal predict --json` printed of the same photos:
the same class for every photo, unless both classes are as likely within 1e-4; probabilities within 1e-3; distances within
1e-2 of their median (the features of a small random network vary little, and whitening enlarges rounding).

    python3 scripts/check_export.py MODEL.onnx PREDICTIONS.jsonl
    python3 scripts/check_export.py --lossless OUT FOLDER...

Photos are named relative to the current directory. Pillow and Rehearsal decode a JPEG to bytes that differ by up to 4,
which alone changes probabilities by more than 1e-3: predict and compare lossless photos. The second form makes them: PNG
copies of the photos in FOLDER/CLASS as OUT/CLASS/NAME.png. Needs onnxruntime, numpy and Pillow."""
import json, pathlib, statistics, sys
import numpy as np, onnxruntime
from PIL import Image, ImageOps

TOLERANCE = 1e-3
OF_DISTANCES = 1e-2
TIE = 1e-4


def pixels(path):
    """The bytes [height, width, 3] of a photo, turned as EXIF says."""
    with Image.open(path) as photo:
        return np.asarray(ImageOps.exif_transpose(photo).convert("RGB"))


def difference(probabilities, line):
    """The largest difference of the probabilities that a line names."""
    named = [line, *line["others"]]
    return max(abs(probabilities[each["class"]] - each["probability"]) for each in named)


def is_tie(found, line):
    """Whether the class is as likely as the one that a line names."""
    named = {each["class"]: each["probability"] for each in [line, *line["others"]]}
    return line["probability"] - named.get(found, 0) <= TIE


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
    lines = [json.loads(line) for line in pathlib.Path(predictions).read_text().splitlines()]
    if not lines:
        sys.exit("no predictions to compare")
    scale = statistics.median(line["distance"] for line in lines)
    differences, of_distances, other_class, ties = [], [], 0, 0
    for line in lines:
        outputs = session.run(["probabilities", "class", "distance"], {"image": pixels(line["path"])})
        found = classes[int(outputs[1])]
        differences.append(difference(dict(zip(classes, map(float, outputs[0]))), line))
        of_distances.append(abs(float(outputs[2]) - line["distance"]) / scale)
        tie = found != line["class"] and is_tie(found, line)
        ties += tie
        other_class += found != line["class"] and not tie
        if (found != line["class"] and not tie) or not differences[-1] <= TOLERANCE or not of_distances[-1] <= OF_DISTANCES:
            print(f"{line['path']}: {line['class']} {line['probability']:.4f}, exported {found}, difference {differences[-1]:.2e}, distance {of_distances[-1]:.2e}")
    print(f"{len(differences)} photos, {other_class} of another class, {ties} ties, probabilities differ by at most {max(differences):.2e}, "
          f"median {statistics.median(differences):.2e}; distances by at most {max(of_distances):.2e} of their median")
    if other_class or not max(differences) <= TOLERANCE or not max(of_distances) <= OF_DISTANCES:
        sys.exit(f"not the same classes, or probabilities differ by more than {TOLERANCE}, or distances by more than {OF_DISTANCES}")


if __name__ == "__main__":
    if len(sys.argv) > 3 and sys.argv[1] == "--lossless":
        copy_lossless(*sys.argv[2:])
    elif len(sys.argv) == 3:
        compare(*sys.argv[1:])
    else:
        sys.exit(__doc__)
