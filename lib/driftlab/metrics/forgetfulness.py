"""Forgetfulness: how the AP of a class depends on the time since the stream last showed the class.

Wang et al., Wanderlust, ICCV 2021, section 4.1, equations 5 and 6. The first functions take arrays and read
like the formulas; those below check an evaluation table and call them.

The time that counts is the gap in the stream: iCaRL replays a class from its memory while the stream does not
show it, and its gap grows all the same. Evaluations before a class was first trained on have no gap and are
left out.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from driftlab.core.errors import DataError, ParameterError
from driftlab.core.lineage import carries_lineage
from driftlab.metrics.accuracy_matrix import RUN
from driftlab.metrics.stream_precision import class_ap, mean_of_highest, one_value_a_cell

CLASS = [*RUN, "class"]
BINS = 10
"""The paper's K is not given; ten bins of equal count are our default."""

Floats = NDArray[np.float64]
Weights = Literal["excess", "gap"]


def equal_count_bins(gaps: Floats, count: int) -> NDArray[np.int64]:
    """The bin of each evaluation: at most `count` bins that hold about equally many evaluations.

    Args:
        gaps: (E,) steps since the class was last trained on, at each evaluation. Equal gaps share a bin.
        count: Greatest number of bins; 0 makes every distinct gap a bin, as the released code does.

    Returns:
        (E,) bin numbers 0, 1, …, none missing, in order of the gap.
    """
    places = np.floor((rankdata(gaps) - 0.5) / len(gaps) * count) if count else gaps
    return np.asarray(np.unique(places, return_inverse=True)[1], dtype=np.int64)


def class_forgetfulness(k: Floats, acap: Floats, weights: Weights = "excess") -> float:
    """F^c = Σ_k (k − kmin) / Σ_k (k − kmin) · (aCAP_kmin − aCAP_k) (equation 5).

    Args:
        k: (K,) time since the class was last trained on, of each bin, ascending.
        acap: (K,) mean AP of the evaluations in the bin.
        weights: `excess` is the paper's k − kmin; `gap` is the released code's k.

    Returns:
        A fraction; positive means forgotten.
    """
    weight = k - k[0] if weights == "excess" else k
    return float((weight * (acap[0] - acap)).sum() / weight.sum())


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
def forgetting_curve(exposed: pd.DataFrame, *, bins: int = BINS) -> pd.DataFrame:
    """aCAP_k, the mean AP of a class over its evaluations in bin k of the time since it was last trained on.

    Args:
        exposed: From `exposure`.
        bins: See `equal_count_bins`.

    Returns:
        Columns of a run, `class`, `bin` (0, 1, …), `since` (mean gap of the bin, in steps), `value` (aCAP_k)
        and `evaluations` (how many the bin has). A class that was never trained on has no row.

    Raises:
        ParameterError: `bins` is 1 or negative.
    """
    if bins < 0 or bins == 1:
        raise ParameterError(
            f"Forgetting compares at least two bins, not {bins}; 0 makes every distinct gap a bin."
        )
    rows = exposed.dropna(subset=["since"])
    number = rows.groupby(CLASS)["since"].transform(lambda gaps: equal_count_bins(gaps.to_numpy(), bins))
    groups = rows.assign(bin=number.astype("int64")).groupby([*CLASS, "bin"])
    curve = groups.agg(since=("since", "mean"), value=("value", "mean"), evaluations=("value", "size"))
    return curve.reset_index()


@carries_lineage
def forgetfulness(curve: pd.DataFrame, *, weights: Weights = "excess") -> pd.DataFrame:
    """F^c of each run and class.

    Args:
        curve: From `forgetting_curve`.
        weights: See `class_forgetfulness`.

    Returns:
        Columns of a run, `class`, `forgetfulness` (a fraction, positive means forgotten) and `bins`. A class
        with fewer than two bins has nothing to compare and is absent.

    Raises:
        ParameterError: Unknown weights, or no class has two bins.
    """
    if weights not in ("excess", "gap"):
        raise ParameterError(f"Forgetfulness is weighted by 'excess' or 'gap', not by '{weights}'.")
    rows = [
        (*name, class_forgetfulness(bins["since"].to_numpy(), bins["value"].to_numpy(), weights), len(bins))
        for name, bins in curve.sort_values([*CLASS, "bin"]).groupby(CLASS)
        if len(bins) > 1
    ]
    if not rows:
        raise ParameterError(
            "Forgetting cannot be measured: no class was evaluated in two bins of the time since the stream "
            "showed it. Use more `bins`, more evaluations (`interval`) or a longer stream."
        )
    return pd.DataFrame(rows, columns=[*CLASS, "forgetfulness", "bins"])


@carries_lineage
def forgetfulness_summary(classes: pd.DataFrame, *, worst: int = 20) -> pd.DataFrame:
    """F, the mean over the classes (equation 6), and the mean over those that are forgotten most, per run.

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
    result["worst_forgetfulness"] = runs.apply(lambda values: mean_of_highest(values.to_numpy(), worst))
    return result.reset_index()
