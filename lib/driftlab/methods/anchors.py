"""The quadratic pull towards earlier parameters that EWC, MAS and TWP share."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from driftlab.methods.base import Learner, Parameters


def importance(learner: Learner, gradients: Parameters, power: Tensor) -> Parameters:
    """The gradients' size to the power 1 or 2, (R,), whichever each replica takes."""
    return {
        name: torch.where(learner.broadcast_to_replicas(power, g) == 2, g.square(), g.abs())
        for name, g in gradients.items()
    }


class Anchors:
    """Σ_t Σ_i importance_{t,i} (θ_i − anchor_{t,i})², per replica.

    Kept by parameter name as tensors (tasks, R, …), so that one operation serves all tasks.
    """

    def __init__(self) -> None:
        self.importance: Parameters = {}
        self.anchor: Parameters = {}

    def __bool__(self) -> bool:
        return bool(self.anchor)

    def add(self, importance: Parameters, parameters: Parameters) -> None:
        """Anchor one more task at its final parameters."""
        for name, value in parameters.items():
            for kept, new in ((self.importance, importance[name]), (self.anchor, value)):
                new = new.detach().clone().unsqueeze(0)
                kept[name] = torch.cat([kept[name], new]) if name in kept else new

    def replace(self, importance: Parameters, parameters: Parameters) -> None:
        """Anchor everything so far at the newest parameters, importances added up."""
        for name, value in parameters.items():
            new = importance[name].detach().unsqueeze(0)
            self.importance[name] = self.importance[name] + new if name in self.importance else new.clone()
            self.anchor[name] = value.detach().clone().unsqueeze(0)

    def penalty(self, learner: Learner) -> Tensor:
        """The pull of each replica, (R,)."""
        terms = [
            learner.sum_per_replica((self.importance[name] * (value - self.anchor[name]).square()).sum(0))
            for name, value in learner.parameters.items()
        ]
        return torch.stack(terms).sum(0)

    def state(self) -> dict[str, Tensor]:
        """For `Method.state`."""
        named = {f"importance/{name}": value for name, value in self.importance.items()}
        return named | {f"anchor/{name}": value for name, value in self.anchor.items()}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """For `Method.load_state`."""
        for name, value in state.items():
            kind, _, parameter = name.partition("/")
            (self.importance if kind == "importance" else self.anchor)[parameter] = value
