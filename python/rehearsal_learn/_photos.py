"""What `X` may be: photos (paths, arrays of bytes, PIL images), or features that were computed elsewhere."""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np

from ._rehearsal import Backbone


@functools.lru_cache(maxsize=4)
def backbone(name: str | os.PathLike[str], threads: int | None) -> Backbone:
    """A backbone, which is opened once."""
    return Backbone(os.fspath(name), threads)


def are_photos(X: Any) -> bool:
    """Whether `X` are photos, rather than features."""
    if isinstance(X, (str, bytes, os.PathLike)):
        raise TypeError("X is a single path: put it into a list")
    if isinstance(X, np.ndarray) and X.ndim == 4:
        return True
    if isinstance(X, np.ndarray) and X.dtype.kind == "U":
        return X.ndim == 1
    # Lists, and arrays and columns of Python objects.
    is_column = getattr(X, "ndim", 1) == 1 and not isinstance(X, dict)
    if not is_column or not hasattr(X, "__len__") or len(X) == 0:
        return False
    first = next(iter(X))
    return isinstance(first, (str, os.PathLike)) or _is_image(first) or np.ndim(first) == 3


def photos(X: Any) -> list[str] | np.ndarray | list[np.ndarray]:
    """Photos as the compiled part takes them: paths, one array, or a list of arrays."""
    if len(X) == 0:
        raise ValueError("X has no photo: expected at least one")
    if isinstance(X, np.ndarray) and X.ndim == 4:
        return _bytes(X, 4)
    if all(isinstance(item, (str, os.PathLike)) for item in X):
        return [os.fspath(item) for item in X]
    return [_array(item) for item in X]


def sources(X: Any) -> list[str] | None:
    """The paths of photos, if they are files."""
    found = photos(X) if not isinstance(X, np.ndarray) or X.ndim == 1 else None
    return found if isinstance(found, list) and found and isinstance(found[0], str) else None


def _is_image(item: Any) -> bool:
    """Whether it is an image of PIL; PIL is not imported for that."""
    return hasattr(item, "convert") and hasattr(item, "getexif")


def _array(item: Any) -> np.ndarray:
    if isinstance(item, (str, os.PathLike)):
        raise TypeError("X mixes paths and images: give one kind")
    if _is_image(item):
        from PIL import ImageOps

        # As files are read: turned as EXIF says, without transparency.
        return np.asarray(ImageOps.exif_transpose(item).convert("RGB"))
    return _bytes(np.asarray(item), 3)


def _bytes(array: np.ndarray, dimensions: int) -> np.ndarray:
    """The same array, if it is one of bytes in order; else a copy in order."""
    if array.dtype != np.uint8:
        raise TypeError(
            f"images are arrays of uint8, from 0 to 255, but these have the type {array.dtype}: "
            "convert them, for example with (255 * X).round().astype('uint8') if they are from 0 to 1"
        )
    if array.ndim != dimensions or array.shape[-1] != 3:
        expected = "[n, height, width, 3]" if dimensions == 4 else "[height, width, 3]"
        raise ValueError(f"images have the shape {list(array.shape)}: expected {expected}, red, green and blue at the end")
    return np.ascontiguousarray(array)
