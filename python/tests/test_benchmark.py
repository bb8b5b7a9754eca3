"""Runs of the benchmark."""

import json

import numpy as np
import pytest
from rehearsal_learn import _rehearsal, read_runs, run

pytestmark = pytest.mark.skipif(not _rehearsal.TRAINING, reason="this wheel was built without training")

SMALL = dict(method="er", backbone="tiny", width=8, train_per_class=20, test_per_class=10, threads=1, callback=None)


def test_a_run_gives_its_matrix_and_measures_and_is_read_again(tmp_path):
    pandas = pytest.importorskip("pandas")
    steps, tasks = [], []
    result = run(**SMALL, retrieval="random", out=tmp_path / "runs" / "a", on_step=steps.append, on_task=tasks.append)
    assert result.matrix.shape == (5, 5) and np.isnan(result.matrix[0, 1])
    assert result.accuracy == pytest.approx(np.mean(result.matrix[-1]))
    assert len(steps) == result.record["steps"] and [event["task"] for event in tasks] == [0, 1, 2, 3, 4]
    assert tasks[-1]["accuracies"] == pytest.approx(result.matrix[-1].tolist())
    assert result.correct.dtype == bool and len(result.correct) == result.record["test_images"]
    again = run(**{**SMALL, "seed": 1}, retrieval="random", out=tmp_path / "runs" / "b")
    frame = read_runs(tmp_path / "runs")
    assert isinstance(frame, pandas.DataFrame)
    assert frame["accuracy"].tolist() == [result.accuracy, again.accuracy] and frame["seed"].tolist() == [0, 1]


def test_a_retrieval_in_python(tmp_path):
    seen = []

    def hardest(losses, labels, tasks, count):
        seen.append((losses.dtype, labels.dtype, tasks.dtype, len(losses) == len(labels) == len(tasks), count))
        return np.argsort(losses)[::-1][:count]

    result = run(**SMALL, retrieval=hardest, out=tmp_path / "run")
    assert result.settings["custom-retrieval"] == "hardest" and len(seen) > 10
    assert seen[-1] == (np.float32, np.int64, np.int64, True, 10)
    assert run(**SMALL, retrieval=hardest).matrix.tolist()[-1] == result.matrix.tolist()[-1], "the same bits"


def test_exceptions_of_functions_stop_a_run_which_can_continue(tmp_path):
    def refuse(*_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        run(**SMALL, retrieval=refuse)
    with pytest.raises(ValueError, match="candidate 1000"):
        run(**SMALL, retrieval=lambda losses, labels, tasks, count: [1000])
    place = tmp_path / "run"
    with pytest.raises(RuntimeError, match="enough"):
        run(**SMALL, retrieval="random", out=place, on_task=lambda event: refuse() if event["task"] == 1 else None)
    resumed, whole = run(resume=place, callback=None), run(**SMALL, retrieval="random", out=tmp_path / "whole")
    assert json.dumps(resumed.record["matrix"]) == json.dumps(whole.record["matrix"])
    assert (resumed.correct == whole.correct).all()


def test_wrong_settings_are_refused(tmp_path):
    for wrong in (dict(method="none"), dict(colour="red"), dict(epochs=0), dict(lr=float("nan")), dict(epochs=[1])):
        with pytest.raises(ValueError):
            run(**{**SMALL, **wrong})
    with pytest.raises(TypeError, match="a setting"):
        run(**SMALL, seed=object())
    with pytest.raises(FileNotFoundError):
        read_runs(tmp_path / "none")
