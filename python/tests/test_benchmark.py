"""Runs of the benchmark."""

import multiprocessing
import os
import subprocess
import sys

import numpy as np
import pytest
from rehearsal_learn import RehearsalError, _rehearsal, read_runs, run

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


def hardest(losses, labels, tasks, count):
    return np.argsort(losses)[::-1][:count]


def test_a_retrieval_in_python():
    seen = []

    def watched(losses, labels, tasks, count):
        seen.append((losses.dtype, labels.dtype, tasks.dtype, len(losses) == len(labels) == len(tasks), count))
        assert tasks.max() <= labels.max() < 10
        return hardest(losses, labels, tasks, count)

    result = run(**SMALL, retrieval=watched)
    assert result.settings["custom-retrieval"] == "watched" and len(seen) > 10
    assert seen[-1] == (np.float32, np.int64, np.int64, True, 10)
    assert result.correct is None, "there is no directory"
    mir = run(**SMALL, retrieval="mir")
    assert mir.record["matrix"] == result.record["matrix"], "the same bits as in Rust"
    assert run(**SMALL, retrieval=lambda *_: []).record["matrix"] != mir.record["matrix"]


def refuse(*_):
    raise RuntimeError("enough")


def test_exceptions_of_functions_stop_a_run_which_can_continue(tmp_path, count_threads):
    threads = count_threads()
    with pytest.raises(RuntimeError, match="enough"):
        run(**SMALL, retrieval=refuse)
    place = tmp_path / "run"
    with pytest.raises(RuntimeError, match="enough"):
        run(**SMALL, retrieval="random", out=place, on_task=lambda event: refuse() if event["task"] == 1 else None)
    with pytest.raises(RuntimeError, match="enough"):
        run(resume=place, on_step=refuse, callback=None)
    assert count_threads() <= threads
    resumed, whole = run(resume=place, callback=None), run(**SMALL, retrieval="random", out=tmp_path / "whole")
    assert resumed.record["matrix"] == whole.record["matrix"]
    assert (resumed.correct == whole.correct).all()
    assert run(resume=place).record["matrix"] == whole.record["matrix"], "a finished run has nothing left to do"


def test_a_run_with_a_retrieval_in_python_continues_to_the_same_bits(tmp_path):
    calls = []

    def sometimes(*arguments):
        calls.append(1)
        return refuse() if len(calls) == 15 else hardest(*arguments)

    place = tmp_path / "run"
    with pytest.raises(RuntimeError, match="enough"):
        run(**SMALL, retrieval=sometimes, out=place)
    with pytest.raises(ValueError, match="sometimes"):
        run(resume=place, callback=None)
    with pytest.raises(ValueError, match="sometimes"):
        run(resume=place, retrieval=hardest, callback=None)
    resumed = run(resume=place, retrieval=sometimes, callback=None)
    assert resumed.record["matrix"] == run(**SMALL, retrieval=hardest).record["matrix"]


@pytest.mark.parametrize(
    ("chosen", "kind", "text"),
    [
        ([1000], ValueError, "candidate 1000"),
        ([-1], ValueError, "candidate -1"),
        (range(50), ValueError, "at most 10"),
        ([0.5], TypeError, None),
        (None, TypeError, None),
        (["0"], TypeError, None),
        ([1 << 70], ValueError, "out of range"),
    ],
)
def test_what_a_retrieval_must_not_choose(chosen, kind, text):
    with pytest.raises(kind, match=text):
        run(**SMALL, retrieval=lambda losses, *_: chosen if len(losses) == 50 else [])


def test_wrong_settings_are_refused(tmp_path):
    wrong = [
        (dict(method="none"), "none"),
        (dict(colour="red"), "colour"),
        (dict(epochs=0), "epochs"),
        (dict(lr=float("nan")), "not finite"),
        (dict(lr=float("inf")), "not finite"),
        (dict(epochs=[1]), "epochs"),
        (dict(seed=-1), "seed"),
        (dict(seed=1 << 70), None),
        (dict(threads=0), "threads"),
        (dict(dataset="\N{SNOWMAN}"), "\N{SNOWMAN}"),
        (dict(data="\udcff"), None),
        (dict(out=""), None),
        (dict(retrieval="none"), "none"),
        (dict(method="fine-tune", retrieval="mir"), "retrieval"),
        (dict(method="fine-tune", retrieval=hardest), "replays nothing"),
        (dict(device="wgpu"), "wgpu"),
    ]
    for settings, text in wrong:
        with pytest.raises(ValueError, match=text):
            run(**{**SMALL, **settings})
    with pytest.raises(TypeError, match="a setting"):
        run(**SMALL, seed=object())
    with pytest.raises(FileNotFoundError, match="cifar100"):
        run(**{**SMALL, "dataset": "cifar100", "data": tmp_path / "none"})
    with pytest.raises(ValueError, match="already holds a run"):
        [run(**SMALL, retrieval="random", out=tmp_path / "run") for _ in range(2)]
    for given in (dict(epochs=2), dict(out=tmp_path / "b"), dict(retrieval="mir"), dict(retrieval=hardest, threads=1)):
        with pytest.raises(ValueError, match="resume"):
            run(resume=tmp_path / "run", **given)
    with pytest.raises(FileNotFoundError, match="holds no run"):
        run(resume=tmp_path / "none", callback=None)


def test_directories_of_runs_are_read_or_refused(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError):
        read_runs(tmp_path / "none")
    assert len(read_runs(tmp_path)) == 0
    run(**SMALL, retrieval="random", out=tmp_path / "run")
    monkeypatch.setitem(sys.modules, "pandas", None)
    (row,) = read_runs(tmp_path)
    assert row["method"] == "er" and row["directory"] == str(tmp_path / "run")
    result = tmp_path / "run" / "result.json"
    result.write_text(result.read_text().replace('"steps": ', '"steps": 1'))
    for read in (lambda: read_runs(tmp_path), lambda: run(resume=tmp_path / "run")):
        with pytest.raises(RehearsalError, match="result.json"):
            read()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks on this system")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_runs_too():
    settings = {**SMALL, "retrieval": "random", "threads": 2}
    expected = run(**settings).record["matrix"]
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.map_async(_matrix, [settings]).get(60) == [expected]


def _matrix(settings):
    return run(**settings).record["matrix"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="for Unix")
def test_ctrl_c_stops_a_run_which_can_continue(tmp_path):
    code = """
import os, signal, sys
from rehearsal_learn import run
try:
    run(method="er", backbone="tiny", width=8, train_per_class=20, test_per_class=10, threads=1, out=sys.argv[1],
        retrieval="random", on_step=lambda event: os.kill(os.getpid(), signal.SIGINT) if event["step"] == 7 else None)
except KeyboardInterrupt:
    print("stopped")
"""
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "run"], capture_output=True, text=True, timeout=60)
    assert done.stdout == "stopped\n", done.stderr
    resumed = run(resume=tmp_path / "run", callback=None)
    assert resumed.record["matrix"] == run(**SMALL, retrieval="random").record["matrix"]
