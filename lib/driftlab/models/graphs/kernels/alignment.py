"""Copies of tensors to memory that begins at a cache line, so that equal values give equal results."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

CACHE_LINE = 64  # bytes


def aligned(value: Tensor) -> Tensor:
    """Copy a tensor to memory that begins at a cache line; its gradient is copied likewise.

    Matrix products round differently on memory of another alignment, which the slices (…) of a stack (R, …)
    can have. A tensor that fills whole cache lines is returned as it is.
    """
    whole_lines = value.numel() * value.element_size() % CACHE_LINE == 0
    return value if whole_lines else _Aligned.apply(value)


class _Aligned(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, value: Tensor) -> Tensor:
        return value.clone()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        copy: Tensor = _Aligned.apply(grad)
        return copy
