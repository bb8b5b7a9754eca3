#!/usr/bin/env python3
"""Makes the embedded data set from the whole of Fashion-MNIST.

    apt-get install dataset-fashion-mnist
    python3 scripts/make_embedded.py /usr/share/datasets/fashion-mnist crates/data/embedded

Takes the first 250 training and the first 100 test images of each of the ten classes, in the order of the official files, and writes them
as idx files like the official ones, gzipped without a time stamp: the same input gives the same bytes.
"""
import gzip
import pathlib
import struct
import sys

source, target = map(pathlib.Path, sys.argv[1:3])
target.mkdir(parents=True, exist_ok=True)


def write(name, header, body):
    (target / name).write_bytes(gzip.compress(header + body, compresslevel=9, mtime=0))


for split, per_class in (("train", 250), ("t10k", 100)):
    images = gzip.decompress((source / f"{split}-images-idx3-ubyte.gz").read_bytes())
    labels = gzip.decompress((source / f"{split}-labels-idx1-ubyte.gz").read_bytes())
    magic, count, height, width = struct.unpack(">IIII", images[:16])
    assert (magic, height, width) == (0x803, 28, 28) and struct.unpack(">II", labels[:8]) == (0x801, count)
    left = [per_class] * 10
    chosen = []
    for index, label in enumerate(labels[8:]):
        if left[label] > 0:
            left[label] -= 1
            chosen.append(index)
    assert not any(left)
    size = height * width
    write(
        f"{split}-images-idx3-ubyte.gz",
        struct.pack(">IIII", 0x803, len(chosen), height, width),
        b"".join(images[16 + i * size : 16 + (i + 1) * size] for i in chosen),
    )
    write(f"{split}-labels-idx1-ubyte.gz", struct.pack(">II", 0x801, len(chosen)), bytes(labels[8 + i] for i in chosen))
