"""Batch normalisation over the true rows of a batch that may be padded."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

Statistics = Literal["update", "batch", "running"]
"""The batch's statistics, which also move the running ones; the batch's alone; or the running ones."""


class RowNorm(nn.BatchNorm1d):
    """`torch.nn.BatchNorm1d` over rows (M, F) whose statistics are chosen by the call instead of by a mode.

    With a mask (M,) of ones and zeros the rows under zero count nowhere, which makes a padded batch give what
    the unpadded one gives. Gradients that only look (importance, memories) use the batch's statistics and
    must not move the running ones: hence the choice by call.
    """

    running_mean: Tensor
    running_var: Tensor

    def forward(self, rows: Tensor, statistics: Statistics = "update", mask: Tensor | None = None) -> Tensor:
        """Normalise each column; the shape stays (M, F)."""
        if statistics == "running":
            scale = self.weight * torch.rsqrt(self.running_var + self.eps)
            return rows * scale + (self.bias - self.running_mean * scale)
        if mask is None:
            out, mean, inverse = torch.native_batch_norm(
                rows, self.weight, self.bias, None, None, True, 0.0, self.eps
            )
            if statistics == "update":
                self.follow(mean, inverse, rows.shape[0])
            return out
        weights = mask.unsqueeze(1)
        count = mask.sum()
        mean = (rows * weights).sum(0) / count
        centred = (rows - mean) * weights
        inverse = torch.rsqrt(centred.square().sum(0) / count + self.eps)
        if statistics == "update":
            self.follow(mean, inverse, count)
        return centred * (inverse * self.weight) + self.bias

    @torch.no_grad()
    def follow(self, mean: Tensor, inverse: Tensor, count: int | Tensor) -> None:
        """Move the running statistics towards a batch's mean and 1/√(variance + eps), each (F,)."""
        momentum = self.momentum if self.momentum is not None else 0.1
        variance = (inverse.detach().pow(-2) - self.eps) * (count / (count - 1))
        self.running_mean.mul_(1 - momentum).add_(mean.detach() * momentum)
        self.running_var.mul_(1 - momentum).add_(variance * momentum)
