"""Memory-aware synapses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from torch import Tensor

from driftlab.core.limits import OneOf
from driftlab.methods.anchors import Anchors, importance
from driftlab.methods.base import Learner, Method, Task
from driftlab.methods.hyper_parameters import HyperParameter


class MAS(Method):
    """L = L_task + strength Σ_i Ω_i (θ_i − θ*_i)² (Aljundi et al. 2018, eq. 4).

    Ω is the magnitude of the gradient of the mean squared output, over the finished task's records and
    the outputs of the classes seen so far, summed over the finished tasks; the anchor θ* is the newest
    parameters. With `power` 1 the magnitude is the absolute value, as in MAS's paper; with `power` 2 it
    is the square, as in public code for graphs, which the CGL paper's strengths fit. MAS's paper sums
    over the outputs and takes the mean of the records' absolute gradients. The released CGL code measures
    Ω on the next task's records.
    """

    name = "MAS"
    hyper_parameters: ClassVar[Mapping[str, HyperParameter]] = {
        "strength": HyperParameter(100.0, "weight of the quadratic penalty"),
        "power": HyperParameter(2.0, "exponent of the gradients in the importance", OneOf((1, 2))),
    }

    def __init__(self, seeds: Sequence[int], hyper: Mapping[str, Tensor]) -> None:
        super().__init__(seeds, hyper)
        self.anchors = Anchors()

    def loss(self, learner: Learner, task: Task, batch: Any) -> Tensor:
        """The task's loss plus the penalty, (R,)."""
        value = super().loss(learner, task, batch)
        return value + self.hyper["strength"] * self.anchors.penalty(learner) if self.anchors else value

    def end_task(self, learner: Learner, task: Task, batch: Any) -> None:
        """Measure the importance on the finished task, and set the anchor to the current parameters."""
        squared = learner.outputs(batch)[..., task.seen].square().mean(-1)
        gradients = learner.gradients(learner.mean(squared, batch))
        self.anchors.replace(importance(learner, gradients, self.hyper["power"]), learner.parameters)

    def state(self) -> dict[str, Tensor]:
        """Importance and anchor."""
        return self.anchors.state()

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Restore importance and anchor."""
        self.anchors.load_state(state)
