"""A transformer: photos in, features out."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from ._photos import are_photos, backbone, photos


class FeatureExtractor(TransformerMixin, BaseEstimator):
    """Features of photos by a frozen, pre-trained network.

    Parameters
    ----------
    backbone : str or path
        `"efficientnet-lite0"` is inside the package; `rehearsal backbone list` names the others; or the path of an
        ONNX file that gives one vector per image.
    threads : int, optional
        How many threads compute: all cores if it is not given. Results do not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> photos = np.zeros((2, 48, 64, 3), np.uint8)
    >>> features = FeatureExtractor().transform(photos)
    >>> features.shape, features.dtype
    ((2, 1280), dtype('float32'))

    Every row is scaled to the length sqrt(1280), so only directions count; then values are cut at 8 and -8:

    >>> bool(np.abs(features).max() <= 8 and np.linalg.norm(features, axis=1).max() < 36)
    True
    """

    def __init__(self, backbone: str | os.PathLike[str] = "efficientnet-lite0", *, threads: int | None = None):
        self.backbone = backbone
        self.threads = threads

    def fit(self, X: Any = None, y: Any = None) -> FeatureExtractor:
        """Learn nothing: the network is frozen."""
        self.n_features_out_ = backbone(self.backbone, self.threads).dimensions
        return self

    def transform(self, X: Any) -> NDArray[np.float32]:
        """The features `[n, dimensions]` of photos, as float32.

        X is a list of paths, of PIL images or of arrays `[height, width, 3]` of uint8, or one array
        `[n, height, width, 3]`. Features of files are kept on disk and not computed again.
        """
        if not are_photos(X):
            raise ValueError("X are no photos: expected paths, images, or an array [n, height, width, 3] of uint8")
        return backbone(self.backbone, self.threads).extract(photos(X)).values()

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """`feature0`, `feature1` and so on."""
        dimensions = backbone(self.backbone, self.threads).dimensions
        return np.array([f"feature{number}" for number in range(dimensions)], dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.transformer_tags.preserves_dtype = []
        return tags
