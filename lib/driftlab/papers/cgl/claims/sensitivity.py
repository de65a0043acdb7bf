"""Claims on order sensitivity: AOPD and MOPD of Table 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from driftlab.core.evaluation_table import one_variant
from driftlab.core.lineage import carries_lineage
from driftlab.papers.cgl.claims.judging import (
    CGL_METHODS,
    ORDER_METHODS,
    REGULARISERS,
    NotJudgeableError,
    claim,
    percent,
)
from driftlab.papers.cgl.claims.noise import (
    REPETITIONS,
    Floats,
    points,
    range_difference,
    spread_difference,
    unpaired,
)
from driftlab.papers.cgl.order_runs import LABELS, MethodRuns, OrderRuns
from driftlab.reporting.decisions import Decision, Difference, every, greater, paired


@dataclass(frozen=True)
class Sensitivity:
    """One half of Table 2 on one dataset.

    Attributes:
        dataset: "UCLA" or "NTU".
        aopd: AOPD by method, (R,): one fraction per repetition.
        mopd: MOPD likewise.
        resolution: The step of one test sequence, see `OrderRuns.resolution`.
    """

    dataset: str
    aopd: Mapping[str, Floats]
    mopd: Mapping[str, Floats]
    resolution: float

    def lacks(self, names: Sequence[str]) -> str:
        """Which of these methods are missing, as a sentence; empty if none."""
        absent = [name for name in names if name not in self.aopd]
        return f"Without runs of {', '.join(absent)}." if absent else ""

    @property
    def means(self) -> dict[str, float]:
        """Mean AOPD by method."""
        return {name: float(values.mean()) for name, values in self.aopd.items()}


@carries_lineage
def sensitivity(summary: pd.DataFrame, resolution: float) -> Sensitivity:
    """Half of Table 2 for judging.

    Args:
        summary: Of one variant, from `order_sensitivity_summary`.
        resolution: See `OrderRuns.resolution`.
    """
    rows = one_variant(summary, "claim").sort_values(["method", "seed"])
    groups = list(rows.groupby("method"))
    dataset = str(rows["variant"].iloc[0]).split("/")[0]
    return Sensitivity(
        LABELS.get(dataset, dataset),
        {str(name): group["aopd"].to_numpy() for name, group in groups},
        {str(name): group["mopd"].to_numpy() for name, group in groups},
        resolution,
    )


@claim(
    "cgl-2",
    "AOPD in each block of Table 2 that was measured: REPLAY below and BARE above every other method, by "
    "more than one test sequence and the noise; a difference of one test sequence or less is a tie, which "
    "leaves the block undecided.",
    methods=ORDER_METHODS,
)
def replay_is_least_and_bare_most_order_sensitive(blocks: Mapping[str, Sensitivity]) -> tuple[Decision, str]:
    """REPLAY has the lowest and BARE the highest AOPD in each block (cgl-2).

    Args:
        blocks: By the paper's name of the block, for example "task UCLA".
    """
    decisions, texts = [], []
    for name, block in blocks.items():
        pairs = [(m, "REPLAY") for m in ORDER_METHODS if m != "REPLAY"]
        pairs += [("BARE", m) for m in ORDER_METHODS if m != "BARE"]
        decision = every(_above(block.aopd[a], block.aopd[b], block.resolution) for a, b in pairs)
        decisions.append(decision)
        texts.append(f"{name} ({decision}): {percent({m: block.means[m] for m in ORDER_METHODS})}")
    return every(decisions), f"AOPD {'; '.join(texts)}."


@claim(
    "cgl-3",
    "AOPD over class orders minus AOPD over task orders: above 2 points beyond the noise for each method. "
    "(That it is not below 0 holds by construction and is asserted.)",
    methods=ORDER_METHODS,
)
def class_orders_move_more_than_task_orders(
    by_task: Sensitivity, by_class: Sensitivity, same_orders: OrderRuns | None = None
) -> tuple[Decision, str]:
    """Class-order sensitivity is larger than task-order sensitivity for every method, by much (cgl-3).

    Args:
        by_task: Over the task orders.
        by_class: Over class orders that contain those task orders.
        same_orders: The runs of the task orders, for the fair form: both on the same orders.
    """
    if reason := by_class.lacks(ORDER_METHODS):
        raise NotJudgeableError(reason)
    gaps = {m: range_difference(by_class.aopd[m], by_task.aopd[m]) for m in ORDER_METHODS}
    fair = ""
    if same_orders is not None:
        runs = same_orders.of(ORDER_METHODS)
        shares = {
            m: float((average_opd(r.by_class) - average_opd(r.by_task)).mean()) for m, r in runs.items()
        }
        fair = f" On the same task orders: {percent(shares)}."
    decisions = [_beyond(gap, 0.02) for gap in gaps.values()]
    return every(decisions), f"Gap in points: {'; '.join(f'{m} {points(g)}' for m, g in gaps.items())}.{fair}"


@claim(
    "cgl-4",
    "AOPD over task orders: each of EWC, MAS, TWP and GEM above LwF and above REPLAY by 10 points or more, "
    "beyond the noise.",
    methods=CGL_METHODS,
    dataset="UCLA",
)
def lwf_and_replay_are_less_order_sensitive(by_task: Sensitivity) -> tuple[Decision, str]:
    """On UCLA regularisers are highly sensitive to task order, LwF and REPLAY clearly less (cgl-4)."""
    pairs = list(product((*REGULARISERS, "GEM"), ("LwF", "REPLAY")))
    gaps = {(a, b): range_difference(by_task.aopd[a], by_task.aopd[b]) for a, b in pairs}
    (a, b), least = min(gaps.items(), key=lambda item: item[1].value)
    return every(greater(gap, 0.10) for gap in gaps.values()), (
        f"Smallest gap: {a} minus {b} {points(least)} points. AOPD {percent(by_task.means)}."
    )


@claim(
    "cgl-11",
    "AOPD over task orders: GEM above REPLAY by more than one test sequence and the noise. The deviation "
    "of AA over the orders is reported.",
    methods=("GEM", "REPLAY"),
)
def gem_is_more_order_sensitive_than_replay(
    by_task: Sensitivity, runs: OrderRuns | None = None
) -> tuple[Decision, str]:
    """GEM is more order sensitive than REPLAY (cgl-11).

    Args:
        by_task: Over the task orders.
        runs: The runs behind it, for the deviation of AA.
    """
    gap = range_difference(by_task.aopd["GEM"], by_task.aopd["REPLAY"])
    beside = ""
    if runs is not None:
        of = runs.of(("GEM", "REPLAY"))
        spread = {name: float(one.average_accuracy.std(axis=1).mean()) for name, one in of.items()}
        beside = f" Deviation of AA over orders in points: {percent(spread)}."
    return greater(gap, by_task.resolution), f"GEM minus REPLAY {points(gap)} points of AOPD.{beside}"


@claim(
    "cgl-12",
    "Standard deviation of final AA over the orders: at least five of the six pairs of a regulariser (EWC, "
    "MAS, TWP) and LwF or REPLAY differ by 0.5 points or more, beyond the noise, and none the other way.",
    methods=(*REGULARISERS, "LwF", "REPLAY"),
    dataset="UCLA",
)
def lwf_and_replay_are_steadier_in_accuracy(runs: OrderRuns) -> tuple[Decision, str]:
    """AA of the regularisers varies with the order; LwF and REPLAY are steadier (cgl-12)."""
    of = {name: one.average_accuracy for name, one in runs.of((*REGULARISERS, "LwF", "REPLAY")).items()}
    gaps = [spread_difference(of[a], of[b]) for a, b in product(REGULARISERS, ("LwF", "REPLAY"))]
    decisions = [greater(gap, 0.005) for gap in gaps]
    contrary = any(gap.value + 2 * gap.noise < -0.005 for gap in gaps)
    spreads = {name: float(values.std(axis=1).mean()) for name, values in of.items()}
    means = {name: float(values.mean()) for name, values in of.items()}
    fails = contrary or decisions.count("fails") > 1
    return "fails" if fails else "holds" if decisions.count("holds") >= 5 else "undecided", (
        f"Deviation of AA in points: {percent(spreads)}; AA {percent(means)} (a method that collapses to one "
        "task varies little)."
    )


@claim(
    "cgl-22",
    "MOPD over task orders, mean over repetitions: at least 95 % for four or more of BARE, EWC, MAS, TWP and "
    "GEM, and below 95 % for LwF and REPLAY.",
    methods=ORDER_METHODS,
    dataset="UCLA",
)
def some_tasks_swing_between_nothing_and_all(by_task: Sensitivity) -> tuple[Decision, str]:
    """Some methods reach 100 % MOPD for task orders (cgl-22)."""
    means = {name: float(by_task.mopd[name].mean()) for name in ORDER_METHODS}
    many = sum(means[name] >= 0.95 - 1e-9 for name in ("BARE", *REGULARISERS, "GEM")) >= 4
    return "holds" if many and max(means["LwF"], means["REPLAY"]) < 0.95 - 1e-9 else "fails", (
        f"MOPD {percent(means)}. (The paper's text lists EWC, MAS and GEM at 100, its table EWC, TWP and "
        "GEM.)"
    )


@claim(
    "cgl-24",
    "AOPD over task orders: larger on UCLA than on NTU for at least five of the methods without LwF, and "
    "smaller for LwF, each beyond the noise of both; fails if LwF improves too.",
    methods=ORDER_METHODS,
    dataset="UCLA",
)
def ntu_is_less_order_sensitive_except_for_lwf(
    ucla: Sensitivity, ntu: Sensitivity | None = None
) -> tuple[Decision, str]:
    """Most methods are less sensitive to task order on NTU than on UCLA, LwF is the exception (cgl-24).

    Args:
        ucla: Over the task orders of UCLA.
        ntu: Over those of NTU, with as many orders.
    """
    if ntu is None:
        raise NotJudgeableError("It needs NTU beside UCLA.")
    gaps = {m: _between_datasets(ucla.aopd[m], ntu.aopd[m]) for m in ORDER_METHODS}
    lwf = gaps["LwF"]
    others = [gap.value - 2 * gap.noise > 0 for m, gap in gaps.items() if m != "LwF"]
    holds = sum(others) >= 5 and lwf.value + 2 * lwf.noise < 0
    fails = lwf.value - 2 * lwf.noise > 0
    return "holds" if holds else "fails" if fails else "undecided", (
        f"UCLA minus NTU in points: {'; '.join(f'{m} {points(gap)}' for m, gap in gaps.items())}."
    )


@claim(
    "cgl-27",
    "Task AOPD above its noise floor by more than 10 points for every method, and on UCLA class AOPD at "
    "least 50 %. Floor: range over the repetitions of one order, mean over tasks and orders. Fails if any "
    "method is within 5 points of the floor.",
    methods=ORDER_METHODS,
)
def every_method_is_order_sensitive(
    by_task: Sensitivity, runs: OrderRuns, by_class: Sensitivity | None = None
) -> tuple[Decision, str]:
    """Every method is order sensitive; on UCLA all are sensitive to class order (cgl-27).

    Args:
        by_task: Over the task orders.
        runs: The runs behind it.
        by_class: Over class and task orders together.
    """
    of = runs.of(ORDER_METHODS)
    if len(of["BARE"].seeds) < REPETITIONS:
        raise NotJudgeableError(f"The noise floor needs {REPETITIONS} repetitions or more.")
    if by_class is None:
        raise NotJudgeableError("It needs the class orders too.")
    floors = {m: float(np.ptp(one.by_task, axis=0).mean()) for m, one in of.items()}
    above = {m: by_task.means[m] - floors[m] for m in ORDER_METHODS}
    classes = {m: by_class.means[m] for m in ORDER_METHODS}
    fails = min(above.values()) <= 0.05
    holds = min(above.values()) > 0.10 and (by_class.dataset != "UCLA" or min(classes.values()) >= 0.50)
    return "fails" if fails else "holds" if holds else "undecided", (
        f"Task AOPD above the floor, in points: {percent(above)}; class AOPD {percent(classes)}."
    )


@claim(
    "cgl-28",
    "On the same task orders, for LwF and for REPLAY: class AOPD minus task AOPD above 5 points beyond the "
    "noise, and the two classes of a task differ by more than 10 points on average. Fails if the first is at "
    "most 2 points for both.",
    methods=("LwF", "REPLAY"),
    dataset="UCLA",
)
def robust_to_task_order_is_not_robust_to_class_order(runs: OrderRuns) -> tuple[Decision, str]:
    """A method that is robust to task order can still be sensitive to class order (cgl-28).

    Args:
        runs: Over task orders.
    """
    decisions: list[Decision] = []
    gaps, within = {}, {}
    for name, one in runs.of(("LwF", "REPLAY")).items():
        gaps[name] = range_difference(average_opd(one.by_class), average_opd(one.by_task))
        within[name] = float(class_gaps(one).mean())
        beyond = _beyond(gaps[name], 0.05)
        decisions.append("undecided" if beyond == "fails" or within[name] <= 0.10 else beyond)
    fails = all(gap.value <= 0.02 for gap in gaps.values())
    return "fails" if fails else every(decisions), (
        f"Gap in points: {'; '.join(f'{m} {points(g)}' for m, g in gaps.items())}; classes of a task differ "
        f"by {percent(within)} points."
    )


@claim(
    "cgl-29",
    "Share of (order, task) pairs whose two classes end 30 points or more apart (mean over repetitions): at "
    "least 5 % for one of the methods; fails if there is no such pair.",
    dataset="UCLA",
)
def two_classes_of_one_task_can_end_far_apart(runs: OrderRuns) -> tuple[Decision, str]:
    """Within one task two classes can end far apart (cgl-29).

    Args:
        runs: Over task orders.
    """
    names = [name for name in CGL_METHODS if name in runs.methods]
    if not names:
        raise NotJudgeableError("Without runs of any continual-learning method.")
    shares = {name: float((class_gaps(runs.methods[name]) >= 0.30 - 1e-9).mean()) for name in names}
    most = max(shares.values())
    return "holds" if most >= 0.05 else "fails" if most == 0 else "undecided", (
        f"Share of pairs in percent: {percent(shares)}."
    )


def average_opd(final: Floats) -> Floats:
    """AOPD of each repetition, (R,), from final accuracies (R, O, units)."""
    return np.asarray(np.ptp(final, axis=1).mean(axis=1))


def class_gaps(runs: MethodRuns) -> NDArray[np.float64]:
    """|a_{K,c1} − a_{K,c2}| of the two classes of each task, mean accuracies over repetitions: (O, tasks)."""
    pairs = runs.by_class.mean(axis=0).reshape(len(runs.orders), -1, runs.per_task)
    return np.asarray(np.ptp(pairs, axis=2))


def _above(first: Floats, second: Floats, resolution: float) -> Decision:
    gap = range_difference(first, second)
    return "undecided" if abs(gap.value) <= resolution + 1e-9 else greater(gap, resolution)


def _beyond(gap: Difference, margin: float) -> Decision:
    if gap.value - 2 * gap.noise > margin:
        return "holds"
    return "fails" if gap.value + 2 * gap.noise < margin else "undecided"


def _between_datasets(first: Floats, second: Floats) -> Difference:
    # Repetitions are not paired between datasets.
    if min(len(first), len(second)) < REPETITIONS:
        return range_difference(first.mean(keepdims=True), second.mean(keepdims=True))
    return unpaired(paired(first, np.zeros(len(first))), paired(second, np.zeros(len(second))))
