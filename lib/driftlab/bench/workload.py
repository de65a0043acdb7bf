"""The benchmark's workload: continual-learning runs on data of N-UCLA's size.

The coordinates are noise: the time of a step does not depend on them, and nothing has to be downloaded.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from driftlab.data.skeletons.nucla import BONES, JOINTS, TOTALS
from driftlab.scenarios.classes import Order, split_by_class, task_orders, tasks_of

__all__ = ["BONES", "CLASSES", "EPOCHS", "FRAMES", "JOINTS", "ORDERS", "TASKS", "coordinates", "labels"]

FRAMES = 52
CLASSES = len(TOTALS)
CLASSES_PER_TASK = 2
EPOCHS = 100
"""Epochs per task, as in the paper."""
ORDERS = task_orders(CLASSES, CLASSES_PER_TASK)
"""All 120 task orders."""
TASKS = tasks_of(ORDERS[0], CLASSES_PER_TASK)


def coordinates() -> NDArray[np.float32]:
    """Random coordinates (1484, 52, 1, 20, 3) in [-1, 1], shaped as N-UCLA's after preparation."""
    rng = np.random.default_rng([0, sum(TOTALS)])
    return rng.uniform(-1, 1, (sum(TOTALS), FRAMES, 1, JOINTS, 3)).astype(np.float32)


def labels() -> NDArray[np.int64]:
    """Class ids (1484,) with N-UCLA's number of records per class."""
    return np.repeat(np.arange(CLASSES), TOTALS)


def training_records(classes: Order) -> NDArray[np.intp]:
    """Indices of the training records of some classes: 80 % of each class."""
    train = split_by_class(labels()).train
    return train[np.isin(labels()[train], classes)]


def stages_by_depth() -> list[int]:
    """Number of distinct stages of the sweep over all orders, by number of tasks learnt: 325 in all."""
    return [
        len({order[: depth * CLASSES_PER_TASK] for order in ORDERS}) for depth in range(1, len(TASKS) + 1)
    ]
