"""The curvature of a GCN's loss: how the gradient of `fused_gcn` changes with the parameters.

The product of the Hessian and a direction d is the derivative of the gradient at θ + t d with respect to t at
t = 0. It is computed by differentiating each step of the forward and of the backward computation in turn
(forward over reverse, Pearlmutter 1994); a name with a leading d is such a derivative. It costs 1.4 times as
many products as the gradient itself, since the first layer's input does not change.
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
    Named,
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
    weight: Tensor  # (2H, F), the direction's
    scaled: Tensor  # (2H, F), the change of the weight with the norm below folded in
    s: Tensor  # (N, H)
    norm: NormTangent


@np.errstate(all="ignore")
def curvature(
    network: FusedGCN, trace: Trace, direction: Named, change_of_gradient: Callable[[Tensor], Tensor]
) -> dict[str, Tensor | Vector]:
    """The product of the Hessian and a direction, by parameter name.

    Args:
        network: That made the trace.
        trace: After `FusedGCN.gradient`.
        direction: A tensor per parameter.
        change_of_gradient: From a change of the logits (B, C) to that of the loss's gradient with respect to
            the logits, (B, C).
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
        s.numpy(), ds.numpy(), *readout, d["attention.bias"].numpy(), trace.w.numpy(), trace.best.numpy(),
        dw.numpy(), dq.numpy(),
    )  # fmt: skip
    found: dict[str, Tensor | Vector] = {}
    dgrad_q = _head(trace, trace.head, d, dq, change_of_gradient, found)
    head, de, sums = trace.head, torch.empty_like(dw), np.zeros((3, s.shape[1]))
    weights = (trace.w.numpy(), dw.numpy(), trace.best.numpy(), head.grad_q.numpy(), dgrad_q.numpy())
    readout_sums_tangent(s.numpy(), ds.numpy(), *readout, *weights, head.e.numpy(), de.numpy(), sums)
    found["attention.weight"], found["attention.bias"] = sums[2][None], de.double().sum()[None]
    backward = trace.layers[-1].backward
    assert backward is not None
    dgrad_norm, dgrad = dnorm.backward(backward.grad_norm, sums[0], sums[1]), torch.empty_like(s)
    offset = dgrad_norm.offset.astype(readout[0].dtype)
    readout_backward_tangent(*readout, *weights, head.e.numpy(), de.numpy(), offset, dgrad.numpy())
    _layers_backward(network, trace, layers, dgrad, dgrad_norm, found)
    return found


def _layers_forward(network: FusedGCN, trace: Trace, d: Named) -> list[_LayerTangent]:
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
            dy.numpy(), dbias.numpy(), *network.edges, layer.s.numpy(), layer.live.numpy(), ds.numpy(), sums
        )
        name = f"layers.{number}.norm"
        norm = layer.norm.tangent(sums, vector(d[f"{name}.weight"]), vector(d[f"{name}.bias"]))
        tangents.append(_LayerTangent(dweight, dscaled, ds, norm))
    return tangents


def _head(
    trace: Trace,
    head: HeadGradient,
    d: Named,
    dq: Tensor,
    change_of_gradient: Callable[[Tensor], Tensor],
    found: dict[str, Tensor | Vector],
) -> Tensor:
    """The classifier: its part of the product, and the change of the gradient with respect to q."""
    p, norm, hidden, live = trace.parameters, trace.norm, trace.hidden, trace.hidden > 0
    dhidden = (
        dq @ p["hidden.weight"].T + torch.addmm(d["hidden.bias"], trace.q, d["hidden.weight"].T)
    ) * live
    dnorm = norm.tangent(column_sums(dhidden, hidden), vector(d["norm.weight"]), vector(d["norm.bias"]))
    output, doutput = p["output.weight"], d["output.weight"]
    dscaled, dconstant = fold_tangent(output, doutput, norm, dnorm)
    dlogits = torch.addmm(d["output.bias"] + dconstant, hidden, dscaled.T) + dhidden @ trace.scaled_output.T
    dgrad_logits = change_of_gradient(dlogits)
    dtotal = vector(dgrad_logits.double().sum(0))
    dwith_rows = dgrad_logits.T @ hidden + head.grad_logits.T @ dhidden
    found["output.bias"] = dtotal
    found["output.weight"] = unfold(dwith_rows, dtotal, norm.scale, norm.shift)
    found["output.weight"] += unfold(head.with_rows, head.total, dnorm.scale, dnorm.shift)
    sums = _change_of_sums(output, doutput, head.total, dtotal, head.with_rows, dwith_rows)
    dgrad_norm = dnorm.backward(head.grad_norm, *sums)
    found["norm.weight"], found["norm.bias"] = dgrad_norm.gamma, dgrad_norm.total
    slope, dslope, doffset = (
        as_tensor(v, hidden) for v in (head.grad_norm.slope, dgrad_norm.slope, dgrad_norm.offset)
    )
    dgrad = torch.addmm(doffset, dgrad_logits, trace.scaled_output) + head.grad_logits @ dscaled
    dgrad = dgrad.addcmul_(dslope, hidden).addcmul_(slope, dhidden) * live
    found["hidden.weight"] = dgrad.T @ trace.q + head.grad_hidden.T @ dq
    found["hidden.bias"] = dgrad.sum(0)
    return dgrad @ p["hidden.weight"] + head.grad_hidden @ d["hidden.weight"]


def _layers_backward(
    network: FusedGCN,
    trace: Trace,
    tangents: list[_LayerTangent],
    dgrad: Tensor,
    dgrad_norm: NormGradient,
    found: dict[str, Tensor | Vector],
) -> None:
    for number in reversed(range(len(tangents))):
        layer, tangent = trace.layers[number], tangents[number]
        backward = layer.backward
        assert backward is not None
        name = f"layers.{number}.norm"
        found[f"{name}.weight"], found[f"{name}.bias"] = dgrad_norm.gamma, dgrad_norm.total
        dgrad_y, sums = torch.empty_like(backward.grad_y), np.zeros((2, len(layer.weight)))
        kind = dgrad.numpy().dtype
        layer_backward_tangent(
            dgrad.numpy(), layer.s.numpy(), dgrad_norm.slope.astype(kind), tangent.s.numpy(),
            backward.grad_norm.slope.astype(kind), layer.live.numpy(), *network.edges, dgrad_y.numpy(), sums,
        )  # fmt: skip
        if number:
            below, dbelow = trace.layers[number - 1], tangents[number - 1]
            rows = gathered_product(dgrad_y, below.s) + gathered_product(backward.grad_y, dbelow.s)
            dweight = unfold(rows, sums[1], below.norm.scale, below.norm.shift)
            dweight += unfold(backward.with_rows, backward.total, dbelow.norm.scale, dbelow.norm.shift)
            change = _change_of_sums(
                layer.weight, tangent.weight, backward.total, sums[1], backward.with_rows, rows
            )
            assert below.backward is not None
            dgrad_norm = dbelow.norm.backward(below.backward.grad_norm, *change)
            dgrad = product(dgrad_y, layer.scaled.T, as_tensor(dgrad_norm.offset, dgrad_y))
            dgrad = product_plus(backward.grad_y, tangent.scaled.T, dgrad)
        else:
            dweight = product(trace.features.columns, dgrad_y.T).T
        write_branches(found, number, dweight, sums[0])


def _change_of_sums(
    weight: Tensor, dweight: Tensor, total: Vector, dtotal: Vector, rows: Tensor, drows: Tensor
) -> tuple[Vector, Vector]:
    """The changes of `sums_behind`'s Σ G and Σ G·s."""
    first, second = sums_behind(weight, dtotal, drows), sums_behind(dweight, total, rows)
    return first[0] + second[0], first[1] + second[1]
