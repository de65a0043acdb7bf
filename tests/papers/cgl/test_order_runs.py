"""Runs as arrays, held against the metrics' tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from driftlab.core.errors import DataError, ParameterError
from driftlab.core.lineage import lineage, stamp
from driftlab.metrics.accuracy_matrix import class_accuracy, final_metrics, task_accuracy
from driftlab.metrics.order import order_sensitivity, order_sensitivity_summary
from driftlab.papers.cgl.claims.sensitivity import average_opd
from driftlab.papers.cgl.order_runs import OrderRuns, order_runs, sequences_per_class
from reporting.plausible import plausible_table, task_orders


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return plausible_table(task_orders(6), methods=["BARE", "REPLAY"], seeds=2)


@pytest.fixture(scope="module")
def runs(table: pd.DataFrame) -> OrderRuns:
    return order_runs(table)


def test_accuracy_and_forgetting_are_the_metrics(table: pd.DataFrame, runs: OrderRuns) -> None:
    final = final_metrics(task_accuracy(table)).set_index(["method", "seed", "order"])
    for name, one in runs.methods.items():
        for r, seed in enumerate(one.seeds):
            for o, order in enumerate(one.orders):
                row = final.loc[(name, seed, "-".join(map(str, order)))]
                assert one.average_accuracy[r, o] == pytest.approx(row["average_accuracy"])
                assert one.average_forgetting[r, o] == pytest.approx(row["average_forgetting"])
                assert one.just_learned[r, o, -1] == pytest.approx(row["last_task_accuracy"])


@pytest.mark.parametrize("by", ["task", "class"])
def test_sensitivity_is_the_metric(table: pd.DataFrame, runs: OrderRuns, by: str) -> None:
    summary = order_sensitivity_summary(order_sensitivity(table, by=by))  # type: ignore[arg-type]
    for name, one in runs.methods.items():
        expected = summary[summary["method"] == name].sort_values("seed")["aopd"].tolist()
        assert average_opd(getattr(one, f"by_{by}")).tolist() == pytest.approx(expected)


def test_tasks_say_which_task_stands_where(runs: OrderRuns) -> None:
    one = runs.methods["BARE"]
    assert one.tasks.tolist() == [[c // 2 for c in order[::2]] for order in one.orders]


def test_the_resolution_is_one_test_sequence(table: pd.DataFrame, runs: OrderRuns) -> None:
    assert sequences_per_class(class_accuracy(table)) == dict.fromkeys(range(10), 30)
    assert runs.resolution == pytest.approx(1 / 300)  # 30 sequences in each of 10 classes
    assert order_runs(table, test_sequences=14).resolution == pytest.approx(1 / 140)


def test_methods_are_compared_on_what_they_have_in_common(table: pd.DataFrame) -> None:
    fewer = table[(table["method"] != "REPLAY") | (table["order"] == task_orders(1)[0])]
    fewer = fewer[(fewer["method"] != "BARE") | (fewer["seed"] == 1)]
    of = order_runs(fewer).of(["BARE", "REPLAY"])
    assert {(one.seeds, len(one.orders)) for one in of.values()} == {((1,), 1)}
    apart = fewer[(fewer["method"] != "REPLAY") | (fewer["seed"] == 0)]
    with pytest.raises(DataError, match="BARE, REPLAY have no repetition and order in common"):
        order_runs(apart).of(["BARE", "REPLAY"])


def test_it_says_which_methods_are_missing(runs: OrderRuns) -> None:
    assert runs.lacks(["BARE"]) == "" and runs.lacks(["GEM", "EWC"]) == "Without runs of GEM, EWC."


def test_it_carries_the_runs_lineage(table: pd.DataFrame) -> None:
    assert len(lineage(order_runs(stamp(table, "cgl version 2"))).runs) == 2 * 2 * 6


def test_a_missing_run_is_named(table: pd.DataFrame) -> None:
    first = task_orders(1)[0]
    gone = (table["method"] == "BARE") & (table["seed"] == 1) & (table["order"] == first)
    with pytest.raises(DataError, match=f"BARE: the order {first} lacks accuracies after task 1"):
        order_runs(table[~gone])


def test_variants_may_not_be_mixed(table: pd.DataFrame) -> None:
    mixed = pd.concat([table, table.assign(variant="ntu/gcn")])
    with pytest.raises(ParameterError, match="A claim is about one variant"):
        order_runs(mixed)
    assert order_runs(table.assign(variant="ntu/gcn")).dataset == "NTU"
    assert np.isnan(order_runs(table).methods["BARE"].by_stage).any()
