"""Hessian-vector products of a GCN's loss: the tangent of `fused_gcn`'s gradient.

The product of the Hessian and a direction d is the derivative of the gradient at θ + t d with respect to t at
t = 0. It is computed by differentiating each step of the forward and of the backward computation in turn
(forward over reverse, Pearlmutter 1994); names with a leading d are such derivatives. It takes 1.4 times as
many matrix products as the gradient, since the first layer's input is constant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from driftlab.models.graphs.kernels.folded_norm import (
    NormGradient,
    NormTangent,
    Vector,
    fold_tangent,
    sums_behind,
    unfold,
    vector,
)
from driftlab.models.graphs.kernels.fused_gcn import (
    FusedGCN,
    HeadGradient,
    NamedTensors,
    Trace,
    affine,
    as_tensor,
    column_sums,
    read_branches,
    write_branches,
)
from driftlab.models.graphs.kernels.layer_loops import layer_backward_tangent, layer_forward_tangent
from driftlab.models.graphs.kernels.products import gathered_product, product, product_plus
from driftlab.models.graphs.kernels.readout_loops import (
    readout_backward_tangent,
    readout_forward_tangent,
    readout_sums_tangent,
)


@dataclass
class _LayerTangent:
    """Changes of a `Layer`'s fields."""

    weight: Tensor  # (2H, F), from the direction
    scaled: Tensor  # (2H, F)
    s: Tensor  # (N, H)
    norm: NormTangent


@np.errstate(all="ignore")
def curvature(
    network: FusedGCN, trace: Trace, direction: NamedTensors, change_of_gradient: Callable[[Tensor], Tensor]
) -> dict[str, Tensor | Vector]:
    """Compute the product of the loss's Hessian and a direction, by parameter name.

    Args:
        network: The network that computed the trace.
        trace: A trace on which `FusedGCN.gradient` was called.
        direction: A tensor per parameter.
        change_of_gradient: Maps a change of the logits (B, C) to the change of the loss's gradient with
            respect to the logits, (B, C).
    """
    assert trace.head is not None
    d = {name: value.detach() for name, value in direction.items()}
    layers = _layers_forward(network, trace, d)
    s, ds, norm, dnorm = trace.layers[-1].s, layers[-1].s, trace.layers[-1].norm, layers[-1].norm
    dw, dq = torch.empty_like(trace.w), torch.empty_like(trace.q)
    readout = (
        affine(norm, s), affine(dnorm, s), trace.parameters["attention.weight"][0].numpy(),
        d["attention.weight"][0].numpy(),
    )  # fmt: skip
    readout_forward_tangent(
        s.numpy(), ds.numpy(), *readout, d["attention.bias"].numpy(), trace.w.numpy(), trace.argmax.numpy(),
        dw.numpy(), dq.numpy(),
    )  # fmt: skip
    result: dict[str, Tensor | Vector] = {}
    dgrad_q = _head(trace, trace.head, d, dq, change_of_gradient, result)
    head, de, sums = trace.head, torch.empty_like(dw), np.zeros((3, s.shape[1]))
    weights = (trace.w.numpy(), dw.numpy(), trace.argmax.numpy(), head.grad_q.numpy(), dgrad_q.numpy())
    readout_sums_tangent(s.numpy(), ds.numpy(), *readout, *weights, head.e.numpy(), de.numpy(), sums)
    result["attention.weight"], result["attention.bias"] = sums[2][None], de.double().sum()[None]
    backward = trace.layers[-1].backward
    assert backward is not None
    dgrad_norm, dgrad = dnorm.backward(backward.grad_norm, sums[0], sums[1]), torch.empty_like(s)
    offset = dgrad_norm.offset.astype(readout[0].dtype)
    readout_backward_tangent(*readout, *weights, head.e.numpy(), de.numpy(), offset, dgrad.numpy())
    _layers_backward(network, trace, layers, dgrad, dgrad_norm, result)
    return result


def _layers_forward(network: FusedGCN, trace: Trace, d: NamedTensors) -> list[_LayerTangent]:
    """Tangent of the layers' forward pass in the direction d."""
    tangents: list[_LayerTangent] = []
    for number, layer in enumerate(trace.layers):
        dweight, dbias = read_branches(d, number)
        if tangents:
            below, dbelow = trace.layers[number - 1], tangents[-1]
            dscaled, dconstant = fold_tangent(layer.weight, dweight, below.norm, dbelow.norm)
            dy = product_plus(dbelow.s, layer.scaled, product(below.s, dscaled, dconstant))
        else:
            dscaled, dy = dweight, product(trace.features.rows, dweight)
        ds, sums = torch.empty_like(layer.s), np.zeros((2, layer.s.shape[1]))
        layer_forward_tangent(
            dy.numpy(),
            dbias.numpy(),
            *network.edges,
            layer.s.numpy(),
            layer.relu_mask.numpy(),
            ds.numpy(),
            sums,
        )
        name = f"layers.{number}.norm"
        norm = layer.norm.tangent(sums, vector(d[f"{name}.weight"]), vector(d[f"{name}.bias"]))
        tangents.append(_LayerTangent(dweight, dscaled, ds, norm))
    return tangents


def _head(
    trace: Trace,
    head: HeadGradient,
    d: NamedTensors,
    dq: Tensor,
    change_of_gradient: Callable[[Tensor], Tensor],
    result: dict[str, Tensor | Vector],
) -> Tensor:
    """Tangent of the classifier: writes its part of `result` and returns the change of q's gradient."""
    p, norm, hidden, relu_mask = trace.parameters, trace.norm, trace.hidden, trace.hidden > 0
    dhidden = (
        dq @ p["hidden.weight"].T + torch.addmm(d["hidden.bias"], trace.q, d["hidden.weight"].T)
    ) * relu_mask
    dnorm = norm.tangent(column_sums(dhidden, hidden), vector(d["norm.weight"]), vector(d["norm.bias"]))
    output, doutput = p["output.weight"], d["output.weight"]
    dscaled, dconstant = fold_tangent(output, doutput, norm, dnorm)
    dlogits = torch.addmm(d["output.bias"] + dconstant, hidden, dscaled.T) + dhidden @ trace.scaled_output.T
    dgrad_logits = change_of_gradient(dlogits)
    dgrad_sum = vector(dgrad_logits.double().sum(0))
    dgrad_dot_rows = dgrad_logits.T @ hidden + head.grad_logits.T @ dhidden
    result["output.bias"] = dgrad_sum
    result["output.weight"] = unfold(dgrad_dot_rows, dgrad_sum, norm.scale, norm.shift)
    result["output.weight"] += unfold(head.grad_dot_rows, head.grad_sum, dnorm.scale, dnorm.shift)
    dsums = _change_of_sums(output, doutput, head.grad_sum, dgrad_sum, head.grad_dot_rows, dgrad_dot_rows)
    dgrad_norm = dnorm.backward(head.grad_norm, *dsums)
    result["norm.weight"], result["norm.bias"] = dgrad_norm.gamma, dgrad_norm.grad_sum
    slope, dslope, doffset = (
        as_tensor(v, hidden) for v in (head.grad_norm.slope, dgrad_norm.slope, dgrad_norm.offset)
    )
    dgrad = torch.addmm(doffset, dgrad_logits, trace.scaled_output) + head.grad_logits @ dscaled
    dgrad = dgrad.addcmul_(dslope, hidden).addcmul_(slope, dhidden) * relu_mask
    result["hidden.weight"] = dgrad.T @ trace.q + head.grad_hidden.T @ dq
    result["hidden.bias"] = dgrad.sum(0)
    return dgrad @ p["hidden.weight"] + head.grad_hidden @ d["hidden.weight"]


def _layers_backward(
    network: FusedGCN,
    trace: Trace,
    tangents: list[_LayerTangent],
    dgrad: Tensor,
    dgrad_norm: NormGradient,
    result: dict[str, Tensor | Vector],
) -> None:
    """Tangent of the layers' backward pass; writes their part of `result`."""
    for number in reversed(range(len(tangents))):
        layer, tangent = trace.layers[number], tangents[number]
        backward = layer.backward
        assert backward is not None
        name = f"layers.{number}.norm"
        result[f"{name}.weight"], result[f"{name}.bias"] = dgrad_norm.gamma, dgrad_norm.grad_sum
        dgrad_y, sums = torch.empty_like(backward.grad_y), np.zeros((2, len(layer.weight)))
        dtype = dgrad.numpy().dtype
        layer_backward_tangent(
            dgrad.numpy(), layer.s.numpy(), dgrad_norm.slope.astype(dtype), tangent.s.numpy(),
            backward.grad_norm.slope.astype(dtype), layer.relu_mask.numpy(), *network.edges, dgrad_y.numpy(),
            sums,
        )  # fmt: skip
        if number:
            below, dbelow = trace.layers[number - 1], tangents[number - 1]
            dgrad_dot_rows = gathered_product(dgrad_y, below.s) + gathered_product(backward.grad_y, dbelow.s)
            dweight = unfold(dgrad_dot_rows, sums[1], below.norm.scale, below.norm.shift)
            dweight += unfold(backward.grad_dot_rows, backward.grad_sum, dbelow.norm.scale, dbelow.norm.shift)
            dsums = _change_of_sums(
                layer.weight,
                tangent.weight,
                backward.grad_sum,
                sums[1],
                backward.grad_dot_rows,
                dgrad_dot_rows,
            )
            assert below.backward is not None
            dgrad_norm = dbelow.norm.backward(below.backward.grad_norm, *dsums)
            dgrad = product(dgrad_y, layer.scaled.T, as_tensor(dgrad_norm.offset, dgrad_y))
            dgrad = product_plus(backward.grad_y, tangent.scaled.T, dgrad)
        else:
            dweight = product(trace.features.columns, dgrad_y.T).T
        write_branches(result, number, dweight, sums[0])


def _change_of_sums(
    weight: Tensor,
    dweight: Tensor,
    grad_sum: Vector,
    dgrad_sum: Vector,
    grad_dot_rows: Tensor,
    dgrad_dot_rows: Tensor,
) -> tuple[Vector, Vector]:
    """Tangent of `sums_behind`: the changes of Σ G and Σ G·s."""
    with_dgrad, with_dweight = (
        sums_behind(weight, dgrad_sum, dgrad_dot_rows),
        sums_behind(dweight, grad_sum, grad_dot_rows),
    )
    return with_dgrad[0] + with_dweight[0], with_dgrad[1] + with_dweight[1]
