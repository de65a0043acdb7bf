"""How far the final accuracy depends on the order of learning.

Wei, De Schepper and Mets, VISAPP 2024, section 3.2. The order performance difference (OPD) of a task or
class is the range of its final accuracy over all orders; AOPD is the mean and MOPD the maximum over the
tasks or classes.
"""

from __future__ import annotations

from typing import Literal

import pandas as pd

from driftlab.core.errors import DataError, ParameterError
from driftlab.core.lineage import carries_lineage
from driftlab.metrics.accuracy_matrix import RUN, class_accuracy, order_tasks, task_accuracy

GROUP = ["paper", "variant", "method", "seed"]


@carries_lineage
def order_sensitivity(
    table: pd.DataFrame,
    *,
    by: Literal["task", "class"],
    classes_per_task: int = 2,
    metric: str = "test_accuracy",
) -> pd.DataFrame:
    """OPD of each task or each class, per repetition.

    Args:
        table: Evaluation table with the runs of at least two orders.
        by: `task` for the task-order experiment, where a task is its set of classes wherever it stands in
            the order; `class` for the class-order experiment (a task order is a class order too: give both
            tables together).
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
    """AOPD and MOPD per repetition.

    Args:
        sensitivity: From `order_sensitivity`.

    Returns:
        Columns `paper`, `variant`, `method`, `seed`, `aopd`, `mopd` (fractions) and `orders`.
    """
    groups = sensitivity.groupby(GROUP, as_index=False)
    return groups.agg(aopd=("opd", "mean"), mopd=("opd", "max"), orders=("orders", "first"))


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
