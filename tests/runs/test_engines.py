from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pytest
import torch
from driftlab.core.errors import ParameterError
from driftlab.runs.engines import Engine, LocalEngine, make_engine
from driftlab.runs.experiment import StageResult
from driftlab.runs.ray_engine import RayEngine
from driftlab.runs.store import Store
from driftlab.runs.sweep import SweepError, SweepResult, SweepWarning, sweep
from driftlab.runs.workers import usable_cores
from toy_experiment import DATA, Toy, contents, orders, ran

pytestmark = pytest.mark.usefixtures("no_wait_for_the_disk")

ORDERS = orders(4)
FAILED = r"6 of 24 .*\n  ValueError: stage 0-1 does not work \(toy_experiment.py, line \d+\) \(stage 1 of 4"
LOST = r"ended from outside \(out of memory\?\); what it was computing is"


def run(store: Store, toy: Toy, engine: Engine, **options: Any) -> SweepResult:
    options = {"batch": 4, "progress": False, **options}
    return sweep(toy, ORDERS, data=DATA, digest="d", store=store, engine=engine, **options)


@pytest.fixture
def toy(marks: Path) -> Toy:
    return Toy(str(marks))


def test_engines_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftlab.runs.engines.limited_jobs", lambda jobs, threads: jobs)
    local = make_engine("local", 3)
    assert isinstance(local, LocalEngine) and local.capacity == 3
    ray = make_engine("ray", 2)
    assert type(ray).__name__ == "RayEngine" and ray.capacity == 2
    expected = 1 if torch.cuda.is_available() else usable_cores()
    assert make_engine("local", "auto").capacity == make_engine("local", 0).capacity == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("dask", 1), "There is no engine 'dask'; the engines are local and ray"),
        (("local", -1), "jobs is -1"),
        (("local", "many"), "jobs is 'many'"),
        (("local", True), "jobs is True"),
        (("ray", 1.5), "jobs is 1.5"),
    ],
)
def test_what_is_no_engine(arguments: tuple[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make_engine(*arguments)


def test_threads_must_be_positive() -> None:
    for name in ("local", "ray"):
        with pytest.raises(ParameterError, match="at least"):
            make_engine(name, 1, threads=0)


def test_ray_is_imported_only_when_it_is_used() -> None:
    code = """
import sys
import time
import driftlab.runs.sweep
from driftlab.runs.engines import make_engine
assert "torch" not in sys.modules
make_engine("ray", 1)
assert "ray" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.fixture(scope="module")
def ray_at_the_end() -> Iterator[None]:
    """The engine's Ray takes seconds to start, stays for later sweeps, and would end with the process."""
    yield
    import ray

    assert ray.is_initialized()
    ray.shutdown()


@pytest.mark.usefixtures("ray_at_the_end")
def test_all_engines_give_the_same_table(store: Store, toy: Toy, tmp_path: Path, marks: Path) -> None:
    table = run(store, toy, LocalEngine(1)).table
    assert {process for process, _ in contents(marks)} == {os.getpid()}
    pooled = run(Store(tmp_path / "pool"), toy, LocalEngine(2)).table
    pd.testing.assert_frame_equal(pooled, table, check_exact=True)
    assert set(ran(marks).values()) == {2}
    with_ray = run(Store(tmp_path / "ray"), toy, make_engine("ray", 2)).table
    pd.testing.assert_frame_equal(with_ray, table, check_exact=True)
    assert set(ran(marks).values()) == {3}
    assert len({process for process, _ in contents(marks)}) >= 4


@pytest.mark.usefixtures("ray_at_the_end")
def test_ray_tells_the_same_error(store: Store, toy: Toy) -> None:
    with (
        pytest.warns(SweepWarning, match="executed together failed"),
        pytest.raises(SweepError, match=FAILED),
    ):
        run(store, replace(toy, raises=("0-1",)), make_engine("ray", 2))


@pytest.mark.usefixtures("ray_at_the_end")
def test_ray_replaces_a_killed_worker(store: Store, toy: Toy) -> None:
    engine = make_engine("ray", 0)
    with pytest.warns(SweepWarning, match=LOST):
        result = run(store, replace(toy, kills_once="0-1-2"), engine)
    assert result.computed == 64
    assert engine.capacity >= usable_cores()  # as many as there is room for


@pytest.mark.usefixtures("ray_at_the_end")
def test_ray_without_room(store: Store, toy: Toy) -> None:
    run(store, toy, make_engine("ray", 1))
    with pytest.raises(ParameterError, match="has room for a task with 9999 cores and 0 GPUs"):
        run(store, replace(toy, version=2), make_engine("ray", 1, threads=9999))
    gpus = RayEngine(1, gpus_per_task=0.5 if not torch.cuda.is_available() else 99.0)
    with pytest.raises(ParameterError, match=r"1 cores and (0\.5|99) GPUs"):
        run(store, replace(toy, version=2), gpus)


def test_nothing_is_left_running(store: Store, toy: Toy) -> None:
    before = set(psutil.Process().children(recursive=True))
    run(store, toy, LocalEngine(2))
    left = [p for p in psutil.Process().children(recursive=True) if p not in before]
    assert [p for p in left if "resource_tracker" not in " ".join(p.cmdline())] == []


def test_a_failing_stage_in_a_pool(store: Store, toy: Toy) -> None:
    with (
        pytest.warns(SweepWarning, match="executed together failed"),
        pytest.raises(SweepError, match=FAILED),
    ):
        run(store, replace(toy, raises=("0-1",)), LocalEngine(2))


def test_a_killed_worker_is_replaced(store: Store, toy: Toy, marks: Path, tmp_path: Path) -> None:
    table = run(Store(tmp_path / "other"), toy, LocalEngine(1)).table
    with pytest.warns(SweepWarning, match=LOST) as seen:
        result = run(store, replace(toy, kills_once="0-1-2"), LocalEngine(2))
    assert len(seen) == 1
    assert result.computed == 64
    pd.testing.assert_frame_equal(result.table, table, check_exact=True)


def test_a_stage_that_always_kills_its_worker_does_not_take_others_down(store: Store, toy: Toy) -> None:
    with (
        pytest.warns(SweepWarning, match=LOST),
        pytest.raises(
            SweepError, match=r"1 of 24 .*\n  its worker was ended from outside, though .*stage 3 of 4"
        ),
    ):
        run(store, replace(toy, kills_always=("0-0-2-1",)), LocalEngine(2))
    assert store.summary().stages["toy"] == 64 - 2


def test_workers_that_all_die(store: Store, toy: Toy) -> None:
    first = tuple(f"0-{digit}" for digit in range(4))
    with (
        pytest.warns(SweepWarning, match=LOST),
        pytest.raises(
            SweepError, match=r"3 times in a row.*batch \(now 4\) or fewer jobs \(now 2\).*a script,"
        ),
    ):
        run(store, replace(toy, kills_always=first), LocalEngine(2))
    run(store, toy, LocalEngine(1))
    third = tuple(f"0-{a}-{b}-{c}" for a, b, c in permutations(range(4), 3))
    newer = replace(toy, version=2, kills_always=third)
    with (
        pytest.warns(SweepWarning, match=LOST),
        pytest.raises(SweepError, match=r"3 times in a row.*What was finished is kept in"),
    ):
        run(store, newer, LocalEngine(2))
    assert run(store, replace(toy, version=2), LocalEngine(1)).reused == 4 + 12


@dataclass(frozen=True)
class Threads(Toy):
    def execute(self, data: Any, stages: Any, states: Any) -> list[StageResult]:
        row = {"trained_on": 1, "tested_on": "", "metric": "threads", "value": torch.get_num_threads()}
        return [StageResult([row], {}) for _ in stages]


@pytest.mark.parametrize("jobs", [1, 2])
def test_threads_of_a_worker(store: Store, marks: Path, jobs: int) -> None:
    before = torch.get_num_threads()
    experiment = Threads(str(marks), version=jobs)
    engine = LocalEngine(jobs, threads=3)
    table = sweep(
        experiment, orders(1), data=DATA, digest="d", store=store, engine=engine, progress=False
    ).table
    assert table.value.tolist() == [3.0]
    assert torch.get_num_threads() == before


def test_a_class_that_workers_cannot_find(store: Store, marks: Path) -> None:
    @dataclass(frozen=True)
    class Local(Toy):
        pass

    with pytest.raises(
        ParameterError, match=r"toy or its data cannot be sent to other .*importable module, or use one"
    ):
        run(store, Local(str(marks)), LocalEngine(2))
    Local.__module__ = "__main__"
    with pytest.raises(ParameterError, match="is defined in a notebook or a script"):
        run(store, Local(str(marks)), LocalEngine(2))
    assert run(store, Local(str(marks)), LocalEngine(1)).computed == 64


def test_from_a_notebook(tmp_path: Path, marks: Path) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    code = f"""
import sys
import time
sys.path.insert(0, {str(Path(__file__).parent)!r})
from driftlab.runs.engines import LocalEngine
from driftlab.runs.ray_engine import RayEngine
from driftlab.runs.store import Store
from driftlab.runs.sweep import sweep
from toy_experiment import DATA, Toy, orders
result = sweep(Toy({str(marks)!r}), orders(3), data=DATA, digest="d", store=Store({str(tmp_path / "s")!r}),
               engine=LocalEngine(2))
print(result.computed, len(result.table))
"""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    nbclient.NotebookClient(notebook, timeout=180, kernel_name="python3").execute()
    outputs = notebook.cells[0].outputs
    assert any(output.get("text") == "15 36\n" for output in outputs)
    shown = "".join(output.get("text", "") for output in outputs if output.get("name") == "stderr")
    assert "15 of 15" in shown and "Warning" not in shown


def test_a_script_without_a_guard_for_workers_ends_and_says_why(tmp_path: Path, marks: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from driftlab.runs.engines import LocalEngine
from driftlab.runs.store import Store
from driftlab.runs.sweep import sweep
from toy_experiment import DATA, Toy, orders
sweep(Toy({str(marks)!r}), orders(3), data=DATA, digest="d", store=Store({str(tmp_path / "s")!r}),
      engine=LocalEngine(2))
""")
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 1
    assert 'called below `if __name__ == "__main__":`' in ended.stderr


@dataclass(frozen=True)
class Devices(Toy):
    """Measures which CUDA device a worker sees."""

    def execute(self, data: Any, stages: Any, states: Any) -> list[StageResult]:
        value = int(os.environ.get("CUDA_VISIBLE_DEVICES") or -1)
        row = {"trained_on": 1, "tested_on": "", "metric": "device", "value": value}
        time.sleep(self.seconds)
        return [StageResult([row], {}) for _ in stages]


def devices_seen(store: Store, toy: Devices, engine: Engine) -> list[int]:
    configs = [{"seed": seed, "order": [0]} for seed in range(4)]
    options: dict[str, Any] = {"data": DATA, "digest": "d", "store": store, "engine": engine}
    return sorted(sweep(toy, configs, batch=1, progress=False, **options).table.value.astype(int))


def test_each_local_worker_sees_its_own_device(
    store: Store, marks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    toy = Devices(str(marks), seconds=0.3)
    assert set(devices_seen(store, toy, LocalEngine(2, devices=("4", "7")))) == {4, 7}
    assert devices_seen(store, replace(toy, version=2), LocalEngine(2)) == [-1] * 4
    assert set(devices_seen(store, replace(toy, version=3), LocalEngine(2, devices=("5",)))) == {5}


def test_one_batch_per_cuda_device_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    monkeypatch.setattr("driftlab.runs.engines.limited_jobs", lambda jobs, threads: jobs)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert make_engine("local").capacity == 3
    assert make_engine("local", 5).capacity == 5
    ray_engine = make_engine("ray")
    assert isinstance(ray_engine, RayEngine) and ray_engine._gpus == 1.0
    monkeypatch.setenv("DRIFTLAB_DEVICE", "cpu")
    assert make_engine("local").capacity == usable_cores()
    ray_engine = make_engine("ray")
    assert isinstance(ray_engine, RayEngine) and ray_engine._gpus == 0.0
