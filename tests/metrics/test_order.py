"""Order sensitivity on tables worked by hand."""

from __future__ import annotations

import pandas as pd
import pytest
from driftlab.core.errors import DataError, ParameterError
from driftlab.metrics.order import order_sensitivity, order_sensitivity_summary

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
