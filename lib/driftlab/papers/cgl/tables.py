"""Frames for the tables of the continual graph learning paper, in percent and in the paper's layout."""

from __future__ import annotations

import pandas as pd

from driftlab.core.lineage import carries_lineage
from driftlab.metrics.repetitions import over_repetitions
from driftlab.metrics.theorem import TheoremCheck
from driftlab.reporting.style import in_order


@carries_lineage
def order_sensitivity_table(summary: pd.DataFrame, *, prefix: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Half of one dataset's part of Table 2.

    Args:
        summary: One variant's frame from `order_sensitivity_summary`.
        prefix: The paper's words before AOPD and MOPD, for example "task UCLA".

    Returns:
        Mean and sample standard deviation over repetitions, in percent: a row a method, and the columns
        "PREFIX AOPD" and "PREFIX MOPD".
    """
    found = over_repetitions(summary, ["aopd", "mopd"]).set_index("method")
    found = found.loc[in_order(found.index)].rename_axis("method")
    names = [f"{prefix} AOPD", f"{prefix} MOPD"]
    mean, deviation = 100 * found[["aopd", "mopd"]], 100 * found[["aopd_std", "mopd_std"]]
    return mean.set_axis(names, axis=1), deviation.set_axis(names, axis=1)


@carries_lineage
def accuracy_table(final: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Final AA and AF of each method.

    Args:
        final: One variant's frame from `final_metrics`.

    Returns:
        Mean and sample standard deviation over all runs (orders and repetitions), in percent: a row a
        method, and the columns "AA" and "AF".
    """
    names = {"average_accuracy": "AA", "average_forgetting": "AF"}
    groups = (100 * final.set_index("method")[list(names)]).rename(columns=names).groupby("method")
    methods = in_order(final["method"])
    return groups.mean().loc[methods], groups.std(ddof=1).loc[methods]


@carries_lineage
def theorem_table(check: TheoremCheck) -> pd.DataFrame:
    """Theorem 1 by method: runs, stages, violations, and the smallest slack in percentage points."""
    slack = check.stages.groupby("method")["slack"]
    runs = check.stages.drop_duplicates(["variant", "method", "seed", "order"]).groupby("method").size()
    frame = pd.DataFrame(
        {
            "runs": runs,
            "stages": slack.size(),
            "violations": slack.agg(lambda values: int((values < -check.tolerance).sum())).astype("int64"),
            "smallest slack": 100 * slack.min().round(12) + 0.0,
        }
    )
    return frame.loc[in_order(frame.index)].rename_axis("method")
