"""Order sensitivity on tables worked by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from driftlab.core.errors import DataError, ParameterError
from driftlab.metrics.order import (
    average_opd,
    check_order_invariants,
    maximum_opd,
    order_performance_difference,
    order_sensitivity,
    order_sensitivity_summary,
)

from .tables import matrix_rows, run_rows, table_of


def task_orders(seed: int = 0, shift: float = 0.0) -> list[list[dict[str, object]]]:
    """Final accuracies: task {0,1} is 0.2, 0.9 and task {2,3} is 0.8 + shift, 0.5 over the two orders."""
    return [
        matrix_rows("0-1-2-3", [[1.0], [0.2, 0.8 + shift]], seed=seed),
        matrix_rows("2-3-0-1", [[0.7], [0.5, 0.9]], seed=seed),
    ]


def test_by_task() -> None:
    result = order_sensitivity(table_of(*task_orders()), by="task").set_index("unit")
    assert result["opd"].to_dict() == pytest.approx({"0-1": 0.9 - 0.2, "2-3": 0.8 - 0.5})
    assert result["lowest"].to_dict() == pytest.approx({"0-1": 0.2, "2-3": 0.5})
    assert result["orders"].tolist() == [2, 2]


def test_a_task_keeps_its_identity_when_its_classes_are_swapped() -> None:
    table = table_of(matrix_rows("0-1-2-3", [[1.0], [0.2, 0.8]]), matrix_rows("3-2-1-0", [[0.7], [0.5, 0.9]]))
    result = order_sensitivity(table, by="task").set_index("unit")["opd"].to_dict()
    assert result == pytest.approx({"0-1": 0.7, "2-3": 0.3})


def test_by_class_over_class_orders_and_task_orders_together() -> None:
    table = table_of(
        run_rows("0-1-2-3", [{0: 1, 1: 1}, {0: 0.1, 1: 0.3, 2: 0.9, 3: 0.5}]),
        run_rows("2-3-0-1", [{2: 1, 3: 1}, {0: 0.8, 1: 0.4, 2: 0.2, 3: 0.5}]),
        run_rows("3-0-2-1", [{3: 1, 0: 1}, {0: 0.0, 1: 1.0, 2: 0.6, 3: 0.7}]),
    )
    result = order_sensitivity(table, by="class").set_index("unit")["opd"].to_dict()
    # class 0: 0.8 - 0.0; class 1: 1.0 - 0.3; class 2: 0.9 - 0.2; class 3: 0.7 - 0.5
    assert result == pytest.approx({"0": 0.8, "1": 0.7, "2": 0.7, "3": 0.2})
    summary = order_sensitivity_summary(order_sensitivity(table, by="class"))
    assert summary["aopd"].tolist() == pytest.approx([(0.8 + 0.7 + 0.7 + 0.2) / 4])
    assert summary["mopd"].tolist() == pytest.approx([0.8])
    assert summary["orders"].tolist() == [3]


def test_only_the_final_stage_counts() -> None:
    early = matrix_rows("0-1-2-3", [[0.0], [0.5, 0.5]]), matrix_rows("2-3-0-1", [[1.0], [0.5, 0.5]])
    assert order_sensitivity(table_of(*early), by="task")["opd"].tolist() == [0.0, 0.0]


def test_summary_is_per_repetition() -> None:
    table = table_of(*task_orders(seed=0), *task_orders(seed=1, shift=0.1))
    summary = order_sensitivity_summary(order_sensitivity(table, by="task")).set_index("seed")
    # seed 0: (0.7 + 0.3) / 2; seed 1: (0.7 + 0.4) / 2
    assert summary["aopd"].to_dict() == pytest.approx({0: 0.5, 1: 0.55})
    assert summary["mopd"].to_dict() == pytest.approx({0: 0.7, 1: 0.7})


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (table_of(matrix_rows("0-1-2-3", [[1.0], [0.2, 0.8]])), "has one order only"),
        (
            table_of(
                matrix_rows("0-1-2-3", [[1.0], [0.2, 0.8]]), matrix_rows("0-2-1-3", [[1.0], [0.2, 0.8]])
            ),
            "the task 0-1 occurs in 1 of 2 orders.*use by='class'",
        ),
        (
            table_of(*task_orders(), matrix_rows("0-1-2-3", [[1.0]], seed=1)),
            "1 runs did not reach their last task .*seed 1, order 0-1-2-3, stage 1",
        ),
    ],
)
def test_impossible_comparisons_are_named(table: pd.DataFrame, message: str) -> None:
    with pytest.raises(DataError, match=message):
        order_sensitivity(table, by="task")


def test_orders_of_different_classes_are_an_error() -> None:
    table = table_of(matrix_rows("0-1", [[1.0]]), matrix_rows("2-3", [[1.0]]))
    with pytest.raises(DataError, match="the class 0 occurs in 1 of 2 orders"):
        order_sensitivity(table, by="class")


def test_an_unknown_unit_is_an_error() -> None:
    with pytest.raises(ParameterError, match="by 'task' or by 'class', not by 'order'"):
        order_sensitivity(table_of(*task_orders()), by="order")  # type: ignore[arg-type]


def test_the_formulas_on_final_accuracies() -> None:
    # Two orders, two tasks: ranges 0.9 - 0.2 and 0.8 - 0.5
    final = np.array([[0.2, 0.8], [0.9, 0.5]])
    assert order_performance_difference(final).tolist() == pytest.approx([0.7, 0.3])
    assert average_opd(final) == pytest.approx(0.5)
    assert maximum_opd(final) == pytest.approx(0.7)
    summary = order_sensitivity_summary(order_sensitivity(table_of(*task_orders()), by="task"))
    assert summary[["aopd", "mopd"]].iloc[0].tolist() == pytest.approx(
        [average_opd(final), maximum_opd(final)]
    )


def summary_of(aopd: float, mopd: float) -> pd.DataFrame:
    run = {"paper": "cgl", "variant": "nucla/gcn", "method": "EWC", "seed": 0}
    return pd.DataFrame([run | {"aopd": aopd, "mopd": mopd, "orders": 2}])


def test_invariants_hold_for_every_table_of_real_runs() -> None:
    table = table_of(*task_orders())
    halves = [order_sensitivity_summary(order_sensitivity(table, by=by)) for by in ("task", "class")]  # type: ignore[arg-type]
    check_order_invariants(*halves)
    check_order_invariants(summary_of(0.5, 0.5), summary_of(0.5, 0.5))


@pytest.mark.parametrize(
    ("by_task", "by_class", "message"),
    [
        ((0.6, 0.7), (0.5, 0.8), "EWC, seed 0: aopd_class is 0.5000 and aopd_task 0.6000"),
        ((0.5, 0.9), (0.6, 0.8), "mopd_class is 0.8000 and mopd_task 0.9000"),
        ((0.5, 0.6), (0.9, 0.8), "mopd_class is 0.8000 and aopd_class 0.9000"),
    ],
)
def test_a_violated_invariant_is_named(
    by_task: tuple[float, float], by_class: tuple[float, float], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        check_order_invariants(summary_of(*by_task), summary_of(*by_class))
