"""Logits and losses of a stack of GCNs on a CPU, replica by replica, as single autograd functions.

A loss computes each replica's forward and backward pass in succession, while its activations are in the
cache, and reuses their memory for the next replica. The gradient is thus computed in the forward pass of the
autograd function, whose backward pass only scales it.
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
    """Computes logits and losses of all replicas with the kernels of a `FusedGCN`.

    Args:
        network: The network's kernels.
        stack: The replicas' parameters.
        buffers: Running statistics (R, H) of the batch norms, by name.
    """

    def __init__(self, network: FusedGCN, stack: ParameterStack, buffers: dict[str, Tensor]) -> None:
        self.network, self.stack, self.buffers = network, stack, buffers
        self.norms = [name.removesuffix(".running_mean") for name in buffers if name.endswith("running_mean")]

    def logits(self, features: Sequence[NodeFeatures], statistics: Statistics) -> Tensor:
        """Logits (R, N, classes), zero where a replica has fewer than N records."""
        logits: Tensor = _Logits.apply(self, features, statistics, *self.stack.named.values())
        return logits

    def loss(
        self,
        features: Sequence[NodeFeatures],
        labels: Tensor,
        weights: Tensor,
        classes: slice,
        statistics: Statistics,
        with_gradient_norm: bool = False,
    ) -> tuple[Tensor, Tensor]:
        """Weighted cross-entropy (R,), and the L1 norm (R,) of its gradient, zero if not requested.

        Args:
            features: Node features of each replica.
            labels: (R, N).
            weights: (R, N), zero where padded.
            classes: The outputs over which the softmax is computed.
            statistics: Which statistics the batch norms use.
            with_gradient_norm: Whether to compute the norm, whose own gradient needs the curvature.
        """
        needed = torch.is_grad_enabled(), with_gradient_norm
        loss, gradient_norm = _Loss.apply(
            self, features, labels, weights, classes, statistics, needed, *self.stack.named.values()
        )
        return loss, gradient_norm

    def trace(self, r: int, features: NodeFeatures, statistics: Statistics) -> Trace:
        """Forward pass of replica r; with `update` its running statistics are updated."""
        running = None
        if statistics == "running":
            running = {name: buffer[r] for name, buffer in self.buffers.items()}
        trace = self.network.forward(self.stack.parameters_of(r), features, running)
        if statistics == "update":
            for name, norm_statistics in zip(self.norms, trace.norms, strict=True):
                for kind, batch_value in zip(("running_mean", "running_var"), norm_statistics, strict=True):
                    running_value = self.buffers[f"{name}.{kind}"][r]
                    running_value.mul_(1 - MOMENTUM).add_(
                        torch.from_numpy(batch_value * MOMENTUM).to(running_value.dtype)
                    )
        return trace


class _CrossEntropy:
    """Weighted cross-entropy Σ_n weight_n · −log softmax(logits_n)[label_n] of one replica, some outputs."""

    def __init__(self, logits: Tensor, labels: Tensor, weights: Tensor, classes: slice) -> None:
        self.shape, self.classes, self.weights = logits.shape, classes, weights.unsqueeze(1)
        log_p = torch.log_softmax(logits[:, classes], 1)
        self.targets = (labels - (classes.start or 0)).clamp_(min=0).unsqueeze(1)
        self.p = log_p.exp()
        self.value = -(self.weights * log_p.gather(1, self.targets)).sum()

    def gradient(self) -> Tensor:
        """Gradient with respect to the logits, (N, classes)."""
        return self._pad_to_all_outputs((self.p * self.weights).scatter_add_(1, self.targets, -self.weights))

    def change_of_gradient(self, dlogits: Tensor) -> Tensor:
        """Change of the gradient for a change of the logits, (N, classes) both."""
        dlogits_of_classes = dlogits[:, self.classes]
        return self._pad_to_all_outputs(
            self.weights * self.p * (dlogits_of_classes - (self.p * dlogits_of_classes).sum(1, keepdim=True))
        )

    def _pad_to_all_outputs(self, values: Tensor) -> Tensor:
        padded = values.new_zeros(self.shape)
        padded[:, self.classes] = values
        return padded


class _Logits(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, stack: FusedStack, features: Sequence[NodeFeatures], statistics: Statistics, *_: Tensor
    ) -> Tensor:
        traces = [stack.trace(r, replica_features, statistics) for r, replica_features in enumerate(features)]
        ctx.stack, ctx.traces = stack, traces
        return torch.nn.utils.rnn.pad_sequence([trace.logits for trace in traces], batch_first=True)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        stack: FusedStack = ctx.stack
        gradient = torch.zeros_like(stack.stack.flat)
        for r, trace in enumerate(ctx.traces):
            replica_gradient = stack.network.gradient(trace, grad[r, : len(trace.logits)].contiguous())
            stack.stack.write(gradient, r, replica_gradient)
        return None, None, None, *stack.stack.views(gradient).values()


class _Loss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, stack: FusedStack, features: Sequence[NodeFeatures], labels: Tensor, weights: Tensor,
        classes: slice, statistics: Statistics, needed: tuple[bool, bool], *_: Tensor,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        with_gradient, with_gradient_norm = needed
        loss, gradient_norm = stack.stack.flat.new_zeros(2, len(features))
        gradient = torch.zeros_like(stack.stack.flat) if with_gradient or with_gradient_norm else None
        change = torch.zeros_like(stack.stack.flat) if with_gradient and with_gradient_norm else None
        for r, replica_features in enumerate(features):
            trace = stack.trace(r, replica_features, statistics)
            entropy = _CrossEntropy(
                trace.logits,
                labels[r, : replica_features.graphs],
                weights[r, : replica_features.graphs],
                classes,
            )
            loss[r] = entropy.value
            if gradient is None:
                continue
            replica_gradient: dict[str, Tensor | Vector] = stack.network.gradient(trace, entropy.gradient())
            stack.stack.write(gradient, r, replica_gradient)
            if with_gradient_norm:
                gradient_norm[r] = gradient[r].abs().sum()
            if change is not None:
                direction = stack.stack.views(gradient[r : r + 1].sign())
                signs = {name: value[0] for name, value in direction.items()}
                replica_change = curvature(stack.network, trace, signs, entropy.change_of_gradient)
                stack.stack.write(change, r, replica_change)
        ctx.stack, ctx.gradient, ctx.change = stack, gradient, change
        return loss, gradient_norm

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_loss: Tensor, grad_gradient_norm: Tensor) -> tuple[Tensor | None, ...]:
        gradient = ctx.gradient * grad_loss.unsqueeze(1)
        if ctx.change is not None:
            gradient.addcmul_(ctx.change, grad_gradient_norm.unsqueeze(1))
        return *[None] * 7, *ctx.stack.stack.views(gradient).values()
