"""One graph-convolution layer with a residual branch, and the same layer as a single differentiable step.

h'_i = BatchNorm( relu(W Σ_{j ∈ N(i) ∪ {i}} h_j + b) + relu(W_r h_i + b_r) )
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch_geometric.nn import DenseGINConv

from driftlab.models.graphs.norm import RowNorm, Statistics
from driftlab.models.graphs.products import Linear, product


class GraphLayer(nn.Module):
    """Neighbour sum and linear map, beside a linear residual branch; ReLU on both; batch norm of the sum.

    The neighbour sum followed by a linear map is PyTorch Geometric's dense GIN convolution with ε = 0 and a
    map of one layer. Self loops stand in the adjacency.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.convolution = DenseGINConv(Linear(inputs, outputs))
        self.residual = Linear(inputs, outputs)
        self.norm = RowNorm(outputs)
        nn.init.xavier_uniform_(self.convolution.nn.weight)
        nn.init.zeros_(self.convolution.nn.bias)

    def forward(
        self,
        x: Tensor,
        adjacency: Tensor,
        summed: Tensor | None,
        statistics: Statistics,
        mask: Tensor | None = None,
        fused: bool = False,
        transposed: tuple[Tensor, Tensor] | None = None,
    ) -> Tensor:
        """Transform node features.

        Args:
            x: (B, V, inputs).
            adjacency: (V, V) with ones for bones and self loops.
            summed: `adjacency @ x` where it is known already, as it is for the first layer.
            statistics: Which statistics the batch norm uses.
            mask: (B,), zero for padded graphs.
            fused: Take the single step below: faster, but its gradient cannot be differentiated again.
            transposed: `x` and `summed` as (inputs, B·V), where they are constant and the layer is fused.

        Returns:
            (B, V, outputs).
        """
        map_ = self.convolution.nn
        if fused and mask is None and statistics != "running":
            summed = adjacency @ x if summed is None else summed
            out, mean, inverse = _FusedLayer.apply(
                x.flatten(0, 1), summed.flatten(0, 1), map_.weight, map_.bias,
                self.residual.weight, self.residual.bias, self.norm.weight, self.norm.bias, self.norm.eps,
                transposed,
            )  # fmt: skip
            if statistics == "update":
                self.norm.follow(mean, inverse, out.shape[0])
            fused_out: Tensor = out.view(*x.shape[:2], -1)
            return fused_out
        convolved = self.convolution(x, adjacency, add_loop=False) if summed is None else map_(summed)
        h = torch.relu(convolved) + torch.relu(self.residual(x))
        rows = None if mask is None else mask.repeat_interleave(x.shape[1])
        normal: Tensor = self.norm(h.flatten(0, 1), statistics, rows)
        return normal.view(h.shape)

    def topology(self, x: Tensor, adjacency: Tensor) -> Tensor:
        """‖E‖² of each graph, (B,), with e_ij = (W h_i)ᵀ tanh(W h_j) over the edges (TWP, Liu et al. 2021).

        That is the score which TWP gives to backbones without attention.
        """
        z = nn.functional.linear(x, self.convolution.nn.weight)
        scores = z @ torch.tanh(z).transpose(1, 2)
        return (scores * adjacency).square().sum((1, 2))


class _FusedLayer(torch.autograd.Function):
    """The whole layer with its gradient written out: no intermediate is stored or copied twice."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, summed: Tensor, weight: Tensor, bias: Tensor, residual_weight: Tensor,
        residual_bias: Tensor, norm_weight: Tensor, norm_bias: Tensor, eps: float,
        transposed: tuple[Tensor, Tensor] | None,
    ) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
        u = product(summed, weight, bias, relu=True)
        v = product(x, residual_weight, residual_bias, relu=True)
        h = u + v
        out, mean, inverse = torch.native_batch_norm(h, norm_weight, norm_bias, None, None, True, 0.0, eps)
        ctx.save_for_backward(x, summed, weight, residual_weight, norm_weight, mean, inverse, u, v, h)
        ctx.mark_non_differentiable(mean, inverse)
        ctx.eps, ctx.transposed = eps, transposed
        return out, mean, inverse

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, *_: Tensor) -> tuple[Tensor | None, ...]:
        x, summed, weight, residual_weight, norm_weight, mean, inverse, u, v, h = ctx.saved_tensors
        grad, grad_norm_weight, grad_norm_bias = torch.ops.aten.native_batch_norm_backward(
            grad.contiguous(), h, norm_weight, None, None, mean, inverse, True, ctx.eps, [True, True, True]
        )
        grad_u = torch.ops.aten.threshold_backward(grad, u, 0)
        grad_v = torch.ops.aten.threshold_backward(grad, v, 0)
        wants_x, wants_summed = ctx.needs_input_grad[:2]
        if ctx.transposed is not None:
            grad_weights = [product(t, g.T).T for t, g in zip(ctx.transposed, (grad_v, grad_u), strict=True)]
        else:
            grad_weights = [product(g.T, t.T) for t, g in zip((x, summed), (grad_v, grad_u), strict=True)]
        return (
            product(grad_v, residual_weight.T) if wants_x else None,
            product(grad_u, weight.T) if wants_summed else None,
            grad_weights[1], grad_u.sum(0), grad_weights[0], grad_v.sum(0),
            grad_norm_weight, grad_norm_bias, None, None,
        )  # fmt: skip
