"""JOINT: all data so far, the upper bound."""

from __future__ import annotations

import numpy as np

from driftlab.methods.base import Method, Records, Task


class Joint(Method):
    """Train on the records of every task seen so far.

    The released CGL code reshuffles the split at every task, so that its JOINT trains on test records; here
    the split is fixed once.
    """

    name = "JOINT"

    def training_records(self, task: Task) -> Records:
        """The training records of all tasks so far."""
        return tuple(np.concatenate(parts) for parts in zip(task.records, *task.past, strict=True))
