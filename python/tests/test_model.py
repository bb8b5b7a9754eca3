"""The model store, and that its bits are those of the command line and of the classifier."""

import os
import pathlib
import subprocess
import sys

import pytest
from rehearsal_learn import Model, PhotoClassifier, RehearsalError

PROGRAM = pathlib.Path(sys.executable).with_name("rehearsal")


def command(*words: object) -> subprocess.CompletedProcess:
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True)


def learned(folder: pathlib.Path) -> Model:
    model = Model(folder / "shop.model")
    for month in ("january", "february"):
        report = model.learn(folder / month, callback=None)
    assert report["version"] == 2 and report["new_classes"] == ["blue"]
    return model


def test_the_same_bits_as_the_command_line_and_the_classifier(folder, tmp_path):
    model = learned(folder)
    for month in ("january", "february"):
        done = command("learn", tmp_path / "command.model", folder / month)
        assert done.returncode == 0, done.stderr
    of_model, of_command = [
        (tmp_path / name / "versions" / "0002.safetensors").read_bytes() for name in ("shop.model", "command.model")
    ]
    assert of_model == of_command
    classifier = PhotoClassifier()
    for month in ("february", "january"):
        paths = sorted((folder / month).rglob("*.png"))
        classifier.partial_fit(paths, [path.parent.name for path in paths])
    assert classifier._learned.to_bytes() == of_command
    assert model.config["head_sha256"] == classifier.head_sha256_
    of_version = PhotoClassifier.load(tmp_path / "shop.model" / "versions" / "0002.safetensors")
    answers = model.predict(folder / "january", callback=None)
    assert len(answers) == 16
    assert [answer.label for answer in answers] == of_version.predict([answer.path for answer in answers]).tolist()


def test_a_model_is_asked_rolled_back_and_forgets(folder):
    model = learned(folder)
    assert Model.open(folder / "shop.model").versions == [1, 2] and model.current == 2
    assert model.classes == {"blue": 8, "green": 8, "red": 8}
    assert len(model.memory) == 24 and {held for _, _, held in model.memory} == {True, False}
    evaluation = model.evaluate(folder / "january", report=folder / "page", callback=None)
    assert evaluation["right"] == evaluation["total"] == 16 and pathlib.Path(evaluation["page"]).exists()
    model.use(1)
    assert model.current == 1 and "blue" not in model.classes
    model.use(2)
    assert model.forget("red/3.png")["photos"] == 1
    assert model.forget(files=[folder / "january" / "red" / "4.png"])["photos"] == 1
    assert model.classes["red"] == 6
    assert model.rename("red", "crimson") == 3 and model.move("green/1.png", "crimson") == 4
    assert model.merge("crimson", "green") == 5 and model.classes == {"blue": 8, "green": 14}
    assert [event["event"] for event in model.history][:3] == ["learned", "learned", "used"]
    model.to_onnx(folder / "shop.onnx")
    assert (folder / "shop.onnx").stat().st_size > 1_000_000
    assert model.learn(folder / "february", callback=None) is None
    assert model.predict([folder / "february" / "blue" / "1.png"], explain=2, callback=None)[0].similar[0][0] == "blue"


def test_events_are_heard_and_an_exception_stops(folder):
    events = []
    Model(folder / "shop.model").learn(folder / "january", callback=events.append)
    kinds = [event["event"] for event in events]
    assert kinds[0] == "begin" and events[0]["total"] == 16 and "end" in kinds and "say" in kinds
    assert sum(event["by"] for event in events if event["event"] == "advance") == 16

    def refuse(event):
        raise KeyError("enough")

    before = Model(folder / "shop.model").history
    with pytest.raises(KeyError, match="enough"):
        Model(folder / "shop.model").learn(folder / "february", callback=refuse)
    assert Model(folder / "shop.model").history == before


def test_wrong_input_is_refused(folder):
    model = learned(folder)
    with pytest.raises(FileNotFoundError, match="there is no model"):
        Model.open(folder / "none.model")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        model.learn(folder / "none", callback=None)
    for wrong in (
        lambda: model.use(7),
        lambda: model.forget("nothing", class_="red"),
        lambda: model.rename("none", "other"),
        lambda: model.learn(folder / "january", backbone="resnet18", callback=None),
        lambda: model.learn(folder / "january", max_forgetting=101, callback=None),
        lambda: model.learn(folder / "january", memory="lots", callback=None),
        lambda: model.predict([folder / "january"], threshold=50, callback=None),
        lambda: Model(folder / "one.model").learn(folder / "february", callback=None),
    ):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(RehearsalError, match="not a model"):
        Model.open(folder / "january")
    current = folder / "shop.model" / "versions" / "0002.safetensors"
    current.write_bytes(current.read_bytes()[:-1])
    with pytest.raises(RehearsalError):
        model.predict([folder / "january"], callback=None)


def test_the_command_is_the_command_line(folder):
    assert command("--version").stdout.startswith("rehearsal ")
    assert command("learn", "x.model", folder / "none").returncode == 2
    done = command("predict", folder / "none.model", folder)
    assert done.returncode == 2 and "error: there is no model" in done.stderr and "hint: " in done.stderr


def test_nobody_reads_what_the_command_prints(folder):
    learned(folder)
    for words in (["--help"], ["show", "shop.model"], ["predict", "shop.model", "january"], ["show", "shop.model", "--json"]):
        read, write = os.pipe()
        os.close(read)
        closed = subprocess.run([PROGRAM, *words], cwd=folder, stdout=write, stderr=subprocess.PIPE, text=True)
        os.close(write)
        assert closed.returncode == 0 and "error" not in closed.stderr and "panicked" not in closed.stderr, (words, closed)


@pytest.mark.parametrize("streams", ["os.close(1); os.close(2)", "sys.stdout = sys.stderr = None", "sys.stderr.close()"])
def test_there_are_no_standard_streams(folder, streams):
    code = f"""
import os, sys
{streams}
from rehearsal_learn import Model
model = Model("shop.model")
model.learn("january")
os._exit(7 if len(model.predict("january")) == 16 else 1)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=folder)
    assert done.returncode == 7
