"""CIFAR-100's binary files as folders of PNGs, one folder a class, for `learn` and scripts/measure_learn.py.

    python3 scripts/cifar_folders.py BINARY OUT [CLASSES]

BINARY holds train.bin, test.bin and fine_label_names.txt (`rehearsal data fetch cifar100` unpacks them); OUT must not
exist and gets train/CLASS/*.png and test/CLASS/*.png of the first CLASSES classes (20)."""
import pathlib, struct, sys, zlib

SIDE, PLANE = 32, 32 * 32
RECORD = 2 + 3 * PLANE    # coarse label, fine label, then red, green and blue, row by row


def png(planes):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    pixels = bytes(value for pixel in zip(*(planes[i : i + PLANE] for i in range(0, 3 * PLANE, PLANE))) for value in pixel)
    rows = b"".join(b"\0" + pixels[i : i + 3 * SIDE] for i in range(0, len(pixels), 3 * SIDE))
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


if len(sys.argv) not in (3, 4):
    sys.exit(__doc__)
binary, out, classes = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3]) if sys.argv[3:] else 20
names = (binary / "fine_label_names.txt").read_text().split()[:classes]
out.mkdir(parents=True)
for split in ["train", "test"]:
    for name in names:
        (out / split / name).mkdir(parents=True)
    records = (binary / f"{split}.bin").read_bytes()
    for number in range(len(records) // RECORD):
        record = records[number * RECORD : (number + 1) * RECORD]
        if record[1] < classes:
            (out / split / names[record[1]] / f"{number:05}.png").write_bytes(png(record[2:]))
