"""Sweeps in processes of their own, ended in the middle, or two at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import psutil
import pytest
from toy_experiment import contents, ran

STAGES = 4 + 12 + 24 + 24
DRIVE = Path(__file__).with_name("drive.py")


class Sweep:
    """A running sweep over four digits, on a store that several may share."""

    def __init__(
        self, folder: Path, name: str, *, jobs: int = 2, seconds: float = 0.2, method: str = ""
    ) -> None:
        (folder / "marks").mkdir(parents=True, exist_ok=True)
        self.marks, self.table = folder / "marks", folder / f"{name}.parquet"
        arguments = [folder / "store", self.marks, jobs, seconds, self.table, method]
        self.process = subprocess.Popen(
            [sys.executable, str(DRIVE), *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def until(self, stages: int) -> list[psutil.Process]:
        """Wait for so many executed stages; gives the processes that the sweep has started."""
        wait_for(lambda: len(ran(self.marks)) >= stages or self.process.poll() is not None)
        assert self.process.poll() is None, self.process.communicate()[0]
        return psutil.Process(self.process.pid).children(recursive=True)

    def result(self) -> tuple[pd.DataFrame, int]:
        """Table and number of computed stages, once it has ended well."""
        output, _ = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, output
        return pd.read_parquet(self.table), int(self.table.with_suffix(".txt").read_text().split()[0])


def wait_for(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)


def all_end(processes: list[psutil.Process], seconds: float = 60.0) -> bool:
    """Whether they end by themselves; what does not is ended here."""
    _, left = psutil.wait_procs(processes, seconds)
    for process in left:
        process.kill()
    return not left


def kept(folder: Path) -> set[str]:
    return {path.name for path in (folder / "store").rglob("*.json")}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """What an uninterrupted sweep in one process gives."""
    return Sweep(tmp_path_factory.mktemp("whole"), "whole", jobs=1, seconds=0.0).result()[0]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_an_ended_sweep_leaves_no_worker_and_goes_on(
    tmp_path: Path, table: pd.DataFrame, how: signal.Signals
) -> None:
    first = Sweep(tmp_path, "first")
    workers = first.until(20)
    assert len(workers) >= 2
    os.kill(first.process.pid, how)
    assert all_end(workers)
    first.process.communicate(timeout=60)
    assert first.process.returncode != 0
    finished, before = kept(tmp_path), ran(tmp_path / "marks")
    assert 8 <= len(finished) < STAGES

    again, computed = Sweep(tmp_path, "again", seconds=0.0).result()
    pd.testing.assert_frame_equal(again, table, check_exact=True)
    assert computed == STAGES - len(finished)
    repeated = sum((ran(tmp_path / "marks") - before).values()) - (STAGES - len(before))
    assert repeated == len(before) - len(finished) <= 8  # what two workers had in hand
    assert not list((tmp_path / "store").rglob("*.tmp"))
    assert not list((tmp_path / "store").rglob("*.safetensors"))


def test_ctrl_c_in_a_terminal_reaches_workers_too(tmp_path: Path) -> None:
    sweep = Sweep(tmp_path, "first")
    workers = sweep.until(10)
    os.killpg(sweep.process.pid, signal.SIGINT)
    assert all_end(workers)
    output, _ = sweep.process.communicate(timeout=60)
    # Only the driver speaks. Where Ctrl-C meets it in an `except`, its one report shows that exception too.
    chained = output.count("During handling of the above exception")
    assert output.count("Traceback") == 1 + chained and output.rstrip().endswith("KeyboardInterrupt")
    assert output.splitlines().count("KeyboardInterrupt") == 1


def test_a_kill_in_one_process_as_well(tmp_path: Path, table: pd.DataFrame) -> None:
    first = Sweep(tmp_path, "first", jobs=1)
    first.until(30)
    first.process.kill()
    first.process.communicate()
    finished = len(kept(tmp_path))
    assert finished < STAGES
    again, computed = Sweep(tmp_path, "again", jobs=1, seconds=0.0).result()
    assert computed == STAGES - finished < STAGES
    pd.testing.assert_frame_equal(again, table, check_exact=True)


def test_two_at_once_share_the_work(tmp_path: Path, table: pd.DataFrame) -> None:
    sweeps = [Sweep(tmp_path, name, jobs=1) for name in ("one", "two")]
    results = [sweep.result() for sweep in sweeps]
    assert ran(tmp_path / "marks") == dict.fromkeys(ran(tmp_path / "marks"), 1)
    assert sum(computed for _, computed in results) == STAGES
    assert len({process for process, _ in contents(tmp_path / "marks")}) == 2
    for found, _ in results:
        pd.testing.assert_frame_equal(found, table, check_exact=True)
    assert not list((tmp_path / "store").rglob("*.safetensors"))


def test_what_a_killed_sweep_had_in_hand_is_taken_over(tmp_path: Path, table: pd.DataFrame) -> None:
    first = Sweep(tmp_path, "first", seconds=0.3)
    first.until(4)
    second = Sweep(tmp_path, "second", seconds=0.0, jobs=1)
    wait_for(lambda: len(kept(tmp_path)) >= 10)
    first.process.kill()
    first.process.communicate()
    found, _ = second.result()
    pd.testing.assert_frame_equal(found, table, check_exact=True)


def states(folder: Path) -> set[str]:
    return {path.stem for path in (folder / "store").rglob("*.safetensors")}


def test_two_methods_at_once_leave_the_shared_states_and_no_others(tmp_path: Path) -> None:
    """Neither sweep could remove its other states while both were at work."""
    sweeps = [Sweep(tmp_path, name, jobs=1, seconds=0.05, method=name) for name in ("BARE", "GEM")]
    computed = [sweep.result()[1] for sweep in sweeps]
    assert sum(computed) == 4 + 2 * (STAGES - 4)
    assert set(ran(tmp_path / "marks").values()) == {1}
    assert len(states(tmp_path)) == 4
    _, computed_later = Sweep(tmp_path, "EWC", jobs=1, seconds=0.0, method="EWC").result()
    assert computed_later == STAGES - 4
    assert len(states(tmp_path)) == 4


def test_a_killed_sweep_goes_on_from_its_states_though_another_has_finished_meanwhile(tmp_path: Path) -> None:
    first = Sweep(tmp_path, "GEM", jobs=1, seconds=0.1, method="GEM")
    first.until(30)
    first.process.kill()
    first.process.communicate()
    finished = len(kept(tmp_path))
    before = ran(tmp_path / "marks")
    assert finished < STAGES and len(states(tmp_path)) > 4
    Sweep(tmp_path, "BARE", jobs=1, seconds=0.0, method="BARE").result()
    resumed, computed = Sweep(tmp_path, "again", jobs=1, seconds=0.0, method="GEM").result()
    assert computed == STAGES - finished
    repeated = [name for name, count in ran(tmp_path / "marks").items() if count > 1]
    assert set(repeated) <= set(before) and len(repeated) <= 4, "at most the batch that was in hand"
    assert len(states(tmp_path)) == 4
    whole, _ = Sweep(tmp_path / "whole", "GEM", jobs=1, seconds=0.0, method="GEM").result()
    pd.testing.assert_frame_equal(resumed, whole, check_exact=True)
