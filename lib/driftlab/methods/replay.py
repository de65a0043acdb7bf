"""REPLAY: a part of each old task is mixed into the current one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from driftlab.methods.base import Method, Records, Task, sample_records
from driftlab.methods.hyper_parameters import FRACTION, HyperParameter


class Replay(Method):
    """Keep `fraction` of each finished task's training records and train on them again with every later task.

    The kept records are drawn once, at random by seed. They are in the same full batch as the new ones, and
    the loss's class weights 1/n_c count them: the few kept records of an old class weigh as much as the many
    records of a new one.
    """

    name = "REPLAY"
    hyper_parameters: ClassVar[Mapping[str, HyperParameter]] = {
        "fraction": HyperParameter(
            0.2, "part of each finished task's training records that is kept", FRACTION
        )
    }

    def training_records(self, task: Task) -> Records:
        """The task's records and the kept records of every earlier task."""
        memory = [
            sample_records(past, self.hyper["fraction"], self.seeds, t) for t, past in enumerate(task.past)
        ]
        return tuple(np.concatenate(parts) for parts in zip(task.records, *memory, strict=True))
