"""What is timed: continual runs on data of N-UCLA's size.

The coordinates are noise. The time of a step does not depend on them, and so nothing has to be downloaded.
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
"""Of a task, in the paper."""
ORDERS = task_orders(CLASSES, CLASSES_PER_TASK)
"""All 120 of them."""
TASKS = tasks_of(ORDERS[0], CLASSES_PER_TASK)


def coordinates() -> NDArray[np.float32]:
    """(1484, 52, 1, 20, 3) in [-1, 1], as N-UCLA's are after their preparation."""
    draw = np.random.default_rng([0, sum(TOTALS)])
    return draw.uniform(-1, 1, (sum(TOTALS), FRAMES, 1, JOINTS, 3)).astype(np.float32)


def labels() -> NDArray[np.int64]:
    """(1484,) class ids, each as often as in N-UCLA."""
    return np.repeat(np.arange(CLASSES), TOTALS)


def training_records(classes: Order) -> NDArray[np.intp]:
    """The training records of some classes: eight tenths of each."""
    train = split_by_class(labels()).train
    return train[np.isin(labels()[train], classes)]


def stages_by_depth() -> list[int]:
    """How many distinct stages the sweep over all orders has after 1, 2, … tasks: 325 in all."""
    return [
        len({order[: depth * CLASSES_PER_TASK] for order in ORDERS}) for depth in range(1, len(TASKS) + 1)
    ]
