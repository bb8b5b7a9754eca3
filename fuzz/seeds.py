"""Good files to begin with: python3 seeds.py READER DIRECTORY."""
import io, os, pickle, struct, sys, tarfile, zipfile, zlib

reader, directory = sys.argv[1:]


def png():
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", 5, 3, 8, 2, 0, 0, 0)
    rows = b"".join(b"\0" + bytes(range(15)) for _ in range(3))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def bmp():
    return b"BM" + struct.pack("<IIIIiiHHIIiiII", 54 + 48, 0, 54, 40, 5, 3, 1, 24, 0, 48, 0, 0, 0, 0) + bytes(48)


def archive(mode):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as tar:
        for name, data in [("a/b.txt", b"hello"), ("e" * 150, b"x" * 700)]:
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return file.getvalue()


def zipped():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/b.txt", "hello")
        archive.writestr("c", "y" * 700)
    return file.getvalue()


here = os.path.dirname(os.path.abspath(__file__))
read = lambda path: open(os.path.join(here, "..", path), "rb").read()
gif = b"GIF89a\x02\x00\x02\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x00\x00\x00\x00\x00,\x00\x00\x00\x00\x02\x00\x02\x00\x00\x02\x03\x04\x02\x05\x00;"
record = {"image_data": [1, 2, 3], "class_dict": {"x": [0, 1], "y": (2, 300, 70000, -1)}, "text": "é"}
GOOD = {
    "idx": lambda: [bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3]) + bytes(12), bytes([0, 0, 8, 1, 0, 0, 0, 3, 1, 2, 3])],
    "pickles": lambda: [pickle.dumps(record, protocol) for protocol in range(6)],
    "archives": lambda: [b"\0" + archive("w"), b"\1" + archive("w:gz"), b"\2" + zipped()],
    "images": lambda: [png(), bmp(), gif],
    "texts": lambda: [read("crates/runs/tests/result.json"), read("experiments/smoke.toml"), read("experiments/table1.toml"),
                      b'{"index":0,"name":"er-seed0","settings":{"seed":0,"method":"er"}}\n', b'{"task":0,"class_mix":[1,2]}\n'],
}
for i, good in enumerate(GOOD[reader]()):
    with open(os.path.join(directory, f"good{i}"), "wb") as file:
        file.write(good)
