"""Results that depend on what they are computed together with: told apart, kept, and reused."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from driftlab.core.lineage import lineage
from driftlab.runs.engines import LocalEngine
from driftlab.runs.store import Store
from driftlab.runs.sweep import SweepResult, SweepWarning, sweep
from toy_experiment import DATA, Toy, orders

pytestmark = pytest.mark.usefixtures("no_wait_for_the_disk")


def run(store: Store, toy: Toy, runs: list[dict[str, Any]], **options: Any) -> SweepResult:
    options = {"engine": LocalEngine(1), "progress": False, **options}
    return sweep(toy, runs, data=DATA, digest="d", store=store, **options)


@pytest.fixture
def batched(marks: Path) -> Toy:
    return Toy(str(marks), numerics="cuda-batched")


def test_neighbours_change_such_results_and_the_table_is_the_same_ever_after(
    store: Store, batched: Toy, tmp_path: Path
) -> None:
    alone = run(store, batched, orders(4), batch=1)
    together = run(Store(tmp_path / "together"), batched, orders(4), batch=8)
    assert not alone.table.equals(together.table)
    pd.testing.assert_frame_equal(alone.table, together.table, rtol=1e-5)
    for batch in (1, 3, 8):
        again = run(store, batched, orders(4), batch=batch)
        assert again.computed == 0
        pd.testing.assert_frame_equal(again.table, alone.table, check_exact=True)


def test_a_state_that_is_computed_again_beside_others_is_no_surprise(store: Store, batched: Toy) -> None:
    short = [{"seed": 0, "order": [0, 1]}]
    first = run(store, batched, short)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        longer = run(store, batched, orders(4), batch=8)
    assert longer.computed == 4 + 12 + 24 + 24  # also the first stages of the short run, for their states
    pd.testing.assert_frame_equal(run(store, batched, short).table, first.table, check_exact=True)


def test_of_the_reference_it_is_told(store: Store, marks: Path) -> None:
    run(store, Toy(str(marks)), [{"seed": 0, "order": [0, 1]}])
    with pytest.warns(SweepWarning, match="measured something else"):
        run(store, Toy(str(marks), shift=1e-9), [{"seed": 0, "order": [0, 1, 2]}])


def test_the_provenance_names_them(store: Store, marks: Path, batched: Toy) -> None:
    reference = run(store, Toy(str(marks)), orders(2)).table
    other = run(store, batched, orders(2)).table
    assert lineage(reference).made_by == ("toy version 1 on cpu",)
    assert lineage(other).made_by == ("toy version 1 on cuda-batched",)
    assert lineage(reference, other).made_by == ("toy version 1 on cpu", "toy version 1 on cuda-batched")
