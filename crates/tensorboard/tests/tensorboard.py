"""Opens event files with the real TensorBoard, in all three ways in which it reads them.

    python tensorboard.py DIR EXPECTED.json   the scalars must be those of the file: {tag: [[step, value, seconds], …]}
    python tensorboard.py DIR                 prints them in that form

Needs the package `tensorboard` (PyPI). The example `scalars` writes both DIR and EXPECTED.json.
"""

import json
import pathlib
import subprocess
import sys
import time

# Not the directory of this file, whose name would hide the package.
sys.path = [entry for entry in sys.path if pathlib.Path(entry or ".").resolve() != pathlib.Path(__file__).parent.resolve()]

from tensorboard.backend.event_processing import event_accumulator
from tensorboard.context import RequestContext
from tensorboard.data import server_ingester
from tensorboard.util import grpc_util


def read_in_python(directory):
    """By the reader in Python, with no limit on the number of values kept."""
    accumulator = event_accumulator.EventAccumulator(directory, size_guidance={event_accumulator.SCALARS: 0})
    accumulator.Reload()
    return {
        tag: [[event.step, event.value, event.wall_time] for event in accumulator.Scalars(tag)]
        for tag in accumulator.Tags()["scalars"]
    }


def read_by_server(directory):
    """By the server in Rust, which the command `tensorboard` starts unless it is told otherwise."""
    ingester = server_ingester.SubprocessServerDataIngester(
        server_binary=server_ingester.get_server_binary(),
        logdir=directory,
        reload_interval=1,
        channel_creds_type=grpc_util.ChannelCredsType.LOCAL,
        samples_per_plugin={"scalars": 0},
    )
    ingester.start()
    provider, context = ingester.data_provider, RequestContext()
    deadline = time.time() + 60
    while True:
        runs = provider.read_scalars(context, experiment_id="", plugin_name="scalars", downsample=100_000)
        if runs or time.time() > deadline:
            break
        time.sleep(0.2)
    found = {}
    for run, tags in runs.items():
        assert run == ".", f"one directory is one run, not {run}"
        found = {tag: [[d.step, d.value, d.wall_time] for d in data] for tag, data in tags.items()}
    return found


def inspect(directory):
    """What `tensorboard --inspect` prints."""
    command = [sys.executable, "-m", "tensorboard.main", "--inspect", "--logdir", directory]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def main():
    directory = sys.argv[1]
    found = read_in_python(directory)
    if len(sys.argv) < 3:
        print(json.dumps(found))
        return
    expected = json.loads(pathlib.Path(sys.argv[2]).read_text())
    assert found == expected, f"the reader in Python shows {found}"
    found = read_by_server(directory)
    assert found == expected, f"the server shows {found}"
    inspected = inspect(directory)
    assert all(tag in inspected for tag in expected), inspected
    print(f"{sum(map(len, expected.values()))} values of {len(expected)} tags are shown by TensorBoard as they should be")


main()
