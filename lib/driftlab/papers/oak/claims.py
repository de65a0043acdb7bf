"""The eight claims of Wanderlust, each with an explicit criterion.

Every function takes frames of one variant from `driftlab.metrics` (fractions) and speaks in percent. Means
are over repetitions. A claim needs all the methods that it speaks of: a smaller experiment is "not testable",
not a weaker claim.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from driftlab.core.errors import ParameterError
from driftlab.core.evaluation_table import one_variant
from driftlab.core.lineage import carries_lineage
from driftlab.reporting.verdicts import Verdict, judge, not_testable

CONTINUAL = ("Incremental", "EWC", "iCaRL")
ADAPTING = (*CONTINUAL, "Offline training")
ALL = ("Non-adaptation", *ADAPTING)
CLOSE = 1.0
SCORES = {"CAP": "cap", "FAP": "fap"}


@carries_lineage
def claim_1(runs: pd.DataFrame) -> Verdict:
    """Non-adaptation is lowest and offline training highest, in CAP and FAP.

    Args:
        runs: From `online_metrics`, known vocabulary.
    """
    test = (
        "Mean CAP and mean FAP: offline training above all other methods and non-adaptation below, in both."
    )
    if reason := _missing(runs, ALL):
        return not_testable("oak-1", test, reason)
    parts, decided = [], True
    for name, value in SCORES.items():
        means = _means(runs, value, ALL)
        upper, lower = means.drop("Offline training"), means.drop("Non-adaptation")
        low, high = means["Non-adaptation"], means["Offline training"]
        decided &= bool(high > upper.max() and low < lower.min())
        parts.append(
            f"{name}: offline training {high:.2f} against the best other {upper.idxmax()} {upper.max():.2f}, "
            f"non-adaptation {low:.2f} against the worst other {lower.idxmin()} {lower.min():.2f}"
        )
    return judge("oak-1", test, decided, "; ".join(parts) + ".")


@carries_lineage
def claim_2(runs: pd.DataFrame) -> Verdict:
    """ICaRL is above incremental fine-tuning in CAP and FAP.

    Args:
        runs: From `online_metrics`, known vocabulary.
    """
    test = "Mean CAP and mean FAP: iCaRL above incremental, in both."
    names = ("iCaRL", "Incremental")
    if reason := _missing(runs, names):
        return not_testable("oak-2", test, reason)
    means = {name: _means(runs, value, names) for name, value in SCORES.items()}
    return judge(
        "oak-2",
        test,
        all(bool(of["iCaRL"] > of["Incremental"]) for of in means.values()),
        "; ".join(f"{name}: {_listed(of)}" for name, of in means.items()) + ".",
    )


@carries_lineage
def claim_3(runs: pd.DataFrame) -> Verdict:
    """EWC and incremental fine-tuning are close in CAP.

    Args:
        runs: From `online_metrics`, known vocabulary.
    """
    test = f"Mean CAP: EWC and incremental at most {CLOSE:.0f} point apart."
    names = ("EWC", "Incremental")
    if reason := _missing(runs, names):
        return not_testable("oak-3", test, reason)
    means = _means(runs, "cap", names)
    apart = abs(means["EWC"] - means["Incremental"])
    return judge("oak-3", test, bool(apart <= CLOSE), f"{_listed(means)}: {apart:.2f} points apart.")


@carries_lineage
def claim_4(runs: pd.DataFrame) -> Verdict:
    """FAP is above CAP for every adapting method.

    Args:
        runs: From `online_metrics`, known vocabulary.
    """
    test = "Mean FAP above mean CAP for each of incremental, EWC, iCaRL and offline training."
    if reason := _missing(runs, ADAPTING):
        return not_testable("oak-4", test, reason)
    last, mean = _means(runs, "fap", ADAPTING), _means(runs, "cap", ADAPTING)
    pairs = ", ".join(f"{name} {last[name]:.2f} against {mean[name]:.2f}" for name in ADAPTING)
    return judge("oak-4", test, bool((last > mean).all()), f"FAP against CAP: {pairs}.")


@carries_lineage
def claim_5(known: pd.DataFrame, unknown: pd.DataFrame) -> Verdict:
    """Every continual method is lower with an unknown vocabulary than with a known one.

    Args:
        known: From `online_metrics`, known vocabulary.
        unknown: The same of runs on the same data with an unknown vocabulary.

    Raises:
        ParameterError: They are of other variants than ".../known" and ".../unknown".
    """
    test = (
        "Mean CAP and mean FAP: below those with a known vocabulary for each of incremental, EWC and iCaRL, "
        "in both."
    )
    if reason := _missing(known, CONTINUAL) or _missing(unknown, CONTINUAL):
        return not_testable("oak-5", test, reason)
    variants = [str(one_variant(frame, "claim")["variant"].iloc[0]) for frame in (known, unknown)]
    if variants[1].removesuffix("unknown") + "known" != variants[0]:
        raise ParameterError(f"Known and unknown vocabulary are compared, not {' and '.join(variants)}.")
    parts, decided = [], True
    for name, value in SCORES.items():
        with_all, without = _means(known, value, CONTINUAL), _means(unknown, value, CONTINUAL)
        decided &= bool((without < with_all).all())
        pairs = ", ".join(f"{one} {without[one]:.2f} against {with_all[one]:.2f}" for one in CONTINUAL)
        parts.append(f"{name}, unknown against known: {pairs}")
    return judge("oak-5", test, decided, "; ".join(parts) + ".")


@carries_lineage
def claim_6(summary: pd.DataFrame) -> Verdict:
    """ICaRL forgets least.

    Args:
        summary: From `forgetfulness_summary`, known vocabulary.
    """
    test = "Mean forgetfulness F over the classes: iCaRL below incremental and EWC."
    if reason := _missing(summary, CONTINUAL):
        return not_testable("oak-6", test, reason)
    means = _means(summary, "forgetfulness", CONTINUAL)
    return judge("oak-6", test, bool(means["iCaRL"] < means.drop("iCaRL").min()), f"F: {_listed(means)}.")


@carries_lineage
def claim_7(transferred: pd.DataFrame) -> Verdict:
    """EWC has a higher BWT than incremental fine-tuning, and a lower FWT.

    Args:
        transferred: From `transfer`, known vocabulary.
    """
    test = "Mean BWT of EWC above that of incremental, and mean FWT of EWC below that of incremental."
    names = ("EWC", "Incremental")
    if reason := _missing(transferred, names):
        return not_testable("oak-7", test, reason)
    forward, backward = _means(transferred, "fwt", names), _means(transferred, "bwt", names)
    return judge(
        "oak-7",
        test,
        bool(backward["EWC"] > backward["Incremental"] and forward["EWC"] < forward["Incremental"]),
        f"BWT: {_listed(backward)}; FWT: {_listed(forward)}.",
    )


def _means(frame: pd.DataFrame, value: str, methods: Iterable[str]) -> pd.Series[float]:
    """Mean in percent of each method, over its repetitions."""
    means = 100 * one_variant(frame, "claim").groupby("method")[value].mean()
    return means.loc[list(methods)]


def _missing(frame: pd.DataFrame, methods: Iterable[str]) -> str:
    absent = [name for name in methods if not (frame["method"] == name).any()]
    return f"Without runs of {', '.join(absent)}." if absent else ""


def _listed(means: pd.Series[float]) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in means.items())
