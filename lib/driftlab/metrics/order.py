"""Order sensitivity: how much the final accuracy changes with the order of learning.

Wei, De Schepper and Mets, VISAPP 2024, section 3.2 (Eq. 4). The first functions are the formulas on the final
accuracies of one method and repetition; the others apply them to an evaluation table.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from driftlab.core.errors import DataError, ParameterError
from driftlab.core.lineage import carries_lineage
from driftlab.metrics.accuracy_matrix import RUN, class_accuracy, order_tasks, task_accuracy

GROUP = ["paper", "variant", "method", "seed"]
"""The columns that name a method's repetition."""


def order_performance_difference(final: NDArray[np.float64]) -> NDArray[np.float64]:
    """OPD_t = max over orders of a_{K,t} − min over orders of a_{K,t}, for every task (or class) t.

    Args:
        final: (orders, T) final accuracy of each task or class, in the same column whatever its place in
            the order.

    Returns:
        (T,)
    """
    return np.asarray(final.max(axis=0) - final.min(axis=0))


def average_opd(final: NDArray[np.float64]) -> float:
    """AOPD = mean over tasks (or classes) of OPD.

    Args:
        final: (orders, T), as for `order_performance_difference`.
    """
    return float(order_performance_difference(final).mean())


def maximum_opd(final: NDArray[np.float64]) -> float:
    """MOPD = maximum over tasks (or classes) of OPD.

    Args:
        final: (orders, T), as for `order_performance_difference`.
    """
    return float(order_performance_difference(final).max())


@carries_lineage
def order_sensitivity(
    table: pd.DataFrame,
    *,
    by: Literal["task", "class"],
    classes_per_task: int = 2,
    metric: str = "test_accuracy",
) -> pd.DataFrame:
    """OPD of each task or each class, per method and repetition.

    Args:
        table: Evaluation table with the runs of at least two orders.
        by: `task` for the task-order experiment; a task is identified by its set of classes. `class` for the
            class-order experiment; a task order is a class order too, so pass both tables joined.
        classes_per_task: How many consecutive classes of an order form a task.
        metric: Which of the table's metrics to take.

    Returns:
        Columns `paper`, `variant`, `method`, `seed`, `unit` ("0-1" for a task, "3" for a class), `opd` (a
        fraction), `lowest`, `highest` and `orders` (how many orders the range spans).

    Raises:
        DataError: Fewer than two orders, orders of different classes or (by task) different tasks, or a run
            that did not reach its last task.
        ParameterError: `by` is neither.
    """
    if by not in ("task", "class"):
        raise ParameterError(f"Order sensitivity is measured by 'task' or by 'class', not by '{by}'.")
    accuracy = task_accuracy(table, classes_per_task=classes_per_task, metric=metric)
    tasks = order_tasks(accuracy["order"].unique(), classes_per_task).groupby("order")["task"].max()
    reached = accuracy.groupby(RUN, as_index=False)["trained_on"].max()
    stopped = reached[reached["trained_on"] < reached["order"].map(tasks)]
    if not stopped.empty:
        first = stopped.iloc[0]
        raise DataError(
            f"{len(stopped)} runs did not reach their last task (the first: {first['variant']}, "
            f"{first['method']}, seed {first['seed']}, order {first['order']}, stage {first['trained_on']}); "
            "order sensitivity needs finished runs."
        )
    rows = accuracy.assign(unit=accuracy["classes"])
    if by == "class":
        rows = class_accuracy(table, metric=metric)
        rows["unit"] = rows["class"].astype(str)
    rows = rows[rows["trained_on"] == rows["order"].map(tasks)]
    result = rows.groupby([*GROUP, "unit"], as_index=False)["value"].agg(["min", "max", "size"])
    result = result.rename(columns={"min": "lowest", "max": "highest", "size": "orders"})
    total = rows.groupby(GROUP)["order"].nunique().rename("total").reset_index()
    _same_units(result.merge(total, on=GROUP), by)
    result["opd"] = result["highest"] - result["lowest"]
    return result[[*GROUP, "unit", "opd", "lowest", "highest", "orders"]]


@carries_lineage
def order_sensitivity_summary(sensitivity: pd.DataFrame) -> pd.DataFrame:
    """AOPD and MOPD per method and repetition.

    Args:
        sensitivity: From `order_sensitivity`.

    Returns:
        Columns `paper`, `variant`, `method`, `seed`, `aopd`, `mopd` (fractions) and `orders`.
    """
    groups = sensitivity.groupby(GROUP, as_index=False)
    return groups.agg(aopd=("opd", "mean"), mopd=("opd", "max"), orders=("orders", "first"))


def check_order_invariants(by_task: pd.DataFrame, by_class: pd.DataFrame, tolerance: float = 1e-9) -> None:
    """Check what holds for every pair of tables by construction, whatever the results.

    A task's range is at most the mean range of its classes, and the class orders contain the task orders, so
    class AOPD ≥ task AOPD and class MOPD ≥ task MOPD; and a maximum is at least the mean.

    Args:
        by_task: From `order_sensitivity_summary`, over the task orders.
        by_class: The same over class orders that contain those task orders.
        tolerance: Allowed rounding.

    Raises:
        DataError: An invariant is violated: the tables are not of the same runs, or the code has a bug.
    """
    both = by_class.merge(by_task, on=GROUP, suffixes=("_class", "_task"))
    pairs = [("aopd_class", "aopd_task"), ("mopd_class", "mopd_task")]
    pairs += [("mopd_class", "aopd_class"), ("mopd_task", "aopd_task")]
    for larger, smaller in pairs:
        wrong = both[both[larger] < both[smaller] - tolerance]
        if not wrong.empty:
            first = wrong.iloc[0]
            raise DataError(
                f"{first['method']}, seed {first['seed']}: {larger} is {first[larger]:.4f} and {smaller} "
                f"{first[smaller]:.4f}; the first cannot be smaller if both tables are of the same runs."
            )


def _same_units(result: pd.DataFrame, by: str) -> None:
    partial = result[result["orders"] != result["total"]]
    if not partial.empty:
        first = partial.iloc[0]
        hint = " These are class orders: use by='class'." if by == "task" else ""
        raise DataError(
            f"{first['variant']}, {first['method']}, seed {first['seed']}: the {by} {first['unit']} occurs "
            f"in {first['orders']} of {first['total']} orders; all orders must have the same ones.{hint}"
        )
    single = result[result["total"] < 2]
    if not single.empty:
        first = single.iloc[0]
        raise DataError(
            f"{first['variant']}, {first['method']}, seed {first['seed']} has one order only; "
            "order sensitivity compares at least two."
        )
