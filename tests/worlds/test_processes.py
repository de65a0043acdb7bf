"""Parts of a world drawn in worker processes: same files, and no process that is left over."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import joblib
import psutil
import pytest
from driftlab.core.errors import DataError
from driftlab.data.markers import WorldMarker
from driftlab.worlds import processes
from driftlab.worlds.folders import make_once
from driftlab.worlds.processes import draw_parts
from driftlab.worlds.walk.layout import oak_world
from driftlab.worlds.walk.static_images import static_world

MANY = processes.ENOUGH_IMAGES


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joblib, "cpu_count", lambda: 2)


def number_and_process(number: int) -> tuple[int, int]:
    return number, os.getpid()


def end_abruptly() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fill_the_disk() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_few_images_are_drawn_here() -> None:
    assert draw_parts(number_and_process, [(3,), (1,)], MANY - 1) == [(3, os.getpid()), (1, os.getpid())]


def test_many_images_are_drawn_elsewhere_in_the_parts_order() -> None:
    results = draw_parts(number_and_process, [(number,) for number in range(8)], MANY)
    assert [number for number, _ in results] == list(range(8))
    assert os.getpid() not in {process for _, process in results}
    assert not any(psutil.pid_exists(process) for _, process in results)


def digests(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_worlds_do_not_depend_on_the_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worlds = []
    for enough in (1, 10_000):
        monkeypatch.setattr(processes, "ENOUGH_IMAGES", enough)
        folder = tmp_path / str(enough)
        oak_world(folder / "walk", steps=12, frames_per_step=2)
        static_world(folder / "static", images=120)
        worlds.append(digests(folder))
    assert worlds[0] == worlds[1] and len(worlds[0]) > 190


def test_a_killed_process_is_an_error_that_says_so() -> None:
    with pytest.raises(DataError, match=r"was killed, as happens when memory is short.*LOKY_MAX_CPU_COUNT=1"):
        draw_parts(end_abruptly, [()] * 2, MANY)


def test_a_full_disk_names_the_folder(tmp_path: Path) -> None:
    marker = WorldMarker("nucla", 1, 0, {"sequences_per_class": 4})
    with pytest.raises(DataError, match=re.escape(f"{tmp_path / 'world'}: ") + ".*No space left on device"):
        make_once(tmp_path / "world", marker, lambda _: draw_parts(fill_the_disk, [()] * 2, MANY) and None)
    assert not (tmp_path / "world").exists()


DRAW = """
import sys
from driftlab.worlds.walk.layout import oak_world
oak_world(sys.argv[1], steps=400)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_workers_end_with_a_killed_driver(tmp_path: Path, how: signal.Signals) -> None:
    environment = {**os.environ, "LOKY_MAX_CPU_COUNT": "2"}
    driver = subprocess.Popen(
        [sys.executable, "-c", DRAW, str(tmp_path / "world")], env=environment, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.rglob("*.jpg")) and time.monotonic() < deadline:
        time.sleep(0.1)
    children = psutil.Process(driver.pid).children(recursive=True)
    assert children and list(tmp_path.rglob("*.jpg"))
    driver.send_signal(how)
    driver.wait(60)
    _, alive = psutil.wait_procs(children, timeout=30)
    assert not alive and not (tmp_path / "world").exists()
