"""Claims on the skeletons themselves: the graph, and how much the legs move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path
from scipy.stats import spearmanr

from driftlab.data.skeletons.records import SkeletonSet
from driftlab.papers.cgl.claims.judging import NotJudgeableError, claim
from driftlab.papers.cgl.claims.scatter import LEVEL, permutation_p
from driftlab.papers.cgl.order_runs import OrderRuns
from driftlab.reporting.decisions import Decision

LEFT_HAND, LEFT_FOOT = 7, 15
"""Joints of Kinect v1 (20 joints) and v2 (25 joints) alike."""
LEGS = slice(12, 20)
"""The joints from the hips to the feet, in both."""


@claim(
    "cgl-37",
    "The shortest path between left hand and left foot has ten edges in the graph of 20 joints and in that "
    "of 25. Exact.",
)
def ten_edges_separate_hand_and_foot(graphs: Mapping[int, Sequence[tuple[int, int]]]) -> tuple[Decision, str]:
    """Ten edges separate left hand and left foot in the skeleton graph (cgl-37).

    Args:
        graphs: Bones as pairs of joints, by the number of joints.
    """
    if set(graphs) != {20, 25}:
        raise NotJudgeableError(f"It needs the graphs of 20 and of 25 joints, not of {sorted(graphs)}.")
    edges = {joints: path_length(bones, LEFT_HAND, LEFT_FOOT) for joints, bones in graphs.items()}
    texts = [f"{count} edges with {joints} joints" for joints, count in sorted(edges.items())]
    return "holds" if set(edges.values()) == {10} else "fails", f"{', '.join(texts)}."


@claim(
    "cgl-20",
    "Leg movement of a task: median over its training sequences of the mean displacement per frame of the "
    "joints from hips to feet relative to the hip centre. Of the orders with the highest AF of LwF against "
    "those with the lowest (ten each, or a quarter of the orders): the correlation of place and movement is "
    "lower (permutation p < 0.05), and so is the number of alternations.",
    methods=("LwF",),
    dataset="UCLA",
)
def lwf_forgets_most_from_leg_rich_to_leg_poor_tasks(
    runs: OrderRuns, movement: Sequence[float]
) -> tuple[Decision, str]:
    """LwF forgets most in orders from tasks rich in leg movement to tasks poor in it (cgl-20).

    Args:
        runs: Over task orders.
        movement: Leg movement of each task, from `leg_movement`.
    """
    lwf, moved = runs.methods["LwF"], np.asarray(movement)
    count = min(10, len(lwf.orders) // 4)
    if count < 5:
        raise NotJudgeableError(f"It needs 20 task orders or more; there are {len(lwf.orders)}.")
    by_place = moved[lwf.tasks]  # (O, K)
    trend = np.array([spearmanr(np.arange(len(row)), row).statistic for row in by_place])
    signs = np.sign(by_place - np.median(moved))
    alternations = np.array([np.count_nonzero(np.diff(row[row != 0])) for row in signs])
    ranked = np.argsort(lwf.average_forgetting.mean(axis=0), kind="stable")
    low, high = ranked[:count], ranked[-count:]
    chosen = np.concatenate([low, high])
    p = permutation_p(-trend[chosen], np.arange(2 * count) >= count)
    gap = float(trend[high].mean() - trend[low].mean())
    turns = float(alternations[high].mean() - alternations[low].mean())
    decision: Decision = (
        "holds" if gap < 0 and p < LEVEL and turns < 0 else "fails" if gap >= 0 else "undecided"
    )
    return decision, (
        f"Movement of tasks 0, 1, …: {', '.join(f'{value:.3f}' for value in moved)} m per frame. The {count} "
        f"orders of highest AF against the {count} of lowest: correlation {trend[high].mean():+.2f} and "
        f"{trend[low].mean():+.2f} (p = {p:.3f}), alternations {alternations[high].mean():.1f} and "
        f"{alternations[low].mean():.1f}."
    )


def path_length(bones: Sequence[tuple[int, int]], first: int, second: int) -> int:
    """How many bones the shortest path between two joints has."""
    a, b = np.array(bones).T
    joints = int(max(a.max(), b.max())) + 1
    graph = coo_array((np.ones(len(a)), (a, b)), shape=(joints, joints))
    return int(shortest_path(graph, directed=False, unweighted=True, indices=first)[second])


def leg_movement(skeletons: SkeletonSet, records: NDArray[np.intp], classes_per_task: int = 2) -> list[float]:
    """How much the legs move in each task (0, 1 | 2, 3 | …), in the data's unit (metres) per frame.

    Args:
        skeletons: As loaded, not prepared.
        records: The training records.
        classes_per_task: Consecutive classes form a task.
    """
    moved = np.array([_displacement(skeletons.sequences[record]) for record in records])
    task = skeletons.labels[records] // classes_per_task
    return [float(np.median(moved[task == t])) for t in np.unique(task)]


def _displacement(sequence: NDArray[np.float32]) -> float:
    """Mean displacement per frame of the legs of the first body, (T, M, V, 3), relative to the hip centre."""
    body = sequence[:, 0]
    legs = body[:, LEGS] - body[:, :1]
    return float(np.linalg.norm(np.diff(legs, axis=0), axis=-1).mean()) if len(body) > 1 else 0.0
