"""Results carry the runs that they were computed from."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import pytest
from driftlab.core.evaluation_table import evaluation_table
from driftlab.core.lineage import NOTHING, Lineage, carries_lineage, carry, lineage, stamp

MADE_BY = "toy version 1 on cpu"


def table(method: str = "A", value: float = 0.5, seeds: int = 2) -> pd.DataFrame:
    rows = [
        ("toy", "x", method, seed, "0-1", k, "all", "accuracy", value)
        for seed in range(seeds)
        for k in (1, 2)
    ]
    columns = ["paper", "variant", "method", "seed", "order", "trained_on", "tested_on", "metric", "value"]
    return evaluation_table(pd.DataFrame(rows, columns=columns))


@carries_lineage
def mean_per_method(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.groupby("method", observed=True)[["value"]].mean()


@carries_lineage
def both(first: pd.DataFrame, *, second: pd.DataFrame) -> dict[str, pd.DataFrame]:
    return {"first": first.head(1), "second": second.head(1)}


def test_a_stamped_table_names_each_run_once_in_any_order_of_rows() -> None:
    stamped = stamp(table(), MADE_BY)
    found = lineage(stamped)
    assert len(found.runs) == 2 and found.made_by == (MADE_BY,)
    assert len(found.digest) == 64
    assert lineage(stamp(table().iloc[::-1], MADE_BY)) == found


def test_a_changed_value_is_another_run_and_a_change_beyond_twelve_digits_is_none() -> None:
    found = lineage(stamp(table(value=0.5), MADE_BY))
    assert set(found.runs).isdisjoint(lineage(stamp(table(value=0.25), MADE_BY)).runs)
    assert lineage(stamp(table(value=0.5 + 1e-15), MADE_BY)) == found


def test_a_decorated_function_passes_the_union_on_to_all_parts() -> None:
    first, second = stamp(table("A"), MADE_BY), stamp(table("B"), "toy version 2 on cuda")
    assert lineage(mean_per_method(first)) == lineage(first)
    result = both(first, second=second)
    union = lineage(first) | lineage(second)
    assert len(union.runs) == 4 and union.made_by == (MADE_BY, "toy version 2 on cuda")
    assert lineage(result) == lineage(result["first"]) == union


def test_what_carries_nothing_has_no_runs() -> None:
    assert lineage(table(), 3, "text", None) == NOTHING
    assert NOTHING.digest == ""
    assert lineage([stamp(table(), MADE_BY), table()], (table(),)) == lineage(stamp(table(), MADE_BY))


def test_lineage_survives_what_pandas_does_to_a_frame() -> None:
    stamped = stamp(table(), MADE_BY)
    assert lineage(stamped.query("seed == 0").copy()) == lineage(stamped)


def test_a_frozen_object_can_carry() -> None:
    @dataclass(frozen=True)
    class Result:
        value: float

    runs = lineage(stamp(table(), MADE_BY))
    assert lineage(carry(Result(1.0), runs)) == runs
    assert isinstance(runs, Lineage)


def test_the_function_keeps_its_name_and_its_errors() -> None:
    assert mean_per_method.__name__ == "mean_per_method"
    with pytest.raises(KeyError, match="method"):
        mean_per_method(pd.DataFrame({"value": [1.0]}))
