"""Batch normalisation that ignores the padded rows of a batch."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

Statistics = Literal["update", "batch", "running"]
"""Which statistics normalise: the batch's (`update` also updates the running ones), or the running ones."""


class RowNorm(nn.BatchNorm1d):
    """`torch.nn.BatchNorm1d` over rows (M, F) whose statistics are chosen per call, not by the training mode.

    With a mask (M,) of ones and zeros, rows with zero are ignored: a padded batch gives the same results as
    the unpadded one. Gradients that do not train (importance, memories) need the batch's statistics without
    an update of the running ones; hence the choice per call.
    """

    running_mean: Tensor
    running_var: Tensor

    def forward(self, rows: Tensor, statistics: Statistics = "update", mask: Tensor | None = None) -> Tensor:
        """Normalise each column of rows (M, F)."""
        if statistics == "running":
            scale = self.weight * torch.rsqrt(self.running_var + self.eps)
            return rows * scale + (self.bias - self.running_mean * scale)
        if mask is None:
            normalised, mean, inverse_std = torch.native_batch_norm(
                rows, self.weight, self.bias, None, None, True, 0.0, self.eps
            )
            if statistics == "update":
                self.update_running_statistics(mean, inverse_std, rows.shape[0])
            return normalised
        weights = mask.unsqueeze(1)
        count = mask.sum()
        mean = (rows * weights).sum(0) / count
        centred = (rows - mean) * weights
        inverse_std = torch.rsqrt(centred.square().sum(0) / count + self.eps)
        if statistics == "update":
            self.update_running_statistics(mean, inverse_std, count)
        return centred * (inverse_std * self.weight) + self.bias

    @torch.no_grad()
    def update_running_statistics(self, mean: Tensor, inverse_std: Tensor, count: int | Tensor) -> None:
        """Update the running statistics with a batch's mean and 1/√(variance + eps), each (F,)."""
        momentum = self.momentum if self.momentum is not None else 0.1
        variance = (inverse_std.detach().pow(-2) - self.eps) * (count / (count - 1))
        self.running_mean.mul_(1 - momentum).add_(mean.detach() * momentum)
        self.running_var.mul_(1 - momentum).add_(variance * momentum)
