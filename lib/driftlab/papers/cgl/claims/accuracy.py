"""Claims on final accuracy: who reaches more, and which tasks end with more."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, product

import numpy as np

from driftlab.papers.cgl.claims.judging import (
    CGL_METHODS,
    ORDER_METHODS,
    REGULARISERS,
    NotJudgeableError,
    claim,
    percent,
)
from driftlab.papers.cgl.claims.noise import REPETITIONS, Floats, mean_difference, noisy, points, unpaired
from driftlab.papers.cgl.order_runs import OrderRuns
from driftlab.reporting.decisions import Decision, Difference, every, greater

BOUND_TIE = 0.02


@claim(
    "cgl-1",
    "Final AA in the default order (with fewer than three repetitions: mean over the orders that all methods "
    "have): JOINT above every other method, and no method more than 2 points below BARE, beyond the noise.",
    methods=(*ORDER_METHODS, "JOINT"),
)
def joint_is_upper_and_bare_lower_bound(runs: OrderRuns) -> tuple[Decision, str]:
    """JOINT is an upper and BARE a lower bound (cgl-1): a sanity check, as the paper states roles.

    Args:
        runs: Of all seven methods and JOINT, the default order among the orders of each.
    """
    of = runs.of((*ORDER_METHODS, "JOINT"))
    accuracy = {name: one.average_accuracy for name, one in of.items()}
    default = tuple(range(of["JOINT"].by_class.shape[2]))
    if len(of["JOINT"].seeds) >= REPETITIONS and default in of["JOINT"].orders:
        place = of["JOINT"].orders.index(default)
        accuracy = {name: values[:, place : place + 1] for name, values in accuracy.items()}
    decisions: list[Decision] = []
    for name in ORDER_METHODS:
        above = mean_difference(accuracy["JOINT"], accuracy[name])
        surely_below = above.value + 2 * above.noise < -BOUND_TIE
        decision = greater(above, runs.resolution)
        decisions.append("fails" if surely_below else "undecided" if decision == "fails" else decision)
    for name in CGL_METHODS:
        # A method within the tie of BARE does not violate the bound.
        lifted = mean_difference(accuracy[name] + BOUND_TIE, accuracy["BARE"])
        decisions.append(greater(lifted))
    means = {name: float(values.mean()) for name, values in accuracy.items()}
    return every(decisions), f"AA {percent(means)}; {accuracy['BARE'].shape[1]} orders."


@claim(
    "cgl-10",
    "Mean final AA over the orders, both with the same stored fraction: REPLAY above GEM by 2 points or "
    "more, beyond the noise.",
    methods=("GEM", "REPLAY"),
)
def gem_is_less_accurate_than_replay(runs: OrderRuns, fractions: Mapping[str, float]) -> tuple[Decision, str]:
    """GEM reaches a lower AA than REPLAY although both store the same fraction of the data (cgl-10).

    Args:
        runs: Of GEM and REPLAY.
        fractions: The fraction of each old task that the two store.
    """
    gem, replay = fractions["GEM"], fractions["REPLAY"]
    if gem != replay:
        raise NotJudgeableError(f"GEM stores {gem:g} of each task and REPLAY {replay:g}; it needs the same.")
    of = runs.of(("GEM", "REPLAY"))
    difference = mean_difference(of["REPLAY"].average_accuracy, of["GEM"].average_accuracy)
    return greater(difference, 0.02), (
        f"REPLAY {100 * of['REPLAY'].average_accuracy.mean():.2f}, GEM "
        f"{100 * of['GEM'].average_accuracy.mean():.2f}, difference {points(difference)} points; both store "
        f"{gem:g} of each task."
    )


@claim(
    "cgl-23",
    "The last task's final accuracy minus the mean of the earlier tasks', mean over orders: above 10 points "
    "beyond the noise for each of EWC, MAS and TWP.",
    methods=REGULARISERS,
)
def last_tasks_end_higher_with_regularisers(runs: OrderRuns) -> tuple[Decision, str]:
    """With regularisation the tasks that were learned last end with the higher accuracy (cgl-23)."""
    decisions: list[Decision] = []
    texts = []
    for name, one in runs.of(REGULARISERS).items():
        final = one.matrices[:, :, -1]
        gap = noisy(lambda a: float((a[..., -1] - a[..., :-1].mean(axis=-1)).mean()), final)
        low, high = gap.value - 2 * gap.noise, gap.value + 2 * gap.noise
        decisions.append("holds" if low > 0.10 else "fails" if high < 0.10 else "undecided")
        texts.append(f"{name} {points(gap)}")
    return every(decisions), f"{'; '.join(texts)} points."


@claim(
    "cgl-31",
    "Mean final AA over all orders: EWC and TWP below GEM, MAS and LwF, and these below REPLAY; each pair "
    "beyond the noise, a difference of one test sequence or less counts as a tie. Fails if REPLAY is not "
    "first or two pairs are reversed.",
    methods=CGL_METHODS,
)
def ewc_and_twp_are_worst_and_replay_best(runs: OrderRuns) -> tuple[Decision, str]:
    """EWC and TWP are worst, GEM, MAS and LwF better, REPLAY best over all orders (cgl-31)."""
    of = runs.of(CGL_METHODS)
    tiers = [("EWC", "TWP"), ("GEM", "MAS", "LwF"), ("REPLAY",)]
    pairs = [pair for lower, upper in combinations(tiers, 2) for pair in product(lower, upper)]
    decisions: list[Decision] = []
    reversed_pairs = []
    for low, high in pairs:
        gap = mean_difference(of[high].average_accuracy, of[low].average_accuracy)
        tie = abs(gap.value) <= runs.resolution
        decisions.append("holds" if tie else greater(gap))
        if not tie and gap.value + 2 * gap.noise < 0:
            reversed_pairs.append(f"{low} above {high}")
    accuracy = {name: float(one.average_accuracy.mean()) for name, one in of.items()}
    forgetting = {name: float(one.average_forgetting.mean()) for name, one in of.items()}
    first = max(accuracy, key=lambda name: accuracy[name])
    fails = first != "REPLAY" or len(reversed_pairs) >= 2
    holds = all(one == "holds" for one in decisions)
    return "fails" if fails else "holds" if holds else "undecided", (
        f"AA {percent(accuracy)}; reversed: {', '.join(reversed_pairs) or 'none'}; AF {percent(forgetting)}."
    )


@claim(
    "cgl-44",
    "Mean final AA over the task orders minus that over the class orders: above 0 beyond the noise for at "
    "least five of the seven methods; fails if below 0 for at least four.",
    methods=ORDER_METHODS,
)
def class_orders_are_harder_than_task_orders(by_task: OrderRuns, by_class: OrderRuns) -> tuple[Decision, str]:
    """Class-order experiments are harder than task-order ones (cgl-44).

    Args:
        by_task: Over task orders.
        by_class: Over random class orders.
    """
    if reason := by_class.lacks(ORDER_METHODS):
        raise NotJudgeableError(reason)
    first, second = by_task.of(ORDER_METHODS), by_class.of(ORDER_METHODS)
    gaps = {
        name: orders_difference(first[name].average_accuracy, second[name].average_accuracy)
        for name in ORDER_METHODS
    }
    above = sum(gap.value - 2 * gap.noise > 0 for gap in gaps.values())
    below = sum(gap.value + 2 * gap.noise < 0 for gap in gaps.values())
    decision: Decision = "holds" if above >= 5 else "fails" if below >= 4 else "undecided"
    return decision, f"Points: {'; '.join(f'{name} {points(gap)}' for name, gap in gaps.items())}."


@claim(
    "cgl-45",
    "Mean final accuracy of all tasks but the last, over the orders: LwF and REPLAY each above EWC, MAS and "
    "TWP by 2 points or more, beyond the noise.",
    methods=(*REGULARISERS, "LwF", "REPLAY"),
    dataset="UCLA",
)
def lwf_and_replay_keep_old_tasks_better(runs: OrderRuns) -> tuple[Decision, str]:
    """LwF and REPLAY keep old and new tasks together better than regularisers do (cgl-45)."""
    of = runs.of((*REGULARISERS, "LwF", "REPLAY"))
    decisions = [
        greater(mean_difference(of[better].kept, of[worse].kept), 0.02)
        for better, worse in product(("LwF", "REPLAY"), REGULARISERS)
    ]
    return every(decisions), f"{percent({name: float(one.kept.mean()) for name, one in of.items()})}."


@claim(
    "cgl-40",
    "Standard deviation of JOINT's final AA over at least ten task orders (mean over repetitions): at most 2 "
    "points, or 1.5 times what repetition noise explains; fails above 5 points.",
    methods=("JOINT",),
    dataset="UCLA",
)
def order_hardly_matters_for_joint(runs: OrderRuns) -> tuple[Decision, str]:
    """Order hardly matters for JOINT (cgl-40)."""
    accuracy = runs.methods["JOINT"].average_accuracy
    repetitions, orders = accuracy.shape
    if orders < 10:
        raise NotJudgeableError(f"It needs JOINT in ten orders or more; there are {orders}.")
    spread = float(accuracy.mean(axis=0).std(ddof=1))
    noise = float("nan")
    if repetitions >= REPETITIONS:
        noise = float(accuracy.std(axis=0, ddof=1).mean() / np.sqrt(repetitions))
    holds = spread <= 0.02 or spread <= 1.5 * noise
    return "holds" if holds else "fails" if spread > 0.05 else "undecided", (
        f"Deviation over {orders} orders {100 * spread:.2f} points; repetition noise explains "
        f"{'an unknown part (one repetition)' if np.isnan(noise) else f'{100 * noise:.2f}'}."
    )


@claim(
    "cgl-43",
    "Training minus test accuracy of the task just learned, BARE in the default order: larger on UCLA than "
    "on NTU by more than 2 points and the noise.",
)
def overfitting_is_weaker_on_ntu(gaps: Mapping[str, Difference]) -> tuple[Decision, str]:
    """Over-fitting is less likely on NTU, which has more sequences (cgl-43).

    Args:
        gaps: By dataset, training minus test accuracy with its noise.
    """
    if set(gaps) != {"UCLA", "NTU"}:
        raise NotJudgeableError(
            "It needs NTU beside UCLA, and the accuracy on training data, which the runs do not measure."
        )
    difference = unpaired(gaps["UCLA"], gaps["NTU"])
    low, high = difference.value - 2 * difference.noise, difference.value + 2 * difference.noise
    decision: Decision = "holds" if low > 0 and difference.value > 0.02 else "undecided"
    return "fails" if high < 0.02 else decision, f"UCLA minus NTU: {points(difference)} points."


def orders_difference(first: Floats, second: Floats) -> Difference:
    """The difference of the means over two different sets of orders, (R, O1) and (R, O2)."""
    if min(len(first), len(second)) >= REPETITIONS and len(first) == len(second):
        return mean_difference(first, second)
    return unpaired(
        *(noisy(lambda accuracies: float(accuracies.mean()), values) for values in (first, second))
    )
