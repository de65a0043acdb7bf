"""Numbers of workers are capped by the machine."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest
from driftlab.runs.capacity import GIB, available_memory, limited_jobs
from driftlab.runs.engines import make_engine
from driftlab.runs.failures import SweepWarning


@pytest.fixture(autouse=True)
def _machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """4 cores and 3.5 GiB of free memory."""
    monkeypatch.setattr("driftlab.runs.capacity.usable_cores", lambda: 4)
    monkeypatch.setattr("driftlab.runs.capacity.available_memory", lambda: int(3.5 * GIB))


def test_what_fits_is_left_alone(recwarn: pytest.WarningsRecorder) -> None:
    assert limited_jobs(3) == 3 and limited_jobs(1) == 1
    assert not recwarn.list


def test_memory_caps() -> None:
    with pytest.warns(
        SweepWarning, match=r"1000 jobs are more .* \(3\.5 GiB of free memory, about 1 GiB per"
    ):
        assert limited_jobs(1000) == 3


def test_cores_cap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftlab.runs.capacity.available_memory", lambda: 64 * GIB)
    with pytest.warns(SweepWarning, match=r"1000 jobs are more .* \(4 cores\): 4 are used"):
        assert make_engine("local", 1000).capacity == 4
    with pytest.warns(SweepWarning, match=r"4 cores, 2 threads per worker\): 2 are used"):
        assert make_engine("local", 3, threads=2).capacity == 2


def test_there_is_always_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftlab.runs.capacity.available_memory", lambda: 0)
    with pytest.warns(SweepWarning, match="1 are used"):
        assert limited_jobs(2, threads=8) == 1


def test_the_memory_of_a_container(tmp_path: Path) -> None:
    free = psutil.virtual_memory().available
    assert available_memory(tmp_path / "absent") == pytest.approx(free, rel=0.3)
    (tmp_path / "memory.max").write_text("max\n")
    assert available_memory(tmp_path) == pytest.approx(free, rel=0.3)
    for name, content in (("max", "3000\n"), ("current", "2500\n"), ("stat", "anon 5\ninactive_file 200\n")):
        (tmp_path / f"memory.{name}").write_text(content)
    assert available_memory(tmp_path) == 700
