"""Examples in docstrings, in documents and in the notebook are executed."""

import doctest
import importlib
import pathlib
import re

import pytest
from rehearsal_learn import _rehearsal

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULES = ["rehearsal_learn", "rehearsal_learn._classifier", "rehearsal_learn._extractor"]
if _rehearsal.TRAINING:
    MODULES.append("rehearsal_learn._benchmark")


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    tried = doctest.testmod(importlib.import_module(name))
    assert tried.failed == 0 and tried.attempted > 0


def blocks(document: pathlib.Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", document.read_text(), re.DOTALL)


@pytest.mark.parametrize("name", ["README.md", "docs/python.md"])
def test_python_in_documents_runs_as_printed(name, folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "photos").mkdir()
    for month in ("january", "february"):
        (folder / month).rename(folder / "photos" / month)
    found = blocks(ROOT / name)
    assert found
    if not _rehearsal.TRAINING:
        found = [block for block in found if "run(" not in block]
    exec("\n".join(found), {})


def test_the_notebook_runs(folder):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.read(ROOT / "python" / "examples" / "photos.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
