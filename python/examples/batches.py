"""Learn from any iterable of batches: here of NumPy arrays, as well a `torch.utils.data.DataLoader`.

    python python/examples/batches.py
"""

import numpy as np

from rehearsal_learn import FeatureExtractor, PhotoClassifier


def learn(batches, classifier=None):
    """Learn batches of images `[n, 3, height, width]`, floats from 0 to 1, as PyTorch has them, and labels."""
    classifier = classifier or PhotoClassifier()
    for images, labels in batches:
        pixels = (255 * np.asarray(images)).round().astype(np.uint8).transpose(0, 2, 3, 1)
        classifier.partial_fit(pixels, np.asarray(labels))
    return classifier


def noise(colour, count=10):
    """Images with one bright channel."""
    images = np.random.default_rng(colour).random((count, 3, 32, 32), dtype=np.float32) / 2
    images[:, colour] += 0.5
    return images, np.full(count, colour)


if __name__ == "__main__":
    classifier = learn(noise(colour) for colour in range(2))
    classifier = learn([noise(2)], classifier)  # a class that was not there before
    images, labels = noise(2, count=20)
    pixels = (255 * images[10:]).round().astype(np.uint8).transpose(0, 2, 3, 1)
    print("classes", classifier.classes_, "right", classifier.score(pixels, labels[10:]))

    features = FeatureExtractor().transform(pixels)
    try:
        import torch
    except ImportError:
        print("features", features.shape, "; with PyTorch: torch.from_dlpack(features)")
    else:
        tensor = torch.from_dlpack(features)
        assert tensor.data_ptr() == features.ctypes.data, "the same memory"
        print("features", tuple(tensor.shape), "as a tensor, without a copy")
