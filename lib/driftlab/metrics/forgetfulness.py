"""What a detector forgets of a class while the stream does not show it.

Wang et al., Wanderlust, ICCV 2021, section 4.2: the evaluations of a class are binned by the time since the
detector last trained on it, and forgetfulness weighs the loss in each bin by that time.
"""

from __future__ import annotations

from typing import Literal

import pandas as pd

from driftlab.core.errors import DataError, ParameterError
from driftlab.core.lineage import carries_lineage
from driftlab.metrics.accuracy_matrix import RUN
from driftlab.metrics.stream_precision import class_ap, one_value_a_cell

CLASS = [*RUN, "class"]


@carries_lineage
def exposure(table: pd.DataFrame, *, metric: str = "ap50") -> pd.DataFrame:
    """AP of each class at each evaluation, with how long ago and whether just now the stream showed it.

    Args:
        table: Evaluation table with class rows of `metric` and of "steps_since_seen".
        metric: Which of the table's metrics to take.

    Returns:
        Columns of a run, `class`, `trained_on`, `value` (AP), `since` (steps between the last training batch
        that had the class and this evaluation, 0 for the newest step; missing before it was seen), `seen`
        (whether a batch since the run's evaluation before had it) and `change` (of AP since that evaluation;
        missing at a run's first).

    Raises:
        DataError: The class rows are faulty (see `class_ap`), or there are no rows "steps_since_seen".
    """
    ap = class_ap(table, metric=metric)
    seen = table[(table["metric"] == "steps_since_seen") & table["tested_on"].str.startswith("class:")]
    if seen.empty:
        raise DataError(
            "The evaluation table has no class rows of the metric 'steps_since_seen', which say how long ago "
            "the detector trained on a class."
        )
    seen = seen.assign(**{"class": seen["tested_on"].str.removeprefix("class:")})
    seen = one_value_a_cell(seen, [*CLASS, "trained_on"]).rename(columns={"value": "since"})
    outside = seen[~seen["since"].between(0, seen["trained_on"] - 1)]
    if not outside.empty:
        first = outside.iloc[0]
        raise DataError(
            f"The class {first['class']} cannot have been seen {first['since']:g} steps before an evaluation "
            f"after {first['trained_on']} steps.",
            field="value",
        )
    rows = ap.merge(seen, on=[*CLASS, "trained_on"], how="left")
    rows = rows.sort_values([*CLASS, "trained_on"], ignore_index=True)
    classes = rows.groupby(CLASS)
    passed = rows["trained_on"] - classes["trained_on"].shift(fill_value=0)
    rows["seen"] = (rows["since"] < passed) & rows["since"].notna()
    rows["change"] = classes["value"].diff()
    return rows[[*CLASS, "trained_on", "value", "since", "seen", "change"]]


@carries_lineage
def forgetting_curve(exposed: pd.DataFrame, *, width: int = 1) -> pd.DataFrame:
    """aCAP_k, the mean AP of a class over its evaluations in bin k of the time since it was last trained on.

    Args:
        exposed: From `exposure`.
        width: Steps of a bin: bin k holds the gaps from k·width to (k + 1)·width − 1. With 1, as released,
            every distinct gap is a bin.

    Returns:
        Columns of a run, `class`, `bin` (k), `since` (k·width, in steps), `value` (aCAP_k) and `evaluations`
        (how many the bin has), one row a bin that has any. A class that was not seen has none.

    Raises:
        ParameterError: `width` is below 1.
    """
    if width < 1:
        raise ParameterError(f"A bin is at least one step wide, not {width}.")
    rows = exposed.dropna(subset=["since"])
    rows = rows.assign(bin=(rows["since"] // width).astype("int64"))
    bins = rows.groupby([*CLASS, "bin"])["value"].agg(value="mean", evaluations="size").reset_index()
    bins.insert(len(CLASS) + 1, "since", bins["bin"] * width)
    return bins


@carries_lineage
def forgetfulness(curve: pd.DataFrame, *, weights: Literal["excess", "gap"] = "excess") -> pd.DataFrame:
    """F^c = Σ_k w_k / Σ_k w_k · (aCAP_kmin − aCAP_k), over the bins k that a class has; kmin is its first.

    Args:
        curve: From `forgetting_curve`.
        weights: `excess` is the paper's w_k = k − kmin; `gap` is the released code's w_k = k.

    Returns:
        Columns of a run, `class`, `forgetfulness` (a fraction, positive means forgotten) and `bins`. A class
        with fewer than two bins has nothing to compare and is absent.

    Raises:
        ParameterError: Unknown weights, or no class has two bins.
    """
    if weights not in ("excess", "gap"):
        raise ParameterError(f"Forgetfulness is weighted by 'excess' or 'gap', not by '{weights}'.")
    rows = curve.sort_values([*CLASS, "bin"], ignore_index=True)
    classes = rows.groupby(CLASS)
    rows = rows[classes["bin"].transform("size") > 1]
    if rows.empty:
        raise ParameterError(
            "Forgetting cannot be measured: no class was evaluated in two bins of the time since the stream "
            "showed it. Use narrower bins (`bin_width`), more evaluations (`interval`) or a longer stream."
        )
    classes = rows.groupby(CLASS)
    first = classes["bin"].transform("first") if weights == "excess" else 0
    rows = rows.assign(
        weight=rows["bin"] - first, loss=classes["value"].transform("first") - rows["value"], bins=1
    )
    rows["loss"] *= rows["weight"]
    sums = rows.groupby(CLASS)[["loss", "weight", "bins"]].sum()
    return (
        sums.assign(forgetfulness=sums["loss"] / sums["weight"])[["forgetfulness", "bins"]]
        .astype({"bins": "int64"})
        .reset_index()
    )


@carries_lineage
def forgetfulness_summary(classes: pd.DataFrame, *, worst: int = 20) -> pd.DataFrame:
    """F, the mean over the classes, and the mean over those that are forgotten most, in one row a run.

    Args:
        classes: From `forgetfulness`.
        worst: How many classes, those of the run with the highest F^c, `worst_forgetfulness` averages (the
            paper: 20). With fewer classes it averages all; `worst` of the result says how many it were.

    Returns:
        Columns of a run, `classes`, `forgetfulness`, `worst` and `worst_forgetfulness`.

    Raises:
        ParameterError: `worst` is below 1.
    """
    if worst < 1:
        raise ParameterError(f"The worst classes are at least one, not {worst}.")
    runs = classes.groupby(RUN)["forgetfulness"]
    result = runs.agg(classes="size", forgetfulness="mean")
    result["worst"] = result["classes"].clip(upper=worst)
    result["worst_forgetfulness"] = runs.apply(lambda values: values.nlargest(worst).mean())
    return result.reset_index()
