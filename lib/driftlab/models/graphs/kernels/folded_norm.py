"""Batch normalisation folded into the linear map that follows it, with its gradient and tangent.

n = γ (s − mean) / √(var + eps) + β is s·scale + shift, column by column. A linear map that follows, n Wᵀ, is
s (W·scale)ᵀ + W shift: only its weights change, and n is never computed. A gradient G with respect to n
becomes scale·G + slope·s + offset with respect to s; slope and offset need only the column sums Σ G and
Σ G·s, which follow from the gradients of the linear map.

All vectors are NumPy arrays (H,) in double precision; N is the number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Vector = NDArray[np.float64]


def vector(values: Tensor) -> Vector:
    """A parameter (H,) as a NumPy array in double precision."""
    array: Vector = values.detach().double().numpy()
    return array


@dataclass
class NormGradient:
    """The gradient through a folded batch norm, from that with respect to its output n; see the module.

    Attributes:
        grad_sum: Σ G, the gradient of β.
        grad_dot_rows: Σ G·s.
        gamma: The gradient of γ.
        slope: See the module.
        offset: See the module.
    """

    grad_sum: Vector
    grad_dot_rows: Vector
    gamma: Vector
    slope: Vector
    offset: Vector


@dataclass
class FoldedNorm:
    """Statistics and coefficients of a batch norm on one batch.

    Attributes:
        count: N.
        gamma: γ.
        mean: Mean of s.
        variance: Biased variance of s.
        inverse: 1 / √(variance + eps).
        scale: See the module.
        shift: See the module.
    """

    count: int
    gamma: Vector
    mean: Vector
    variance: Vector
    inverse: Vector
    scale: Vector
    shift: Vector

    @classmethod
    def of_sums(
        cls, sums: NDArray[np.float64], count: int, gamma: Vector, beta: Vector, eps: float
    ) -> FoldedNorm:
        """Build from Σ s and Σ s² (2, H) over the batch's rows."""
        mean = sums[0] / count
        return cls.of_statistics(mean, np.maximum(sums[1] / count - mean**2, 0), count, gamma, beta, eps)

    @classmethod
    def of_statistics(
        cls, mean: Vector, variance: Vector, count: int, gamma: Vector, beta: Vector, eps: float
    ) -> FoldedNorm:
        """Build from the mean and the variance, (H,) each."""
        inverse = 1 / np.sqrt(variance + eps)
        scale = gamma * inverse
        return cls(count, gamma, mean, variance, inverse, scale, beta - mean * scale)

    def backward(self, grad_sum: Vector, grad_dot_rows: Vector) -> NormGradient:
        """Gradient through the norm and its statistics, from Σ G and Σ G·s."""
        gamma = self.inverse * (grad_dot_rows - self.mean * grad_sum)
        slope = -self.scale * self.inverse * gamma / self.count
        offset = -self.scale * grad_sum / self.count - slope * self.mean
        return NormGradient(grad_sum, grad_dot_rows, gamma, slope, offset)

    def tangent(self, sums: NDArray[np.float64], dgamma: Vector, dbeta: Vector) -> NormTangent:
        """Tangent of the coefficients for changes of γ, β and the rows; `sums` (2, H) are Σ ds and Σ s ds."""
        dmean = sums[0] / self.count
        dvariance = 2 * (sums[1] - self.mean * sums[0]) / self.count
        dinverse = -0.5 * self.inverse**3 * dvariance
        dscale = dgamma * self.inverse + self.gamma * dinverse
        return NormTangent(self, dmean, dinverse, dscale, dbeta - dmean * self.scale - self.mean * dscale)


@dataclass
class NormTangent:
    """Tangent of a `FoldedNorm`: changes of its fields.

    Attributes:
        norm: The norm.
        mean: Change of the mean.
        inverse: Change of 1 / √(variance + eps).
        scale: Change of the scale.
        shift: Change of the shift.
    """

    norm: FoldedNorm
    mean: Vector
    inverse: Vector
    scale: Vector
    shift: Vector

    def backward(self, gradient: NormGradient, dgrad_sum: Vector, dgrad_dot_rows: Vector) -> NormGradient:
        """Tangent of `FoldedNorm.backward`, from the changes of Σ G and Σ G·s."""
        n = self.norm
        dgamma = self.inverse * (gradient.grad_dot_rows - n.mean * gradient.grad_sum)
        dgamma += n.inverse * (dgrad_dot_rows - self.mean * gradient.grad_sum - n.mean * dgrad_sum)
        product = self.scale * n.inverse * gradient.gamma + n.scale * self.inverse * gradient.gamma
        dslope = -(product + n.scale * n.inverse * dgamma) / n.count
        doffset = -(self.scale * gradient.grad_sum + n.scale * dgrad_sum) / n.count
        doffset -= dslope * n.mean + gradient.slope * self.mean
        return NormGradient(dgrad_sum, dgrad_dot_rows, dgamma, dslope, doffset)


def fold(weight: Tensor, scale: Vector, shift: Vector) -> tuple[Tensor, Tensor]:
    """Fold a norm into a linear map: `weight` (O, H) with scaled columns, and `weight @ shift` (O,)."""
    constant = (weight.double().numpy() * shift).sum(1)
    scaled = weight * torch.from_numpy(scale).to(weight.dtype)
    return scaled, torch.from_numpy(constant).to(weight.dtype)


def fold_tangent(
    weight: Tensor, dweight: Tensor, norm: FoldedNorm, dnorm: NormTangent
) -> tuple[Tensor, Tensor]:
    """Tangent of `fold`: the changes of its two results."""
    with_dnorm, with_dweight = fold(weight, dnorm.scale, dnorm.shift), fold(dweight, norm.scale, norm.shift)
    return with_dnorm[0] + with_dweight[0], with_dnorm[1] + with_dweight[1]


def unfold(grad_dot_rows: Tensor, grad_sum: Vector, scale: Vector, shift: Vector) -> Tensor:
    """Gradient yᵀ n (O, H) of the unfolded weight, from yᵀ s (O, H) and Σ y (O,)."""
    rank_one = torch.from_numpy(np.outer(grad_sum, shift)).to(grad_dot_rows.dtype)
    return grad_dot_rows * torch.from_numpy(scale).to(grad_dot_rows.dtype) + rank_one


def sums_behind(weight: Tensor, grad_sum: Vector, grad_dot_rows: Tensor) -> tuple[Vector, Vector]:
    """Σ G and Σ G·s (H,) of the gradient G = y weight, from Σ y (O,) and yᵀ s (O, H)."""
    double_weight = weight.double().numpy()
    return (double_weight * grad_sum[:, None]).sum(0), (double_weight * grad_dot_rows.numpy()).sum(0)
