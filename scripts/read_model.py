"""Predicts with a model file of Rehearsal, in numpy alone: docs/model-file.md as a program.

    python3 scripts/read_model.py MODEL.safetensors IMAGES.npy    # uint8 [n, height, width, channels]

Prints one line of JSON per image: the class and the probability of every class that has appeared."""
import hashlib, json, sys
import numpy as np


def read(path):
    raw = open(path, "rb").read()
    length = int.from_bytes(raw[:8], "little")
    table = json.loads(raw[8 : 8 + length])
    header = json.loads(table.pop("__metadata__")["rehearsal"])
    unsealed = raw.replace(header["sha256"].encode(), b"0" * 64, 1)
    assert hashlib.sha256(unsealed).hexdigest() == header["sha256"], "the file is damaged"
    assert header["format"] == 6, "another format"
    types = {"F32": "<f4", "U16": "<u2", "U8": "u1"}
    part = lambda t: np.frombuffer(raw, types[t["dtype"]], int(np.prod(t["shape"])), 8 + length + t["data_offsets"][0])
    return header, {name: part(t).reshape(t["shape"]) for name, t in table.items()}


def layer(x, w, stride):  # convolution with zero padding, then the norm by running statistics
    k = w["weight"].shape[0]
    x = np.pad(x, ((0, 0), (k // 2, k // 2), (k // 2, k // 2), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (k, k), (1, 2))[:, ::stride, ::stride]
    y = np.einsum("nhwcij,ijco->nhwo", windows, w["weight"], optimize=True)
    return (y - w["running_mean"]) / np.sqrt(w["running_variance"] + 1e-5) * w["scale"] + w["shift"]


def features(backbone, x, at):
    if backbone == "pixels":
        return x.reshape(len(x), -1)
    if backbone == "tiny":
        for i in range(3):
            x = np.maximum(layer(x, at(f"layers.{i}"), 2), 0)
        return x.mean((1, 2))
    x = np.maximum(layer(x, at("stem"), 1), 0)
    for i in range(8):
        stride = 2 if i in (2, 4, 6) else 1
        short = layer(x, at(f"blocks.{i}.shortcut"), stride) if stride == 2 else x
        x = np.maximum(layer(x, at(f"blocks.{i}.conv1"), stride), 0)
        x = np.maximum(layer(x, at(f"blocks.{i}.conv2"), 1) + short, 0)
    return x.mean((1, 2))


def predict(header, arrays, images):
    own = {n.removeprefix(header["predictor"]): a for n, a in arrays.items() if n.startswith(header["predictor"])}
    # Statistics that were re-estimated from the memory take the place of those that training left.
    own |= {n.removeprefix("calibration."): a for n, a in arrays.items() if n.startswith("calibration.")}
    at = lambda name: {n.rsplit(".", 1)[1]: a for n, a in own.items() if n.rsplit(".", 1)[0] == f"backbone.{name}"}
    f = features(header["config"]["backbone"], images.astype(np.float32) / 255, at)
    if header["head"]["kind"] == "proxies":
        unit = lambda rows: rows / (np.linalg.norm(rows, axis=1, keepdims=True) + 1e-6)
        logits = unit(f) @ unit(own["head.proxies"]).T / header["head"]["temperature"]
    else:
        logits = f @ own["head.weight"].T + own["head.bias"]
    logits = logits[:, : header["seen"]].astype(np.float64)
    logits[:, header.get("retired", [])] = -np.inf
    shares = np.exp(logits - logits.max(1, keepdims=True))
    return shares / shares.sum(1, keepdims=True)


if __name__ == "__main__":
    header, arrays = read(sys.argv[1])
    images = np.load(sys.argv[2])
    for start in range(0, len(images), 50):
        for row in predict(header, arrays, images[start : start + 50]):
            print(json.dumps({"class": header["classes"][int(row.argmax())], "probabilities": row.tolist()}))
