"""A classifier that keeps learning, with the habits of scikit-learn."""

from __future__ import annotations

import json
import os
from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ._photos import are_photos, backbone, photos, sources
from ._rehearsal import Classifier, Features

# The backbone's name in the file of a classifier that learned features from elsewhere.
_NO_BACKBONE = "features"
# Of labels.
_KINDS = {"U": "text", "b": "booleans", "i": "integers", "f": "floats"}
# Zero has one name, whatever its sign.
_TYPES: dict[str, Callable[[Any], Any]] = {"U": str, "b": bool, "i": int, "f": lambda label: float(label) + 0.0}


class PhotoClassifier(ClassifierMixin, BaseEstimator):
    """A classifier that learns new photos and new classes at any time, forgets none, and deletes exactly.

    A frozen network turns photos into features, and a Gaussian head on sums of integers learns them: the order and
    number of calls of `partial_fit` does not matter, and a photo that is forgotten leaves the classifier that never
    saw it, to the bit. A photo that comes again is learned once, as its first class.

    Parameters
    ----------
    backbone : str or path
        `"efficientnet-lite0"` is inside the package; `rehearsal backbone list` names the others; or the path of an
        ONNX file. Not used if `X` are features.
    method : str
        `"gaussian"`, the only one that this class has. `rehearsal_learn.run` compares it with `ncm`, `ridge`, and
        those that train by gradients.
    memory : int or str
        Of how many photos features and a thumbnail are kept: a number, or a size such as `"64MB"`.
    holdout_per_class : int
        The most photos of a class that measure probabilities; one in ten, and they are learned, too.
    threads : int, optional
        How many threads compute: all cores if it is not given. Results do not depend on it.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted. Classes appear with their first photo and are gone with their last.
    n_features_in_ : int
        Features of a sample: with photos those of the backbone.

    Examples
    --------
    `X` may be features that were computed elsewhere. Their rows are scaled to one length, so only directions count:

    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> classifier = PhotoClassifier().partial_fit(X[:800], y[:800])
    >>> classifier = classifier.partial_fit(X[800:1500], y[800:1500])
    >>> bool(classifier.score(X[1500:], y[1500:]) > 0.85)
    True
    """

    classes_: NDArray[Any]
    n_features_in_: int
    _learned: Classifier
    # The kind of labels.
    _kind: str
    # The identities of the photos in the order in which they came; none of a file, which does not have them.
    _seen: NDArray[np.uint8] | None
    # Where the classes of the head stand in `classes_`.
    _order: NDArray[np.intp]

    def __init__(
        self,
        backbone: str | os.PathLike[str] = "efficientnet-lite0",
        method: str = "gaussian",
        *,
        memory: int | str = 5000,
        holdout_per_class: int = 50,
        threads: int | None = None,
    ):
        self.backbone = backbone
        self.method = method
        self.memory = memory
        self.holdout_per_class = holdout_per_class
        self.threads = threads

    def fit(self, X: Any, y: Any) -> PhotoClassifier:
        """Learn photos or features `X` with labels `y`, and forget what was learned before."""
        features, names = self._read(X, y, reset=True)
        if len(set(names)) == 1:
            raise ValueError(f"y has one class only, {names[0]}: a classifier needs at least two")
        self._learn(X, features, names)
        self._learned.compute()
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> PhotoClassifier:
        """Learn more photos or features, of known or new classes.

        `classes` is there because other classifiers need it, and is not used: classes may come at any call.
        """
        return self._learn(X, *self._read(X, y, reset=not self.__sklearn_is_fitted__()))

    def forget(self, X: Any) -> int:
        """Take photos out again: the classifier is then one that never saw them, to the bit.

        `X` are the photos or features as they were learned; paths of files that are gone are found by their names, if
        the photos are in memory; or a mask: a boolean for each photo learned and not forgotten yet, in order (a photo
        that came twice counts once). Returns how many of the photos were known.
        """
        check_is_fitted(self)
        features = None
        is_mask = not are_photos(X) and np.asarray(X).dtype == bool and np.ndim(X) == 1
        if is_mask:
            digests = self._masked(np.asarray(X))
        elif (digests := self._remembered(X)) is None:
            features = self._features(X)
            digests = features.digests()
        gone = self._learned.forget(digests, features)
        if self._seen is not None:
            self._seen = self._seen[~_is_in(self._seen, gone)]
        self._order_classes()
        return len(gone)

    def _masked(self, mask: NDArray[np.bool_]) -> NDArray[np.uint8]:
        if self._seen is None:
            raise ValueError("the order in which photos came is not in the file of a classifier: give the photos")
        if len(mask) != len(self._seen):
            raise ValueError(f"the mask has {len(mask)} values, but {len(self._seen)} photos were learned")
        return self._seen[mask]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Log-probabilities but for a constant: `[n, classes]`, or for two classes `[n]`, positive for the second."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The most likely class of each photo."""
        scores = self._scores(X)
        return self.classes_[np.argmax(scores, axis=1)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities `[n, classes]`, calibrated on photos that were held out."""
        check_is_fitted(self)
        return self._learned.probabilities(self._features(X))[:, self._order]

    def verdict(self, X: Any) -> NDArray[np.str_]:
        """`"sure"`, `"unsure"` or `"unknown"` for each photo.

        Sure: at least 19 of 20 such answers were right on the photos that were held out. Unknown: further from all
        classes than 19 of 20 of those. With fewer than 20 of them every answer is unsure.
        """
        check_is_fitted(self)
        return np.array(self._learned.verdicts(self._features(X)), dtype="<U7")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file with everything, sealed by a checksum. It is the file of a version of a `Model`."""
        check_is_fitted(self)
        params = {name: os.fspath(value) if isinstance(value, os.PathLike) else value
                  for name, value in self.get_params().items()}
        self._learned.save(os.fspath(path), json.dumps({"params": params, "labels": self._kind}))

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, threads: int | None = None) -> PhotoClassifier:
        """The classifier in a file of `save`, or in that of a version of a `Model`."""
        learned = Classifier.load(os.fspath(path), threads)
        name, note = learned.backbone[0], learned.note
        note = json.loads(note) if note else {"params": {"backbone": name}, "labels": "U"}
        classifier = cls(**{**note["params"], "threads": threads})
        classifier._learned, classifier._kind, classifier._seen = learned, note["labels"], None
        classifier.n_features_in_ = learned.dimensions
        classifier._order_classes()
        return classifier

    def to_onnx(self, path: str | os.PathLike[str]) -> None:
        """Write an ONNX file: from the bytes of a photo to probabilities of the classes, for other programs."""
        check_is_fitted(self)
        self._learned.to_onnx(os.fspath(path))

    @property
    def head_sha256_(self) -> str:
        """SHA-256 of the head: two classifiers that learned the same have the same."""
        check_is_fitted(self)
        return self._learned.head_sha256()

    def _read(self, X: Any, y: Any, *, reset: bool) -> tuple[Features, list[str]]:
        """Features of `X`, and the names of the classes of `y`."""
        self._check_parameters()
        if y is None:
            raise ValueError("PhotoClassifier requires y to be passed, but the target y is None")
        of_photos = are_photos(X)
        if of_photos:
            check_consistent_length(X, y)
        else:
            least = 2 if reset else 1
            validate_data(self, X, y, dtype=[np.float32, np.float64], ensure_min_features=least, reset=reset)
        kind, names = names_of(y)
        if not reset and kind != self._kind:
            raise ValueError(f"y are labels of another type than before: {_KINDS[kind]}, not {_KINDS[self._kind]}")
        features = self._features(X, reset=reset)
        if reset:
            self._kind = kind
            opened = backbone(self.backbone, self.threads) if of_photos else None
            memory, holdout = str(self.memory), int(self.holdout_per_class)
            self._learned = Classifier(self.n_features_in_, opened, memory, holdout, self.threads)
            self._seen = np.empty((0, 16), np.uint8)
        return features, names

    def _learn(self, X: Any, features: Features, names: list[str]) -> PhotoClassifier:
        try:
            self._learned.learn(features, names, sources(X) if are_photos(X) else None)
        except KeyboardInterrupt:
            # It is raised when the photos are learned.
            self._note(features)
            raise
        self._note(features)
        return self

    def _note(self, learned: Features) -> None:
        """Bring up to date what follows from the photos that were learned."""
        if self._seen is not None:
            self._seen = _first_of_each(np.concatenate([self._seen, learned.digests()]))
        self._order_classes()

    def _features(self, X: Any, *, reset: bool = False) -> Features:
        if not are_photos(X):
            X = validate_data(self, X, dtype=[np.float32, np.float64], reset=reset)
            return Features.of_array(np.asarray(X, np.float32))
        opened = backbone(self.backbone, self.threads)
        if reset:
            self.n_features_in_ = opened.dimensions
        elif self._learned.backbone != (os.fspath(self.backbone), opened.sha256):
            name = self._learned.backbone[0]
            what = "features that were computed elsewhere" if name == _NO_BACKBONE else f"photos by {name}"
            raise ValueError(f"this classifier learned {what}: it cannot read photos by {self.backbone}")
        return opened.extract(photos(X))

    def _scores(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        return self._learned.scores(self._features(X))[:, self._order]

    def _remembered(self, X: Any) -> NDArray[np.uint8] | None:
        """The identities of paths, if all are in memory."""
        names = sources(X) if are_photos(X) else None
        if names is None:
            return None
        found = [self._learned.remembered(name) for name in names]
        return None if None in found else np.frombuffer(b"".join(found), np.uint8).reshape(-1, 16)

    def _order_classes(self) -> None:
        labels = np.array([_label(self._kind, name) for name in self._learned.classes()])
        self._order = np.argsort(labels, kind="stable")
        self.classes_ = labels[self._order]

    def _check_parameters(self) -> None:
        if self.method != "gaussian":
            raise ValueError(f"method is {self.method!r}, expected 'gaussian': `run` of the benchmark has other methods")
        for name in ("holdout_per_class", "threads"):
            value = getattr(self, name)
            least = 0 if name == "holdout_per_class" else 1
            if not (value is None and least) and (not isinstance(value, (int, np.integer)) or value < least):
                raise ValueError(f"{name} is {value!r}, expected a number from {least} on")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if state.get("_learned") is not None:
            state["_learned"] = self._learned.to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        if isinstance(state.get("_learned"), bytes):
            state["_learned"] = Classifier.from_bytes(state["_learned"], state["threads"])
        super().__setstate__(state)


def names_of(y: Any) -> tuple[str, list[str]]:
    """The kind of labels, and a name for each."""
    # From a list of numbers and texts NumPy would make texts.
    y = column_or_1d(np.asarray(y, dtype=object) if isinstance(y, (list, tuple)) else y, warn=True)
    types = {str: "U", bool: "b", np.bool_: "b", int: "i", np.integer: "i", float: "f", np.floating: "f"}
    found = {next((kind for of, kind in types.items() if isinstance(label, of)), type(label).__name__) for label in y}
    if len(found) > 1 or not found <= _KINDS.keys():
        names = ", ".join(sorted(_KINDS.get(kind, kind) for kind in found))
        raise ValueError(f"y are labels of several types, or of none that is known: {names}")
    if not found:
        raise ValueError("y has no label: expected at least one")
    kind = found.pop()
    labels = [_TYPES[kind](label) for label in y]
    if kind == "i" and not all(-(1 << 63) <= label < 1 << 63 for label in labels):
        raise ValueError("y has an integer of more than 64 bits: use texts instead")
    check_classification_targets(np.array(labels, dtype=object if kind == "U" else None))
    return kind, [str(label) for label in labels]


def _label(kind: str, name: str) -> Any:
    """The label that has this name."""
    return name == "True" if kind == "b" else _TYPES[kind](name)


def _first_of_each(digests: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Each row once, where it comes first."""
    return digests[np.sort(np.unique(digests, axis=0, return_index=True)[1])]


def _is_in(digests: NDArray[np.uint8], among: NDArray[np.uint8]) -> NDArray[np.bool_]:
    known = {row.tobytes() for row in among}
    return np.array([row.tobytes() in known for row in digests], dtype=bool)
