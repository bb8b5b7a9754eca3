"""Makes the files that the tests of `resnet18` and `dinov2-small` compare with, by torchvision and timm.

    python make_goldens.py            # torch, torchvision, timm, safetensors, numpy

The weights are too large to keep, so both sides compute them: see `value` here and `tests/generated/mod.rs`. What is
kept is the features, and small files of `torch.save` for the reader.
"""

import math
import os
import zipfile

import numpy as np
import timm
import torch
import torchvision
from safetensors.numpy import save_file

HERE = os.path.dirname(os.path.abspath(__file__))
IMAGES = 5


def uniform(name: str, count: int) -> np.ndarray:
    """Numbers in -1 … 1 that depend on a name and an index: FNV-1a of the name, then splitmix64."""
    seed = 0xCBF29CE484222325
    for byte in name.encode():
        seed = ((seed ^ byte) * 0x100000001B3) % 2**64
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(40)).astype(np.float64) / 2**23 - 1.0


def value(name: str, shape: tuple) -> torch.Tensor:
    """A tensor, by its name and shape."""
    last = name.rsplit(".", 1)[-1]
    if last == "running_var":
        base, scale = 1.0, 0.5
    elif last == "gamma":
        base, scale = 0.5, 0.25
    elif last in ("bias", "running_mean"):
        base, scale = 0.0, 0.125
    elif last in ("cls_token", "pos_embed"):
        base, scale = 0.0, 0.5
    elif len(shape) == 1:
        base, scale = 1.0, 0.25
    else:
        base, scale = 0.0, 2.0 / math.sqrt(math.prod(shape[1:]))
    numbers = base + scale * uniform(name, math.prod(shape))
    return torch.from_numpy(numbers.astype(np.float32).reshape(shape))


def images(size: int) -> torch.Tensor:
    """NCHW, from what the other side draws as NHWC."""
    numbers = 2.0 * uniform(f"images {size}", IMAGES * size * size * 3)
    nhwc = numbers.astype(np.float32).reshape(IMAGES, size, size, 3)
    return torch.from_numpy(np.ascontiguousarray(nhwc.transpose(0, 3, 1, 2)))


def resnet18(size: int) -> np.ndarray:
    network = torchvision.models.resnet18()
    state = network.state_dict()
    network.load_state_dict({k: value(k, tuple(v.shape)) if v.is_floating_point() else v for k, v in state.items()})
    network.fc = torch.nn.Identity()
    return network.eval()(images(size)).numpy()


def dinov2_positions(embeddings: torch.Tensor, side: int) -> torch.Tensor:
    """`interpolate_pos_encoding` of facebookresearch/dinov2, with the settings of its `dinov2_vits14`."""
    count = embeddings.shape[1] - 1
    trained = int(math.sqrt(count))
    if trained == side:
        return embeddings
    patches = embeddings[:, 1:].reshape(1, trained, trained, -1).permute(0, 3, 1, 2)
    scale = float(side + 0.1) / trained
    patches = torch.nn.functional.interpolate(
        patches, scale_factor=(scale, scale), mode="bicubic", antialias=False
    )
    assert patches.shape[-2:] == (side, side)
    return torch.cat([embeddings[:, :1], patches.permute(0, 2, 3, 1).reshape(1, side * side, -1)], dim=1)


def dinov2_small(size: int) -> np.ndarray:
    network = timm.create_model("vit_small_patch14_dinov2", img_size=size, num_classes=0, global_pool="token")
    state = {k: value(k, tuple(v.shape)) for k, v in network.state_dict().items() if k != "pos_embed"}
    state["pos_embed"] = dinov2_positions(value("pos_embed", (1, 1 + 37 * 37, 384)), size // 14)
    network.load_state_dict(state)
    return network.eval()(images(size)).numpy()


class Runs:
    """Calls a function when it is unpickled."""

    def __reduce__(self):
        return os.system, ("echo this must never run",)


def checkpoints() -> None:
    """Small files of `torch.save`."""
    tensors = {
        "single": value("single", (2, 3)),
        "turned": value("single", (2, 3)).t(),
        "half": value("half", (4,)).half(),
        "int": torch.tensor([1, 2, 3]),
        "nan": torch.tensor([0.0, math.nan]),
        "nothing": torch.zeros(0, 3),
    }
    folder = os.path.join(HERE, "pth")
    torch.save(tensors, os.path.join(folder, "zip.pth"))
    torch.save(tensors, os.path.join(folder, "legacy.pth"), _use_new_zipfile_serialization=False)
    # A file of a kilobyte that says it has 4 GB.
    torch.save({"single": torch.zeros(1).expand(2**30)}, os.path.join(folder, "expanded.pth"))
    torch.save({"single": Runs()}, os.path.join(folder, "code.pth"))
    # A storage that is said to be larger than it is.
    with zipfile.ZipFile(os.path.join(folder, "zip.pth")) as whole, zipfile.ZipFile(
        os.path.join(folder, "short.pth"), "w"
    ) as short:
        for entry in whole.namelist():
            data = whole.read(entry)
            short.writestr(entry, data[:4] if entry.endswith("/data/0") else data)


def main() -> None:
    torch.manual_seed(0)
    with torch.no_grad():
        for file, network, sizes in (("resnet18", resnet18, (224, 97)), ("dinov2", dinov2_small, (224, 98))):
            # `save_file` ignores strides: a view must be made contiguous.
            features = {str(size): np.ascontiguousarray(network(size)) for size in sizes}
            save_file(features, os.path.join(HERE, f"{file}.safetensors"))
    checkpoints()


main()
