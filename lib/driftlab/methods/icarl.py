"""iCaRL as Wanderlust adapts it to detection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, cast, get_args

import numpy as np
from torch import Tensor

from driftlab.core.errors import ParameterError
from driftlab.methods.base import Learner, Method, Records, Task

Rehearsed = Literal["positives", "all"]


class RehearsingLearner(Learner, Protocol):
    """A learner whose records have one labelled object each when they are remembered: a detector."""

    def rehearsal_loss(self, batch: Any) -> Tensor:
        """The task's loss in which remembered records count with their labelled object only, a scalar."""


class ICaRL(Method):
    """Rehearsal: every step also trains on one remembered record of each class (Wang et al. 2021, 5.1).

    Of iCaRL (Rebuffi et al. 2017) Wanderlust keeps the exemplars; it has neither distillation nor a
    nearest-mean classifier. The memory is the trainer's (`driftlab.methods.exemplars`), for it is part of the
    stream's protocol: EWC measures its Fisher on it.

    Args:
        seeds: One.
        hyper: Empty.
        rehearsal: What trains of a remembered image, of which one object is labelled. `positives` as in the
            released code: the locations of that object, weighted by the number of current images over that
            of remembered ones; the rest of the image, where other objects stand, is not background. `all`:
            like a current image, with the rest as background.

    Raises:
        ParameterError: `rehearsal` is something else.
    """

    name = "iCaRL"

    def __init__(
        self, seeds: Sequence[int], hyper: Mapping[str, Tensor], *, rehearsal: Rehearsed = "positives"
    ) -> None:
        super().__init__(seeds, hyper)
        if rehearsal not in get_args(Rehearsed):
            raise ParameterError(f"rehearsal is {rehearsal!r}; it can be positives or all.")
        self.rehearsal = rehearsal

    def training_records(self, task: Task) -> Records:
        """The task's records, then those drawn from the memory."""
        return tuple(np.concatenate(parts) for parts in zip(task.records, task.remembered, strict=True))

    def loss(self, learner: Learner, task: Task, batch: Any) -> Tensor:
        """The loss on current and remembered records, a scalar.

        Raises:
            ParameterError: The learner's records have no positive locations of their own.
        """
        if self.rehearsal == "all":
            return super().loss(learner, task, batch)
        if not hasattr(learner, "rehearsal_loss"):
            raise ParameterError(
                'iCaRL with rehearsal="positives" needs a detector; use rehearsal="all" here.'
            )
        return cast(RehearsingLearner, learner).rehearsal_loss(batch)
