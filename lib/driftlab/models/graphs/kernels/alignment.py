"""Memory that begins at a cache line, so that equal numbers give equal results wherever they come from."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

CACHE_LINE = 64  # bytes


def aligned(value: Tensor) -> Tensor:
    """The same numbers at the beginning of a cache line, and so their gradients.

    Products round differently on memory that is aligned differently, as the slices (…) of a stack (R, …) can
    be. A slice of whole cache lines stays where it is.
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
