from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from driftlab.core.errors import DataError
from driftlab.data.markers import WorldMarker, read_marker
from driftlab.worlds.folders import make_once

MARKER = WorldMarker("nucla", 1, 0, {"sequences_per_class": 4})

SLOW = """
import sys, time
from pathlib import Path
from driftlab.data.markers import WorldMarker
from driftlab.worlds.folders import make_once

def write(folder):
    (folder / "first").write_text("1")
    with (Path(sys.argv[1]).parent / "writers").open("a") as log:
        log.write("x")
    time.sleep(float(sys.argv[2]))
    (folder / "second").write_text("2")

print(make_once(sys.argv[1], WorldMarker("nucla", 1, 0, {"sequences_per_class": 4}), write))
"""


def write(folder: Path) -> None:
    (folder / "file").write_text("content")


def start(folder: Path, seconds: float) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SLOW, str(folder), str(seconds)], stdout=subprocess.PIPE, text=True
    )


def test_made_once_and_used_again(tmp_path):
    made = make_once(tmp_path / "world", MARKER, write)
    assert made == tmp_path / "world" and read_marker(made) == MARKER
    (made / "file").write_text("still here")
    assert make_once(made, MARKER, write) == made
    assert (made / "file").read_text() == "still here"


def test_the_default_place_names_what_makes_the_world(tmp_path):
    made = make_once(None, MARKER, write)
    assert made == tmp_path / "outputs" / "worlds" / "nucla-v1-4x-seed0"


def test_an_empty_folder_is_filled(tmp_path):
    (tmp_path / "world").mkdir()
    assert (make_once(tmp_path / "world", MARKER, write) / "file").is_file()


def test_a_folder_that_holds_something_else(tmp_path):
    folder = tmp_path / "world"
    folder.mkdir()
    (folder / "thesis.tex").write_text("years of work")
    with pytest.raises(DataError, match=r"here is something else.*Choose another folder"):
        make_once(folder, MARKER, write)
    assert [path.name for path in folder.iterdir()] == ["thesis.tex"]


def test_a_folder_that_holds_another_world(tmp_path):
    folder = make_once(tmp_path / "world", MARKER, write)
    changes: list[dict[str, object]] = [
        {"seed": 7},
        {"version": 2},
        {"layout": "ntu"},
        {"sizes": {"sequences_per_class": 5}},
    ]
    for change in changes:
        other = replace(MARKER, **change)
        with pytest.raises(
            DataError, match=r"another world \(nucla, version 1, seed 0, 4 sequences per class"
        ):
            make_once(folder, other, write)


def test_a_file_in_the_way(tmp_path):
    (tmp_path / "world").write_text("")
    with pytest.raises(DataError, match="here is something else"):
        make_once(tmp_path / "world", MARKER, write)


@pytest.mark.parametrize(
    "content", ["{", "[]", "[" * 100_000, '{"layout": "nucla"}', '{"layout": "nucla", "version": "x"}']
)
def test_a_damaged_marker(tmp_path, content):
    folder = make_once(tmp_path / "world", MARKER, write)
    (folder / "world.json").write_text(content)
    with pytest.raises(DataError, match=r"world\.json: This marker .* cannot be read.*delete .*/world, and"):
        make_once(folder, MARKER, write)


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be written here"):
        make_once(tmp_path / "file" / "world", MARKER, write)


def test_a_failure_leaves_no_half_world(tmp_path):
    def fail(folder: Path) -> None:
        write(folder)
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        make_once(tmp_path / "world", MARKER, fail)
    assert not (tmp_path / "world").exists()
    assert (make_once(tmp_path / "world", MARKER, write) / "file").is_file()


def test_a_kill_leaves_no_half_world(tmp_path):
    folder = tmp_path / "world"
    process = start(folder, 60)
    deadline = time.monotonic() + 60
    while not (tmp_path / "writers").is_file() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert (tmp_path / "writers").is_file()
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not folder.exists()
    make_once(folder, MARKER, write)
    assert sorted(path.name for path in folder.iterdir()) == ["file", "world.json"], (
        "nothing of the killed one"
    )


def test_two_processes_make_it_once(tmp_path):
    folder = tmp_path / "world"
    processes = [start(folder, 0.5) for _ in range(2)]
    assert [process.communicate(timeout=60)[0].strip() for process in processes] == [str(folder)] * 2
    assert [process.returncode for process in processes] == [0, 0]
    assert (tmp_path / "writers").read_text() == "x"
    assert sorted(path.name for path in folder.iterdir()) == ["first", "second", "world.json"]
