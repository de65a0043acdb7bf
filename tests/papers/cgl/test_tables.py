"""Frames for the paper's tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from driftlab.metrics.accuracy_matrix import task_accuracy
from driftlab.metrics.theorem import check_theorem
from driftlab.papers.cgl.tables import (
    accuracy_table,
    best_settings,
    methods_table,
    order_sensitivity_table,
    search_results,
    theorem_table,
)
from driftlab.reporting.printed_papers import paper
from reporting.plausible import plausible_table, task_orders


def summary(seeds: int) -> pd.DataFrame:
    run = {"paper": "cgl", "variant": "nucla/gcn"}
    return pd.DataFrame(
        [
            run | {"method": method, "seed": seed, "aopd": aopd + 0.1 * seed, "mopd": 0.9}
            for method, aopd in (("REPLAY", 0.5), ("BARE", 0.9))
            for seed in range(seeds)
        ]
    )


def test_order_sensitivity_bears_the_papers_labels() -> None:
    mean, deviation = order_sensitivity_table(summary(2), prefix="task UCLA")
    assert set(mean.columns) <= set(paper("cgl").tables["table_2"].columns)
    assert mean.index.tolist() == ["BARE", "REPLAY"]
    # REPLAY: 50 and 60 %, mean 55, population deviation 5
    assert mean.loc["REPLAY", "task UCLA AOPD"] == pytest.approx(55)
    assert deviation.loc["REPLAY", "task UCLA AOPD"] == pytest.approx(5)


def test_one_repetition_has_no_deviation() -> None:
    _, deviation = order_sensitivity_table(summary(1), prefix="task UCLA")
    assert np.isnan(deviation.to_numpy()).all()


def test_accuracy_table_is_over_runs() -> None:
    final = pd.DataFrame(
        {
            "method": ["EWC", "EWC", "BARE"],
            "average_accuracy": [0.2, 0.4, 0.1],
            "average_forgetting": [0.5, 0.5, 0.9],
        }
    )
    mean, deviation = accuracy_table(final)
    assert mean.to_dict("index") == {
        "BARE": pytest.approx({"AA": 10, "AF": 90}),
        "EWC": pytest.approx({"AA": 30, "AF": 50}),
    }
    assert deviation.loc["EWC", "AA"] == pytest.approx(20 / 2**0.5)


def test_theorem_table_counts() -> None:
    accuracy = task_accuracy(plausible_table(task_orders(3), methods=["REPLAY", "BARE"], seeds=2))
    frame = theorem_table(check_theorem(accuracy))
    assert frame.index.tolist() == ["BARE", "REPLAY"]
    assert frame["runs"].tolist() == [6, 6] and frame["stages"].tolist() == [24, 24]
    assert frame["violations"].tolist() == [0, 0]
    assert (frame["slack, Eq. 5"] >= 0).all() and (frame["slack, Eq. 10"] >= frame["slack, Eq. 5"]).all()


def test_theorem_table_counts_violations() -> None:
    accuracy = task_accuracy(plausible_table(task_orders(1), methods=["BARE"]))
    accuracy.loc[accuracy["trained_on"] == 1, "value"] = 3.0
    assert theorem_table(check_theorem(accuracy))["violations"].tolist() == [4]


def final(**accuracy: float) -> pd.DataFrame:
    return pd.DataFrame({"seed": [0, 1], "average_accuracy": [accuracy["first"], accuracy["second"]]})


def test_the_best_of_a_search_is_the_first_of_equal_ones() -> None:
    hypers = [("EWC", {"strength": value}) for value in (1.0, 100.0, 10000.0)] + [("GEM", {"fraction": 0.2})]
    finals = (
        [final(first=0.2, second=0.4)] + [final(first=0.3, second=0.5)] * 2 + [final(first=0.1, second=0.1)]
    )
    results = search_results(hypers, finals)
    assert results.columns.tolist() == ["method", "settings", "seed", "average_accuracy"]
    assert len(results) == 8
    best = best_settings(results)
    assert best["settings"].to_dict() == {"EWC": "strength 100", "GEM": "fraction 0.2"}
    assert best["AA"].tolist() == pytest.approx([40, 10])


def test_the_methods_table_is_generated_from_the_classes() -> None:
    frame = methods_table(["BARE", "EWC"], {"BARE": {}, "EWC": {"name": "EWC", "strength": 1e6}})  # type: ignore[dict-item]
    assert frame.loc["EWC", "hyper-parameters"] == "strength 1000000"
    assert frame.loc["BARE", "hyper-parameters"] == "none"
    assert "strength / 2" in frame.loc["EWC", "loss or rule"]
    assert all(isinstance(cell, str) and cell for cell in frame.to_numpy().ravel())
