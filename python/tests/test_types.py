"""Signatures and stubs."""

import pathlib
import subprocess
import sys

import pytest
from rehearsal_learn import _rehearsal

pytest.importorskip("mypy")


def mypy(*words: str, place: pathlib.Path) -> None:
    done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, cwd=place)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_program_passes_mypy_in_strict_mode(tmp_path):
    example = pathlib.Path(__file__).with_name("typed_example.py")
    mypy("mypy", "--strict", str(example), place=tmp_path)


@pytest.mark.skipif(not _rehearsal.TRAINING, reason="this wheel was built without training")
def test_the_stubs_are_those_of_the_compiled_part(tmp_path):
    mypy("mypy.stubtest", "rehearsal_learn._rehearsal", place=tmp_path)
