"""`driftlab bench` from end to end, very small, and stopped in the middle."""

from __future__ import annotations

import json
import signal
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from cli.driving import Driver, is_alive, start, wait_until
from driftlab.bench import workload

TINY = (
    "bench",
    "--rounds",
    "2",
    "--epochs",
    "1",
    "--replicas",
    "1",
    "--jobs",
    "1",
    "--no-methods",
    "--no-evaluation",
)


@pytest.fixture
def driftlab(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Driver:
    return Driver(monkeypatch, capfd)


def test_one_run_measures_both_ways(
    driftlab: Driver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(workload, "ORDERS", workload.ORDERS[:2])
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # two threads wait long for each other where cores are busy

    result = driftlab(*TINY)

    assert result.code == 0
    assert "Round 2 of 2" in result.err
    (file,) = (tmp_path / "outputs" / "bench").iterdir()
    assert f"Numbers: {file}" in result.out
    results = json.loads(file.read_text())
    assert results["plain_threads"] == 1
    assert len(results["plain"]) == 2 and [len(tasks) for tasks in results["replicated"]] == [5, 5]
    assert all(bytes_ > 100 * 2**20 for bytes_ in results["peak_memory"].values())


def test_an_unwritable_outputs_folder_is_noticed_at_once(driftlab: Driver, tmp_path: Path) -> None:
    (tmp_path / "outputs").write_text("a file")
    result = driftlab("bench")
    assert result.code == 2
    assert "outputs cannot be written to" in result.err
    assert "Starting" not in result.err


def test_ctrl_c_leaves_nothing_behind() -> None:
    process = start("bench", "--jobs", "2")
    bench = psutil.Process(process.pid)

    def computing() -> int:
        with suppress(psutil.NoSuchProcess):
            return sum(child.memory_info().rss > 150 * 2**20 for child in bench.children())
        return 0

    assert wait_until(lambda: computing() >= 3, 120), "the plain loop and two workers"
    children = bench.children(recursive=True)

    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)

    assert process.returncode != 0
    assert "Traceback" not in out, out
    assert wait_until(lambda: not any(is_alive(child.pid) for child in children))
