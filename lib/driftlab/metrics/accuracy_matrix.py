"""Accuracy and forgetting of a class-incremental learner.

Wei, De Schepper and Mets, VISAPP 2024, section 3. a_{k,j} is the accuracy (a fraction from 0 to 1) of the
j-th task learnt, measured after k tasks; k and j count from 1.

The first functions are the paper's formulas on one run's accuracy matrix. The others apply them to an
evaluation table, all runs at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from driftlab.core.errors import DataError, ParameterError
from driftlab.core.lineage import carries_lineage

Matrix = NDArray[np.float64]
"""(K, K): row k − 1, column j − 1 hold a_{k,j}; what stands above the diagonal is not used."""

RUN = ["paper", "variant", "method", "seed", "order"]
"""The columns that name a run."""


def average_accuracy(a: Matrix) -> float:
    """AA_K = mean over j of a_{K,j}, after the last task.

    Args:
        a: (K, K), see `Matrix`.
    """
    return float(np.mean(a[-1]))


def forgetting(a: Matrix) -> float:
    """AF_K = mean over j < K of (max over l < K of a_{l,j}) − a_{K,j}; positive means forgotten.

    A task that is not learnt yet (l < j) counts as accuracy 0, so it never is the maximum.

    Args:
        a: (K, K), see `Matrix`.

    Returns:
        A number from −1 to 1; NaN for one task, which leaves nothing to forget.
    """
    if len(a) < 2:
        return float("nan")
    best = np.tril(a)[:-1, :-1].max(axis=0)
    return float(np.mean(best - a[-1, :-1]))


def released_forgetting(a: Matrix) -> float:
    """Mean over j < K of a_{K,j} − a_{j,j}: what the released code prints; negative means forgotten.

    It misses accuracy that a task gained after it was learnt and then lost.

    Args:
        a: (K, K), see `Matrix`.
    """
    return float(np.mean(a[-1, :-1] - np.diag(a)[:-1])) if len(a) > 1 else float("nan")


def accuracy_matrix(accuracy: pd.DataFrame) -> Matrix:
    """The accuracy matrix of one run, NaN above the diagonal.

    Args:
        accuracy: The rows of one run from `task_accuracy`.

    Raises:
        DataError: The rows are of several runs.
    """
    if len(accuracy[RUN].drop_duplicates()) != 1:
        raise DataError(
            f"An accuracy matrix is of one run; these rows are of {len(accuracy[RUN].drop_duplicates())}."
        )
    return accuracy.pivot(index="trained_on", columns="task", values="value").to_numpy(dtype=np.float64)


@carries_lineage
def class_accuracy(table: pd.DataFrame, *, metric: str = "test_accuracy") -> pd.DataFrame:
    """The accuracy per class of every run after every task, from a checked evaluation table.

    A run that is in the table twice with the same values (a random class order may also be a task order)
    counts once.

    Args:
        table: Evaluation table.
        metric: Which of the table's metrics to take.

    Returns:
        Columns of a run, `trained_on`, `class` (int) and `value`: one row per run, stage and class.

    Raises:
        DataError: No such rows, a value outside 0..1 or missing, or two different values for one cell.
    """
    rows = table[(table["metric"] == metric) & table["tested_on"].str.startswith("class:")]
    if rows.empty:
        known = ", ".join(sorted(table["metric"].unique())) or "none"
        raise DataError(
            f"The evaluation table has no class rows of the metric '{metric}'; its metrics: {known}."
        )
    classes = pd.to_numeric(rows["tested_on"].str.removeprefix("class:"), errors="coerce")
    wrong = ~rows["value"].between(0.0, 1.0) | classes.isna()
    if wrong.any():
        first = rows[wrong].iloc[0]
        raise DataError(
            f"{int(wrong.sum())} rows are not accuracies of a class from 0 to 1; the first: "
            f"{_run_name(first)}, stage {first['trained_on']}, tested on '{first['tested_on']}', "
            f"value {first['value']}.",
            field="value",
        )
    rows = rows[[*RUN, "trained_on", "value"]].assign(**{"class": classes.astype("int64")}).drop_duplicates()
    cell = [*RUN, "trained_on", "class"]
    twice = rows.duplicated(cell)
    if twice.any():
        first = rows[twice].iloc[0]
        raise DataError(
            f"{_run_name(first)} has two different values for class {first['class']} at stage "
            f"{first['trained_on']}; tables of different experiments may not be mixed under one variant."
        )
    return rows[[*cell, "value"]].sort_values(cell, ignore_index=True)


@carries_lineage
def task_accuracy(
    table: pd.DataFrame, *, classes_per_task: int = 2, metric: str = "test_accuracy"
) -> pd.DataFrame:
    """a_{k,j} of every run: the mean over the classes of task j of the accuracy per class, after k tasks.

    Args:
        table: Evaluation table with one row per run, stage and class. A run's `order` says which classes form
            task j.
        classes_per_task: How many consecutive classes of an order form a task.
        metric: Which of the table's metrics to take.

    Returns:
        Columns of a run, `trained_on` (k), `task` (j), `classes` (the task's classes in ascending order,
        "0-1") and `value`. Tasks that were tested before they were learnt (j > k) are kept where the table
        has them.

    Raises:
        DataError: An order that is not a list of distinct classes, a tested class that is not in it, or a
            stage that lacks a class which it has learnt.
    """
    rows = class_accuracy(table, metric=metric)
    rows = rows.merge(
        order_tasks(rows["order"].unique(), classes_per_task), on=["order", "class"], how="left"
    )
    if rows["task"].isna().any():
        first = rows[rows["task"].isna()].iloc[0]
        raise DataError(
            f"{_run_name(first)} was tested on class {first['class']}, which its order does not have."
        )
    rows["task"] = rows["task"].astype("int64")
    cell = [*RUN, "trained_on", "task", "classes"]
    tasks = rows.groupby(cell, as_index=False)["value"].agg(["mean", "size"])
    short = tasks[tasks["size"] != classes_per_task]
    if not short.empty:
        raise DataError(_incomplete(short.iloc[0], f"not all classes of task {short.iloc[0]['task']}"))
    tested = (tasks["task"] <= tasks["trained_on"]).groupby([tasks[name] for name in cell[:-2]]).sum()
    absent = tested[tested != tested.index.get_level_values("trained_on")].reset_index(name="tested")
    if not absent.empty:
        raise DataError(
            _incomplete(absent.iloc[0], f"only {absent.iloc[0]['tested']} of the tasks that it has learnt")
        )
    return tasks.rename(columns={"mean": "value"})[[*cell, "value"]]


@carries_lineage
def average_accuracy_table(accuracy: pd.DataFrame) -> pd.DataFrame:
    """`average_accuracy` of every run after every task.

    Args:
        accuracy: From `task_accuracy`.

    Returns:
        Columns of a run, `trained_on` (k) and `value`.
    """
    learnt = accuracy[accuracy["task"] <= accuracy["trained_on"]]
    return learnt.groupby([*RUN, "trained_on"])["value"].mean().reset_index()


@carries_lineage
def forgetting_table(
    accuracy: pd.DataFrame, *, definition: Literal["max", "diagonal"] = "max"
) -> pd.DataFrame:
    """`forgetting` (or `released_forgetting`) of every run after every task from the second on.

    Args:
        accuracy: From `task_accuracy`.
        definition: `max` is the paper's, `diagonal` the released code's.

    Returns:
        Columns of a run, `trained_on` (k ≥ 2) and `value`.

    Raises:
        DataError: A run lacks a stage; forgetting needs every stage since a task was learnt.
        ParameterError: An unknown definition.
    """
    if definition not in ("max", "diagonal"):
        raise ParameterError(f"Forgetting is defined by 'max' or 'diagonal', not by '{definition}'.")
    learnt = accuracy[accuracy["task"] <= accuracy["trained_on"]].sort_values(
        [*RUN, "task", "trained_on"], ignore_index=True
    )
    history = learnt.groupby([*RUN, "task"])["value"]
    gap = learnt["trained_on"] != learnt["task"] + history.cumcount()
    if gap.any():
        first = learnt[gap].iloc[0]
        raise DataError(
            f"{_run_name(first)} lacks a stage before stage {first['trained_on']}; forgetting needs them all."
        )
    if definition == "max":
        best = learnt.assign(best=history.cummax()).groupby([*RUN, "task"])["best"].shift(1)
        learnt["value"] = best - learnt["value"]
    else:
        learnt["value"] = learnt["value"] - history.transform("first")
    before = learnt[learnt["task"] < learnt["trained_on"]]
    return before.groupby([*RUN, "trained_on"])["value"].mean().reset_index()


@carries_lineage
def final_metrics(accuracy: pd.DataFrame) -> pd.DataFrame:
    """AA, AF and the last task's accuracy of every run after its last task: one row per run.

    Args:
        accuracy: From `task_accuracy`.

    Returns:
        Columns of a run, `trained_on` (k), `average_accuracy` (AA_k), `average_forgetting` (AF_k, definition
        `max`; missing after a single task) and `last_task_accuracy` (a_{k,k}).
    """
    last = average_accuracy_table(accuracy)
    last = last[last["trained_on"] == last.groupby(RUN)["trained_on"].transform("max")]
    forgotten = forgetting_table(accuracy)
    newest = accuracy[accuracy["task"] == accuracy["trained_on"]]
    key = [*RUN, "trained_on"]
    return (
        last.rename(columns={"value": "average_accuracy"})
        .merge(forgotten.rename(columns={"value": "average_forgetting"}), on=key, how="left")
        .merge(newest[[*key, "value"]].rename(columns={"value": "last_task_accuracy"}), on=key, how="left")
    )


@carries_lineage
def order_tasks(orders: Iterable[str], classes_per_task: int) -> pd.DataFrame:
    """Which task each class belongs to, for every order.

    Args:
        orders: Class ids joined by "-", in order of learning.
        classes_per_task: How many consecutive classes form a task.

    Returns:
        Columns `order`, `class` (int), `task` (from 1) and `classes` (the task's identity: its classes
        ascending).

    Raises:
        DataError: An order that is not a list of distinct class ids, or does not divide into tasks.
    """
    rows: list[tuple[str, int, int, str]] = []
    for order in orders:
        try:
            ids = [int(part) for part in order.split("-")]
        except ValueError:
            raise DataError(
                f"The order '{order}' is not a list of class ids joined by '-'.", field="order"
            ) from None
        if len(set(ids)) != len(ids) or len(ids) % classes_per_task:
            raise DataError(
                f"The order '{order}' does not divide into tasks of {classes_per_task} distinct classes.",
                field="order",
            )
        for start in range(0, len(ids), classes_per_task):
            members = ids[start : start + classes_per_task]
            name = "-".join(map(str, sorted(members)))
            rows += [(order, member, start // classes_per_task + 1, name) for member in members]
    return pd.DataFrame(rows, columns=["order", "class", "task", "classes"])


def _run_name(row: pd.Series) -> str:
    return f"The run {row['variant']}, {row['method']}, seed {row['seed']}, order {row['order']}"


def _incomplete(row: pd.Series, what: str) -> str:
    stage = row["trained_on"]
    return f"{_run_name(row)} was tested on {what} at stage {stage}; rows are missing from the table."
