"""Frames for the tables of the continual graph learning paper, in percent and in the paper's layout."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

import pandas as pd

from driftlab.core.lineage import carries_lineage
from driftlab.methods import METHODS
from driftlab.metrics.repetitions import over_repetitions
from driftlab.metrics.theorem import TheoremCheck
from driftlab.reporting.printed_papers import settings_text
from driftlab.reporting.style import in_order


@carries_lineage
def order_sensitivity_table(summary: pd.DataFrame, *, prefix: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Half of one dataset's part of Table 2.

    Args:
        summary: One variant's frame from `order_sensitivity_summary`.
        prefix: The paper's words before AOPD and MOPD, for example "task UCLA".

    Returns:
        Mean and population standard deviation (ddof 0, as the printed values imply) over repetitions, in
        percent: one row per method, and the columns "PREFIX AOPD" and "PREFIX MOPD".
    """
    rows = over_repetitions(summary, ["aopd", "mopd"], ddof=0).set_index("method")
    rows = rows.loc[in_order(rows.index)].rename_axis("method")
    names = [f"{prefix} AOPD", f"{prefix} MOPD"]
    mean, deviation = 100 * rows[["aopd", "mopd"]], 100 * rows[["aopd_std", "mopd_std"]]
    return mean.set_axis(names, axis=1), deviation.set_axis(names, axis=1)


@carries_lineage
def accuracy_table(final: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Final AA and AF of each method.

    Args:
        final: One variant's frame from `final_metrics`.

    Returns:
        Mean and sample standard deviation over all runs (orders and repetitions), in percent: one row per
        method, and the columns "AA" and "AF".
    """
    names = {"average_accuracy": "AA", "average_forgetting": "AF"}
    groups = (100 * final.set_index("method")[list(names)]).rename(columns=names).groupby("method")
    methods = in_order(final["method"])
    return groups.mean().loc[methods], groups.std(ddof=1).loc[methods]


@carries_lineage
def theorem_table(check: TheoremCheck) -> pd.DataFrame:
    """Theorem 1 by method: runs, stages, violations, and the smallest slack of both forms in points."""
    groups = check.stages.groupby("method")
    runs = check.stages.drop_duplicates(["variant", "method", "seed", "order"]).groupby("method").size()
    frame = pd.DataFrame(
        {
            "runs": runs,
            "stages": groups.size(),
            "violations": check.violations.groupby("method").size().reindex(runs.index, fill_value=0),
            "slack, Eq. 5": 100 * groups["slack"].min().round(12) + 0.0,
            "slack, Eq. 10": 100 * groups["drawn_slack"].min().round(12) + 0.0,
        }
    )
    return frame.loc[in_order(frame.index)].rename_axis("method")


@carries_lineage
def search_results(
    hypers: Sequence[tuple[str, Mapping[str, float]]], finals: Sequence[pd.DataFrame]
) -> pd.DataFrame:
    """The results of a grid search, one row per combination and repetition, in the grid's order.

    Args:
        hypers: Method and hyper-parameters of each combination.
        finals: From `final_metrics`, one frame per combination.

    Returns:
        Columns `method`, `settings` (in words), `seed` and `average_accuracy` (mean over orders, a fraction).
    """
    frames: list[pd.DataFrame] = [
        final.groupby("seed", as_index=False)["average_accuracy"]
        .mean()
        .assign(method=method, settings=settings_text(hyper))
        for (method, hyper), final in zip(hypers, finals, strict=True)
    ]
    columns = ["method", "settings", "seed", "average_accuracy"]
    return pd.DataFrame(pd.concat(frames, ignore_index=True), columns=columns)


@carries_lineage
def best_settings(results: pd.DataFrame) -> pd.DataFrame:
    """The combination of each method with the highest mean AA; of equal ones the first in the grid's order.

    Args:
        results: From `search_results`; with ascending values in the grid, the first has the smaller value.

    Returns:
        One row per method, with the columns `settings` and `AA` (percent).
    """
    groups = results.groupby(["method", "settings"], sort=False)["average_accuracy"]
    means = groups.mean().mul(100).rename("AA").reset_index()
    best = means["AA"].round(9).groupby(means["method"], sort=False).idxmax()  # the first of equal ones
    return pd.DataFrame(means.loc[best].set_index("method"))


def methods_table(names: Sequence[str], settings: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """What each method does, generated from the docstrings of its module and class.

    Args:
        names: The methods.
        settings: The hyper-parameters in use, by method.

    Returns:
        One row per method, with the columns "idea", "loss or rule" and "hyper-parameters".
    """
    rows = {}
    for name in names:
        kind = METHODS[name]
        values = {key: value for key, value in settings[name].items() if key != "name"}
        idea = _first_paragraph(sys.modules[kind.__module__].__doc__)
        rows[name] = (idea, _first_paragraph(kind.__doc__), settings_text(values) or "none")
    columns = ["idea", "loss or rule", "hyper-parameters"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("method")


def _first_paragraph(docstring: str | None) -> str:
    return " ".join((docstring or "").strip().split("\n\n")[0].split())
