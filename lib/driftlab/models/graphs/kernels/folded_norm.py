"""Batch normalisation that is never applied to its rows.

n = γ (s − mean) / √(var + eps) + β is s·scale + shift, column by column. A linear map that follows, n Wᵀ, is
s (W·scale)ᵀ + W shift: the rows stay as they are, and its weights change. A gradient G with respect to n
reaches s as scale·G + slope·s + offset, and all that is needed of G for that are the sums Σ G and Σ G·s,
which follow from the map's own gradients.

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
    """A parameter (H,) in double precision."""
    found: Vector = values.detach().double().numpy()
    return found


@dataclass
class NormGradient:
    """The gradient behind a folded batch norm, from that with respect to its output n; see the module.

    Attributes:
        total: Σ G.
        with_rows: Σ G·s.
        gamma: The gradient of γ.
        slope: See the module.
        offset: See the module.
    """

    total: Vector
    with_rows: Vector
    gamma: Vector
    slope: Vector
    offset: Vector


@dataclass
class FoldedNorm:
    """Statistics and coefficients of one batch.

    Attributes:
        count: N.
        gamma: γ.
        mean: Of s.
        variance: Of s, divided by N.
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
        """From Σ s and Σ s² (2, H) over the batch's rows."""
        mean = sums[0] / count
        return cls.of_statistics(mean, np.maximum(sums[1] / count - mean**2, 0), count, gamma, beta, eps)

    @classmethod
    def of_statistics(
        cls, mean: Vector, variance: Vector, count: int, gamma: Vector, beta: Vector, eps: float
    ) -> FoldedNorm:
        """From the mean and the variance."""
        inverse = 1 / np.sqrt(variance + eps)
        scale = gamma * inverse
        return cls(count, gamma, mean, variance, inverse, scale, beta - mean * scale)

    def backward(self, total: Vector, with_rows: Vector) -> NormGradient:
        """The gradient through the norm and its statistics, from Σ G and Σ G·s."""
        gamma = self.inverse * (with_rows - self.mean * total)
        slope = -self.scale * self.inverse * gamma / self.count
        offset = -self.scale * total / self.count - slope * self.mean
        return NormGradient(total, with_rows, gamma, slope, offset)

    def tangent(self, sums: NDArray[np.float64], dgamma: Vector, dbeta: Vector) -> NormTangent:
        """How the coefficients change with γ, β and the rows; `sums` (2, H) are Σ ds and Σ s ds."""
        dmean = sums[0] / self.count
        dvariance = 2 * (sums[1] - self.mean * sums[0]) / self.count
        dinverse = -0.5 * self.inverse**3 * dvariance
        dscale = dgamma * self.inverse + self.gamma * dinverse
        return NormTangent(self, dmean, dinverse, dscale, dbeta - dmean * self.scale - self.mean * dscale)


@dataclass
class NormTangent:
    """Changes of a `FoldedNorm`'s fields.

    Attributes:
        norm: Whose.
        mean: Change of the mean.
        inverse: Of 1 / √(variance + eps).
        scale: Of the scale.
        shift: Of the shift.
    """

    norm: FoldedNorm
    mean: Vector
    inverse: Vector
    scale: Vector
    shift: Vector

    def backward(self, gradient: NormGradient, dtotal: Vector, dwith_rows: Vector) -> NormGradient:
        """The change of `FoldedNorm.backward`, from the changes of Σ G and Σ G·s."""
        n = self.norm
        dgamma = self.inverse * (gradient.with_rows - n.mean * gradient.total)
        dgamma += n.inverse * (dwith_rows - self.mean * gradient.total - n.mean * dtotal)
        product = self.scale * n.inverse * gradient.gamma + n.scale * self.inverse * gradient.gamma
        dslope = -(product + n.scale * n.inverse * dgamma) / n.count
        doffset = -(self.scale * gradient.total + n.scale * dtotal) / n.count
        doffset -= dslope * n.mean + gradient.slope * self.mean
        return NormGradient(dtotal, dwith_rows, dgamma, dslope, doffset)


def fold(weight: Tensor, scale: Vector, shift: Vector) -> tuple[Tensor, Tensor]:
    """`weight` (O, H) with its columns scaled, and `weight @ shift` (O,)."""
    constant = (weight.double().numpy() * shift).sum(1)
    scaled = weight * torch.from_numpy(scale).to(weight.dtype)
    return scaled, torch.from_numpy(constant).to(weight.dtype)


def fold_tangent(
    weight: Tensor, dweight: Tensor, norm: FoldedNorm, dnorm: NormTangent
) -> tuple[Tensor, Tensor]:
    """The changes of what `fold` gives."""
    first, second = fold(weight, dnorm.scale, dnorm.shift), fold(dweight, norm.scale, norm.shift)
    return first[0] + second[0], first[1] + second[1]


def unfold(with_rows: Tensor, total: Vector, scale: Vector, shift: Vector) -> Tensor:
    """yᵀ n (O, H) from yᵀ s and Σ y (O,)."""
    rank_one = torch.from_numpy(np.outer(total, shift)).to(with_rows.dtype)
    return with_rows * torch.from_numpy(scale).to(with_rows.dtype) + rank_one


def sums_behind(weight: Tensor, total: Vector, with_rows: Tensor) -> tuple[Vector, Vector]:
    """Σ G and Σ G·s of G = y weight, from Σ y (O,) and yᵀ s (O, H)."""
    wide = weight.double().numpy()
    return (wide * total[:, None]).sum(0), (wide * with_rows.numpy()).sum(0)
