"""The readout over a graph's nodes: the sum weighted by w = sigmoid(n·a + c) beside the maximum.

The node features are n = s·scale + shift, the batch norm of the last layer's s; they are not stored.
A gradient q̄ (B, 2H) of the readout reaches a node's features as G = w q̄_sum + e a + [node is the maximum]
q̄_max, where e is the gradient with respect to the score n·a. Among equal maxima the first counts.

N rows are nodes, graph after graph; B graphs; H units; `norm` (2, H) is (scale, shift). Sums are accumulated
as in `layer_loops`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftlab.models.graphs.kernels.compiled import compiled

Array = NDArray[Any]


@compiled
def readout_forward(s: Array, norm: Array, a: Array, c: Array, w: Array, q: Array, argmax: Array) -> None:
    """Compute weights w (N,), readout q (B, 2H) and the node of each maximum, argmax (B, H).

    Args:
        s: (N, H).
        norm: (2, H).
        a: (H,).
        c: (1,).
        w: Output.
        q: Output.
        argmax: Output.
    """
    units = s.shape[1]
    nodes = len(s) // len(q)
    one, zero = s.dtype.type(1), s.dtype.type(0)
    n, total, maximum = np.empty(units, s.dtype), np.empty(units, s.dtype), np.empty(units, s.dtype)
    graph_argmax = np.empty(units, argmax.dtype)
    for b in range(len(q)):
        total[:] = zero
        for v in range(nodes):
            row = b * nodes + v
            for f in range(units):
                n[f] = s[row, f] * norm[0, f] + norm[1, f]
            score = c[0]
            for f in range(units):
                score += n[f] * a[f]
            weight = one / (one + np.exp(-score))
            w[row] = weight
            for f in range(units):
                total[f] += weight * n[f]
            if v == 0:
                maximum[:] = n
                graph_argmax[:] = 0
            for f in range(units):
                graph_argmax[f] = v if n[f] > maximum[f] else graph_argmax[f]
            for f in range(units):
                maximum[f] = n[f] if n[f] > maximum[f] else maximum[f]
        for f in range(units):
            q[b, f] = total[f]
            q[b, units + f] = maximum[f]
            argmax[b, f] = graph_argmax[f]


@compiled
def readout_sums(
    s: Array,
    norm: Array,
    a: Array,
    w: Array,
    argmax: Array,
    grad_q: Array,
    e: Array,
    sums: Array,
) -> None:
    """Compute e (N,), and add Σ G, Σ G·s and Σ e·n (the gradient of a) to the rows of `sums` (3, H)."""
    units = s.shape[1]
    nodes = len(s) // len(grad_q)
    one, zero = s.dtype.type(1), s.dtype.type(0)
    graph_sums, n = np.empty((3, units), s.dtype), np.empty(units, s.dtype)
    for b in range(len(grad_q)):
        graph_sums[:] = zero
        for v in range(nodes):
            row = b * nodes + v
            for f in range(units):
                n[f] = s[row, f] * norm[0, f] + norm[1, f]
            grad_score = zero
            for f in range(units):
                grad_score += n[f] * grad_q[b, f]
            weight = w[row]
            grad_score *= weight * (one - weight)
            e[row] = grad_score
            for f in range(units):
                graph_sums[2, f] += grad_score * n[f]
            # From here on n holds G without the maximum's part.
            for f in range(units):
                n[f] = weight * grad_q[b, f] + grad_score * a[f]
            for f in range(units):
                graph_sums[0, f] += n[f]
            for f in range(units):
                graph_sums[1, f] += n[f] * s[row, f]
        for f in range(units):
            grad_maximum = grad_q[b, units + f]
            sums[0, f] += graph_sums[0, f] + grad_maximum
            sums[1, f] += graph_sums[1, f] + grad_maximum * s[b * nodes + argmax[b, f], f]
            sums[2, f] += graph_sums[2, f]


@compiled
def readout_backward(
    norm: Array, a: Array, w: Array, argmax: Array, grad_q: Array, e: Array, offset: Array, grad: Array
) -> None:
    """Compute grad = scale·G + offset, (N, H)."""
    units = norm.shape[1]
    nodes = len(w) // len(grad_q)
    for b in range(len(grad_q)):
        for v in range(nodes):
            row = b * nodes + v
            weight, grad_score = w[row], e[row]
            for f in range(units):
                grad[row, f] = norm[0, f] * (weight * grad_q[b, f] + grad_score * a[f]) + offset[f]
        for f in range(units):
            grad[b * nodes + argmax[b, f], f] += norm[0, f] * grad_q[b, units + f]


@compiled
def _normalised_tangent(
    s: Array, ds: Array, row: int, norm: Array, dnorm: Array, n: Array, dn: Array
) -> None:
    """Write one row's n (H,) and its change dn (H,)."""
    for f in range(len(n)):
        n[f] = s[row, f] * norm[0, f] + norm[1, f]
    for f in range(len(n)):
        dn[f] = ds[row, f] * norm[0, f] + dnorm[1, f]
    for f in range(len(n)):
        dn[f] += s[row, f] * dnorm[0, f]


@compiled
def readout_forward_tangent(
    s: Array,
    ds: Array,
    norm: Array,
    dnorm: Array,
    a: Array,
    da: Array,
    dc: Array,
    w: Array,
    argmax: Array,
    dw: Array,
    dq: Array,
) -> None:
    """Tangent of `readout_forward`: write dw (N,) and dq (B, 2H) for changes of s, norm, a and c."""
    units = s.shape[1]
    nodes = len(s) // len(dq)
    one, zero = s.dtype.type(1), s.dtype.type(0)
    n, dn, total = np.empty(units, s.dtype), np.empty(units, s.dtype), np.empty(units, s.dtype)
    for b in range(len(dq)):
        total[:] = zero
        for v in range(nodes):
            row = b * nodes + v
            _normalised_tangent(s, ds, row, norm, dnorm, n, dn)
            dscore = dc[0]
            for f in range(units):
                dscore += dn[f] * a[f] + n[f] * da[f]
            weight = w[row]
            dweight = weight * (one - weight) * dscore
            dw[row] = dweight
            for f in range(units):
                total[f] += dweight * n[f] + weight * dn[f]
        for f in range(units):
            row = b * nodes + argmax[b, f]
            dq[b, f] = total[f]
            dq[b, units + f] = ds[row, f] * norm[0, f] + s[row, f] * dnorm[0, f] + dnorm[1, f]


@compiled
def readout_sums_tangent(
    s: Array,
    ds: Array,
    norm: Array,
    dnorm: Array,
    a: Array,
    da: Array,
    w: Array,
    dw: Array,
    argmax: Array,
    grad_q: Array,
    dgrad_q: Array,
    e: Array,
    de: Array,
    sums: Array,
) -> None:
    """Tangent of `readout_sums`: write de (N,), and add the changes of its three sums to `sums` (3, H)."""
    units = s.shape[1]
    nodes = len(s) // len(grad_q)
    one, two, zero = s.dtype.type(1), s.dtype.type(2), s.dtype.type(0)
    n, dn, graph_sums = np.empty(units, s.dtype), np.empty(units, s.dtype), np.empty((3, units), s.dtype)
    for b in range(len(grad_q)):
        graph_sums[:] = zero
        for v in range(nodes):
            row = b * nodes + v
            _normalised_tangent(s, ds, row, norm, dnorm, n, dn)
            grad_score, dgrad_score = zero, zero
            for f in range(units):
                grad_score += n[f] * grad_q[b, f]
            for f in range(units):
                dgrad_score += dn[f] * grad_q[b, f] + n[f] * dgrad_q[b, f]
            weight, dweight = w[row], dw[row]
            dgrad_score = dgrad_score * weight * (one - weight) + grad_score * (one - two * weight) * dweight
            grad_score = e[row]
            de[row] = dgrad_score
            for f in range(units):
                graph_sums[2, f] += dgrad_score * n[f] + grad_score * dn[f]
            # From here on n and dn hold G without the maximum's part, and its change.
            for f in range(units):
                n[f] = weight * grad_q[b, f] + grad_score * a[f]
            for f in range(units):
                dn[f] = dweight * grad_q[b, f] + dgrad_score * a[f]
            for f in range(units):
                dn[f] += weight * dgrad_q[b, f] + grad_score * da[f]
            for f in range(units):
                graph_sums[0, f] += dn[f]
            for f in range(units):
                graph_sums[1, f] += dn[f] * s[row, f] + n[f] * ds[row, f]
        for f in range(units):
            row = b * nodes + argmax[b, f]
            sums[0, f] += graph_sums[0, f] + dgrad_q[b, units + f]
            sums[1, f] += graph_sums[1, f]
            sums[1, f] += dgrad_q[b, units + f] * s[row, f] + grad_q[b, units + f] * ds[row, f]
            sums[2, f] += graph_sums[2, f]


@compiled
def readout_backward_tangent(
    norm: Array,
    dnorm: Array,
    a: Array,
    da: Array,
    w: Array,
    dw: Array,
    argmax: Array,
    grad_q: Array,
    dgrad_q: Array,
    e: Array,
    de: Array,
    doffset: Array,
    dgrad: Array,
) -> None:
    """Tangent of `readout_backward`: write dgrad (N, H)."""
    units = norm.shape[1]
    nodes = len(w) // len(grad_q)
    g = np.empty(units, a.dtype)
    for b in range(len(grad_q)):
        for v in range(nodes):
            row = b * nodes + v
            weight, dweight, grad_score, dgrad_score = w[row], dw[row], e[row], de[row]
            for f in range(units):
                g[f] = dweight * grad_q[b, f] + weight * dgrad_q[b, f]
            for f in range(units):
                g[f] += dgrad_score * a[f] + grad_score * da[f]
            for f in range(units):
                dgrad[row, f] = norm[0, f] * g[f] + doffset[f]
            for f in range(units):
                g[f] = weight * grad_q[b, f] + grad_score * a[f]
            for f in range(units):
                dgrad[row, f] += dnorm[0, f] * g[f]
        for f in range(units):
            grad_maximum, dgrad_maximum = grad_q[b, units + f], dgrad_q[b, units + f]
            dgrad[b * nodes + argmax[b, f], f] += norm[0, f] * dgrad_maximum + dnorm[0, f] * grad_maximum
