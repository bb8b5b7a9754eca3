"""Compares what the Python module, Rust (crates/model/examples/classifier.rs) and the command line learn from the same
photos, byte by byte.

    python scripts/compare_python.py FOLDER target/release/examples/classifier target/release/rehearsal

FOLDER has one folder of photos per class. Python learns them in three calls, in reverse order."""

import pathlib
import subprocess
import sys
import tempfile

from rehearsal_learn import PhotoClassifier

folder, example, program = (pathlib.Path(word).resolve() for word in sys.argv[1:])
with tempfile.TemporaryDirectory() as directory:
    place = pathlib.Path(directory)
    subprocess.run([example, folder, place / "rust"], check=True)
    subprocess.run([program, "learn", place / "model", folder, "--quiet"], check=True)
    classifier, paths = PhotoClassifier(), sorted(folder.glob("*/*"), reverse=True)
    for first in range(3):
        part = paths[first::3]
        classifier.partial_fit(part, [path.parent.name for path in part])
    written = {
        "Rust": (place / "rust").read_bytes(),
        "rehearsal learn": (place / "model" / "versions" / "0001.safetensors").read_bytes(),
        "Python": classifier._learned.to_bytes(),
    }
different = [name for name, content in written.items() if content != written["Rust"]]
if different:
    sys.exit(f"{' and '.join(different)} learned something else than Rust")
print(f"{len(paths)} photos: {', '.join(written)} give the same {len(written['Rust']):,} bytes")
