"""A model: a directory with versions, as the command `rehearsal` keeps it."""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple, Sequence

from . import _rehearsal
from ._progress import Callback, listener

Path = str | os.PathLike[str]


class Prediction(NamedTuple):
    """What a model says of a photo."""

    path: str
    answer: str
    """`"sure"`, `"unsure"` or `"unknown"`."""
    label: str
    """The most likely class."""
    probability: float
    others: list[tuple[str, float]]
    """The other classes, the most likely first."""
    distance: float | None
    """How far the photo is from the nearest class, if the model can tell."""
    similar: list[tuple[str, str, float]]
    """Remembered photos that are like it, if asked for: class, path, cosine."""


class Model:
    """A model that learns folders of photos in sessions, and can be rolled back.

    Every method opens the directory anew, so the command line and other processes may use it at the same time.
    Long work tells events to `callback`, a function that is called with a dictionary; by default a progress bar is
    shown if somebody can see it, and `None` is silent.

    `docs/python.md` has an example, which is tested.
    """

    def __init__(self, path: Path, *, threads: int | None = None):
        """The model at a path; the first `learn` makes it, if there is none."""
        self.path = os.fspath(path)
        self._model = _rehearsal.Model(self.path, threads)

    @classmethod
    def open(cls, path: Path, *, threads: int | None = None) -> Model:
        """A model that exists; `FileNotFoundError` if there is none."""
        model = cls(path, threads=threads)
        model.versions
        return model

    def learn(
        self,
        folders: Path | Sequence[Path],
        *,
        holdout: Path | None = None,
        backbone: str | None = None,
        memory: int | str | None = None,
        holdout_per_class: int | None = None,
        keep: int | None = None,
        max_forgetting: float | None = None,
        accept: bool = False,
        relabel: bool = False,
        follow_links: bool = False,
        skip_bad: bool = False,
        callback: Callback = "auto",
    ) -> dict[str, Any] | None:
        """Learn folders with one folder of photos per class: a new version.

        Returns the report of the session, as `rehearsal learn --json` prints it, or `None` if every photo was known.
        A version that lost accuracy on old classes beyond chance is not used: `report["accepted"]` says so. With
        `max_forgetting` (0 to 1) it is one that lost more than that; with `accept`, none. With `relabel`, photos that
        are known as another class move to this one.
        """
        memory = None if memory is None else str(memory)
        return json.loads(self._model.learn(
            _paths(folders), holdout, backbone, memory, holdout_per_class, keep, max_forgetting, accept, relabel,
            follow_links, skip_bad, listener(callback),
        ))

    def predict(
        self,
        paths: Path | Sequence[Path],
        *,
        version: int | None = None,
        threshold: float | None = None,
        explain: int = 0,
        follow_links: bool = False,
        callback: Callback = "auto",
    ) -> list[Prediction]:
        """What the model says of photos; a folder stands for all photos in it.

        `threshold` is the probability from which on an answer is sure; `explain` is how many remembered photos that
        are like it are named.
        """
        if threshold is not None and not 0 <= threshold <= 1:
            raise ValueError(f"threshold is {threshold}, expected a probability from 0 to 1")
        answers = json.loads(self._model.predict(
            _paths(paths), version, threshold, explain, follow_links, listener(callback)
        ))
        pairs = ("others", "similar")
        return [Prediction(**{**answer, **{name: [tuple(pair) for pair in answer[name]] for name in pairs}})
                for answer in answers]

    def evaluate(
        self,
        folder: Path,
        *,
        version: int | None = None,
        report: Path | None = None,
        follow_links: bool = False,
        skip_bad: bool = False,
        callback: Callback = "auto",
    ) -> dict[str, Any]:
        """Accuracy, its 95 % interval, and the confusion matrix on a folder with one folder per class.

        With `report`, a page with the photos it got wrong is written there.
        """
        return json.loads(self._model.evaluate(folder, version, report, follow_links, skip_bad, listener(callback)))

    @property
    def versions(self) -> list[int]:
        """The numbers of the versions that are kept."""
        return self._about()["versions"]

    @property
    def current(self) -> int:
        """The number of the version that is used."""
        return self._about()["current"]

    @property
    def classes(self) -> dict[str, int]:
        """The classes, and how many photos of each were learned."""
        return self._about()["classes"]

    @property
    def config(self) -> dict[str, Any]:
        """Backbone, temperature and SHA-256 of the head of the current version."""
        return self._about()["config"]

    @property
    def history(self) -> list[dict[str, Any]]:
        """Everything that changed the model, in order."""
        return json.loads(self._model.history())

    @property
    def memory(self) -> list[tuple[str, str, bool]]:
        """The remembered photos: class, path, and whether they are held out."""
        return [tuple(photo) for photo in json.loads(self._model.memory())]

    def use(self, version: int) -> None:
        """Use another version: roll back, or forward again."""
        self._model.use(version)

    def forget(
        self,
        pattern: str | None = None,
        *,
        class_: str | None = None,
        files: Sequence[Path] | None = None,
        photos: Path | None = None,
    ) -> dict[str, int]:
        """Remove photos from every version, as if they had never been learned.

        They are given by a pattern of their paths (`"january/boots/IMG_77*"`), by their class, or as files. `photos`
        is a folder that has those of them that are no longer in memory.
        """
        files = None if files is None else [os.fspath(path) for path in files]
        return json.loads(self._model.forget(pattern, class_, files, photos))

    def move(self, pattern: str, to: str) -> int:
        """Give photos to another class, because the label was wrong; the number of the new version."""
        return json.loads(self._model.move_photos(pattern, to))

    def rename(self, class_: str, to: str) -> int:
        """Rename a class; the number of the new version."""
        return json.loads(self._model.rename(class_, to))

    def merge(self, class_: str, into: str) -> int:
        """Give all photos of a class to another; the number of the new version."""
        return json.loads(self._model.merge(class_, into))

    def retire(self, class_: str, *, photos: Path | None = None) -> int:
        """Never predict a class again; the number of the new version."""
        return json.loads(self._model.retire(class_, photos))

    def to_onnx(self, path: Path, *, version: int | None = None) -> None:
        """Write an ONNX file: from the bytes of a photo to probabilities, for other programs."""
        self._model.to_onnx(path, version)

    def __repr__(self) -> str:
        return f"Model({self.path!r})"

    def _about(self) -> dict[str, Any]:
        return json.loads(self._model.about(None))


def _paths(paths: Path | Sequence[Path]) -> list[str]:
    one = isinstance(paths, (str, os.PathLike))
    return [os.fspath(paths)] if one else [os.fspath(path) for path in paths]
