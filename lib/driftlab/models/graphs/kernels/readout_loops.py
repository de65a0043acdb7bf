"""The readout over a graph's nodes: the sum weighted by w = sigmoid(n·a + c) beside the maximum.

The node features are n = s·scale + shift, the batch norm of the last layer's s, which is never written down.
A gradient q̄ (B, 2H) of the readout reaches a node's features as G = w q̄_sum + e a + [node is the maximum]
q̄_max, where e is the gradient with respect to n·a. The first of several equal maxima counts.

N rows are nodes, graph after graph; B graphs; H units; `norm` (2, H) is (scale, shift). Sums are made as in
`layer_loops`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftlab.models.graphs.kernels.compiled import compiled

Array = NDArray[Any]


@compiled
def readout_forward(s: Array, norm: Array, a: Array, c: Array, w: Array, q: Array, best: Array) -> None:
    """Write weights w (N,), readout q (B, 2H) and the place of each maximum, best (B, H).

    Args:
        s: (N, H).
        norm: (2, H).
        a: (H,).
        c: (1,).
        w: See above.
        q: See above.
        best: See above.
    """
    units = s.shape[1]
    nodes = len(s) // len(q)
    one, zero = s.dtype.type(1), s.dtype.type(0)
    n, total, largest = np.empty(units, s.dtype), np.empty(units, s.dtype), np.empty(units, s.dtype)
    place = np.empty(units, best.dtype)
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
                largest[:] = n
                place[:] = 0
            for f in range(units):
                place[f] = v if n[f] > largest[f] else place[f]
            for f in range(units):
                largest[f] = n[f] if n[f] > largest[f] else largest[f]
        for f in range(units):
            q[b, f] = total[f]
            q[b, units + f] = largest[f]
            best[b, f] = place[f]


@compiled
def readout_sums(
    s: Array,
    norm: Array,
    a: Array,
    w: Array,
    best: Array,
    grad_q: Array,
    e: Array,
    sums: Array,
) -> None:
    """Write e (N,), and add Σ G, Σ G·s and Σ e·n (the gradient of a) to the rows of `sums` (3, H)."""
    units = s.shape[1]
    nodes = len(s) // len(grad_q)
    one, zero = s.dtype.type(1), s.dtype.type(0)
    part, n = np.empty((3, units), s.dtype), np.empty(units, s.dtype)
    for b in range(len(grad_q)):
        part[:] = zero
        for v in range(nodes):
            row = b * nodes + v
            for f in range(units):
                n[f] = s[row, f] * norm[0, f] + norm[1, f]
            t = zero
            for f in range(units):
                t += n[f] * grad_q[b, f]
            weight = w[row]
            t *= weight * (one - weight)
            e[row] = t
            for f in range(units):
                part[2, f] += t * n[f]
            for f in range(units):
                n[f] = weight * grad_q[b, f] + t * a[f]
            for f in range(units):
                part[0, f] += n[f]
            for f in range(units):
                part[1, f] += n[f] * s[row, f]
        for f in range(units):
            largest = grad_q[b, units + f]
            sums[0, f] += part[0, f] + largest
            sums[1, f] += part[1, f] + largest * s[b * nodes + best[b, f], f]
            sums[2, f] += part[2, f]


@compiled
def readout_backward(
    norm: Array, a: Array, w: Array, best: Array, grad_q: Array, e: Array, offset: Array, grad: Array
) -> None:
    """Write grad = scale·G + offset, (N, H)."""
    units = norm.shape[1]
    nodes = len(w) // len(grad_q)
    for b in range(len(grad_q)):
        for v in range(nodes):
            row = b * nodes + v
            weight, t = w[row], e[row]
            for f in range(units):
                grad[row, f] = norm[0, f] * (weight * grad_q[b, f] + t * a[f]) + offset[f]
        for f in range(units):
            grad[b * nodes + best[b, f], f] += norm[0, f] * grad_q[b, units + f]


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
    best: Array,
    dw: Array,
    dq: Array,
) -> None:
    """The changes dw (N,) and dq (B, 2H) of `readout_forward` with changes of s, norm, a and c."""
    units = s.shape[1]
    nodes = len(s) // len(dq)
    one, zero = s.dtype.type(1), s.dtype.type(0)
    n, dn, total = np.empty(units, s.dtype), np.empty(units, s.dtype), np.empty(units, s.dtype)
    for b in range(len(dq)):
        total[:] = zero
        for v in range(nodes):
            row = b * nodes + v
            _normalised_tangent(s, ds, row, norm, dnorm, n, dn)
            change = dc[0]
            for f in range(units):
                change += dn[f] * a[f] + n[f] * da[f]
            weight = w[row]
            dweight = weight * (one - weight) * change
            dw[row] = dweight
            for f in range(units):
                total[f] += dweight * n[f] + weight * dn[f]
        for f in range(units):
            row = b * nodes + best[b, f]
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
    best: Array,
    grad_q: Array,
    dgrad_q: Array,
    e: Array,
    de: Array,
    sums: Array,
) -> None:
    """Write the change de (N,) of e, and add the changes of the three sums of `readout_sums` to `sums`."""
    units = s.shape[1]
    nodes = len(s) // len(grad_q)
    one, two, zero = s.dtype.type(1), s.dtype.type(2), s.dtype.type(0)
    n, dn, part = np.empty(units, s.dtype), np.empty(units, s.dtype), np.empty((3, units), s.dtype)
    for b in range(len(grad_q)):
        part[:] = zero
        for v in range(nodes):
            row = b * nodes + v
            _normalised_tangent(s, ds, row, norm, dnorm, n, dn)
            t, dt = zero, zero
            for f in range(units):
                t += n[f] * grad_q[b, f]
            for f in range(units):
                dt += dn[f] * grad_q[b, f] + n[f] * dgrad_q[b, f]
            weight, dweight = w[row], dw[row]
            dt = dt * weight * (one - weight) + t * (one - two * weight) * dweight
            t = e[row]
            de[row] = dt
            for f in range(units):
                part[2, f] += dt * n[f] + t * dn[f]
            # From here on n and dn hold G, without the maximum's share, and its change.
            for f in range(units):
                n[f] = weight * grad_q[b, f] + t * a[f]
            for f in range(units):
                dn[f] = dweight * grad_q[b, f] + dt * a[f]
            for f in range(units):
                dn[f] += weight * dgrad_q[b, f] + t * da[f]
            for f in range(units):
                part[0, f] += dn[f]
            for f in range(units):
                part[1, f] += dn[f] * s[row, f] + n[f] * ds[row, f]
        for f in range(units):
            row = b * nodes + best[b, f]
            sums[0, f] += part[0, f] + dgrad_q[b, units + f]
            sums[1, f] += part[1, f]
            sums[1, f] += dgrad_q[b, units + f] * s[row, f] + grad_q[b, units + f] * ds[row, f]
            sums[2, f] += part[2, f]


@compiled
def readout_backward_tangent(
    norm: Array,
    dnorm: Array,
    a: Array,
    da: Array,
    w: Array,
    dw: Array,
    best: Array,
    grad_q: Array,
    dgrad_q: Array,
    e: Array,
    de: Array,
    doffset: Array,
    dgrad: Array,
) -> None:
    """Write the change dgrad (N, H) of `readout_backward`'s grad."""
    units = norm.shape[1]
    nodes = len(w) // len(grad_q)
    g = np.empty(units, a.dtype)
    for b in range(len(grad_q)):
        for v in range(nodes):
            row = b * nodes + v
            weight, dweight, t, dt = w[row], dw[row], e[row], de[row]
            for f in range(units):
                g[f] = dweight * grad_q[b, f] + weight * dgrad_q[b, f]
            for f in range(units):
                g[f] += dt * a[f] + t * da[f]
            for f in range(units):
                dgrad[row, f] = norm[0, f] * g[f] + doffset[f]
            for f in range(units):
                g[f] = weight * grad_q[b, f] + t * a[f]
            for f in range(units):
                dgrad[row, f] += dnorm[0, f] * g[f]
        for f in range(units):
            largest, change = grad_q[b, units + f], dgrad_q[b, units + f]
            dgrad[b * nodes + best[b, f], f] += norm[0, f] * change + dnorm[0, f] * largest
