"""Whatever is given: an exception of the documented types, or an answer. Never a panic, never a thread that is left."""

import numpy as np
import pytest
from rehearsal_learn import FeatureExtractor, Model, PhotoClassifier, RehearsalError, _rehearsal, read_runs, run

ALLOWED = (ValueError, TypeError, FileNotFoundError, RehearsalError)
NUMBERS = [-1, 0, 1 << 31, 1 << 70, 1.5, float("nan"), float("inf"), True, None, "1", b"1", [], np.int8(-1), object()]
TEXTS = ["", "\0", "\udcff", "\n", "\N{SNOWMAN}" * 200, b"\xff", None, 5, [], object()]
ARRAYS = [
    np.zeros(0), np.zeros((0, 2)), np.zeros((2, 0)), np.zeros(3), np.zeros((2, 2, 2)), np.zeros((2, 4, 4, 3)),
    np.zeros((2, 4, 4, 3), np.uint8)[..., ::-1], np.zeros((0, 4, 4, 3), np.uint8), np.zeros((2, 0, 4, 3), np.uint8),
    np.zeros((2, 4, 4, 1), np.uint8), np.zeros((2, 3, 4, 4), np.uint8), np.zeros((1, 1, 1, 3), np.uint8),
    np.zeros((2, 4, 3), np.uint8), [np.zeros((4, 3), np.uint8)], [np.zeros((4, 4, 3)), "photo.png"],
    [np.zeros((4, 4, 3), np.uint8), np.zeros((4, 3), np.uint8)], [np.zeros((4, 4, 3), np.uint8), None],
    [np.zeros((4, 4, 3), np.int64)], [np.zeros((0, 0, 3), np.uint8)], np.full((2, 2), np.nan), np.full((2, 2), np.inf),
    np.full((2, 2), 1e300), np.eye(2, dtype=complex), np.array([["a", "b"]] * 2), np.array([[None, {}]] * 2),
    np.zeros((2, 2), "M8[s]"), [[1, 2], [3]], [[1, 2], "x"], ["", "\0"], [b"x", b"y"], ["\udcff.png"], "photo.png", 5,
    None, {}, {1: 2}, [], [None], [[]], iter([1]), object(),
]
LABELS = [
    [], [0], [0, 1, 2], [0, "a"], [0, 1.0], [None, None], [{}, {}], [[0, 1], [1, 0]], [b"a", b"b"], [0.5, 1.5],
    [float("nan"), 0.0], [float("inf"), 0.0], [1 << 70, 0], np.array([1 << 63, 0], np.uint64), ["", "a"], ["\0", "a"],
    ["\udcff", "a"], ["\n", "a"], np.array([0, 1], complex), np.array(["2020", "2021"], "M8[Y]"), "ab", 5, None, object(),
]


def try_all(calls):
    """Calls each; what is raised is of an allowed type. Panics are `BaseException`s, and bugs say that they are."""
    for name, call in calls:
        try:
            call()
        except ALLOWED as error:
            assert "this is a bug" not in str(error) and "panicked" not in str(error), (name, error)
        except BaseException as error:
            pytest.fail(f"{name}: {type(error).__name__}: {str(error):.200}")


@pytest.mark.filterwarnings("ignore")
def test_odd_samples_and_labels(photos, count_threads):
    X, y = photos
    fitted = PhotoClassifier().fit(X, y)
    of_features = PhotoClassifier().fit(np.eye(4), [0, 0, 1, 1])
    before, threads = fitted.head_sha256_, count_threads()
    calls = []
    for number, odd in enumerate(ARRAYS):
        calls += [(f"{method} {number}", lambda odd=odd, method=method, of=of: getattr(of, method)(odd))
                  for method in ("predict", "predict_proba", "decision_function", "verdict", "forget")
                  for of in (fitted, of_features)]
        calls += [(f"transform {number}", lambda odd=odd: FeatureExtractor().transform(odd)),
                  (f"fit {number}", lambda odd=odd: PhotoClassifier().fit(odd, [0, 1])),
                  (f"partial_fit {number}", lambda odd=odd: fitted.partial_fit(odd, ["red", "red", "green"]))]
    for number, odd in enumerate(LABELS):
        calls += [(f"label {number}", lambda odd=odd: PhotoClassifier().fit(X[7:9], odd)),
                  (f"label of features {number}", lambda odd=odd: PhotoClassifier().partial_fit(np.eye(2), odd)),
                  (f"label of known {number}", lambda odd=odd: fitted.partial_fit(X[:2], odd))]
    try_all(calls)
    assert fitted.head_sha256_ == before and fitted.predict(X).tolist() == y, "refusals change nothing"
    assert count_threads() <= threads


@pytest.mark.filterwarnings("ignore")
def test_odd_parameters_and_arguments(photos, folder, monkeypatch):
    monkeypatch.chdir(folder)
    X, y = photos
    fitted = PhotoClassifier().fit(X, y)
    model = Model(folder / "shop.model")
    model.learn(folder / "january", callback=None)
    before = model.history
    calls = []
    for odd in NUMBERS + TEXTS:
        name = f"{odd!r:.40}"
        for parameter in ("backbone", "method", "memory", "holdout_per_class", "threads"):
            calls.append((f"{parameter} {name}", lambda odd=odd, parameter=parameter:
                          PhotoClassifier(**{parameter: odd}).fit(X, y).predict(X[:1])))
        calls += [
            (f"extractor {name}", lambda odd=odd: FeatureExtractor(odd).transform(X[:1])),
            (f"extractor threads {name}", lambda odd=odd: FeatureExtractor(threads=odd).transform(X[:1])),
            (f"load {name}", lambda odd=odd: PhotoClassifier.load(odd)),
            (f"open {name}", lambda odd=odd: Model.open(odd)),
            (f"model threads {name}", lambda odd=odd: Model(folder / "shop.model", threads=odd)),
            (f"use {name}", lambda odd=odd: model.use(odd)),
            (f"predict {name}", lambda odd=odd: model.predict(odd, callback=None)),
            (f"version {name}", lambda odd=odd: model.predict([], version=odd, callback=None)),
            (f"threshold {name}", lambda odd=odd: model.predict([], threshold=odd, callback=None)),
            (f"explain {name}", lambda odd=odd: model.predict([], explain=odd, callback=None)),
            (f"evaluate {name}", lambda odd=odd: model.evaluate(odd, callback=None)),
            (f"learn {name}", lambda odd=odd: model.learn(odd, callback=None)),
            (f"callback {name}", lambda odd=odd: model.predict(folder / "january", callback=odd)),
            (f"rename {name}", lambda odd=odd: model.rename("none", odd)),
            (f"forget {name}", lambda odd=odd: model.forget(class_=odd)),
            (f"files {name}", lambda odd=odd: model.forget(files=odd)),
            (f"move {name}", lambda odd=odd: model.move("nothing", odd)),
        ]
        for option in ("holdout", "backbone", "memory", "holdout_per_class", "keep", "max_forgetting"):
            calls.append((f"{option} {name}", lambda odd=odd, option=option:
                          model.learn(folder / "none", **{option: odd}, callback=None)))
    try_all(calls)
    assert model.history == before and model.current == 1
    assert fitted.predict(X).tolist() == y


@pytest.mark.skipif(not _rehearsal.TRAINING, reason="this wheel was built without training")
def test_odd_settings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small = dict(method="er", backbone="tiny", width=4, train_per_class=2, test_per_class=1, threads=1, callback=None)
    calls = []
    for odd in NUMBERS + TEXTS:
        name = f"{odd!r:.40}"
        settings = ("dataset", "method", "backbone", "width", "train_per_class", "seed", "threads", "lr", "memory",
                    "task_classes", "retrieval", "out", "resume", "data")
        calls += [(f"{setting} {name}", lambda odd=odd, setting=setting: run(**{**small, setting: odd}))
                  for setting in settings]
        calls.append((f"read {name}", lambda odd=odd: read_runs(odd)))
    try_all(calls)
