"""Photos for the tests. The installed wheel is tested, not the source tree."""

import os
import pathlib
import time

import numpy as np
import pytest
import rehearsal_learn

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "rehearsal_learn"
assert pathlib.Path(rehearsal_learn.__file__).resolve().parent != SOURCE, "install the wheel, and test that"


@pytest.fixture(autouse=True)
def data_directory(tmp_path, monkeypatch):
    """Features are kept below the test's own directory."""
    monkeypatch.setenv("REHEARSAL_DATA", str(tmp_path / "data"))


@pytest.fixture
def count_threads():
    """Counts the threads of this process, once those that are ending have ended."""

    def count() -> int:
        if not os.path.isdir("/proc/self/task"):
            return 0
        time.sleep(0.2)
        return len(os.listdir("/proc/self/task"))

    return count


def photo(colour: int, number: int, size: tuple[int, int] = (48, 64)) -> np.ndarray:
    """A noisy photo with one bright channel; each number is another one."""
    generator = np.random.default_rng(1000 * colour + number)
    image = generator.integers(0, 90, (*size, 3), dtype=np.uint8)
    image[..., colour] += 120
    return image


COLOURS = ["red", "green", "blue"]


@pytest.fixture(scope="session")
def photos() -> tuple[np.ndarray, list[str]]:
    """Eight photos each of red, green and blue."""
    pictures = [photo(colour, number) for colour in range(3) for number in range(8)]
    return np.stack(pictures), [name for name in COLOURS for _ in range(8)]


@pytest.fixture
def folder(tmp_path) -> pathlib.Path:
    """The same as files: january has red and green ones, february blue ones."""
    from PIL import Image

    for colour, name in enumerate(COLOURS):
        place = tmp_path / ("february" if name == "blue" else "january") / name
        place.mkdir(parents=True)
        for number in range(8):
            Image.fromarray(photo(colour, number)).save(place / f"{number}.png")
    return tmp_path
