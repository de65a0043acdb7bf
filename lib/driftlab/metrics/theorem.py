"""Theorem 1 of Wei, De Schepper and Mets (VISAPP 2024): average accuracy bounds forgetting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from driftlab.core.errors import ParameterError
from driftlab.core.lineage import carries_lineage
from driftlab.metrics.accuracy_matrix import RUN, average_accuracy, average_forgetting


def theorem_bound(
    average_accuracy: npt.ArrayLike, k: npt.ArrayLike, last_task_accuracy: npt.ArrayLike = 1.0
) -> npt.NDArray[np.float64]:
    """The upper bound of AF_k: 1 − k/(k−1)·AA_k + a_{k,k}/(k−1).

    It follows from the definitions alone. An accuracy is at most 1, so max_{l<k} a_{l,j} ≤ 1 and

        AF_k = 1/(k−1) Σ_{j<k} (max_{l<k} a_{l,j} − a_{k,j}) ≤ 1 − 1/(k−1) Σ_{j<k} a_{k,j},

    and Σ_{j<k} a_{k,j} = k·AA_k − a_{k,k}. Equality holds when every earlier task once reached accuracy 1.

    Args:
        average_accuracy: AA_k, a fraction.
        k: Number of tasks learnt, at least 2.
        last_task_accuracy: a_{k,k}; the paper's figures draw the bound with 1, its largest value.

    Returns:
        The bound; the arguments broadcast.

    Raises:
        ParameterError: k is below 2, where forgetting is undefined.
    """
    tasks = np.asarray(k, dtype=np.float64)
    if (tasks < 2).any():
        raise ParameterError("Theorem 1 speaks of two tasks or more: after one, nothing can be forgotten.")
    mean, last = (
        np.asarray(average_accuracy, dtype=np.float64),
        np.asarray(last_task_accuracy, dtype=np.float64),
    )
    return np.asarray(1 - tasks / (tasks - 1) * mean + last / (tasks - 1))


@dataclass(frozen=True)
class TheoremCheck:
    """Theorem 1 held against measurements.

    Attributes:
        stages: One row a run and stage k ≥ 2: columns of a run, `trained_on`, `average_accuracy`,
            `average_forgetting`, `bound` (with the measured a_{k,k}), `slack` (bound − AF) and `loose_bound`
            (with a_{k,k} = 1).
        tolerance: How far below zero a slack may lie by rounding.
    """

    stages: pd.DataFrame
    tolerance: float

    @property
    def runs(self) -> int:
        """How many runs were checked."""
        return len(self.stages[RUN].drop_duplicates())

    @property
    def worst_slack(self) -> float:
        """The smallest distance to the bound; missing (NaN) if there was nothing to check."""
        return float(self.stages["slack"].min())

    @property
    def violations(self) -> pd.DataFrame:
        """The stages above the bound; none, unless the accuracies are not accuracies."""
        return self.stages[self.stages["slack"] < -self.tolerance]


@carries_lineage
def check_theorem(accuracy: pd.DataFrame, *, tolerance: float = 1e-12) -> TheoremCheck:
    """Theorem 1 at every stage k ≥ 2 of every run.

    Args:
        accuracy: From `task_accuracy`.
        tolerance: For the rounding of floating-point sums only; the theorem needs none.
    """
    key = [*RUN, "trained_on"]
    newest = accuracy.loc[accuracy["task"] == accuracy["trained_on"], [*key, "value"]]
    stages = (
        average_forgetting(accuracy)
        .rename(columns={"value": "average_forgetting"})
        .merge(average_accuracy(accuracy).rename(columns={"value": "average_accuracy"}), on=key)
        .merge(newest.rename(columns={"value": "last"}), on=key)
    )
    mean, k, last = stages["average_accuracy"], stages["trained_on"], stages.pop("last")
    stages["bound"] = theorem_bound(mean, k, last)
    stages["slack"] = stages["bound"] - stages["average_forgetting"]
    stages["loose_bound"] = theorem_bound(mean, k)
    return TheoremCheck(stages=stages, tolerance=tolerance)
