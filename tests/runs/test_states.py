"""Which states outlive a sweep: shared ones within a limit, those asked for, and no others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from driftlab.core.errors import ParameterError
from driftlab.runs.engines import LocalEngine
from driftlab.runs.experiment import StageId, stage_id
from driftlab.runs.locks import Presence
from driftlab.runs.states import StateMarks, shared_states_limit
from driftlab.runs.store import Store
from driftlab.runs.sweep import SweepResult, sweep
from toy_experiment import DATA, Toy, ran

pytestmark = pytest.mark.usefixtures("no_wait_for_the_disk")

ORDER = [0, 1, 2, 3, 4]
STATE_BYTES = 600
"""A toy's state is a little smaller: 50 + 1 to 5 numbers of 8 bytes and their names."""


def configs(method: str, *firsts: int) -> list[dict[str, Any]]:
    """One run per first digit."""
    orders = [[first, *(digit for digit in ORDER if digit != first)] for first in firsts or (0,)]
    return [{"seed": 0, "order": order, "method": method} for order in orders]


def run(store: Store, toy: Toy, runs: list[dict[str, Any]], **options: Any) -> SweepResult:
    options = {"data": DATA, "digest": "d", "engine": LocalEngine(1), "progress": False, **options}
    return sweep(toy, runs, store=store, **options)


def states(store: Store) -> set[str]:
    return {path.stem for path in store.folder.rglob("*.safetensors")}


def first_stage(toy: Toy, digit: int = 0) -> StageId:
    return stage_id(toy, "d", {"seed": 0, "order": [digit]})


@pytest.fixture
def toy(marks: Path) -> Toy:
    """Its first stage is common to all methods."""
    return Toy(str(marks), shared_depth=1)


def test_three_methods_in_three_sweeps_share_the_first_stage(store: Store, toy: Toy, tmp_path: Path) -> None:
    results = [run(store, toy, configs(method)) for method in ("BARE", "EWC", "JOINT")]
    assert [result.computed for result in results] == [5, 4, 4]
    assert states(store) == {first_stage(toy).key}
    together = run(Store(tmp_path / "other"), toy, [c for m in ("BARE", "EWC", "JOINT") for c in configs(m)])
    assert together.computed == 13
    apart = pd.concat([result.table for result in results], ignore_index=True)
    columns = ["method", "trained_on", "tested_on", "value"]
    pd.testing.assert_frame_equal(
        apart[columns].astype({"method": str}), together.table[columns].astype({"method": str})
    )


def test_without_room_shared_states_go_too(store: Store, toy: Toy) -> None:
    assert [run(store, toy, configs(m), states_limit=0).computed for m in ("BARE", "EWC")] == [5, 5]
    assert not states(store)


def test_the_least_recently_used_states_go_first(store: Store, toy: Toy) -> None:
    limit = 2 * STATE_BYTES
    run(store, toy, configs("BARE", 0), states_limit=limit)
    run(store, toy, configs("BARE", 1), states_limit=limit)
    assert states(store) == {first_stage(toy, digit).key for digit in (0, 1)}
    run(store, toy, configs("EWC", 0), states_limit=limit)  # uses the older one
    run(store, toy, configs("BARE", 2), states_limit=limit)
    assert states(store) == {first_stage(toy, digit).key for digit in (0, 2)}
    assert run(store, toy, configs("EWC", 2), states_limit=limit).computed == 4
    assert run(store, toy, configs("EWC", 1), states_limit=limit).computed == 5


def test_the_limit_holds_within_one_sweep_and_nothing_is_computed_twice(
    store: Store, toy: Toy, marks: Path
) -> None:
    result = run(store, toy, configs("BARE", *ORDER), states_limit=STATE_BYTES, batch=1)
    assert result.computed == 25 and set(ran(marks).values()) == {1}
    assert len(states(store)) == 1


def test_a_damaged_shared_state_is_computed_again(store: Store, toy: Toy) -> None:
    run(store, toy, configs("BARE"))
    store.state_path(first_stage(toy)).write_bytes(b"damaged")
    with pytest.warns(UserWarning, match="is damaged"):
        assert run(store, toy, configs("EWC")).computed == 5
    assert run(store, toy, configs("JOINT")).computed == 4


def test_what_a_present_sweep_might_have_needed_goes_when_the_last_one_leaves(store: Store, toy: Toy) -> None:
    other = Presence(store.folder)
    run(store, toy, configs("GEM"))
    assert len(states(store)) == 4, "another sweep may continue from them"
    other.leave()
    run(store, toy, configs("BARE", 3))
    assert states(store) == {first_stage(toy, digit).key for digit in (0, 3)}


def test_states_that_were_asked_for_stay(store: Store, toy: Toy) -> None:
    run(store, toy, configs("GEM"), keep_states=True, states_limit=0)
    assert len(states(store)) == 5
    run(store, toy, configs("GEM"), states_limit=0)
    run(store, toy, [*configs("GEM"), *configs("BARE")], states_limit=0)
    assert len(states(store)) == 5
    other = Presence(store.folder)
    run(store, toy, configs("GEM"), states_limit=0)
    other.leave()
    run(store, toy, configs("EWC"), states_limit=0)
    assert len(states(store)) == 5


def test_states_of_an_interrupted_sweep_stay_until_it_goes_on(store: Store, toy: Toy, marks: Path) -> None:
    class Interrupted(BaseException):
        pass

    class Until(LocalEngine):
        def submit(self, stages: Any, states: Any) -> Any:
            if len(stages[0]["order"]) == 4:
                raise Interrupted
            return super().submit(stages, states)

    with pytest.raises(Interrupted):
        run(store, toy, configs("GEM"), engine=Until(1))
    run(store, toy, configs("BARE", 3))
    assert len(states(store)) == 1 + 1 + 1, "the third stage's, and the first stages' of both orders"
    assert run(store, toy, configs("GEM")).computed == 2
    assert set(ran(marks).values()) == {1}
    assert states(store) == {first_stage(toy, digit).key for digit in (0, 3)}


def test_marks_without_states_do_no_harm(store: Store, toy: Toy) -> None:
    run(store, toy, configs("BARE"))
    for path in store.folder.rglob("*.safetensors"):
        path.unlink()
    assert run(store, toy, configs("EWC")).computed == 5
    assert states(store) == {first_stage(toy).key}
    StateMarks(store, 0).evict()
    assert not states(store) and not [p for p in (store.folder / ".states").rglob("*") if p.is_file()]


def test_the_limit_comes_from_the_environment(
    store: Store, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DRIFTLAB_STATES_GIB", raising=False)
    assert shared_states_limit() == 2**30
    monkeypatch.setenv("DRIFTLAB_STATES_GIB", "0.5")
    assert shared_states_limit() == 2**29
    monkeypatch.setenv("DRIFTLAB_STATES_GIB", "0")
    run(store, toy, configs("BARE"))
    assert not states(store)


@pytest.mark.parametrize("text", ["many", "-1", "nan", "inf"])
def test_an_impossible_limit(store: Store, toy: Toy, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("DRIFTLAB_STATES_GIB", text)
    with pytest.raises(ParameterError, match=f"DRIFTLAB_STATES_GIB is '{text}'; it must be a number from 0"):
        run(store, toy, configs("BARE"))
    assert not list(store.folder.rglob("*.json"))


def test_marks_that_cannot_be_written(store: Store, toy: Toy) -> None:
    from driftlab.core.errors import StoreError

    (store.folder / ".states").write_text("in the way")
    with pytest.raises(StoreError, match=r"The mark .*shared.* cannot be written \(Not a directory"):
        run(store, toy, configs("BARE"))
    (store.folder / ".states").unlink()
    assert run(store, toy, configs("BARE")).computed < 5


def test_other_numerics_are_another_result(store: Store, toy: Toy) -> None:
    gpu = replace(toy, numerics="cuda-batched")
    reference = run(store, toy, configs("BARE"))
    assert run(store, gpu, configs("BARE")).computed == 5
    assert run(store, toy, configs("BARE")).computed == 0
    assert run(store, gpu, configs("EWC")).computed == 4
    keys = [stage_id(one, "d", {"seed": 0, "order": [0]}).key for one in (toy, gpu)]
    assert keys[0] != keys[1]
    # The key of a result that was stored before numerics were a part of it.
    assert keys[0] == StageId("toy", 1, "d", {"seed": 0, "order": [0]}).key
    assert reference.computed == 5
