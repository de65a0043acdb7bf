"""Topology-aware weight preserving."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from torch import Tensor

from driftlab.core.limits import OneOf
from driftlab.methods.anchors import Anchors, importance
from driftlab.methods.base import Learner, Method, Task
from driftlab.methods.hyper_parameters import HyperParameter


class TWP(Method):
    """L = L_task + Σ_t Σ_i I_{t,i} (θ_i − θ*_{t,i})² + β ‖∂L_task/∂θ‖₁ (Liu, Yang, Wang, AAAI 2021).

    I = λ_l |∂L_task/∂θ|ᵖ + λ_t |∂‖E‖²/∂θ|ᵖ at a task's end, with the topology scores E of the finished task.
    `power` p is 1 in TWP's paper and 2 in public code for graphs, which the CGL paper's λ fit. The last term
    keeps the new task's importance small, so that later tasks find free parameters; it differentiates a
    gradient. It is not multiplied by λ_l, as in public code: with λ_l = 10⁴ nothing is learnt any more.

    In the released CGL code the last term is detached and has no effect (`beta` 0 gives that), gradients pile
    up within a task, and the topology's importance contains the loss's.
    """

    name = "TWP"
    hyper_parameters: ClassVar[Mapping[str, HyperParameter]] = {
        "lambda_l": HyperParameter(1e4, "weight of the importance measured on the loss"),
        "lambda_t": HyperParameter(1e4, "weight of the importance measured on the topology"),
        "beta": HyperParameter(0.01, "price of new importance: weight of the gradient's L1 norm"),
        "power": HyperParameter(2.0, "exponent of the gradients in the importance", OneOf((1, 2))),
    }
    second_order = True

    def __init__(self, seeds: Sequence[int], hyper: Mapping[str, Tensor]) -> None:
        super().__init__(seeds, hyper)
        self.anchors = Anchors()
        self.second_order = bool((self.hyper["beta"] != 0).any())  # type: ignore[misc]

    @classmethod
    def starts_bare(cls, config: Mapping[str, Any]) -> bool:
        """Only without the price of new importance."""
        return not config["beta"]

    def loss(self, learner: Learner, task: Task, batch: Any) -> Tensor:
        """The task's loss, the pull, and the price of new importance."""
        if self.second_order:
            value, size = learner.loss_and_gradient_size(batch, task.seen, "update")
            value = value + self.hyper["beta"] * size
        else:
            value = super().loss(learner, task, batch)
        return value + self.anchors.penalty(learner) if self.anchors else value

    def end_task(self, learner: Learner, task: Task, batch: Any) -> None:
        """Measure the importance and set the anchor."""
        power = self.hyper["power"]
        by_loss = importance(learner, learner.gradients(learner.task_loss(batch, task.seen)), power)
        by_topology = importance(learner, learner.gradients(learner.topology(batch)), power)
        weighted = {
            name: learner.broadcast_to_replicas(self.hyper["lambda_l"], i) * i
            + learner.broadcast_to_replicas(self.hyper["lambda_t"], i) * by_topology[name]
            for name, i in by_loss.items()
        }
        self.anchors.add(weighted, learner.parameters)

    def state(self) -> dict[str, Tensor]:
        """Importances and anchors."""
        return self.anchors.state()

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Take them back."""
        self.anchors.load_state(state)
