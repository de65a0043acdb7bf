"""Elastic weight consolidation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from torch import Tensor

from driftlab.methods.anchors import Anchors
from driftlab.methods.base import Learner, Method, Task
from driftlab.methods.hyper_parameters import HyperParameter


class EWC(Method):
    """L = L_task + (strength / 2) Σ_t Σ_i F_{t,i} (θ_i − θ*_{t,i})² (Kirkpatrick et al. 2017, eq. 3).

    One anchor and one diagonal Fisher F_t for each finished task. F is the square of the gradient of the
    full-batch loss at the task's end, as the CGL paper has it, not the mean of squared per-record gradients.
    The released code leaves out the factor ½, which amounts to twice the strength.
    """

    name = "EWC"
    hyper_parameters: ClassVar[Mapping[str, HyperParameter]] = {
        "strength": HyperParameter(1e6, "weight of the quadratic penalty on the finished tasks' parameters")
    }

    def __init__(self, seeds: Sequence[int], hyper: Mapping[str, Tensor]) -> None:
        super().__init__(seeds, hyper)
        self.anchors = Anchors()

    def loss(self, learner: Learner, task: Task, batch: Any) -> Tensor:
        """The task's loss and the pull."""
        value = super().loss(learner, task, batch)
        return value + 0.5 * self.hyper["strength"] * self.anchors.penalty(learner) if self.anchors else value

    def end_task(self, learner: Learner, task: Task, batch: Any) -> None:
        """Measure the Fisher and set the anchor."""
        gradients = learner.gradients(learner.cross_entropy(batch, task.seen))
        self.anchors.add({name: g.square() for name, g in gradients.items()}, learner.parameters)

    def state(self) -> dict[str, Tensor]:
        """Fishers and anchors."""
        return self.anchors.state()

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Take them back."""
        self.anchors.load_state(state)


class OnlineEWC(EWC):
    """EWC on a stream, where every step is a task: only the newest Fisher and anchor are kept (Wanderlust).

    The Fisher is measured on one remembered record per class.
    """

    def end_task(self, learner: Learner, task: Task, batch: Any) -> None:
        """Measure the Fisher anew and move the anchor."""
        self.anchors = Anchors()
        super().end_task(learner, task, batch)
