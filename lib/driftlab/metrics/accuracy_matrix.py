"""Accuracy and forgetting of a class-incremental learner.

Wei, De Schepper and Mets, VISAPP 2024, section 3. Accuracies are fractions from 0 to 1 and tasks are
numbered from 1 in the order of learning, so a_{k,j} is the accuracy of the j-th task learnt once k tasks
have been learnt.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import pandas as pd

from driftlab.core.errors import DataError, ParameterError
from driftlab.core.lineage import carries_lineage

RUN = ["paper", "variant", "method", "seed", "order"]


@carries_lineage
def class_accuracy(table: pd.DataFrame, *, metric: str = "test_accuracy") -> pd.DataFrame:
    """The class rows of an evaluation table, checked.

    A run that stands in the table twice with the same values (a random class order may happen to be a task
    order as well) counts once.

    Args:
        table: Evaluation table.
        metric: Which of the table's metrics to take.

    Returns:
        Columns of a run, `trained_on`, `class` (int) and `value`, one row a run, stage and class.

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
    """a_{k,j}: the macro average over the classes of task j after k tasks.

    Args:
        table: Evaluation table with one row a run, stage and class; the runs' `order` says which classes
            form task j.
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
def average_accuracy(accuracy: pd.DataFrame) -> pd.DataFrame:
    """AA_k = mean over j ≤ k of a_{k,j}.

    Args:
        accuracy: From `task_accuracy`.

    Returns:
        Columns of a run, `trained_on` (k) and `value`.
    """
    learnt = accuracy[accuracy["task"] <= accuracy["trained_on"]]
    return learnt.groupby([*RUN, "trained_on"])["value"].mean().reset_index()


@carries_lineage
def average_forgetting(
    accuracy: pd.DataFrame, *, definition: Literal["max", "diagonal"] = "max"
) -> pd.DataFrame:
    """AF_k, the mean over j < k of what was forgotten of task j.

    Args:
        accuracy: From `task_accuracy`.
        definition: `max` is the paper's: f_j^k = max over l < k of a_{l,j}, minus a_{k,j}; the maximum runs
            over l ≥ j, because a task is not tested before it is learnt, and positive means forgotten.
            `diagonal` is what the released code prints: a_{k,j} − a_{j,j}, with its sign, so negative means
            forgotten; it misses accuracy that was gained after stage j and lost again.

    Returns:
        Columns of a run, `trained_on` (k ≥ 2, forgetting is undefined after one task) and `value`.

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
    """Each run after its last task, in one row.

    Args:
        accuracy: From `task_accuracy`.

    Returns:
        Columns of a run, `trained_on` (k), `average_accuracy` (AA_k), `average_forgetting` (AF_k, definition
        `max`; missing after a single task) and `last_task_accuracy` (a_{k,k}).
    """
    last = average_accuracy(accuracy)
    last = last[last["trained_on"] == last.groupby(RUN)["trained_on"].transform("max")]
    forgetting = average_forgetting(accuracy)
    newest = accuracy[accuracy["task"] == accuracy["trained_on"]]
    key = [*RUN, "trained_on"]
    return (
        last.rename(columns={"value": "average_accuracy"})
        .merge(forgetting.rename(columns={"value": "average_forgetting"}), on=key, how="left")
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
