"""Runs written by hand for judging: each task is learnt with one accuracy and ends with another."""

from __future__ import annotations

from typing import Any

import numpy as np
from driftlab.metrics.order import order_sensitivity_summary
from driftlab.papers.cgl.claims.sensitivity import Sensitivity
from driftlab.papers.cgl.order_runs import MethodRuns, OrderRuns
from driftlab.reporting.printed_papers import paper
from driftlab.scenarios.classes import balanced_task_orders
from numpy.typing import ArrayLike, NDArray

__all__ = ["made", "method_runs", "order_sensitivity_summary", "printed"]

ORDER_METHODS = ("BARE", "EWC", "MAS", "TWP", "LwF", "GEM", "REPLAY")
ZERO_MEAN = np.array([-1.0, -0.5, 0.0, 0.5, 1.0]) / np.sqrt(0.5)  # population deviation 1


def method_runs(
    new: ArrayLike, kept: ArrayLike, *, orders: int = 10, repetitions: int = 3, apart: float = 0.0
) -> MethodRuns:
    """Each task has the accuracy `new` until the last task is learnt, and then, if earlier, `kept`.

    So AA = (4 kept + new) / 5 and AF = new − kept.

    Args:
        new: A number, or (R, O) for each repetition and order.
        kept: Likewise.
        orders: O.
        repetitions: R.
        apart: How far the two classes of a task end from each other.
    """
    chosen = balanced_task_orders(10, 2, orders)
    shape = (repetitions, orders)
    news, kepts = np.broadcast_to(new, shape), np.broadcast_to(kept, shape)
    by_stage = np.full((*shape, 5, 10), np.nan)
    for o, order in enumerate(chosen):
        for k in range(5):
            for place, label in enumerate(order[: 2 * k + 2]):
                old = k == 4 and place < 8
                value = kepts[:, o] if old else news[:, o]
                by_stage[:, o, k, label] = value + apart * (0.5 - place % 2)
    return MethodRuns(tuple(range(repetitions)), tuple(chosen), by_stage, 2)


def made(
    values: dict[str, tuple[Any, Any]], *, dataset: str = "UCLA", test_sequences: int = 14, **options: Any
) -> OrderRuns:
    """Runs of several methods, each (new, kept); see `method_runs` for the options."""
    methods = {name: method_runs(*pair, **options) for name, pair in values.items()}
    return OrderRuns(dataset, methods, test_sequences)


def noise(size: float, *, repetitions: int = 3, orders: int = 10, seed: int = 0) -> NDArray[np.float64]:
    """(R, O) numbers of that deviation and mean 0."""
    drawn = np.random.default_rng(seed).normal(0, size, (repetitions, orders))
    return drawn - drawn.mean()


def printed(block: str) -> Sensitivity:
    """A block of the paper's Table 2 as five repetitions that have its means and deviations.

    Args:
        block: For example "task UCLA".
    """
    table = paper("cgl").tables["table_2"]
    dataset = block.split(" ")[1]
    values: dict[str, dict[str, NDArray[np.float64]]] = {"AOPD": {}, "MOPD": {}}
    for place, method in enumerate(ORDER_METHODS):
        for what, cells in values.items():
            cell = table.rows[method][table.columns.index(f"{block} {what}")]
            assert isinstance(cell, tuple)
            # Repetitions of different methods are not in step.
            cells[method] = (cell[0] + cell[1] * np.roll(ZERO_MEAN, place)) / 100
    resolution = {"UCLA": 1 / 140, "NTU": 1 / 660}[dataset]
    return Sensitivity(dataset, values["AOPD"], values["MOPD"], resolution)
