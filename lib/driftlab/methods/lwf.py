"""Learning without forgetting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from torch import Tensor, log_softmax

from driftlab.methods.base import Learner, Method, Task
from driftlab.methods.hyper_parameters import POSITIVE, HyperParameter


def distillation(logits: Tensor, target: Tensor, temperature: Tensor) -> Tensor:
    """Distillation loss per record: KL(softmax(target / T) ‖ softmax(logits / T)), zero for equal logits.

    It differs from the cross-entropy of Li and Hoiem (2018) by the target's entropy, a constant.

    Args:
        logits: (…, classes).
        target: (…, classes).
        temperature: Broadcasts against them.

    Returns:
        (…).
    """
    log_q = log_softmax(logits / temperature, dim=-1)
    log_p = log_softmax(target / temperature, dim=-1)
    return (log_p.exp() * (log_p - log_q)).sum(-1)


class LwF(Method):
    """Cross-entropy over the new classes plus distillation of the old ones (Li and Hoiem 2018).

    Before the task begins, the previous model computes its logits for the new records once. These are the
    distillation targets, with one softmax per old task, as in that paper's several heads. The cross-entropy
    uses the new classes' outputs only, so that it does not lower the old ones.
    """

    name = "LwF"
    hyper_parameters: ClassVar[Mapping[str, HyperParameter]] = {
        "lambda_dist": HyperParameter(1.0, "weight of the distillation of the old classes"),
        "T": HyperParameter(2.0, "temperature of the distillation's softmax", POSITIVE),
    }

    def __init__(self, seeds: Sequence[int], hyper: Mapping[str, Tensor]) -> None:
        super().__init__(seeds, hyper)
        self.targets: Tensor | None = None

    def begin_task(self, learner: Learner, task: Task, batch: Any) -> None:
        """Compute the previous model's logits, the distillation targets."""
        self.targets = learner.outputs(batch, "running").detach() if task.index else None

    def loss(self, learner: Learner, task: Task, batch: Any) -> Tensor:
        """Cross-entropy of the new classes plus λ times the distillation losses, (R,)."""
        logits = learner.outputs(batch, "update")
        value = learner.balanced(logits, batch, task.new)
        if self.targets is None:
            return value
        temperature = learner.broadcast_to_replicas(self.hyper["T"], logits)
        for head in task.heads:
            kept = distillation(logits[..., head], self.targets[..., head], temperature)
            value = value + self.hyper["lambda_dist"] * learner.mean(kept, batch)
        return value
