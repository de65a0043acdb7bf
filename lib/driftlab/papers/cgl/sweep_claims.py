"""The paper's claims on the width (cgl-7) and depth (cgl-8) of the network."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats

from driftlab.core.lineage import carries_lineage
from driftlab.reporting.style import in_order
from driftlab.reporting.verdicts import Verdict, judge, not_testable

NOTICEABLE = 1.0
LEVEL = 0.05
PAIR = ["seed", "order"]


@carries_lineage
def claim_7(final: pd.DataFrame) -> Verdict:
    """Greater width does not always help.

    Runs of one order and repetition are paired over the widths. A method's runs share their data, so the test
    measures whether the difference is one of these orders, not of other datasets.

    Args:
        final: From `final_metrics`, with a column `width`.
    """
    test = (
        f"For at least one method and two widths, mean final AA is at least {NOTICEABLE:.0f} point lower at "
        "the greater width, and the p value of a one-sided paired t test over orders and repetitions is "
        f"below {LEVEL} divided by the number of comparisons."
    )
    drops = _width_drops(final)
    if drops.empty:
        return not_testable("cgl-7", test, "No method has two runs in common at two widths.")
    limit = LEVEL / len(drops)
    found = drops[(drops["change"] <= -NOTICEABLE) & (drops["p"] < limit)]
    shown = (drops if found.empty else found).sort_values("change").iloc[0]
    return judge(
        "cgl-7",
        test,
        not found.empty,
        f"{len(found)} of {len(drops)} comparisons; the largest drop{'' if len(found) else ' (not enough)'}: "
        f"{shown['method']} from width {shown['narrow']} to {shown['wide']} changes by "
        f"{shown['change']:.2f} points (p = {shown['p']:.2g}, limit {limit:.2g}, {shown['pairs']} pairs).",
    )


@carries_lineage
def claim_8(final: pd.DataFrame) -> Verdict:
    """Greater depth has a consistent effect only on REPLAY.

    Args:
        final: From `final_metrics`, with a column `depth`.
    """
    test = (
        "A method's effect is consistent if its mean final AA moves in one direction at every step of depth, "
        f"by at least {NOTICEABLE:.0f} point in all; it must be for REPLAY and for no other method."
    )
    means = 100 * final.groupby(["method", "depth"])["average_accuracy"].mean().unstack()
    if "REPLAY" not in means.index or len(means) < 2:
        return not_testable("cgl-8", test, "It needs REPLAY and at least one other method.")
    if means.shape[1] < 3 or means.isna().any(axis=None):
        return not_testable("cgl-8", test, "It needs every method at three depths or more.")
    steps = means.diff(axis=1).iloc[:, 1:]
    one_way = (steps > 0).all(axis=1) | (steps < 0).all(axis=1)
    consistent = one_way & (steps.sum(axis=1).abs() >= NOTICEABLE)
    names = in_order(means.index[consistent])
    listed = "; ".join(
        f"{name} " + ", ".join(f"{value:.1f}" for value in means.loc[name]) for name in in_order(means.index)
    )
    depths = ", ".join(map(str, means.columns))
    return judge(
        "cgl-8",
        test,
        names == ["REPLAY"],
        f"Consistent: {', '.join(names) or 'none'}. Mean final AA at depths {depths}: {listed}.",
    )


def _width_drops(final: pd.DataFrame) -> pd.DataFrame:
    """The paired change of AA (points) between every two widths of every method, with a one-sided p value."""
    rows = []
    for method, runs in final.groupby("method"):
        wide = 100 * runs.pivot_table(index=PAIR, columns="width", values="average_accuracy")
        for narrow, wider in combinations(sorted(wide.columns), 2):
            change = (wide[wider] - wide[narrow]).dropna().to_numpy()
            if len(change) < 2:
                continue
            rows.append((method, narrow, wider, change.mean(), _below_zero(change), len(change)))
    return pd.DataFrame(rows, columns=["method", "narrow", "wide", "change", "p", "pairs"])


def _below_zero(change: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    """One-sided p value of a mean below zero; certain where every pair changes by the same amount."""
    if np.ptp(change) == 0:
        return 0.0 if change[0] < 0 else 1.0
    return float(stats.ttest_1samp(change, 0.0, alternative="less").pvalue)
