"""However a run ends, nothing that a notebook started outlives it."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest
from notebook_project import Project

from .driving import Driver, is_alive, start, wait_until

# A pool worker, one in a session of its own, and one that refuses to be asked; their numbers go into a file.
HANG = """\
import json, multiprocessing, os, signal, subprocess, sys, time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
print("hanging now")
pool = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
worker = pool.submit(os.getpid).result()
sleep = "import signal, time; signal.signal(signal.SIGTERM, signal.{}); time.sleep(600)"
command = [sys.executable, "-c"]
children = [
    subprocess.Popen([*command, sleep.format("SIG_DFL")], start_new_session=True),
    subprocess.Popen([*command, sleep.format("SIG_IGN")]),
]
pids = [os.getpid(), os.getppid(), worker, *[child.pid for child in children]]
Path(FILE + ".part").write_text(json.dumps(pids))
os.replace(FILE + ".part", FILE)
time.sleep(600)
"""


@pytest.fixture
def hanging(project: Project, tmp_path: Path) -> Path:
    """A project whose first notebook hangs; the file that will hold its processes' numbers."""
    file = tmp_path / "pids.json"
    project.notebook("10_hang", None, f"FILE = {str(file)!r}\n" + HANG)
    project.notebook("11_next", None, "print('next')")
    return file


def all_end(file: Path) -> bool:
    pids = json.loads(file.read_text())
    assert len(pids) == 5
    return wait_until(lambda: not any(map(is_alive, pids)))


def test_the_watchdog_kills_the_whole_tree_and_the_batch_goes_on(
    project: Project, hanging: Path, driftlab: Driver, tmp_path: Path
) -> None:
    result = driftlab("run", "--timeout", "0.5")

    assert result.code == 1
    assert "10_hang timed out 2/2" in result.out
    assert "ran past 0.5 min; its processes were killed" in result.out
    assert "11_next passed" in result.out
    assert all_end(hanging)
    kept = (tmp_path / "outputs" / "notebooks" / "demo" / "10_hang-unfinished.ipynb").read_text()
    assert "hanging now" in kept or '"status": "running"' in kept, "the executed notebook, as far as it came"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_kills_the_whole_tree(hanging: Path, number: signal.Signals) -> None:
    process = start("run")
    assert wait_until(hanging.is_file), "the notebook did not start"

    process.send_signal(number)
    out, _ = process.communicate(timeout=60)

    assert process.returncode == 128 + number
    assert "10_hang" in out
    assert "stopped" in out
    assert "not run" in out
    assert all_end(hanging)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_killing_the_command_line_itself_leaves_nothing_behind(hanging: Path) -> None:
    process = start("run")
    assert wait_until(hanging.is_file), "the notebook did not start"

    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)

    assert all_end(hanging)


def test_what_a_notebook_leaves_running_ends_with_it(
    project: Project, driftlab: Driver, tmp_path: Path
) -> None:
    file = tmp_path / "pid"
    project.notebook(
        "10_daemon",
        None,
        "import subprocess\nfrom pathlib import Path\n"
        "child = subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
        f"Path({str(file)!r}).write_text(str(child.pid))\n"
        "import time; time.sleep(5)",
    )
    assert driftlab("run").code == 0
    assert wait_until(lambda: not is_alive(int(file.read_text())))
