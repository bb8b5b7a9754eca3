"""Not executed: mypy checks it in strict mode, as a user's program."""

import pathlib

import numpy as np
from numpy.typing import NDArray
from rehearsal_learn import FeatureExtractor, Model, PhotoClassifier, Prediction, RehearsalError, Result, read_runs, run
from typing_extensions import assert_type


def learn(photos: list[pathlib.Path], labels: list[str]) -> NDArray[np.float64]:
    classifier = PhotoClassifier(memory="1MB", threads=2).fit(photos, labels)
    assert_type(classifier.partial_fit(photos, labels), PhotoClassifier)
    assert_type(classifier.forget(photos[:1]), int)
    classifier.save("file")
    assert_type(FeatureExtractor().transform(photos), NDArray[np.float32])
    return PhotoClassifier.load("file").predict_proba(photos)


def ask(path: str) -> list[Prediction]:
    model = Model.open(path)
    try:
        model.learn(["january"], callback=lambda event: print(event["event"]))
    except RehearsalError as error:
        print(error)
    return model.predict("photos", version=model.current, callback=None)


def hardest(losses: NDArray[np.float32], labels: NDArray[np.int64], tasks: NDArray[np.int64], count: int) -> list[int]:
    return [int(at) for at in np.argsort(losses)[:count]]


def compare() -> Result:
    read_runs("runs")
    run(method="er", retrieval=lambda losses, labels, tasks, count: np.argsort(losses)[:count])
    result = run(method="er", retrieval=hardest, on_step=lambda event: event["loss"])
    assert_type(result.matrix, NDArray[np.float64])
    return result
