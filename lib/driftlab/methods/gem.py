"""Gradient episodic memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import nnls
from torch import Tensor

from driftlab.methods.base import Learner, Method, Parameters, Task, sample_records
from driftlab.methods.hyper_parameters import FRACTION, HyperParameter

Floats = NDArray[np.float64]


def dual(gram: Floats, products: Floats, margin: float) -> Floats:
    """Solve GEM's dual problem: the weight of each memory gradient (Lopez-Paz and Ranzato 2017, eq. 11).

    v minimises ½ vᵀ (G Gᵀ) v + (G g)ᵀ v subject to v ≥ margin; the projected gradient is g + Gᵀ v. With
    margin 0 this is the nearest gradient whose product with no memory gradient is negative. As in the
    authors' implementation, a larger margin (their memory strength) turns the gradient further towards
    the memories, and a gradient without a negative product is not changed.

    Args:
        gram: G Gᵀ, (tasks, tasks).
        products: G g, (tasks,).
        margin: Lower bound of v.

    Returns:
        v, (tasks,).
    """
    if (products >= 0).all():
        return np.zeros(len(products))
    # With v = u + margin and u ≥ 0 this is a non-negative least-squares problem in a square root of G Gᵀ.
    values, vectors = np.linalg.eigh(gram)
    kept = values > values.max() * 1e-12
    scale = np.sqrt(values[kept])
    root = scale[:, None] * vectors[:, kept].T
    target = -(vectors[:, kept].T @ products) / scale - root @ np.full(len(products), margin)
    u: Floats = nnls(root, target)[0]
    return u + margin


def project(gradient: Tensor, memory: Tensor, margin: float) -> Tensor:
    """Project a gradient (P,) so that no memory gradient (tasks, P) has a negative product with it."""
    rows = memory.double()
    gram, products = rows @ rows.T, rows @ gradient.double()
    v = dual(gram.numpy(force=True), products.numpy(force=True), margin)
    if not v.any():
        return gradient
    # Not a matrix product: its rounding can depend on where a replica's row happens to lie in memory.
    return gradient + (torch.from_numpy(v).to(gradient).unsqueeze(1) * memory).sum(0)


class GEM(Method):
    """Project each gradient so that no old task's memory loss grows (Lopez-Paz and Ranzato 2017).

    A `fraction` of each finished task's training records is kept, drawn by seed. Memory losses use the
    outputs of all classes seen so far, because the task is not known at test time.
    """

    name = "GEM"
    hyper_parameters: ClassVar[Mapping[str, HyperParameter]] = {
        "strength": HyperParameter(5.0, "margin by which a projected gradient turns towards the memories"),
        "fraction": HyperParameter(
            0.2, "part of each finished task's training records that is kept", FRACTION
        ),
    }

    def begin_task(self, learner: Learner, task: Task, batch: Any) -> None:
        """Prepare one batch of kept records per finished task."""
        self.memories = [
            learner.batch(sample_records(past, self.hyper["fraction"], self.seeds, t))
            for t, past in enumerate(task.past)
        ]

    def adjust_gradients(self, learner: Learner, task: Task, gradients: Parameters) -> Parameters:
        """Project each replica's gradient."""
        if not self.memories:
            return gradients
        replicas = len(self.seeds)
        flat = _flatten(gradients, replicas)
        memory = torch.stack(
            [
                _flatten(learner.gradients(learner.cross_entropy(kept, task.seen)), replicas)
                for kept in self.memories
            ],
            dim=1,
        )
        margins = self.hyper["strength"].tolist()
        whole = torch.stack([project(g, m, s) for g, m, s in zip(flat, memory, margins, strict=True)])
        result, start = {}, 0
        for name, value in gradients.items():
            size = value.numel() // replicas
            result[name] = whole[:, start : start + size].reshape(value.shape)
            start += size
        return result


def _flatten(gradients: Parameters, replicas: int) -> Tensor:
    return torch.cat([g.reshape(replicas, -1) for g in gradients.values()], dim=1)
