"""Claims on ST-GCN: Figures 4 and 6. They are judged only on networks that learnt the task at hand."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata, spearmanr

from driftlab.papers.cgl.claims.judging import ORDER_METHODS, REGULARISERS, NotJudgeableError, claim, percent
from driftlab.papers.cgl.claims.noise import Floats, mean_difference, points
from driftlab.papers.cgl.order_runs import OrderRuns
from driftlab.reporting.decisions import Decision, every, greater, similar

LEARNT = 0.80
"""BARE's mean accuracy on a task directly after training on it, at least."""
RANK_TIE = 0.02


@claim(
    "cgl-9",
    "Mean final AA over task orders with ST-GCN: EWC, MAS and TWP each within 5 points of BARE, the noise "
    "included. Judged only if BARE has learnt the task at hand (80 % directly after training).",
    methods=("BARE", *REGULARISERS),
    dataset="UCLA",
)
def regularisers_are_level_with_bare(runs: OrderRuns) -> tuple[Decision, str]:
    """With ST-GCN on UCLA the regularisation-based methods are level with BARE (cgl-9).

    Args:
        runs: Of ST-GCN, over task orders.
    """
    learnt = require_learnt(runs)
    of = runs.of(("BARE", *REGULARISERS))
    gaps = {m: mean_difference(of[m].average_accuracy, of["BARE"].average_accuracy) for m in REGULARISERS}
    return every(similar(gap, 0.05) for gap in gaps.values()), (
        f"Minus BARE in points: {'; '.join(f'{m} {points(gap)}' for m, gap in gaps.items())}. {learnt}"
    )


@claim(
    "cgl-38",
    "Spearman's correlation over the seven methods between mean AA with GCN and with ST-GCN, methods "
    "within 2 points sharing a rank: at least 0.5; fails below 0. Judged only if BARE has learnt the task "
    "at hand.",
    methods=ORDER_METHODS,
    dataset="UCLA",
)
def gcn_and_stgcn_show_similar_trends(gcn: OrderRuns, stgcn: OrderRuns) -> tuple[Decision, str]:
    """GCN and ST-GCN show similar trends (cgl-38).

    Args:
        gcn: Of GCN, over task orders.
        stgcn: Of ST-GCN, over task orders.
    """
    if reason := stgcn.lacks(ORDER_METHODS):
        raise NotJudgeableError(reason)
    learnt = require_learnt(stgcn)
    first, second = gcn.of(ORDER_METHODS), stgcn.of(ORDER_METHODS)
    accuracy = [[float(of[m].average_accuracy.mean()) for m in ORDER_METHODS] for of in (first, second)]
    forgetting = [[float(of[m].average_forgetting.mean()) for m in ORDER_METHODS] for of in (first, second)]
    r, of_forgetting = (rank_correlation(*values) for values in (accuracy, forgetting))
    shown = [percent(dict(zip(ORDER_METHODS, values, strict=True))) for values in accuracy]
    return "holds" if r >= 0.5 else "fails" if r < 0 else "undecided", (
        f"AA {r:.2f}, AF {of_forgetting:.2f}. AA with GCN: {shown[0]}; with ST-GCN: {shown[1]}. {learnt}"
    )


@claim(
    "cgl-39",
    "Mean final AA over class and task orders with ST-GCN: EWC, MAS and TWP within 5 points of BARE, and "
    "REPLAY above each of them by 5 points or more, both beyond the noise. Judged only if BARE has learnt "
    "the task at hand.",
    methods=("BARE", *REGULARISERS, "REPLAY"),
    dataset="UCLA",
)
def regularisers_are_low_for_class_orders_too(runs: OrderRuns) -> tuple[Decision, str]:
    """With ST-GCN the regularisation-based methods have a low AA for class orders too (cgl-39).

    Args:
        runs: Of ST-GCN, over class and task orders together.
    """
    learnt = require_learnt(runs)
    accuracy = {m: one.average_accuracy for m, one in runs.of(("BARE", *REGULARISERS, "REPLAY")).items()}
    level = [similar(mean_difference(accuracy[m], accuracy["BARE"]), 0.05) for m in REGULARISERS]
    below = [greater(mean_difference(accuracy["REPLAY"], accuracy[m]), 0.05) for m in REGULARISERS]
    means = percent({m: float(values.mean()) for m, values in accuracy.items()})
    return every([*level, *below]), f"AA {means}. {learnt}"


def require_learnt(runs: OrderRuns) -> str:
    """A sentence on how well BARE learns a new task.

    Raises:
        NotJudgeableError: It learns it too badly for its final accuracy to say anything about forgetting.
    """
    learnt = float(runs.methods["BARE"].just_learned.mean())
    text = f"BARE's accuracy directly after training on a task is {100 * learnt:.0f} %"
    if learnt < LEARNT:
        raise NotJudgeableError(
            f"{text}, below {100 * LEARNT:.0f} %: these networks have not learnt their tasks."
        )
    return f"{text}."


def rank_correlation(first: list[float], second: list[float]) -> float:
    """Spearman's correlation of two lists of fractions, with `shared_ranks`."""
    return float(spearmanr(shared_ranks(first), shared_ranks(second)).statistic)


def shared_ranks(values: list[float]) -> Floats:
    """Ranks, ascending; values that lie within 2 points of the least of their group share one."""
    groups, least = np.zeros(len(values)), -np.inf
    group = -1
    for place in np.argsort(values):
        if values[place] - least > RANK_TIE + 1e-12:
            group, least = group + 1, values[place]
        groups[place] = group
    return np.asarray(rankdata(groups))
