"""Forward and backward pass of one replica's GCN on a CPU, without autograd.

Each layer takes one matrix product forward and two backward, over both branches at once, and one pass over
memory between them (`layer_loops`). Batch norms are folded into the products (`folded_norm`). The curvature
(`fused_curvature`) is the tangent of the forward and of the backward pass.

Shapes: N nodes (rows), V per graph; B graphs, F input features, H units, C classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from driftlab.models.graphs.kernels.folded_norm import (
    FoldedNorm,
    NormGradient,
    NormTangent,
    Vector,
    fold,
    sums_behind,
    unfold,
    vector,
)
from driftlab.models.graphs.kernels.layer_loops import (
    layer_backward,
    layer_forward,
)
from driftlab.models.graphs.kernels.products import gathered_product, product
from driftlab.models.graphs.kernels.readout_loops import (
    readout_backward,
    readout_forward,
    readout_sums,
)

NamedTensors = Mapping[str, Tensor]


class NodeFeatures:
    """Input node features of a replica's records; replicas with equal records share one object.

    Args:
        x: (B, V, F).
    """

    def __init__(self, x: Tensor) -> None:
        self.graphs = len(x)
        self.rows = x.flatten(0, 1)
        self._columns: Tensor | None = None

    @property
    def columns(self) -> Tensor:
        """(F, N), a transposed copy, created when a gradient first needs it."""
        if self._columns is None:
            self._columns = self.rows.T.contiguous()
        return self._columns


@dataclass
class LayerGradient:
    """Gradients and intermediate results of one layer's backward pass."""

    grad_norm: NormGradient
    grad_y: Tensor  # (N, 2H)
    grad_sum: Vector  # (2H,), Σ grad_y
    grad_dot_rows: Tensor  # (2H, F), grad_yᵀ times the layer's input rows


@dataclass
class Layer:
    """Weights of one layer (both branches) and intermediate results of its forward and backward pass."""

    weight: Tensor  # (2H, F)
    scaled: Tensor  # (2H, F), the weight with the previous layer's norm folded in
    s: Tensor  # (N, H), the layer's output before its batch norm
    relu_mask: Tensor  # (N, 2H) int8
    norm: FoldedNorm
    backward: LayerGradient | None = None


@dataclass
class HeadGradient:
    """Gradients and intermediate results of the backward pass of classifier and readout."""

    grad_logits: Tensor  # (B, C)
    grad_sum: Vector  # (C,), Σ grad_logits
    grad_dot_rows: Tensor  # (C, H), grad_logitsᵀ hidden
    grad_norm: NormGradient
    grad_hidden: Tensor  # (B, H), before the ReLU
    grad_q: Tensor  # (B, 2H)
    e: Tensor  # (N,), gradient with respect to the attention scores


@dataclass
class Trace:
    """Logits (B, C) and intermediate results of one replica's forward pass, kept for the backward pass.

    `norms` has the mean and the unbiased variance (H,) of every batch norm's rows, in the network's order.
    """

    features: NodeFeatures
    parameters: NamedTensors
    layers: list[Layer]
    w: Tensor  # (N,), attention weights of the readout
    argmax: Tensor  # (B, H), the node of each maximum of the readout
    q: Tensor  # (B, 2H), the readout
    hidden: Tensor  # (B, H), the classifier's hidden layer after its ReLU
    norm: FoldedNorm  # of the classifier
    scaled_output: Tensor  # (C, H), weight of the output layer with the norm folded in
    logits: Tensor
    head: HeadGradient | None = None

    @property
    def norms(self) -> list[tuple[Vector, Vector]]:
        """Mean and unbiased variance of every batch norm; see the class."""
        norms = [layer.norm for layer in self.layers] + [self.norm]
        return [(n.mean, n.variance * n.count / max(n.count - 1, 1)) for n in norms]


def read_branches(named: NamedTensors, layer: int) -> tuple[Tensor, Tensor]:
    """Weight (2H, F) and bias (2H,) of a layer's two branches."""
    convolution, residual = f"layers.{layer}.convolution.nn", f"layers.{layer}.residual"
    weight = torch.cat([named[f"{convolution}.weight"], named[f"{residual}.weight"]])
    return weight, torch.cat([named[f"{convolution}.bias"], named[f"{residual}.bias"]])


def write_branches(
    named: dict[str, Tensor | Vector], layer: int, weight: Tensor, bias: Tensor | Vector
) -> None:
    """Write weight and bias of both branches under their parameter names; the reverse of `read_branches`."""
    units = len(weight) // 2
    for name, part in (("convolution.nn", slice(units)), ("residual", slice(units, None))):
        named[f"layers.{layer}.{name}.weight"], named[f"layers.{layer}.{name}.bias"] = (
            weight[part],
            bias[part],
        )


def as_tensor(values: Vector, like: Tensor) -> Tensor:
    """A vector as a tensor in the precision of `like`."""
    return torch.from_numpy(values).to(like.dtype)


class FusedGCN:
    """Forward and backward pass of a `driftlab.models.graphs.gcn.GCN`, given its parameters by name.

    Args:
        adjacency: (V, V), ones for edges and self loops, symmetric.
        depth: Number of layers.
        eps: Epsilon of the batch norms.
    """

    def __init__(self, adjacency: Tensor, depth: int, eps: float) -> None:
        rows = [row.nonzero().flatten().tolist() for row in adjacency]
        self.edges = (
            np.cumsum([0] + [len(row) for row in rows]),
            np.array([v for row in rows for v in row], dtype=np.int64),
        )
        self.depth, self.eps = depth, eps

    @np.errstate(all="ignore")  # a diverged run is detected by its loss
    def forward(
        self, parameters: NamedTensors, features: NodeFeatures, running: NamedTensors | None = None
    ) -> Trace:
        """Compute the logits, with the batch's statistics or, if given, with the running ones."""
        p = {name: value.detach() for name, value in parameters.items()}
        layers: list[Layer] = []
        for number in range(self.depth):
            weight, bias = read_branches(p, number)
            if layers:
                scaled, constant = fold(weight, layers[-1].norm.scale, layers[-1].norm.shift)
                y = product(layers[-1].s, scaled, constant)
            else:
                scaled, y = weight, product(features.rows, weight)
            s = y.new_empty(len(y), y.shape[1] // 2)
            relu_mask = torch.empty(y.shape, dtype=torch.int8)
            sums = np.zeros((2, s.shape[1]))
            layer_forward(y.numpy(), bias.numpy(), *self.edges, s.numpy(), relu_mask.numpy(), sums)
            norm = self._norm(p, f"layers.{number}.norm", sums, len(s), running)
            layers.append(Layer(weight, scaled, s, relu_mask, norm))
        s, norm = layers[-1].s, layers[-1].norm
        w, q = s.new_empty(len(s)), s.new_empty(features.graphs, 2 * s.shape[1])
        argmax = torch.empty(features.graphs, s.shape[1], dtype=torch.int32)
        a, c = p["attention.weight"][0].numpy(), p["attention.bias"].numpy()
        readout_forward(s.numpy(), affine(norm, s), a, c, w.numpy(), q.numpy(), argmax.numpy())
        hidden = product(q, p["hidden.weight"], p["hidden.bias"], relu=True)
        head_norm = self._norm(p, "norm", column_sums(hidden, hidden), len(hidden), running)
        scaled, constant = fold(p["output.weight"], head_norm.scale, head_norm.shift)
        logits = torch.addmm(p["output.bias"] + constant, hidden, scaled.T)
        return Trace(features, p, layers, w, argmax, q, hidden, head_norm, scaled, logits)

    @np.errstate(all="ignore")
    def gradient(self, trace: Trace, grad_logits: Tensor) -> dict[str, Tensor | Vector]:
        """Compute the gradient of every parameter, by name, from the gradient of the logits (B, C)."""
        p, gradients, hidden = trace.parameters, dict[str, Tensor | Vector](), trace.hidden
        grad_sum, grad_dot_rows = vector(grad_logits.double().sum(0)), grad_logits.T @ hidden
        gradients["output.bias"] = grad_sum
        gradients["output.weight"] = unfold(grad_dot_rows, grad_sum, trace.norm.scale, trace.norm.shift)
        grad_norm = trace.norm.backward(*sums_behind(p["output.weight"], grad_sum, grad_dot_rows))
        gradients["norm.weight"], gradients["norm.bias"] = grad_norm.gamma, grad_norm.grad_sum
        slope, offset = (
            as_tensor(coefficients, hidden) for coefficients in (grad_norm.slope, grad_norm.offset)
        )
        grad_hidden = torch.addmm(offset, grad_logits, trace.scaled_output).addcmul_(slope, hidden)
        grad_hidden *= hidden > 0
        gradients["hidden.weight"], gradients["hidden.bias"] = grad_hidden.T @ trace.q, grad_hidden.sum(0)
        grad_q = grad_hidden @ p["hidden.weight"]
        e = torch.empty_like(trace.w)
        trace.head = HeadGradient(grad_logits, grad_sum, grad_dot_rows, grad_norm, grad_hidden, grad_q, e)
        grad, grad_norm = self._readout_gradient(trace, trace.head, gradients)
        for number in reversed(range(self.depth)):
            layer = trace.layers[number]
            name = f"layers.{number}"
            gradients[f"{name}.norm.weight"], gradients[f"{name}.norm.bias"] = (
                grad_norm.gamma,
                grad_norm.grad_sum,
            )
            grad_y, sums = grad.new_empty(len(grad), len(layer.weight)), np.zeros((2, len(layer.weight)))
            norm_slope = grad_norm.slope.astype(grad.numpy().dtype)
            layer_backward(
                grad.numpy(),
                layer.s.numpy(),
                norm_slope,
                layer.relu_mask.numpy(),
                *self.edges,
                grad_y.numpy(),
                sums,
            )
            if number:
                below = trace.layers[number - 1]
                grad_dot_rows = gathered_product(grad_y, below.s)
                weight = unfold(grad_dot_rows, sums[1], below.norm.scale, below.norm.shift)
                layer.backward = LayerGradient(grad_norm, grad_y, sums[1], grad_dot_rows)
                grad_norm = below.norm.backward(*sums_behind(layer.weight, sums[1], grad_dot_rows))
                grad = product(grad_y, layer.scaled.T, as_tensor(grad_norm.offset, grad))
            else:
                weight = product(trace.features.columns, grad_y.T).T
                layer.backward = LayerGradient(grad_norm, grad_y, sums[1], weight)
            write_branches(gradients, number, weight, sums[0])
        return gradients

    def _readout_gradient(
        self, trace: Trace, head: HeadGradient, gradients: dict[str, Tensor | Vector]
    ) -> tuple[Tensor, NormGradient]:
        s, norm = trace.layers[-1].s, trace.layers[-1].norm
        scale_shift = affine(norm, s)
        a = trace.parameters["attention.weight"][0].numpy()
        w, argmax, grad_q, e = (t.numpy() for t in (trace.w, trace.argmax, head.grad_q, head.e))
        sums = np.zeros((3, s.shape[1]))
        readout_sums(s.numpy(), scale_shift, a, w, argmax, grad_q, e, sums)
        gradients["attention.weight"], gradients["attention.bias"] = (
            sums[2][None],
            head.e.double().sum()[None],
        )
        grad_norm, grad = norm.backward(sums[0], sums[1]), torch.empty_like(s)
        readout_backward(
            scale_shift, a, w, argmax, grad_q, e, grad_norm.offset.astype(scale_shift.dtype), grad.numpy()
        )
        return grad, grad_norm

    def _norm(
        self, p: NamedTensors, name: str, sums: NDArray[np.float64], count: int, running: NamedTensors | None
    ) -> FoldedNorm:
        gamma, beta = vector(p[f"{name}.weight"]), vector(p[f"{name}.bias"])
        if running is None:
            return FoldedNorm.of_sums(sums, count, gamma, beta, self.eps)
        mean, variance = vector(running[f"{name}.running_mean"]), vector(running[f"{name}.running_var"])
        return FoldedNorm.of_statistics(mean, variance, count, gamma, beta, self.eps)


def affine(norm: FoldedNorm | NormTangent, like: Tensor) -> NDArray[Any]:
    """Scale and shift (2, H) in the precision of `like`."""
    return np.stack([norm.scale, norm.shift]).astype(like.numpy().dtype)


def column_sums(x: Tensor, y: Tensor) -> NDArray[np.float64]:
    """Σ x and Σ x·y over the rows of small matrices, (2, H)."""
    double_x = x.double().numpy()
    return np.stack([double_x.sum(0), (double_x * y.numpy()).sum(0)])
