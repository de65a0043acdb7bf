"""Claims on average forgetting, and Theorem 1."""

from __future__ import annotations

import numpy as np

from driftlab.metrics.theorem import TheoremCheck
from driftlab.papers.cgl.claims.judging import (
    CGL_METHODS,
    ORDER_METHODS,
    NotJudgeableError,
    claim,
    percent,
)
from driftlab.papers.cgl.claims.noise import Floats, mean_difference, noisy, points, spread_difference
from driftlab.papers.cgl.order_runs import OrderRuns
from driftlab.reporting.decisions import Decision, every, greater, similar

BIN_WIDTH = 0.05
BIN_POINTS = 5


@claim(
    "cgl-5",
    "Mean final AF over the orders, rehearsal left out: GEM below BARE, EWC, MAS, TWP and LwF by more than "
    "one test sequence and the noise. The literal reading has REPLAY among the others; it is reported.",
    methods=ORDER_METHODS,
)
def gem_forgets_least(runs: OrderRuns) -> tuple[Decision, str]:
    """GEM has the lowest average forgetting (cgl-5), in the narrow and the literal reading."""
    of = runs.of(ORDER_METHODS)
    gem = of["GEM"].average_forgetting
    decisions = {
        name: greater(mean_difference(of[name].average_forgetting, gem), runs.resolution)
        for name in ORDER_METHODS
        if name != "GEM"
    }
    narrow = every(decision for name, decision in decisions.items() if name != "REPLAY")
    literal = every(decisions.values())
    words = {"holds": "holds", "fails": "does not hold", "undecided": "is undecided"}
    means = percent({name: float(one.average_forgetting.mean()) for name, one in of.items()})
    differs = "" if narrow == literal else f" The literal reading (REPLAY too) {words[literal]}."
    return narrow, f"AF {means}.{differs}"


@claim(
    "cgl-6",
    "AF_k ≤ 1 − k/(k−1)·AA_k + a_kk/(k−1) with the measured a_kk (Eq. 5), and with a_kk = 1 (Eq. 10), at "
    "every stage k ≥ 2 of every run. There is no noise: one violation fails.",
)
def accuracy_bounds_forgetting(check: TheoremCheck) -> tuple[Decision, str]:
    """AF never exceeds the bound that AA and a_{k,k} give (cgl-6, Theorem 1).

    Args:
        check: From `driftlab.metrics.theorem.check_theorem`.
    """
    if check.stages.empty:
        raise NotJudgeableError("No run has learnt two tasks.")
    slacks = [100 * round(slack, 12) + 0.0 for slack in (check.smallest_slack, check.smallest_drawn_slack)]
    return "holds" if check.violations.empty else "fails", (
        f"{len(check.violations)} violations in {len(check.stages):,} stages of {check.runs:,} runs; "
        f"smallest slack {slacks[0]:.2f} points (Eq. 5) and {slacks[1]:.2f} (Eq. 10)."
    )


@claim(
    "cgl-16",
    "Means over the orders: MAS is below EWC by 1 point or more, beyond the noise, both in the accuracy of "
    "the second and later tasks directly after learning and in AF. Fails if AF fails.",
    methods=("EWC", "MAS"),
    dataset="UCLA",
)
def mas_learns_less_and_forgets_less_than_ewc(runs: OrderRuns) -> tuple[Decision, str]:
    """MAS learns new tasks less well than EWC, and so forgets less (cgl-16)."""
    of = runs.of(("EWC", "MAS"))
    learning = mean_difference(of["EWC"].just_learned[..., 1:], of["MAS"].just_learned[..., 1:])
    forgetting = mean_difference(of["EWC"].average_forgetting, of["MAS"].average_forgetting)
    learns, forgets = greater(learning, 0.01), greater(forgetting, 0.01)
    both = learns == forgets == "holds"
    return "fails" if forgets == "fails" else "holds" if both else "undecided", (
        f"EWC minus MAS: new tasks {points(learning)} points, AF {points(forgetting)} points."
    )


@claim(
    "cgl-17",
    "Mean final AF over the orders: MAS and EWC within 5 points, the noise included.",
    methods=("EWC", "MAS"),
    dataset="NTU",
)
def mas_and_ewc_forget_alike_on_ntu(runs: OrderRuns) -> tuple[Decision, str]:
    """On NTU AF of MAS is comparable to that of EWC (cgl-17)."""
    of = runs.of(("EWC", "MAS"))
    difference = mean_difference(of["MAS"].average_forgetting, of["EWC"].average_forgetting)
    return similar(difference, 0.05), f"MAS minus EWC {points(difference)} points."


@claim(
    "cgl-18",
    f"In bins of AA (5 points wide) that hold at least {BIN_POINTS} orders of MAS and of TWP: the mean over "
    "bins, weighted by the smaller count, of AF(MAS) − AF(TWP) is above 1 point and the noise (bootstrap).",
    methods=("MAS", "TWP"),
)
def twp_forgets_less_than_mas_at_equal_accuracy(runs: OrderRuns) -> tuple[Decision, str]:
    """At similar AA TWP forgets less than MAS (cgl-18)."""
    of = runs.of(("MAS", "TWP"))
    values = [
        value.mean(axis=0, keepdims=True)  # one point per order, as in the figure
        for one in of.values()
        for value in (one.average_accuracy, one.average_forgetting)
    ]
    bins = difference_in_common_bins(*values)[1]
    if not bins:
        raise NotJudgeableError(
            f"No bin of AA holds {BIN_POINTS} orders of both; AA: "
            f"{percent({name: float(one.average_accuracy.mean()) for name, one in of.items()})}."
        )
    difference = noisy(lambda *v: difference_in_common_bins(*v)[0], *values)
    low, high = difference.value - 2 * difference.noise, difference.value + 2 * difference.noise
    holds = difference.value > 0.01 and low > 0
    return "holds" if holds else "fails" if high < 0 else "undecided", (
        f"MAS minus TWP {points(difference)} points in {bins} common bins."
    )


@claim(
    "cgl-19",
    "Standard deviation of final AF over the orders: largest for LwF of the six methods, beyond the noise; "
    "fails if LwF is fourth or lower.",
    methods=CGL_METHODS,
    dataset="UCLA",
)
def forgetting_of_lwf_swings_most(runs: OrderRuns) -> tuple[Decision, str]:
    """The AF of LwF swings strongly between task orders (cgl-19)."""
    of = {name: one.average_forgetting for name, one in runs.of(CGL_METHODS).items()}
    spreads = {name: float(values.std(axis=1).mean()) for name, values in of.items()}
    rank = sorted(spreads.values(), reverse=True).index(spreads["LwF"]) + 1
    decision = every(greater(spread_difference(of["LwF"], of[m])) for m in CGL_METHODS if m != "LwF")
    decision = "fails" if rank >= 4 else "undecided" if decision == "fails" else decision
    return decision, f"Deviation of AF in points: {percent(spreads)}; LwF has rank {rank} of 6."


@claim(
    "cgl-21",
    "Of the drop of AF against BARE, (peak of BARE − peak of the method) / (AF of BARE − AF of the method) "
    "is at least a half for two or more of MAS, TWP, GEM and LwF; fails if for none.",
    methods=("BARE", "MAS", "TWP", "GEM", "LwF"),
    dataset="UCLA",
)
def low_forgetting_comes_from_a_low_peak(runs: OrderRuns) -> tuple[Decision, str]:
    """Low forgetting comes from a lower peak, not from a better final accuracy (cgl-21)."""
    of = runs.of(("BARE", "MAS", "TWP", "GEM", "LwF"))
    bare, shares = of.pop("BARE"), {}
    for name, one in of.items():
        drop = float(bare.average_forgetting.mean() - one.average_forgetting.mean())
        if drop > 0:
            shares[name] = float(bare.peak.mean() - one.peak.mean()) / drop
    explained = sum(share >= 0.5 for share in shares.values())
    texts = [f"{name} {share:.2f}" if (share := shares.get(name)) is not None else f"{name} forgets no less"
             for name in of]  # fmt: skip
    return "holds" if explained >= 2 else "fails" if explained == 0 else "undecided", (
        f"Share that the peak explains: {', '.join(texts)}."
    )


def difference_in_common_bins(
    first_aa: Floats, first_af: Floats, second_aa: Floats, second_af: Floats
) -> tuple[float, int]:
    """AF(first) − AF(second) at equal AA: the mean over common bins, and how many bins there are.

    Args:
        first_aa: Accuracies of the first method's points.
        first_af: Their forgetting.
        second_aa: Likewise, of the second method.
        second_af: Likewise.
    """
    gaps, weights = [], []
    for number in range(round(1 / BIN_WIDTH) + 1):
        first = first_af[np.floor(first_aa / BIN_WIDTH + 1e-9) == number]
        second = second_af[np.floor(second_aa / BIN_WIDTH + 1e-9) == number]
        if min(len(first), len(second)) >= BIN_POINTS:
            gaps.append(first.mean() - second.mean())
            weights.append(min(len(first), len(second)))
    return (float(np.average(gaps, weights=weights)), len(gaps)) if gaps else (float("nan"), 0)
