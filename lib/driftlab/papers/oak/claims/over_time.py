"""Claims about the AP of single classes over time (Figure 7)."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import wilcoxon

from driftlab.core.evaluation_table import one_variant
from driftlab.core.lineage import carries_lineage
from driftlab.papers.oak.scores import CONTINUAL, Part, conclude
from driftlab.reporting.decisions import Decision, every
from driftlab.reporting.verdicts import Verdict, judge, not_testable

FEWEST = 3
"""Evaluation intervals of each kind that a class needs (oak-8)."""


@carries_lineage
def ap_rises_while_seen_and_falls_after(exposed: pd.DataFrame) -> Verdict:
    """oak-8: A class's AP rises while it is seen and falls as time passes without it.

    Args:
        exposed: From `exposure`, known vocabulary.
    """
    test = (
        "Per class with at least 3 intervals between evaluations of each kind: u is the mean change of AP "
        "over intervals whose training frames show the class, v over those whose frames do not (changes from "
        "0 to 0 left out). Per method: median u > 0, median v < 0 over the classes, and u > v with p < 0.05 "
        "(one-sided Wilcoxon); a method fails if the median of u − v is at most 0. For each of Incremental, "
        "EWC and iCaRL."
    )
    runs = one_variant(exposed, "claim")
    if reason := _missing(runs):
        return not_testable("oak-8", test, reason)
    parts = [_rise_and_fall(runs, method) for method in CONTINUAL]
    few = [words for decision, words in parts if decision is None]
    if few:
        return not_testable("oak-8", test, "; ".join(few) + ".")
    return conclude("oak-8", test, [(decision, words) for decision, words in parts if decision])


def _rise_and_fall(runs: pd.DataFrame, method: str) -> tuple[Decision | None, str]:
    rows = runs[runs["method"] == method].dropna(subset=["change"])
    rows = rows[(rows["value"] > 0) | (rows["change"] != 0)]
    groups = rows.groupby(["class", "seen"])
    changes = 100 * groups["change"].mean().unstack().reindex(columns=[True, False])
    counts = groups["trained_on"].nunique().unstack().reindex(columns=[True, False]).fillna(0)
    changes = changes[(counts >= FEWEST).all(axis=1)]
    if changes.empty:
        return None, f"{method}: no class has {FEWEST} intervals of each kind"
    u, v = changes[True].to_numpy(), changes[False].to_numpy()
    p = _p_above_zero(u - v)
    words = (
        f"{method}: median {np.median(u):+.2f} points per interval while seen and {np.median(v):+.2f} while "
        f"not, {len(u)} classes, p = {p:.2g}"
    )
    if np.median(u) > 0 and np.median(v) < 0 and p < 0.05:
        return "holds", words
    return ("fails" if np.median(u - v) <= 0 else "undecided"), words


@carries_lineage
def ap_recovers_when_a_class_returns(exposed: pd.DataFrame) -> Verdict:
    """oak-24: When a class is seen again late in the stream its AP recovers.

    Args:
        exposed: From `exposure`, known vocabulary.
    """
    test = (
        "Classes that were away for at least a tenth of the stream and return in its last third: change from "
        "the last evaluation of the absence to the best one of the return. Per method the median over "
        "classes is above 0.5 points with p < 0.05 (one-sided Wilcoxon); a median of at most 0 fails. At "
        "least 5 classes, for each of Incremental, EWC and iCaRL."
    )
    runs = one_variant(exposed, "claim")
    if reason := _missing(runs):
        return not_testable("oak-24", test, reason)
    parts: list[Part] = []
    for method in CONTINUAL:
        gains = _recoveries(runs[runs["method"] == method], int(runs["trained_on"].max()))
        if len(gains) < 5:
            return not_testable("oak-24", test, f"{method}: only {len(gains)} classes return late.")
        median, p = float(np.median(gains)), _p_above_zero(gains)
        decision: Decision = "holds" if median > 0.5 and p < 0.05 else "fails" if median <= 0 else "undecided"
        parts.append((decision, f"{method}: median {median:+.2f} points, {len(gains)} classes, p = {p:.2g}"))
    return conclude("oak-24", test, parts)


def _recoveries(runs: pd.DataFrame, steps: int) -> NDArray[np.float64]:
    """Gain of AP at the last late return of each class, in points, mean over repetitions."""
    rows = []
    for (seed, name), of_class in runs.sort_values("trained_on").groupby(["seed", "class"]):
        seen = of_class["seen"].to_numpy(dtype=bool)
        since = of_class["since"].to_numpy(dtype=float)
        time, value = (of_class[column].to_numpy(dtype=float) for column in ("trained_on", "value"))
        starts = np.flatnonzero(seen[1:] & (since[:-1] >= steps / 10) & (time[1:] > 2 * steps / 3)) + 1
        if len(starts):
            start = int(starts[-1])
            away = np.flatnonzero(~seen[start:])
            end = start + int(away[0]) if len(away) else len(seen)
            rows.append((seed, name, 100 * (value[start:end].max() - value[start - 1])))
    frame = pd.DataFrame(rows, columns=["seed", "class", "gain"])
    return np.asarray(frame.groupby("class")["gain"].mean())


@carries_lineage
def unseen_classes_pull_an_evaluation_down(exposed: pd.DataFrame, pretrained: Collection[str]) -> Verdict:
    """oak-35: With a known vocabulary, classes not yet trained pull an evaluation's result down.

    Args:
        exposed: From `exposure`, known vocabulary.
        pretrained: Names of the classes that the pretrained detector knows; they count as seen.
    """
    test = (
        "At each evaluation before all classes are seen: mean AP over the classes seen so far (those of the "
        "pretraining among them) above the mean over the others, in at least 95 % of these evaluations, for "
        "each of Incremental, EWC and iCaRL."
    )
    runs = one_variant(exposed, "claim")
    if reason := _missing(runs):
        return not_testable("oak-35", test, reason)
    runs = runs[runs["trained_on"] > 0]
    runs = runs.assign(known=runs["since"].notna() | runs["class"].isin(list(pretrained)))
    parts: list[Part] = []
    for method in CONTINUAL:
        of_method = runs[runs["method"] == method]
        means = of_method.groupby(["seed", "trained_on", "known"])["value"].mean().unstack()
        means = means.reindex(columns=[True, False]).dropna()
        if means.empty:
            return not_testable("oak-35", test, f"{method}: all classes are seen by the first evaluation.")
        share = float((means[True] > means[False]).mean())
        words = f"{method}: {100 * share:.0f} % of {len(means)} evaluations"
        parts.append(("holds" if share >= 0.95 else "fails", words))
    return judge(
        "oak-35", test, every(decision for decision, _ in parts), "; ".join(words for _, words in parts) + "."
    )


def _missing(runs: pd.DataFrame) -> str:
    absent = [name for name in CONTINUAL if not (runs["method"] == name).any()]
    return f"Without runs of {', '.join(absent)}." if absent else ""


def _p_above_zero(values: NDArray[np.float64]) -> float:
    """One-sided Wilcoxon signed-rank p-value of values being above zero; 1 if all are zero."""
    if not np.any(values):
        return 1.0
    return float(wilcoxon(values, alternative="greater").pvalue)
