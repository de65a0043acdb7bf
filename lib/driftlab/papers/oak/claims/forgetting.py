"""Claims about forgetfulness (Table 3, Figure 8)."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import binomtest, spearmanr

from driftlab.core.evaluation_table import one_variant
from driftlab.core.lineage import carries_lineage
from driftlab.papers.oak.scores import CONTINUAL, Part, Scores, above, conclude
from driftlab.reporting.decisions import Decision
from driftlab.reporting.verdicts import Verdict, judge, not_testable

COLUMN = "forgetfulness"
FEWEST_BINS = 4
TIE = 0.1
"""Points within which two methods are equally good in a class."""


@carries_lineage
def icarl_forgets_least(forgotten: Scores) -> Verdict:
    """oak-6: ICaRL forgets clearly less (F) than incremental fine-tuning and EWC.

    Args:
        forgotten: F by class, from the same bins and gaps of the stream for all methods.
    """
    test = "F of Incremental and F of EWC each at least 0.5 points above that of iCaRL, beyond the noise."
    if reason := forgotten.missing(CONTINUAL):
        return not_testable("oak-6", test, reason)
    return conclude("oak-6", test, less_forgetting(forgotten), forgotten.note(CONTINUAL))


def less_forgetting(forgotten: Scores) -> list[Part]:
    """The comparisons of oak-6, which oak-20 needs too."""
    parts = [above(forgotten, COLUMN, method, "iCaRL", 0.5) for method in ("Incremental", "EWC")]
    return [(decision, words.replace(COLUMN.upper(), "F")) for decision, words in parts]


@carries_lineage
def ewc_does_not_lower_forgetting(forgotten: Scores) -> Verdict:
    """oak-21: EWC does not lower overall F against incremental fine-tuning.

    Args:
        forgotten: F by class.
    """
    test = (
        "F of EWC is not lower than that of Incremental by more than 0.5 points, beyond the noise. A reading "
        "of Table 3, in tension with oak-7's reading that EWC forgets less."
    )
    names = ("EWC", "Incremental")
    if reason := forgotten.missing(names):
        return not_testable("oak-21", test, reason)
    found = forgotten.difference(COLUMN, *names)
    decision: Decision = "holds" if found.value + 2 * found.noise > -0.5 else "fails"
    part = ("undecided" if np.isnan(found.noise) else decision, f"F EWC − Incremental {found.text()}")
    return conclude("oak-21", test, [part], forgotten.note(names))


@carries_lineage
def forgetting_grows_with_time(curve: pd.DataFrame) -> Verdict:
    """oak-22: Forgetfulness grows with the time since the class was last seen.

    Args:
        curve: From `forgetting_curve`, known vocabulary.
    """
    test = (
        "Per class with at least 4 bins: Spearman correlation of k with aCAP_kmin − aCAP_k. A method holds "
        "if the median over the classes is above 0.3 and a one-sided sign test has p < 0.05, and fails if "
        "the median is at most 0. The claim holds (fails) if at least two of Incremental, EWC and iCaRL do."
    )
    runs = one_variant(curve, "claim")
    if reason := _missing(runs):
        return not_testable("oak-22", test, reason)
    decisions: list[Decision] = []
    words = []
    for method in CONTINUAL:
        correlations = _correlations(runs[runs["method"] == method])
        if not len(correlations):
            return not_testable("oak-22", test, f"{method}: no class has {FEWEST_BINS} bins.")
        median, positive = float(np.median(correlations)), int((correlations > 0).sum())
        p = float(binomtest(positive, len(correlations), 0.5, alternative="greater").pvalue)
        decisions.append("holds" if median > 0.3 and p < 0.05 else "fails" if median <= 0 else "undecided")
        words.append(
            f"{method}: median {median:+.2f}, positive in {positive} of {len(correlations)} classes "
            f"(p = {p:.2g})"
        )
    decided: Decision = next((one for one in ("holds", "fails") if decisions.count(one) >= 2), "undecided")
    return judge("oak-22", test, decided, "; ".join(words) + ".")


def _correlations(runs: pd.DataFrame) -> NDArray[np.float64]:
    values = []
    for _, bins in losses(runs).groupby("class"):
        if len(bins) >= FEWEST_BINS:
            constant = bins["loss"].nunique() < 2
            values.append(0.0 if constant else float(spearmanr(bins["since"], bins["loss"]).statistic))
    return np.array(values)


def losses(curve: pd.DataFrame) -> pd.DataFrame:
    """Forgetfulness so far, aCAP_kmin − aCAP_k in points, mean over the repetitions.

    Args:
        curve: From `forgetting_curve`, of one variant.

    Returns:
        Columns `method`, `class`, `bin`, `since`, `value` (aCAP_k in percent), `loss` and `evaluations` (over
        all repetitions).
    """
    groups = curve.groupby(["method", "class", "bin"])
    bins = groups.agg(
        since=("since", "mean"), value=("value", "mean"), evaluations=("evaluations", "sum")
    ).reset_index()
    bins["value"] *= 100
    bins["loss"] = bins.groupby(["method", "class"])["value"].transform("first") - bins["value"]
    return bins


@carries_lineage
def incremental_does_best_in_most_classes(curve: pd.DataFrame, classes: Collection[str]) -> Verdict:
    """oak-23: In most of the sample classes incremental fine-tuning does best.

    Args:
        curve: From `forgetting_curve`, known vocabulary.
        classes: Names of the sample classes.
    """
    test = (
        "Best in a class is the method with the lowest mean of aCAP_kmin − aCAP_k over the bins after the "
        f"first; ties within {TIE} points count half. Holds if Incremental is best in more than half of the "
        "sample classes. Beside it, the same with the highest mean aCAP_k. The paper's own Table 3 speaks "
        "against the claim."
    )
    runs = one_variant(curve, "claim")
    if reason := _missing(runs):
        return not_testable("oak-23", test, reason)
    bins = losses(runs[runs["class"].isin(list(classes)) & runs["method"].isin(CONTINUAL)])
    later = bins[bins["bin"] > 0]
    loss, level = (
        later.pivot_table(index="class", columns="method", values=column).dropna()
        for column in ("loss", "value")
    )
    if loss.empty:
        return not_testable("oak-23", test, "No sample class has two bins for every method.")
    least, highest = _wins(loss, low=True), _wins(level, low=False)
    words = (
        f"Of {len(loss)} classes Incremental forgets least in {least:g}; it has the highest mean aCAP_k in "
        f"{highest:g}."
    )
    return judge("oak-23", test, least > len(loss) / 2, words)


def _wins(means: pd.DataFrame, *, low: bool) -> float:
    """In how many classes Incremental is best, half for a tie."""
    scored = means if low else -means
    best = scored.le(scored.min(axis=1) + TIE, axis=0)
    return float((best["Incremental"] * np.where(best.sum(axis=1) > 1, 0.5, 1.0)).sum())


def _missing(runs: pd.DataFrame) -> str:
    absent = [name for name in CONTINUAL if not (runs["method"] == name).any()]
    return f"Without runs of {', '.join(absent)}." if absent else ""
