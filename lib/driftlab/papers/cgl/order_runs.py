"""The runs of an order experiment as arrays, from which claims are judged and figures are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from driftlab.core.errors import DataError
from driftlab.core.evaluation_table import one_variant
from driftlab.core.lineage import carries_lineage
from driftlab.metrics.accuracy_matrix import class_accuracy

Floats = NDArray[np.float64]
LABELS = {"nucla": "UCLA", "ntu": "NTU"}
"""The paper's short names of the datasets, by their names in the catalog."""


@dataclass(frozen=True)
class MethodRuns:
    """All runs of one method: R repetitions of O orders of K tasks, C classes in all.

    Attributes:
        seeds: The repetitions, ascending.
        orders: Classes in order of learning, one tuple per order.
        by_stage: (R, O, K, C) accuracy of each class after each task; NaN where a class is not learnt yet.
        per_task: Consecutive classes form a task.
    """

    seeds: tuple[int, ...]
    orders: tuple[tuple[int, ...], ...]
    by_stage: Floats
    per_task: int

    @property
    def matrices(self) -> Floats:
        """a_{k,j}: (R, O, K, K), 0 where task j is not learnt yet."""
        places = np.array(self.orders)[None, :, None, :]
        in_order = np.take_along_axis(self.by_stage, np.broadcast_to(places, self.by_stage.shape), axis=3)
        tasks = in_order.reshape(*in_order.shape[:3], -1, self.per_task).mean(axis=4)
        return np.asarray(np.nan_to_num(tasks))

    @property
    def average_accuracy(self) -> Floats:
        """AA_K of each run, (R, O)."""
        return np.asarray(self.matrices[:, :, -1].mean(axis=2))

    @property
    def peak(self) -> Floats:
        """Max over l < K of a_{l,j}, for every earlier task j < K: (R, O, K − 1)."""
        return np.asarray(self.matrices[:, :, :-1, :-1].max(axis=2))

    @property
    def kept(self) -> Floats:
        """a_{K,j} of every earlier task j < K: (R, O, K − 1)."""
        return self.matrices[:, :, -1, :-1]

    @property
    def average_forgetting(self) -> Floats:
        """AF_K of each run, (R, O)."""
        return np.asarray((self.peak - self.kept).mean(axis=2))

    @property
    def just_learned(self) -> Floats:
        """a_{j,j}: the accuracy of each task directly after it was learnt, (R, O, K)."""
        return np.diagonal(self.matrices, axis1=2, axis2=3)

    @property
    def by_class(self) -> Floats:
        """Final accuracy of each class, (R, O, C)."""
        return self.by_stage[:, :, -1]

    @property
    def by_task(self) -> Floats:
        """Final accuracy of each task (0, 1 | 2, 3 | …), wherever it stood in the order: (R, O, K).

        Only meaningful for task orders.
        """
        shape = self.by_class.shape
        return np.asarray(self.by_class.reshape(*shape[:2], -1, self.per_task).mean(axis=3))

    @property
    def tasks(self) -> NDArray[np.intp]:
        """(O, K): the number of the task (0 is that of the classes 0 and 1) at each place of each order."""
        return np.array(self.orders)[:, :: self.per_task] // self.per_task

    def at(self, seeds: Sequence[int], orders: Sequence[tuple[int, ...]]) -> MethodRuns:
        """The runs of these repetitions and orders, in their sequence."""
        rows, columns = [self.seeds.index(s) for s in seeds], [self.orders.index(o) for o in orders]
        return MethodRuns(tuple(seeds), tuple(orders), self.by_stage[rows][:, columns], self.per_task)


@dataclass(frozen=True)
class OrderRuns:
    """The runs of several methods on one dataset with one backbone.

    Attributes:
        dataset: "UCLA" or "NTU".
        methods: By the method's name; each may have its own orders.
        test_sequences: How many test sequences the smallest class has.
    """

    dataset: str
    methods: Mapping[str, MethodRuns]
    test_sequences: int

    @property
    def resolution(self) -> float:
        """The largest step that one test sequence can make in AA or AOPD, a fraction."""
        classes = next(iter(self.methods.values())).by_class.shape[2]
        return 1 / (classes * self.test_sequences)

    def lacks(self, names: Sequence[str]) -> str:
        """Which of these methods have no runs, as a sentence; empty if all have."""
        absent = [name for name in names if name not in self.methods]
        return f"Without runs of {', '.join(absent)}." if absent else ""

    def of(self, names: Sequence[str]) -> dict[str, MethodRuns]:
        """These methods' runs in the repetitions and orders that all of them have."""
        first, *others = [self.methods[name] for name in names]
        seeds = [s for s in first.seeds if all(s in other.seeds for other in others)]
        orders = [o for o in first.orders if all(o in other.orders for other in others)]
        if not seeds or not orders:
            raise DataError(f"{', '.join(names)} have no repetition and order in common.")
        return {name: self.methods[name].at(seeds, orders) for name in names}


@carries_lineage
def order_runs(
    table: pd.DataFrame,
    *,
    per_task: int = 2,
    test_sequences: int | None = None,
    metric: str = "test_accuracy",
) -> OrderRuns:
    """The runs of one variant as arrays.

    Args:
        table: Evaluation table; all runs of a method have the same repetitions and orders.
        per_task: Consecutive classes form a task.
        test_sequences: How many test sequences the smallest class has; None reads it off the accuracies.
        metric: Which of the table's metrics to take.

    Raises:
        DataError: A run, stage or class is missing.
        ParameterError: The runs are of several variants.
    """
    rows = class_accuracy(one_variant(table, "claim"), metric=metric)
    dataset = str(rows["variant"].iloc[0]).split("/")[0]
    return OrderRuns(
        LABELS.get(dataset, dataset),
        {str(name): _method_runs(str(name), part, per_task) for name, part in rows.groupby("method")},
        test_sequences or min(sequences_per_class(rows).values()),
    )


def sequences_per_class(rows: pd.DataFrame) -> dict[int, int]:
    """The number of test sequences of each class, read off its accuracies.

    An accuracy is a multiple of 1/n. The result is the smallest n that fits all accuracies of a class, so it
    is exact where there are many, and otherwise too small rather than too large.

    Args:
        rows: From `driftlab.metrics.accuracy_matrix.class_accuracy`.
    """
    return {
        int(str(label)): lcm(*(Fraction(v).limit_denominator(500).denominator for v in values.unique()))
        for label, values in rows.groupby("class")["value"]
    }


def _method_runs(method: str, rows: pd.DataFrame, per_task: int) -> MethodRuns:
    seeds, orders = sorted(rows["seed"].unique()), sorted(rows["order"].unique())
    stages, classes = int(rows["trained_on"].max()), int(rows["class"].max()) + 1
    by_stage = np.full((len(seeds), len(orders), stages, classes), np.nan)
    places = [
        pd.Categorical(rows["seed"], seeds).codes,
        pd.Categorical(rows["order"], orders).codes,
        rows["trained_on"].to_numpy() - 1,
        rows["class"].to_numpy(),
    ]
    by_stage[tuple(places)] = rows["value"].to_numpy()
    named = tuple(tuple(int(c) for c in order.split("-")) for order in orders)
    for o, order in enumerate(named):
        for k in range(stages):
            if np.isnan(by_stage[:, o, k, list(order[: (k + 1) * per_task])]).any():
                raise DataError(
                    f"{method}: the order {orders[o]} lacks accuracies after task {k + 1} in some "
                    "repetition; claims need the same orders in every repetition."
                )
    return MethodRuns(tuple(int(s) for s in seeds), named, by_stage, per_task)
