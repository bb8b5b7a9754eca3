"""Compares what `scripts/read_model.py` predicts with what Rehearsal predicted: DIR as the example `predictions`
wrote it. The same classes, unless two are as likely as each other, and probabilities within 1e-4."""
import importlib.util, json, pathlib, sys
import numpy as np

directory = pathlib.Path(sys.argv[1])
script = pathlib.Path(__file__).parents[3] / "scripts" / "read_model.py"
spec = importlib.util.spec_from_file_location("read_model", script)
read_model = importlib.util.module_from_spec(spec)
spec.loader.exec_module(read_model)

images = np.load(directory / "images.npy")
models = sorted(directory.glob("*.safetensors"))
assert len(models) >= 4, models
# As it is for every kind that has a norm, beside what training left.
recalibrated = [path.stem for path in models if path.stem.endswith("-recalibrated")]
assert recalibrated == ["cls-er-recalibrated", "pcr-recalibrated", "tiny-recalibrated"], recalibrated
for name in recalibrated:
    plain, changed = (open(directory / f"{stem}.jsonl").read() for stem in (name.removesuffix("-recalibrated"), name))
    assert plain != changed, f"{name} predicts as if nothing was re-estimated"
for path in models:
    ours = [json.loads(line) for line in open(path.with_suffix(".jsonl"))]
    header, arrays = read_model.read(path)
    rows = np.concatenate([read_model.predict(header, arrays, images[i : i + 50]) for i in range(0, len(images), 50)])
    assert len(ours) == len(rows) == 1000
    worst, other = 0.0, 0
    for row, our in zip(rows, ours):
        probability = row[header["classes"].index(our["class"])]
        worst = max(worst, abs(probability - our["probability"]))
        other += header["classes"][int(row.argmax())] != our["class"] and row.max() - probability > 1e-4
    print(f"{path.name}: {len(rows)} images, probabilities differ by at most {worst:.1e}, {other} other classes")
    assert worst < 1e-4 and other == 0, path

damaged = bytearray(models[0].read_bytes())
damaged[-1] ^= 1
broken = directory / "broken.bin"
broken.write_bytes(damaged)
try:
    read_model.read(broken)
except AssertionError:
    print("a flipped bit is refused")
else:
    sys.exit("a flipped bit was believed")
