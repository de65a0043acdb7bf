"""The ten claims of the continual graph learning paper, each with an explicit criterion.

Every function takes frames of one variant from `driftlab.metrics` (fractions) and speaks in percent. A
claim over methods needs all the methods that it speaks of: a smaller experiment is "not testable", not a
weaker claim.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd

from driftlab.core.errors import ParameterError
from driftlab.core.lineage import carries_lineage
from driftlab.metrics.theorem import TheoremCheck
from driftlab.reporting.verdicts import Verdict, judge, not_testable

PENALTIES = ("EWC", "MAS", "TWP")
ORDERED = ("BARE", *PENALTIES, "LwF", "GEM", "REPLAY")
FAR_BELOW = 10.0
NO_BETTER = 1.0


@carries_lineage
def claim_1(final: pd.DataFrame) -> Verdict:
    """JOINT has the highest and BARE the lowest final average accuracy.

    Args:
        final: From `final_metrics`, of all eight methods.
    """
    test = "Mean final AA over all runs of a method: JOINT above every other, BARE below every other."
    if reason := _missing(final, (*ORDERED, "JOINT")):
        return not_testable("cgl-1", test, reason)
    means = _means(final, "average_accuracy", (*ORDERED, "JOINT"))
    upper, lower = means.drop("JOINT"), means.drop("BARE")
    return judge(
        "cgl-1",
        test,
        bool(means["JOINT"] > upper.max() and means["BARE"] < lower.min()),
        f"JOINT {means['JOINT']:.2f} against the best other {upper.idxmax()} {upper.max():.2f}; "
        f"BARE {means['BARE']:.2f} against the worst other {lower.idxmin()} {lower.min():.2f}.",
    )


@carries_lineage
def claim_2(sensitivity: Mapping[str, pd.DataFrame]) -> Verdict:
    """REPLAY has the lowest AOPD in every column, BARE the highest.

    Args:
        sensitivity: Column name ("task UCLA") to a frame from `order_sensitivity_summary`.
    """
    test = (
        f"Mean AOPD over repetitions in each column tested here ({', '.join(sensitivity) or 'none'}): "
        "REPLAY strictly lowest, and no method above BARE."
    )
    parts, decided = [], bool(sensitivity)
    for column, frame in sensitivity.items():
        if reason := _missing(frame, ORDERED):
            return not_testable("cgl-2", test, f"{column}: {reason}")
        means = _means(frame, "aopd", ORDERED)
        rest, others = means.drop("REPLAY"), means.drop("BARE")
        decided &= bool(means["REPLAY"] < rest.min() and means["BARE"] >= others.max())
        parts.append(
            f"{column}: REPLAY {means['REPLAY']:.2f} against the lowest other {rest.idxmin()} "
            f"{rest.min():.2f}, BARE {means['BARE']:.2f} against the highest other {others.idxmax()} "
            f"{others.max():.2f}"
        )
    if not sensitivity:
        return not_testable("cgl-2", test, "No column was measured.")
    return judge("cgl-2", test, decided, "; ".join(parts) + ".")


@carries_lineage
def claim_3(by_task: pd.DataFrame, by_class: pd.DataFrame) -> Verdict:
    """Class-order AOPD is above task-order AOPD for every method.

    Args:
        by_task: From `order_sensitivity_summary` over the task orders.
        by_class: The same over class orders and task orders together.
    """
    test = "Mean AOPD over repetitions: by class strictly above by task, for each of the seven methods."
    if reason := _missing(by_task, ORDERED) or _missing(by_class, ORDERED):
        return not_testable("cgl-3", test, reason)
    task, label = _means(by_task, "aopd", ORDERED), _means(by_class, "aopd", ORDERED)
    gaps = [f"{name} {label[name]:.2f} against {task[name]:.2f}" for name in ORDERED]
    return judge("cgl-3", test, bool((label > task).all()), f"By class against by task: {', '.join(gaps)}.")


@carries_lineage
def claim_4(by_task: pd.DataFrame) -> Verdict:
    """On N-UCLA the task-order AOPD of LwF and REPLAY is far below that of EWC, MAS, TWP and GEM.

    Args:
        by_task: From `order_sensitivity_summary` over the task orders of N-UCLA or its stand-in.
    """
    test = (
        f"Mean AOPD over repetitions: the higher of LwF and REPLAY at least {FAR_BELOW:.0f} points below the "
        "lowest of EWC, MAS, TWP and GEM."
    )
    if reason := _not_nucla(by_task) or _missing(by_task, (*PENALTIES, "GEM", "LwF", "REPLAY")):
        return not_testable("cgl-4", test, reason)
    low = _means(by_task, "aopd", ("LwF", "REPLAY"))
    high = _means(by_task, "aopd", (*PENALTIES, "GEM"))
    gap = high.min() - low.max()
    return judge(
        "cgl-4",
        test,
        bool(gap >= FAR_BELOW),
        f"{low.idxmax()} {low.max():.2f} against {high.idxmin()} {high.min():.2f}: {abs(gap):.2f} points "
        f"{'below' if gap >= 0 else 'above'}.",
    )


@carries_lineage
def claim_5(final: pd.DataFrame) -> Verdict:
    """GEM has the lowest average forgetting of the methods that are not pure rehearsal.

    Args:
        final: From `final_metrics`.
    """
    test = "Mean final AF (definition max) over all runs: GEM strictly below BARE, EWC, MAS, TWP and LwF."
    names = ("BARE", *PENALTIES, "LwF", "GEM")
    if reason := _missing(final, names):
        return not_testable("cgl-5", test, reason)
    means = _means(final, "average_forgetting", names)
    rest = means.drop("GEM")
    return judge(
        "cgl-5",
        test,
        bool(means["GEM"] < rest.min()),
        f"GEM {means['GEM']:.2f} against the lowest other {rest.idxmin()} {rest.min():.2f}.",
    )


@carries_lineage
def claim_6(check: TheoremCheck) -> Verdict:
    """AF lies under the bound given by AA, in every run.

    Args:
        check: From `check_theorem`.
    """
    test = "AF_k ≤ 1 − k/(k−1)·AA_k + a_kk/(k−1) with the measured a_kk, at every stage k ≥ 2 of every run."
    if check.stages.empty:
        return not_testable("cgl-6", test, "No run has learnt two tasks.")
    return judge(
        "cgl-6",
        test,
        check.violations.empty,
        f"{len(check.violations)} violations in {len(check.stages):,} stages of {check.runs:,} runs; "
        f"smallest slack {100 * round(check.worst_slack, 12) + 0.0:.2f} points.",
    )


@carries_lineage
def claim_9(final: pd.DataFrame) -> Verdict:
    """With ST-GCN the regularisation methods are no better than BARE on N-UCLA.

    Args:
        final: From `final_metrics`, of the ST-GCN runs.
    """
    test = (
        f"Mean final AA over all ST-GCN runs: none of EWC, MAS and TWP more than {NO_BETTER:.0f} point above "
        "BARE. (LwF, which distils instead of penalising parameters, is shown and does not decide.)"
    )
    if reason := _not_nucla(final) or _missing(final, ("BARE", *PENALTIES)):
        return not_testable("cgl-9", test, reason)
    means = _means(final, "average_accuracy", ("BARE", *PENALTIES))
    aside = _means(final, "average_accuracy", ("LwF",)) if (final["method"] == "LwF").any() else None
    listed = ", ".join(f"{name} {means[name]:.2f}" for name in ("BARE", *PENALTIES))
    return judge(
        "cgl-9",
        test,
        bool(means[list(PENALTIES)].max() <= means["BARE"] + NO_BETTER),
        listed + ("" if aside is None else f"; LwF {aside['LwF']:.2f}") + ".",
    )


@carries_lineage
def claim_10(final: pd.DataFrame) -> Verdict:
    """GEM is below REPLAY in AA though both keep the same fraction of data.

    Args:
        final: From `final_metrics`, of runs that keep the same fraction.
    """
    test = "Mean final AA over all runs, both with the same memory fraction: GEM strictly below REPLAY."
    if reason := _missing(final, ("GEM", "REPLAY")):
        return not_testable("cgl-10", test, reason)
    means = _means(final, "average_accuracy", ("GEM", "REPLAY"))
    return judge(
        "cgl-10",
        test,
        bool(means["GEM"] < means["REPLAY"]),
        f"GEM {means['GEM']:.2f}, REPLAY {means['REPLAY']:.2f}.",
    )


def _means(frame: pd.DataFrame, value: str, methods: Iterable[str]) -> pd.Series[float]:
    """Mean in percent of each method, over whatever rows it has."""
    if frame["variant"].nunique() != 1:
        names = ", ".join(sorted(frame["variant"].unique()))
        raise ParameterError(f"A claim is judged on one variant at a time, not on: {names}.")
    means = 100 * frame.groupby("method")[value].mean()
    return means.loc[list(methods)]


def _missing(frame: pd.DataFrame, methods: Iterable[str]) -> str:
    absent = [name for name in methods if not (frame["method"] == name).any()]
    return f"Without runs of {', '.join(absent)}." if absent else ""


def _not_nucla(frame: pd.DataFrame) -> str:
    names = sorted({str(name).split("/")[0] for name in frame["variant"].unique()} - {"nucla"})
    return f"The claim is about N-UCLA; these runs are of {', '.join(names)}." if names else ""
