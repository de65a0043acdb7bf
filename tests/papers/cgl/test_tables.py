"""Frames for the paper's tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from driftlab.metrics.accuracy_matrix import task_accuracy
from driftlab.metrics.theorem import check_theorem
from driftlab.papers.cgl.tables import accuracy_table, order_sensitivity_table, theorem_table
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
    # REPLAY: 50 and 60 %, mean 55, sample deviation 10 / sqrt(2)
    assert mean.loc["REPLAY", "task UCLA AOPD"] == pytest.approx(55)
    assert deviation.loc["REPLAY", "task UCLA AOPD"] == pytest.approx(10 / 2**0.5)


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
    assert (frame["smallest slack"] >= 0).all()
