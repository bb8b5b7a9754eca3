"""scikit-learn's habits."""

import copy
import pathlib
import pickle

import numpy as np
import pytest
from rehearsal_learn import FeatureExtractor, PhotoClassifier, RehearsalError
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks


@parametrize_with_checks([PhotoClassifier()])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def same(one: PhotoClassifier, other: PhotoClassifier) -> bool:
    return one._learned.to_bytes() == other._learned.to_bytes()


def test_photos_are_arrays_lists_paths_and_pil_images(photos, folder):
    from PIL import Image

    X, y = photos
    classifier = PhotoClassifier().fit(X, y)
    assert classifier.classes_.tolist() == ["blue", "green", "red"]
    assert classifier.n_features_in_ == 1280
    assert classifier.predict(X).tolist() == y
    assert classifier.predict([image[: 40 + i] for i, image in enumerate(X[:3])]).tolist() == ["red"] * 3
    assert classifier.predict([Image.fromarray(image) for image in X[8:10]]).tolist() == ["green"] * 2
    paths = sorted((folder / "january").rglob("*.png")) + sorted((folder / "february").rglob("*.png"))
    names = [path.parent.name for path in paths]
    of_paths = PhotoClassifier().fit(paths, names)
    assert of_paths.predict([str(path) for path in paths]).tolist() == names
    assert of_paths.head_sha256_ == classifier.head_sha256_, "the same pixels"
    probabilities = of_paths.predict_proba(paths)
    assert probabilities.shape == (24, 3) and np.allclose(probabilities.sum(axis=1), 1)
    assert set(of_paths.verdict(paths)) <= {"sure", "unsure", "unknown"}


def test_sessions_order_and_batches_do_not_matter(photos):
    X, y = photos
    whole = PhotoClassifier().fit(X, y)
    parts = PhotoClassifier(threads=1)
    for first in range(20, -1, -4):
        parts.partial_fit(X[first : first + 4], y[first : first + 4])
    assert same(parts, whole)
    assert same(parts.partial_fit(X, y), whole), "known photos are not learned again"


def test_forgetting_leaves_what_never_saw_the_photos(photos, folder):
    X, y = photos
    without = PhotoClassifier().fit(X[:16], y[:16])
    for what in (X[16:], list(X[16:]), np.arange(24) >= 16):
        classifier = PhotoClassifier().fit(X, y)
        assert classifier.forget(what) == 8
        assert classifier.classes_.tolist() == ["green", "red"]
        assert same(classifier, without)
        assert classifier.forget(X[16:]) == 0
    with pytest.raises(ValueError, match="24 photos|24 values"):
        without.forget(np.ones(24, dtype=bool))
    with pytest.raises(ValueError, match="only one class"):
        without.forget(X[:8])
    assert same(without, PhotoClassifier().fit(X[:16], y[:16])), "a refusal changes nothing"
    paths = sorted(map(str, folder.rglob("*.png")))
    names = [path.split("/")[-2] for path in paths]
    classifier = PhotoClassifier().fit(paths, names)
    (folder / "january" / "red" / "3.png").unlink()
    assert classifier.forget([str(folder / "january" / "red" / "3.png")]) == 1, "its file is gone, its name is known"
    left = [path for path in paths if "red/3" not in path]
    assert same(classifier, PhotoClassifier().fit(left, [path.split("/")[-2] for path in left]))


def test_features_that_were_computed_before_give_the_same_head(photos):
    X, y = photos
    features = FeatureExtractor().fit_transform(X)
    assert features.dtype == np.float32 and features.shape == (24, 1280)
    # Not the same bits: rows are scaled and rounded once more.
    of_features, of_photos = PhotoClassifier().fit(features, y), PhotoClassifier().fit(X, y)
    assert np.allclose(of_features.decision_function(features), of_photos.decision_function(X), rtol=0.05)
    assert np.array_equal(of_photos.predict(features), of_photos.predict(X)), "a classifier of photos reads features, too"
    assert np.array_equal(np.from_dlpack(features), features)
    pipeline = make_pipeline(FeatureExtractor(), PhotoClassifier())
    assert pipeline.fit(X, y).score(X, y) == 1
    assert len(FeatureExtractor().fit().get_feature_names_out()) == 1280


def test_a_classifier_of_photos_is_exported(photos, tmp_path):
    X, y = photos
    PhotoClassifier().fit(X, y).to_onnx(tmp_path / "shop.onnx")
    assert (tmp_path / "shop.onnx").stat().st_size > 1_000_000
    with pytest.raises((ValueError, RehearsalError), match="features"):
        PhotoClassifier().fit(np.eye(4), [0, 0, 1, 1]).to_onnx(tmp_path / "none.onnx")
    assert not (tmp_path / "none.onnx").exists()


def test_pickle_copy_clone_save_and_load(photos, tmp_path):
    X, y = photos
    classifier = PhotoClassifier(memory="1MB").fit(X, y)
    for other in (pickle.loads(pickle.dumps(classifier)), copy.deepcopy(classifier)):
        assert same(other, classifier) and other.predict(X).tolist() == y
        other.forget(np.arange(24) < 2)
        assert not same(other, classifier)
    assert clone(classifier).get_params() == classifier.get_params() and not hasattr(clone(classifier), "classes_")
    path = tmp_path / "shop.safetensors"
    classifier.save(path)
    loaded = PhotoClassifier.load(path)
    assert loaded.get_params() == classifier.get_params()
    assert loaded.partial_fit(X[:2], y[:2]).predict(X).tolist() == y
    with pytest.raises(ValueError, match="give the photos"):
        loaded.forget(np.ones(24, dtype=bool))
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(RehearsalError, match="damaged"):
        PhotoClassifier.load(path)
    with pytest.raises(FileNotFoundError):
        PhotoClassifier.load(tmp_path / "none")


@pytest.mark.parametrize("labels", [[1, 2, 10], [True, False], [0.0, 1.0, 5.0], ["a", "b", "10"]])
def test_labels_keep_their_type_and_order(labels, tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 5)) + np.repeat(np.eye(5)[: len(labels)] * 5, 60 // len(labels), axis=0)
    y = np.repeat(labels, 60 // len(labels))
    classifier = PhotoClassifier().fit(X, y)
    assert np.array_equal(classifier.classes_, np.unique(y)) and classifier.classes_.dtype.kind == y.dtype.kind
    assert classifier.score(X, y) > 0.9
    classifier.save(tmp_path / "file")
    assert np.array_equal(PhotoClassifier.load(tmp_path / "file").predict(X), classifier.predict(X))


def test_it_works_in_searches():
    X, y = load_digits(return_X_y=True)
    assert cross_val_score(PhotoClassifier(), X, y, cv=3).mean() > 0.85
    search = GridSearchCV(make_pipeline(StandardScaler(), PhotoClassifier()), {"photoclassifier__memory": [500, 5000]}, cv=2)
    assert search.fit(X[:600], y[:600]).best_score_ > 0.8
    assert cross_val_score(PhotoClassifier(threads=1), X, y, cv=2, n_jobs=2).mean() > 0.85


def test_photos_by_another_backbone_are_refused(photos):
    X, y = photos
    onnx = pathlib.Path(__file__).resolve().parents[2] / "crates" / "backbone" / "tests" / "onnx" / "dynamic.onnx"
    other = PhotoClassifier(onnx).fit(X, y)
    assert other.predict(X).tolist() == y and FeatureExtractor(onnx).transform(X).shape == (24, other.n_features_in_)
    classifier = PhotoClassifier().fit(X, y).set_params(backbone=onnx)
    for method in ("predict", "forget", "verdict"):
        with pytest.raises(ValueError, match="efficientnet-lite0: it cannot read photos by"):
            getattr(classifier, method)(X)
    with pytest.raises(ValueError, match="cannot read photos by"):
        classifier.partial_fit(X, y)
    with pytest.raises(FileNotFoundError, match="none.onnx"):
        FeatureExtractor("none.onnx").transform(X)


def test_wrong_input_is_refused(photos):
    X, y = photos
    fitted = PhotoClassifier().fit(X, y)
    wrong = [
        (TypeError, "uint8", lambda: fitted.predict(X / 255)),
        (TypeError, "uint8", lambda: fitted.predict(X.astype(np.int64))),
        (ValueError, "height, width, 3", lambda: fitted.predict(X[..., :2])),
        (ValueError, None, lambda: fitted.predict(X[:, :0])),
        (ValueError, None, lambda: fitted.predict([])),
        (ValueError, None, lambda: fitted.predict(X[:0])),
        (TypeError, "list", lambda: fitted.predict("photo.jpg")),
        (FileNotFoundError, "no.jpg", lambda: fitted.predict(["no.jpg"])),
        (ValueError, "not a readable image", lambda: fitted.predict([__file__])),
        (TypeError, "mixes", lambda: fitted.predict([X[0], "photo.jpg"])),
        (ValueError, "features", lambda: fitted.predict(np.zeros((2, 5)))),
        (ValueError, "NaN", lambda: PhotoClassifier().fit([[1.0, np.nan], [0.0, 1.0]], [0, 1])),
        (ValueError, "class", lambda: PhotoClassifier().fit(X[:8], y[:8])),
        (ValueError, "several types", lambda: PhotoClassifier().fit(X[:3], ["a", 1, "b"])),
        (ValueError, "another type", lambda: PhotoClassifier().fit(X, y).partial_fit(X[:2], [1, 2])),
        (ValueError, "inconsistent", lambda: PhotoClassifier().fit(X, y[:5])),
        (ValueError, "method", lambda: PhotoClassifier(method="pcr").fit(X, y)),
        (ValueError, "memory|neither", lambda: PhotoClassifier(memory="lots").fit(X, y)),
        (ValueError, "too small", lambda: PhotoClassifier(memory=2).fit(X, y)),
        (ValueError, "threads", lambda: PhotoClassifier(threads=0).fit(X, y)),
        (ValueError, "backbone", lambda: PhotoClassifier(backbone="vgg").fit(X, y)),
        (FileNotFoundError, "dinov2", lambda: PhotoClassifier(backbone="dinov2-small").fit(X, y)),
        (ValueError, "elsewhere", lambda: PhotoClassifier().fit(np.eye(4), [0, 0, 1, 1]).predict(X)),
        (ValueError, "no photos", lambda: FeatureExtractor().transform(np.zeros((2, 5)))),
    ]
    for kind, text, call in wrong:
        with pytest.raises(kind, match=text):
            call()
    assert fitted.predict(X).tolist() == y
