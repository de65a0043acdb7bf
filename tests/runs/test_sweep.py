from __future__ import annotations

import math
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from driftlab.core.errors import ParameterError, StoreError
from driftlab.runs.engines import LocalEngine
from driftlab.runs.experiment import Config, StageId
from driftlab.runs.failures import CorruptResultWarning
from driftlab.runs.locks import Presence
from driftlab.runs.store import Store
from driftlab.runs.sweep import SweepError, SweepResult, SweepWarning, sweep
from toy_experiment import DATA, Toy, contents, orders, ran

pytestmark = pytest.mark.usefixtures("no_wait_for_the_disk")

ORDERS = orders(4)
STAGES = 4 + 12 + 24 + 24


def run(store: Store, toy: Toy, configs: list[dict[str, Any]] = ORDERS, **options: Any) -> SweepResult:
    options = {
        "data": DATA,
        "digest": "d",
        "engine": LocalEngine(1),
        "batch": 4,
        "progress": False,
        **options,
    }
    return sweep(toy, configs, store=store, **options)


def stage_of(toy: Toy, *order: int) -> StageId:
    return StageId(toy.name, toy.version, "d", {"seed": 0, "order": list(order)})


@pytest.fixture
def toy(marks: Path) -> Toy:
    return Toy(str(marks))


@pytest.fixture
def table(tmp_path: Path) -> pd.DataFrame:
    """The uninterrupted sweep's table."""
    other = tmp_path / "other-marks"
    other.mkdir()
    return run(Store(tmp_path / "other-store"), Toy(str(other))).table


def test_each_distinct_stage_is_computed_once(store: Store, toy: Toy, marks: Path) -> None:
    result = run(store, toy)
    assert set(ran(marks).values()) == {1}
    assert (result.runs, result.stages, result.computed, result.reused) == (24, STAGES, STAGES, 0)
    assert len(ran(marks)) == STAGES
    assert len(result.table) == 24 * (1 + 2 + 3 + 4)
    again = run(store, toy)
    assert (again.computed, again.reused) == (0, STAGES)
    assert len(ran(marks)) == STAGES
    pd.testing.assert_frame_equal(again.table, result.table, check_exact=True)


def test_the_table_holds_what_the_stages_computed(store: Store, toy: Toy) -> None:
    table = run(store, toy).table
    x = DATA * 0
    for k, digit in enumerate([2, 0, 3, 1], start=1):
        x = np.sin(1.7 * x + DATA * (digit + 1))
        rows = table[(table.order == "2-0-3-1") & (table.trained_on == k)]
        assert rows[rows.tested_on == f"class:{digit}"].value.tolist() == [float(x.mean()) / (digit + 1)]
        assert set(rows.tested_on) == {f"class:{d}" for d in [2, 0, 3, 1][:k]}
    assert set(table.method) == {"T"} and set(table.order) == {"-".join(map(str, c["order"])) for c in ORDERS}


@pytest.mark.parametrize("batch", [1, 3, 100])
def test_the_size_of_a_batch_changes_nothing(
    store: Store, toy: Toy, marks: Path, table: pd.DataFrame, batch: int
) -> None:
    pd.testing.assert_frame_equal(run(store, toy, batch=batch).table, table, check_exact=True)
    assert max(size for _, size in contents(marks)) == min(batch, 24)


def test_prefix_shared_equals_unshared(store: Store, toy: Toy, tmp_path: Path, table: pd.DataFrame) -> None:
    alone = [run(Store(tmp_path / f"alone-{i}"), toy, [config]).table for i, config in enumerate(ORDERS)]
    joined = pd.concat(alone).sort_values(list(table.columns[:-1]), ignore_index=True)
    pd.testing.assert_frame_equal(joined, table, check_exact=True)


def test_states_are_removed_when_nothing_needs_them(store: Store, toy: Toy) -> None:
    run(store, toy)
    assert store.summary().states == 0
    assert store.summary().stages == {"toy": STAGES}
    assert not list(store.folder.rglob("*.tmp"))


def test_states_stay_while_another_sweep_is_at_work(store: Store, toy: Toy, marks: Path) -> None:
    other = Presence(store.folder)
    run(store, toy, [{"seed": 0, "order": [0, 1, 2]}, {"seed": 0, "order": [0, 2, 1]}])
    assert store.summary().states == 1 + 2  # of 0, 0-1 and 0-2: what others may go on from
    other.leave()
    assert run(store, toy, [{"seed": 0, "order": [0, 1, 3]}]).computed == 1
    assert set(ran(marks).values()) == {1}
    run(store, toy)
    assert store.summary().states == 0


def test_states_can_be_kept(store: Store, toy: Toy, marks: Path) -> None:
    run(store, toy)
    marks_before = ran(marks)
    result = run(store, toy, keep_states=True)
    assert result.computed == STAGES  # none was there any more
    assert store.summary().states == STAGES
    assert set(ran(marks)) == set(marks_before)
    assert run(store, toy, keep_states=True).computed == 0


def test_the_states_of_some_runs_can_be_kept(store: Store, toy: Toy, table: pd.DataFrame) -> None:
    chosen = {"order": [0, 1, 2, 3], "seed": 0}
    result = run(store, toy, keep_states=[chosen])
    assert store.summary().states == 4
    pd.testing.assert_frame_equal(result.table, table, check_exact=True)
    assert run(store, toy, [chosen], keep_states=True).computed == 0


def test_the_last_states_can_be_kept(store: Store, toy: Toy, table: pd.DataFrame) -> None:
    result = run(store, toy, keep_states="last")
    assert store.summary().states == result.runs < STAGES
    pd.testing.assert_frame_equal(result.table, table, check_exact=True)
    assert run(store, toy, keep_states="last").computed == 0


def test_a_dropped_state_is_computed_again_when_a_longer_run_needs_it(
    store: Store, toy: Toy, marks: Path, table: pd.DataFrame
) -> None:
    short = [{"seed": 0, "order": [0, 1, 2]}, {"seed": 0, "order": [0, 2, 1]}]
    first = run(store, toy, short)
    assert store.summary().states == 0
    entries = [path.read_text() for path in sorted(store.folder.rglob("*.json"))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = run(store, toy)
    # The beginnings of 0-1-2-3 and of the other orders that go on from them, once more; nothing else twice.
    again = {"0-0", "0-0-1", "0-0-2", "0-0-1-2", "0-0-2-1"}
    assert {name for name, count in ran(marks).items() if count == 2} == again
    assert set(ran(marks).values()) == {1, 2}
    assert result.computed == STAGES
    pd.testing.assert_frame_equal(result.table, table, check_exact=True)
    assert first.computed == len(entries) == 5
    pd.testing.assert_frame_equal(run(store, toy, short).table, first.table, check_exact=True)


def test_what_measures_differently_the_second_time_is_told(store: Store, toy: Toy) -> None:
    short = [{"seed": 0, "order": [0, 1]}]
    first = run(store, toy, short)
    with pytest.warns(
        SweepWarning, match=r"computed again for its state and measured something else.*raised the exp"
    ):
        run(store, replace(toy, shift=1.0), [{"seed": 0, "order": [0, 1, 2]}])
    pd.testing.assert_frame_equal(run(store, toy, short).table, first.table, check_exact=True)


@pytest.mark.parametrize("change", ["cut", "altered", "emptied"])
def test_a_damaged_entry_is_computed_again(
    store: Store, toy: Toy, marks: Path, table: pd.DataFrame, change: str
) -> None:
    run(store, toy)
    path = store.entry_path(stage_of(toy, 0, 1))
    raw = path.read_bytes()
    path.write_bytes({"cut": raw[:-20], "altered": raw.replace(b"0.", b"1.", 1), "emptied": b""}[change])
    with pytest.warns(CorruptResultWarning, match=str(path)):
        result = run(store, toy)
    assert {name for name, count in ran(marks).items() if count > 1} == {"0-0", "0-0-1"}
    pd.testing.assert_frame_equal(result.table, table, check_exact=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run(store, toy).computed == 0


def test_a_damaged_state_is_computed_again(store: Store, toy: Toy, marks: Path, table: pd.DataFrame) -> None:
    run(store, toy, keep_states=True)
    victim = stage_of(toy, 0, 1)
    for order in ((0, 1, 2), (0, 1, 3)):
        store.entry_path(stage_of(toy, *order)).unlink()
    path = store.state_path(victim)
    path.write_bytes(path.read_bytes()[:-3] + b"xyz")
    with pytest.warns(CorruptResultWarning, match=str(path)):
        result = run(store, toy)
    assert {name for name, count in ran(marks).items() if count > 1} == {"0-0-1", "0-0-1-2", "0-0-1-3"}
    pd.testing.assert_frame_equal(result.table, table, check_exact=True)


class Vandal(LocalEngine):
    """Damages everything that is in the store, once, in the middle of the sweep."""

    def __init__(self, folder: Path, pattern: str) -> None:
        super().__init__(1)
        self.folder, self.pattern = folder, pattern

    def submit(self, stages: Any, states: Any) -> Any:
        future = super().submit(stages, states)
        if len(stages[0]["order"]) == 3:
            for path in self.folder.glob(f"toy/??/{self.pattern}"):
                path.write_bytes(path.read_bytes()[:-1])
            self.pattern = "nothing"
        return future


@pytest.mark.parametrize("pattern", ["*.json", "*.safetensors", "*.*"])
def test_damage_in_the_middle_of_a_sweep(store: Store, toy: Toy, table: pd.DataFrame, pattern: str) -> None:
    with pytest.warns(CorruptResultWarning):
        result = run(store, toy, engine=Vandal(store.folder, pattern))
    pd.testing.assert_frame_equal(result.table, table, check_exact=True)


def test_a_new_version_is_computed_and_the_old_one_left_alone(
    store: Store, toy: Toy, table: pd.DataFrame
) -> None:
    run(store, toy)
    newer = run(store, replace(toy, version=2, shift=0.5))
    assert newer.computed == STAGES
    assert not newer.table.equals(table)
    older = run(store, toy)
    assert older.computed == 0
    pd.testing.assert_frame_equal(older.table, table, check_exact=True)


def test_other_data_are_computed(store: Store, toy: Toy) -> None:
    run(store, toy)
    other = run(store, toy, data=DATA * 2, digest="e")
    assert other.computed == STAGES
    assert run(store, toy).computed == 0


def test_a_failing_stage_does_not_take_others_down(store: Store, toy: Toy, marks: Path) -> None:
    broken = replace(toy, raises=("0-1", "0-2-3"))
    with (
        pytest.warns(
            SweepWarning, match=r"executed together failed \(ValueError: stage 0-(1|2-3) does not work"
        ),
        pytest.raises(SweepError) as caught,
    ):
        run(store, broken)
    text = str(caught.value)
    assert "8 of 24 runs could not be finished; every stage that was finished is kept in" in text
    assert 'stage 1 of 4 of the run {"order": [1, 0, 2, 3], "seed": 0})' in text
    assert text.splitlines()[1].startswith("  ValueError: stage 0-1 does not work"), "the reason comes first"
    assert "(toy_experiment.py, line " in text
    assert text.count("\n") == 6 and text.endswith("… and 3 more")
    failures = caught.value.failures
    assert [(f.config["order"][: f.stage], f.stage) for f in failures] == [([1], 1)] * 6 + [([2, 3], 2)] * 2
    assert not any(name.startswith(("0-1-", "0-2-3-")) for name in ran(marks))
    assert all(count == 1 for name, count in ran(marks).items() if len(name) > 5)
    before = ran(marks)
    with pytest.raises(SweepError):  # alone from the beginning: nothing else is left
        run(store, broken, batch=1)
    assert {name for name in ran(marks) if ran(marks)[name] > before[name]} == {"0-1", "0-2-3"}
    assert run(store, toy).computed == STAGES - len(set(before) - set(broken.raises))


def test_what_only_fails_together_is_computed_alone(store: Store, toy: Toy, table: pd.DataFrame) -> None:
    with pytest.warns(
        SweepWarning, match="4 stages that were executed together failed .MemoryError: too many"
    ):
        result = run(store, replace(toy, raises_together="0-1"))
    pd.testing.assert_frame_equal(result.table, table, check_exact=True)


def test_a_measurement_that_is_no_number_is_a_failure(store: Store, toy: Toy) -> None:
    with pytest.raises(
        SweepError, match=r"2 of 24 .*\n  the rows of a stage of toy.*\.value is nan.*stage 2 of 4"
    ):
        run(store, replace(toy, not_a_number="0-1-2"))
    assert run(store, toy).computed == 1 + 2 + 2


def test_a_result_for_each_stage_is_required(store: Store, toy: Toy) -> None:
    with pytest.raises(SweepError, match=r"toy\.execute must return one StageResult for each of 1 stages"):
        run(store, replace(toy, short=True), ORDERS[:1])


def test_a_configuration_given_twice_counts_once(store: Store, toy: Toy) -> None:
    result = run(store, toy, [*ORDERS[:2], {"order": (0, 1, 2, 3), "seed": 0}])
    assert result.runs == 2 and len(result.table) == 20


def test_nothing_to_do(store: Store, toy: Toy) -> None:
    result = run(store, toy, [])
    assert (result.runs, result.stages, len(result.table)) == (0, 0, 0)
    assert list(result.table) == list(run(store, toy).table)


def test_configurations_are_checked_before_anything_is_computed(store: Store, toy: Toy, marks: Path) -> None:
    with pytest.raises(ParameterError, match=r"run configuration 1\.seed is nan"):
        run(store, toy, [ORDERS[0], {"seed": math.nan, "order": [0]}])
    with pytest.raises(ParameterError, match="has no stages"):
        run(store, toy, [ORDERS[0], {"seed": 0, "order": []}])
    with pytest.raises(ParameterError, match="batch is 0"):
        run(store, toy, batch=0)
    assert not ran(marks)


@dataclass(frozen=True)
class Forgetful(Toy):
    def chain(self, config: Config) -> list[Config]:
        return [{"last": digit} for digit in config["order"]]

    def batch_key(self, stage: Config) -> str:
        return "any"


def test_a_stage_with_two_pasts_is_refused(store: Store, marks: Path) -> None:
    with pytest.raises(ValueError, match="two different predecessors"):
        run(store, Forgetful(str(marks)))


def test_a_full_disk_keeps_what_was_finished(
    store: Store, toy: Toy, marks: Path, table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = Store.put
    finished: list[str] = []

    def full(self: Store, stage: StageId, *rest: Any) -> Any:
        if len(finished) == 20:
            raise StoreError("the disk is full")
        finished.append(stage.key)
        return put(self, stage, *rest)

    monkeypatch.setattr(Store, "put", full)
    with pytest.raises(StoreError, match="disk is full"):
        run(store, toy)
    monkeypatch.undo()
    result = run(store, toy)
    assert (result.computed, result.reused) == (STAGES - 20, 20)
    pd.testing.assert_frame_equal(result.table, table, check_exact=True)


def test_stages_of_one_depth_are_batched_and_shared_out(store: Store, toy: Toy, marks: Path) -> None:
    run(store, toy, batch=8)
    sizes = Counter(size for _, size in contents(marks))
    # 4 first stages, 12 second, 24 third and 24 fourth ones: as many stages are in a batch of that size.
    assert sizes == {4: 4 + 4, 8: 8 + 24 + 24}
