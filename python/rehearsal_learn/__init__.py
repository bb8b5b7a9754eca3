"""Image classifiers that keep learning.

    >>> from rehearsal_learn import PhotoClassifier
    >>> import numpy as np
    >>> red, blue = np.zeros((2, 6, 32, 32, 3), np.uint8)
    >>> red[..., 0], blue[..., 2] = np.arange(200, 206)[:, None, None], np.arange(200, 206)[:, None, None]
    >>> classifier = PhotoClassifier().fit(np.concatenate([red, blue]), ["red"] * 6 + ["blue"] * 6)
    >>> classifier.predict(red[:1]).tolist()
    ['red']
    >>> green = np.zeros((6, 32, 32, 3), np.uint8)
    >>> green[..., 1] = np.arange(200, 206)[:, None, None]
    >>> classifier.partial_fit(green, ["green"] * 6).classes_.tolist()  # a new class, at any time
    ['blue', 'green', 'red']
    >>> classifier.forget(green)  # as if they had never been
    6
    >>> classifier.classes_.tolist()
    ['blue', 'red']

`PhotoClassifier` and `FeatureExtractor` are estimators of scikit-learn, `Model` is a directory with versions, and `run`
is the benchmark.
"""

import importlib
from typing import TYPE_CHECKING, Any

from ._rehearsal import RehearsalError, __version__

if TYPE_CHECKING:
    from ._benchmark import Result, read_runs, run
    from ._classifier import PhotoClassifier
    from ._extractor import FeatureExtractor
    from ._model import Model, Prediction

__all__ = [
    "FeatureExtractor",
    "Model",
    "PhotoClassifier",
    "Prediction",
    "RehearsalError",
    "Result",
    "__version__",
    "read_runs",
    "run",
]

# Imported when they are first used: scikit-learn takes a second.
_HOMES = {
    "FeatureExtractor": "_extractor",
    "Model": "_model",
    "PhotoClassifier": "_classifier",
    "Prediction": "_model",
    "Result": "_benchmark",
    "read_runs": "_benchmark",
    "run": "_benchmark",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
