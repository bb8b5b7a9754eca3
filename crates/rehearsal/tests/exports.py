"""Runs what the example `exports` wrote into DIR in the real onnxruntime, and its weights in PyTorch where that is
installed, else in numpy: the same classes, unless two are as likely as each other, and probabilities within 1e-4.

    python3 crates/rehearsal/tests/exports.py DIR [--torch]    # --torch: PyTorch must be there"""
import importlib.util, json, pathlib, sys
import numpy as np, onnxruntime
from safetensors import safe_open

scripts = pathlib.Path(__file__).parents[3] / "scripts"


def script(name):
    spec = importlib.util.spec_from_file_location(name, scripts / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def by_onnxruntime(path, images):
    session = onnxruntime.InferenceSession(str(path.with_suffix(".onnx")), providers=["CPUExecutionProvider"])
    classes = json.loads(session.get_modelmeta().custom_metadata_map["classes"])
    (given,), (found,) = session.get_inputs(), session.get_outputs()
    assert (given.name, given.type, given.shape[1:]) == ("images", "tensor(uint8)", list(images.shape[1:])), given
    assert (found.name, found.type, found.shape[1:]) == ("probabilities", "tensor(float)", [len(classes)]), found
    # Any number of images at once, one included.
    parts = [images[:1], images[1:400], images[400:]]
    return classes, np.concatenate([session.run(None, {"images": part})[0] for part in parts])


def by_torch(path, images):
    import torch

    model = script("load_in_torch").load(path)
    with torch.inference_mode():
        return model.about["classes"], np.concatenate([model(part).numpy() for part in torch.from_numpy(images).split(50)])


def by_numpy(path, images):  # names and layout back to those of a model's file, which a script reads
    with safe_open(path, "np") as file:
        about = json.loads(file.metadata()["rehearsal-export"])
        arrays = {ours(name): file.get_tensor(name) for name in file.keys()}
    arrays = {name: a.transpose(2, 3, 1, 0) if a.ndim == 4 else a for name, a in arrays.items()}
    header = {"predictor": "", "seen": len(about["classes"]), "config": {"backbone": about["backbone"]}, "head": about["head"]}
    predict = script("read_model").predict
    return about["classes"], np.concatenate([predict(header, arrays, images[i : i + 50]) for i in range(0, len(images), 50)])


def ours(name):
    parts, kinds = name.split("."), {"running_var": "running_variance"}
    if parts[0] in ("fc", "proxies"):
        return "head." + parts[-1]
    norm = {"weight": "scale", "bias": "shift"}
    if parts[0] == "layers":
        return f"backbone.layers.{parts[1]}." + (kinds | norm).get(parts[3], parts[3]) if parts[2] == "1" else f"backbone.layers.{parts[1]}.weight"
    inside = parts[-2] if parts[-2] != "0" and parts[-2] != "1" else parts[-3] + parts[-2]
    kind = parts[-1] if inside.startswith("conv") or inside == "downsample0" else (kinds | norm).get(parts[-1], parts[-1])
    if len(parts) == 2:
        return f"backbone.stem.{kind}"
    block = 2 * (int(parts[0][5:]) - 1) + int(parts[1])
    return f"backbone.blocks.{block}." + ("shortcut" if "downsample" in inside else "conv" + inside[-1]) + f".{kind}"


def check(path, how, classes, rows):
    expected = [json.loads(line) for line in open(path.with_suffix(".jsonl"))]
    assert len(expected) == len(rows) == 1000
    assert set(classes) == set(expected[0]["probabilities"]) and rows.shape == (1000, len(classes))
    ours = np.array([[line["probabilities"][name] for name in classes] for line in expected])
    worst = np.abs(rows - ours).max()
    best = np.array([classes.index(line["class"]) for line in expected])
    other = np.sum((rows.argmax(1) != best) & (rows.max(1) - rows[np.arange(1000), best] > 1e-4))
    print(f"{path.stem} by {how}: probabilities differ by at most {worst:.1e}, {other} other classes", flush=True)
    assert worst < 1e-4 and other == 0, path


directory, must = pathlib.Path(sys.argv[1]), "--torch" in sys.argv
has_torch = must or importlib.util.find_spec("torch") is not None
models = sorted(directory.glob("*.safetensors"))
assert len(models) == 12, models
for path in models:
    images = np.load(directory / f"{path.stem.rsplit('-', 1)[1]}.npy")
    check(path, "onnxruntime", *by_onnxruntime(path, images))
    if path.stem.startswith("planned"):
        continue  # a custom backbone: the scripts do not know its layers
    if has_torch:
        check(path, "PyTorch", *by_torch(path, images))
    # Numpy is slow on large images; the way from a name to an array is the same at every size.
    elif images.shape[1] < 84:
        check(path, "numpy", *by_numpy(path, images))
if not has_torch:
    print("PyTorch is not installed: weights were compared with numpy alone")
