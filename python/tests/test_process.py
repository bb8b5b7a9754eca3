"""What a process notices: imports, Ctrl-C, threads, forks, the memory of arrays."""

import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from rehearsal_learn import FeatureExtractor, PhotoClassifier


def python(code: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, **options)


def test_the_import_needs_numpy_only():
    code = """
import sys
for name in ("sklearn", "pandas", "PIL", "torch", "scipy"):
    sys.modules[name] = None
import rehearsal_learn
from rehearsal_learn import Model
assert not [name for name in ("sklearn", "pandas", "PIL") if sys.modules.get(name)]
assert "PhotoClassifier" in dir(rehearsal_learn)
"""
    done = python(code)
    assert done.returncode == 0, done.stderr


def test_ctrl_c_stops_reading_photos_and_no_thread_is_left():
    code = """
import os, signal, threading, time
import numpy as np
from rehearsal_learn import FeatureExtractor
X = np.random.default_rng(0).integers(0, 255, (3000, 32, 32, 3), dtype=np.uint8)
FeatureExtractor().transform(X[:2])
threads = len(os.listdir("/proc/self/task"))
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    FeatureExtractor().transform(X)
except KeyboardInterrupt:
    time.sleep(0.3)
    assert len(os.listdir("/proc/self/task")) <= threads, os.listdir("/proc/self/task")
    print("stopped")
"""
    done = python(code)
    assert done.stdout == "stopped\n", done.stderr


def test_python_goes_on_while_photos_are_read():
    X = np.random.default_rng(0).integers(0, 255, (40, 64, 64, 3), dtype=np.uint8)
    FeatureExtractor().transform(X[:1])
    counted = 0
    work = threading.Thread(target=FeatureExtractor().transform, args=(X,))
    work.start()
    while work.is_alive():
        counted += 1
        time.sleep(0.001)
    assert counted > 3


def _scores(X):
    return FeatureExtractor(threads=2).transform(X).sum()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks on this system")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_computes_too():
    X = np.random.default_rng(0).integers(0, 255, (4, 32, 32, 3), dtype=np.uint8)
    expected = _scores(X)
    classifier = PhotoClassifier(threads=2).fit(X, [0, 0, 1, 1])
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(_scores, [X, X]).get(60) == [expected] * 2
        assert pool.map_async(classifier.predict, [X]).get(60)[0].tolist() == [0, 0, 1, 1]


def test_many_threads_of_python_may_ask_one_classifier():
    X = np.random.default_rng(0).normal(size=(200, 8))
    y = (X[:, 0] > 0).astype(int)
    classifier = PhotoClassifier().fit(X, y)
    expected, wrong = classifier.predict(X), []

    def ask():
        for _ in range(5):
            if not np.array_equal(classifier.predict(X), expected):
                wrong.append(1)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="for Unix")
def test_ctrl_c_stops_the_command(tmp_path):
    from PIL import Image

    rng = np.random.default_rng(0)
    for number in range(1500):
        place = tmp_path / "photos" / f"class{number % 2}"
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 255, (16, 16, 3), dtype=np.uint8)).save(place / f"{number}.png")
    words = [pathlib.Path(sys.executable).with_name("rehearsal"), "learn", "shop.model", "photos", "--threads", "1"]
    process = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "stopped" in errors and "Traceback" not in errors and not (tmp_path / "shop.model").exists()
