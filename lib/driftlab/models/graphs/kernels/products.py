"""Matrix products through oneDNN, differentiable any number of times.

PyTorch hands float32 products on the CPU to MKL, which takes a slow path on AMD processors; oneDNN, which
PyTorch includes too, does not (2.3 times faster at the sizes of a skeleton network on the AMD machine where
it was measured).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

_ONEDNN = getattr(torch.ops.mkldnn, "_linear_pointwise", None) if torch._C._has_mkldnn else None


def product(x: Tensor, weight: Tensor, bias: Tensor | None = None, *, relu: bool = False) -> Tensor:
    """`x @ weight.T + bias` of x (rows, in) and weight (out, in), with or without ReLU; no gradient."""
    if _ONEDNN is not None and x.device.type == "cpu" and x.dtype == torch.float32:
        out: Tensor = _ONEDNN(x, weight, bias, "relu" if relu else "none", [], "")
        return out
    out = nn.functional.linear(x, weight, bias)
    return out.relu_() if relu else out


def product_plus(x: Tensor, weight: Tensor, other: Tensor) -> Tensor:
    """`x @ weight.T + other`, other (rows, out); no gradient."""
    if _ONEDNN is not None and x.device.type == "cpu" and x.dtype == torch.float32:
        out: Tensor = _ONEDNN.binary(x, other, weight, None, "add")
        return out
    return torch.addmm(other, x, weight.T)


def gathered_product(x: Tensor, y: Tensor) -> Tensor:
    """`x.T @ y` (a, b) of x (rows, a) and y (rows, b), a sum over many rows; no gradient."""
    return x.T @ y


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(x: Tensor, weight: Tensor) -> Tensor:
        return product(x, weight)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        grad_x = _Linear.apply(grad, weight.T) if ctx.needs_input_grad[0] else None
        grad_weight = _Linear.apply(grad.T, x.T) if ctx.needs_input_grad[1] else None
        return grad_x, grad_weight

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int | None, int | None], x: Tensor, weight: Tensor
    ) -> tuple[Tensor, int]:
        x = x.unsqueeze(0) if in_dims[0] is None else x.movedim(in_dims[0], 0)
        weight = weight.unsqueeze(0) if in_dims[1] is None else weight.movedim(in_dims[1], 0)
        return torch.matmul(x, weight.transpose(1, 2)), 0


class Linear(nn.Linear):
    """A linear map over the last axis: (…, in_features) to (…, out_features)."""

    def forward(self, x: Tensor) -> Tensor:
        """Apply the map."""
        rows: Tensor = _Linear.apply(x.reshape(-1, self.in_features), self.weight)
        return (rows + self.bias).view(*x.shape[:-1], self.out_features)
