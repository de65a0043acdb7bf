"""Losses of a stack of GCNs on a CPU, replica by replica, as single differentiable steps.

A replica's forward and backward computation follow each other while its activations are in the cache, and
the memory of one replica's activations serves all. So the gradient is there before it is asked for;
`torch.autograd` only multiplies it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from driftlab.models.graphs.kernels import FusedGCN, NodeFeatures, Trace, Vector, curvature
from driftlab.models.graphs.norm import Statistics
from driftlab.training.graphs.parameter_stack import ParameterStack

MOMENTUM = 0.1
"""Momentum of the batch norms' running statistics."""


class FusedStack:
    """Computes with every replica's parameters, its records and its labels.

    Args:
        network: Written-out form of the network.
        stack: The replicas' parameters.
        buffers: Running statistics by name, (R, H).
    """

    def __init__(self, network: FusedGCN, stack: ParameterStack, buffers: dict[str, Tensor]) -> None:
        self.network, self.stack, self.buffers = network, stack, buffers
        self.norms = [name.removesuffix(".running_mean") for name in buffers if name.endswith("running_mean")]

    def logits(self, features: Sequence[NodeFeatures], statistics: Statistics) -> Tensor:
        """(R, N, classes), zero where a replica has fewer than N records."""
        logits: Tensor = _Logits.apply(self, features, statistics, *self.stack.named.values())
        return logits

    def loss(
        self,
        features: Sequence[NodeFeatures],
        labels: Tensor,
        weights: Tensor,
        classes: slice,
        statistics: Statistics,
        with_size: bool = False,
    ) -> tuple[Tensor, Tensor]:
        """Weighted cross-entropy (R,), and the L1 norm (R,) of its gradient, zero if that is not wanted.

        Args:
            features: Each replica's.
            labels: (R, N).
            weights: (R, N), zero where padded.
            classes: The outputs that the softmax runs over.
            statistics: Which statistics the batch norms use.
            with_size: Whether the second is wanted; its gradient takes the curvature.
        """
        wanted = torch.is_grad_enabled(), with_size
        loss, size = _Loss.apply(
            self, features, labels, weights, classes, statistics, wanted, *self.stack.named.values()
        )
        return loss, size

    def trace(self, r: int, features: NodeFeatures, statistics: Statistics) -> Trace:
        """The forward computation of one replica; `update` moves its running statistics."""
        running = None
        if statistics == "running":
            running = {name: value[r] for name, value in self.buffers.items()}
        trace = self.network.forward(self.stack.of(r), features, running)
        if statistics == "update":
            for name, found in zip(self.norms, trace.norms, strict=True):
                for kind, value in zip(("running_mean", "running_var"), found, strict=True):
                    kept = self.buffers[f"{name}.{kind}"][r]
                    kept.mul_(1 - MOMENTUM).add_(torch.from_numpy(value * MOMENTUM).to(kept.dtype))
        return trace


class _CrossEntropy:
    """Σ_n weight_n · −log softmax(logits_n)[label_n] of one replica over some of its outputs."""

    def __init__(self, logits: Tensor, labels: Tensor, weights: Tensor, classes: slice) -> None:
        self.shape, self.classes, self.weights = logits.shape, classes, weights.unsqueeze(1)
        log_p = torch.log_softmax(logits[:, classes], 1)
        self.targets = (labels - (classes.start or 0)).clamp_(min=0).unsqueeze(1)
        self.p = log_p.exp()
        self.value = -(self.weights * log_p.gather(1, self.targets)).sum()

    def gradient(self) -> Tensor:
        """With respect to the logits, (N, classes)."""
        return self._among_all((self.p * self.weights).scatter_add_(1, self.targets, -self.weights))

    def change_of_gradient(self, dlogits: Tensor) -> Tensor:
        """How the gradient changes with the logits, (N, classes)."""
        chosen = dlogits[:, self.classes]
        return self._among_all(self.weights * self.p * (chosen - (self.p * chosen).sum(1, keepdim=True)))

    def _among_all(self, chosen: Tensor) -> Tensor:
        found = chosen.new_zeros(self.shape)
        found[:, self.classes] = chosen
        return found


class _Logits(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, stack: FusedStack, features: Sequence[NodeFeatures], statistics: Statistics, *_: Tensor
    ) -> Tensor:
        traces = [stack.trace(r, part, statistics) for r, part in enumerate(features)]
        ctx.stack, ctx.traces = stack, traces
        return torch.nn.utils.rnn.pad_sequence([trace.logits for trace in traces], batch_first=True)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        stack: FusedStack = ctx.stack
        found = torch.zeros_like(stack.stack.flat)
        for r, trace in enumerate(ctx.traces):
            own = stack.network.gradient(trace, grad[r, : len(trace.logits)].contiguous())
            stack.stack.write(found, r, own)
        return None, None, None, *stack.stack.views(found).values()


class _Loss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, stack: FusedStack, features: Sequence[NodeFeatures], labels: Tensor, weights: Tensor,
        classes: slice, statistics: Statistics, wanted: tuple[bool, bool], *_: Tensor,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        with_gradient, with_size = wanted
        loss, size = stack.stack.flat.new_zeros(2, len(features))
        gradient = torch.zeros_like(stack.stack.flat) if with_gradient or with_size else None
        change = torch.zeros_like(stack.stack.flat) if with_gradient and with_size else None
        for r, part in enumerate(features):
            trace = stack.trace(r, part, statistics)
            entropy = _CrossEntropy(
                trace.logits, labels[r, : part.graphs], weights[r, : part.graphs], classes
            )
            loss[r] = entropy.value
            if gradient is None:
                continue
            own: dict[str, Tensor | Vector] = stack.network.gradient(trace, entropy.gradient())
            stack.stack.write(gradient, r, own)
            if with_size:
                size[r] = gradient[r].abs().sum()
            if change is not None:
                direction = stack.stack.views(gradient[r : r + 1].sign())
                signs = {name: value[0] for name, value in direction.items()}
                found = curvature(stack.network, trace, signs, entropy.change_of_gradient)
                stack.stack.write(change, r, found)
        ctx.stack, ctx.gradient, ctx.change = stack, gradient, change
        return loss, size

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_loss: Tensor, grad_size: Tensor) -> tuple[Tensor | None, ...]:
        found = ctx.gradient * grad_loss.unsqueeze(1)
        if ctx.change is not None:
            found.addcmul_(ctx.change, grad_size.unsqueeze(1))
        return *[None] * 7, *ctx.stack.stack.views(found).values()
