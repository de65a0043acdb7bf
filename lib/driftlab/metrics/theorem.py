"""Theorem 1 of Wei, De Schepper and Mets (VISAPP 2024): average accuracy bounds forgetting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from driftlab.core.errors import ParameterError
from driftlab.core.lineage import carries_lineage
from driftlab.metrics.accuracy_matrix import RUN, average_accuracy_table, forgetting_table


def theorem_bound(
    average_accuracy: npt.ArrayLike, k: npt.ArrayLike, last_task_accuracy: npt.ArrayLike = 1.0
) -> npt.NDArray[np.float64]:
    """The upper bound of AF_k: 1 − k/(k−1)·AA_k + a_{k,k}/(k−1) (Eq. 5; Eq. 10 with a_{k,k} = 1).

    It follows from the definitions alone. An accuracy is at most 1, so max_{l<k} a_{l,j} ≤ 1 and

        AF_k = 1/(k−1) Σ_{j<k} (max_{l<k} a_{l,j} − a_{k,j}) ≤ 1 − 1/(k−1) Σ_{j<k} a_{k,j},

    and Σ_{j<k} a_{k,j} = k·AA_k − a_{k,k}. Equality holds when every earlier task once reached accuracy 1.

    Args:
        average_accuracy: AA_k, a fraction.
        k: Number of tasks learnt, at least 2.
        last_task_accuracy: a_{k,k}; by default 1, its largest value, with which the figures draw the bound.

    Returns:
        The bound; the arguments broadcast.

    Raises:
        ParameterError: k is below 2, where forgetting is undefined.
    """
    tasks = np.asarray(k, dtype=np.float64)
    if (tasks < 2).any():
        raise ParameterError("Theorem 1 needs k ≥ 2: after one task, forgetting is undefined.")
    mean, last = (
        np.asarray(average_accuracy, dtype=np.float64),
        np.asarray(last_task_accuracy, dtype=np.float64),
    )
    return np.asarray(1 - tasks / (tasks - 1) * mean + last / (tasks - 1))


@dataclass(frozen=True)
class TheoremCheck:
    """The result of checking Theorem 1 on measured runs.

    Attributes:
        stages: One row per run and stage k ≥ 2: columns of a run, `trained_on`, `average_accuracy`,
            `average_forgetting`, and for each form of the theorem its `bound` and `slack` (bound − AF): with
            the measured a_{k,k} (Eq. 5), and as `drawn_bound` and `drawn_slack` with a_{k,k} = 1 (Eq. 10,
            the line in the figures).
        tolerance: How far below zero a slack may be by rounding.
    """

    stages: pd.DataFrame
    tolerance: float

    @property
    def runs(self) -> int:
        """How many runs were checked."""
        return len(self.stages[RUN].drop_duplicates())

    @property
    def smallest_slack(self) -> float:
        """The smallest distance to the bound of Eq. 5; NaN if nothing was checked."""
        return float(self.stages["slack"].min())

    @property
    def smallest_drawn_slack(self) -> float:
        """The smallest distance to the bound of Eq. 10; NaN if nothing was checked."""
        return float(self.stages["drawn_slack"].min())

    @property
    def violations(self) -> pd.DataFrame:
        """The stages above one of the bounds: a bug, as the theorem follows from the definitions."""
        slack = self.stages[["slack", "drawn_slack"]].min(axis=1)
        return self.stages[slack < -self.tolerance]


@carries_lineage
def check_theorem(accuracy: pd.DataFrame, *, tolerance: float = 1e-9) -> TheoremCheck:
    """Check both forms of Theorem 1 at every stage k ≥ 2 of every run.

    Args:
        accuracy: From `task_accuracy`.
        tolerance: Allowed rounding of floating-point sums.
    """
    key = [*RUN, "trained_on"]
    newest = accuracy.loc[accuracy["task"] == accuracy["trained_on"], [*key, "value"]]
    stages = (
        forgetting_table(accuracy)
        .rename(columns={"value": "average_forgetting"})
        .merge(average_accuracy_table(accuracy).rename(columns={"value": "average_accuracy"}), on=key)
        .merge(newest.rename(columns={"value": "last"}), on=key)
    )
    mean, k, last = stages["average_accuracy"], stages["trained_on"], stages.pop("last")
    stages["bound"] = theorem_bound(mean, k, last)
    stages["slack"] = stages["bound"] - stages["average_forgetting"]
    stages["drawn_bound"] = theorem_bound(mean, k)
    stages["drawn_slack"] = stages["drawn_bound"] - stages["average_forgetting"]
    return TheoremCheck(stages=stages, tolerance=tolerance)
