"""The operations of a graph layer between its matrix products, as one pass over memory per direction.

PyTorch's operators read and write all activations once per operator, and a small network on a CPU then waits
for memory most of the time. The inner loops are short on purpose: each becomes vector instructions.

N rows are nodes, V per graph, graph after graph; H is the number of units. Arrays (N, 2H) hold the two
branches of a layer side by side: convolution, residual. `first` (V + 1,) and `neighbours` hold the graph's
symmetric edges: the neighbours of node v, itself among them, are `neighbours[first[v]:first[v + 1]]`. Sums
over rows are made per graph in the activations' precision and over the graphs in double precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftlab.models.graphs.kernels.compiled import compiled

Array = NDArray[Any]


@compiled
def layer_forward(
    y: Array, bias: Array, first: Array, neighbours: Array, s: Array, live: Array, sums: Array
) -> None:
    """Compute s = relu(Σ_neighbours y_c + b_c) + relu(y_r + b_r), and what batch norm needs of it.

    Args:
        y: (N, 2H), the products of both branches.
        bias: (2H,).
        first: See the module.
        neighbours: See the module.
        s: (N, H), is written.
        live: (N, 2H) bytes, is written: 1 where a branch's ReLU lets a gradient through.
        sums: (2, H), Σ s and Σ s² are added to it.
    """
    nodes, units = len(first) - 1, s.shape[1]
    zero = s.dtype.type(0)
    part, squares = np.empty(units, s.dtype), np.empty(units, s.dtype)
    row = np.empty(2 * units, s.dtype)
    for base in range(0, len(y), nodes):
        part[:] = zero
        squares[:] = zero
        for v in range(nodes):
            for f in range(2 * units):
                row[f] = bias[f]
            for f in range(units):
                row[units + f] += y[base + v, units + f]
            for k in range(first[v], first[v + 1]):
                other = base + neighbours[k]
                for f in range(units):
                    row[f] += y[other, f]
            for f in range(2 * units):
                live[base + v, f] = row[f] > zero
            # A product, so that what is not a number stays so.
            for f in range(2 * units):
                row[f] *= row[f] > zero
            for f in range(units):
                s[base + v, f] = row[f] + row[units + f]
            for f in range(units):
                part[f] += s[base + v, f]
            for f in range(units):
                squares[f] += s[base + v, f] * s[base + v, f]
        for f in range(units):
            sums[0, f] += part[f]
            sums[1, f] += squares[f]


@compiled
def layer_forward_tangent(
    dy: Array,
    dbias: Array,
    first: Array,
    neighbours: Array,
    s: Array,
    live: Array,
    ds: Array,
    sums: Array,
) -> None:
    """The change ds (N, H) of s with changes of y and bias; adds Σ ds and Σ s ds to `sums`."""
    nodes, units = len(first) - 1, s.shape[1]
    zero = s.dtype.type(0)
    part, with_rows = np.empty(units, s.dtype), np.empty(units, s.dtype)
    row = np.empty(2 * units, s.dtype)
    for base in range(0, len(dy), nodes):
        part[:] = zero
        with_rows[:] = zero
        for v in range(nodes):
            for f in range(2 * units):
                row[f] = dbias[f]
            for f in range(units):
                row[units + f] += dy[base + v, units + f]
            for k in range(first[v], first[v + 1]):
                other = base + neighbours[k]
                for f in range(units):
                    row[f] += dy[other, f]
            for f in range(2 * units):
                row[f] *= s.dtype.type(live[base + v, f])
            for f in range(units):
                ds[base + v, f] = row[f] + row[units + f]
            for f in range(units):
                part[f] += ds[base + v, f]
            for f in range(units):
                with_rows[f] += ds[base + v, f] * s[base + v, f]
        for f in range(units):
            sums[0, f] += part[f]
            sums[1, f] += with_rows[f]


@compiled
def layer_backward(
    grad: Array,
    s: Array,
    slope: Array,
    live: Array,
    first: Array,
    neighbours: Array,
    grad_y: Array,
    sums: Array,
) -> None:
    """The gradient with respect to y from the one with respect to s.

    Args:
        grad: (N, H); the gradient with respect to s is `grad + slope * s`.
        s: (N, H).
        slope: (H,).
        live: From `layer_forward`.
        first: See the module.
        neighbours: See the module.
        grad_y: (N, 2H), is written.
        sums: (2, 2H), the sums over the rows of the gradients with respect to the biases and to y are added.
    """
    nodes, units = len(first) - 1, s.shape[1]
    through, straight = np.empty((nodes, units), s.dtype), np.empty((nodes, units), s.dtype)
    convolution, residual = np.empty(units, s.dtype), np.empty(units, s.dtype)
    by_degree, row = np.empty(units, s.dtype), np.empty(units, s.dtype)
    for base in range(0, len(s), nodes):
        for v in range(nodes):
            for f in range(units):
                through[v, f] = grad[base + v, f] + slope[f] * s[base + v, f]
            for f in range(units):
                straight[v, f] = through[v, f] * s.dtype.type(live[base + v, units + f])
            for f in range(units):
                through[v, f] *= s.dtype.type(live[base + v, f])
        _share(
            through, straight, first, neighbours, base, grad_y, sums, convolution, residual, by_degree, row
        )


@compiled
def layer_backward_tangent(
    dgrad: Array,
    s: Array,
    dslope: Array,
    ds: Array,
    slope: Array,
    live: Array,
    first: Array,
    neighbours: Array,
    dgrad_y: Array,
    sums: Array,
) -> None:
    """The change of `layer_backward`'s results; that of its gradient is dgrad + dslope·s + slope·ds."""
    nodes, units = len(first) - 1, s.shape[1]
    through, straight = np.empty((nodes, units), s.dtype), np.empty((nodes, units), s.dtype)
    convolution, residual = np.empty(units, s.dtype), np.empty(units, s.dtype)
    by_degree, row = np.empty(units, s.dtype), np.empty(units, s.dtype)
    for base in range(0, len(s), nodes):
        for v in range(nodes):
            for f in range(units):
                through[v, f] = dgrad[base + v, f] + dslope[f] * s[base + v, f]
            for f in range(units):
                through[v, f] += slope[f] * ds[base + v, f]
            for f in range(units):
                straight[v, f] = through[v, f] * s.dtype.type(live[base + v, units + f])
            for f in range(units):
                through[v, f] *= s.dtype.type(live[base + v, f])
        _share(
            through, straight, first, neighbours, base, dgrad_y, sums, convolution, residual, by_degree, row
        )


@compiled
def _share(
    through: Array,
    straight: Array,
    first: Array,
    neighbours: Array,
    base: int,
    grad_y: Array,
    sums: Array,
    convolution: Array,
    residual: Array,
    by_degree: Array,
    row: Array,
) -> None:
    """Write one graph's rows of `grad_y`: the neighbours' sum of `through` (V, H), and `straight` (V, H)."""
    nodes, units = through.shape
    zero = through.dtype.type(0)
    convolution[:] = zero
    residual[:] = zero
    by_degree[:] = zero
    for v in range(nodes):
        for f in range(units):
            convolution[f] += through[v, f]
        for f in range(units):
            residual[f] += straight[v, f]
        degree = through.dtype.type(first[v + 1] - first[v])
        for f in range(units):
            by_degree[f] += degree * through[v, f]
        for f in range(units):
            grad_y[base + v, units + f] = straight[v, f]
        row[:] = zero
        for k in range(first[v], first[v + 1]):
            other = neighbours[k]
            for f in range(units):
                row[f] += through[other, f]
        for f in range(units):
            grad_y[base + v, f] = row[f]
    for f in range(units):
        sums[0, f] += convolution[f]
        sums[0, units + f] += residual[f]
        sums[1, f] += by_degree[f]
        sums[1, units + f] += residual[f]
