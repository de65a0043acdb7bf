"""Memory-aware synapses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from torch import Tensor

from driftlab.methods.anchors import Anchors
from driftlab.methods.base import Learner, Method, Task


class MAS(Method):
    """L = L_task + strength Σ_i Ω_i (θ_i − θ*_i)² (Aljundi et al. 2018, eq. 4).

    Ω is the absolute gradient of the squared length of the outputs of the classes seen so far, added up over
    the finished tasks; the anchor is the newest parameters. Following the CGL paper the gradient is that of
    the mean over the records, not the mean of the records' absolute gradients. Measured on the finished
    task's own records; the released code measures it on the next task's.
    """

    name = "MAS"
    hyper_parameters: ClassVar[Mapping[str, float]] = {"strength": 100.0}

    def __init__(self, seeds: Sequence[int], hyper: Mapping[str, Tensor]) -> None:
        super().__init__(seeds, hyper)
        self.anchors = Anchors()

    def loss(self, learner: Learner, task: Task, batch: Any) -> Tensor:
        """The task's loss and the pull."""
        value = super().loss(learner, task, batch)
        return value + self.hyper["strength"] * self.anchors.penalty(learner) if self.anchors else value

    def end_task(self, learner: Learner, task: Task, batch: Any) -> None:
        """Measure the importance and move the anchor."""
        squared = learner.outputs(batch)[..., task.seen].square().sum(-1)
        gradients = learner.gradients(learner.mean(squared, batch))
        self.anchors.replace({name: g.abs() for name, g in gradients.items()}, learner.parameters)

    def state(self) -> dict[str, Tensor]:
        """Importance and anchor."""
        return self.anchors.state()

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Take them back."""
        self.anchors.load_state(state)
