"""Loops for the operations between a graph layer's matrix products, one pass over memory per direction.

PyTorch's operators read and write all activations once per operator, and a small network on a CPU then waits
for memory most of the time. The inner loops are short on purpose: each becomes vector instructions.

N rows are nodes, V per graph, graph after graph; H is the number of units. Arrays (N, 2H) hold the two
branches of a layer side by side: convolution, residual. `neighbour_starts` (V + 1,) and `neighbours` hold
the graph's symmetric edges: the neighbours of node v, including v itself, are
`neighbours[neighbour_starts[v]:neighbour_starts[v + 1]]`. Sums over rows are accumulated within a graph in
the activations' precision, and over the graphs in double precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftlab.models.graphs.kernels.compiled import compiled

Array = NDArray[Any]


@compiled
def layer_forward(
    y: Array, bias: Array, neighbour_starts: Array, neighbours: Array, s: Array, relu_mask: Array, sums: Array
) -> None:
    """Compute s = relu(Σ_neighbours y_c + b_c) + relu(y_r + b_r), and its sums for batch norm.

    Args:
        y: (N, 2H), the matrix products of both branches.
        bias: (2H,).
        neighbour_starts: See the module.
        neighbours: See the module.
        s: (N, H), output.
        relu_mask: (N, 2H) int8, output: 1 where a branch's ReLU is active.
        sums: (2, H), output: Σ s and Σ s² are added.
    """
    nodes, units = len(neighbour_starts) - 1, s.shape[1]
    zero = s.dtype.type(0)
    graph_sums, graph_squares = np.empty(units, s.dtype), np.empty(units, s.dtype)
    row = np.empty(2 * units, s.dtype)
    for first_row in range(0, len(y), nodes):
        graph_sums[:] = zero
        graph_squares[:] = zero
        for v in range(nodes):
            for f in range(2 * units):
                row[f] = bias[f]
            for f in range(units):
                row[units + f] += y[first_row + v, units + f]
            for k in range(neighbour_starts[v], neighbour_starts[v + 1]):
                neighbour_row = first_row + neighbours[k]
                for f in range(units):
                    row[f] += y[neighbour_row, f]
            for f in range(2 * units):
                relu_mask[first_row + v, f] = row[f] > zero
            # A product instead of a maximum: it keeps NaN.
            for f in range(2 * units):
                row[f] *= row[f] > zero
            for f in range(units):
                s[first_row + v, f] = row[f] + row[units + f]
            for f in range(units):
                graph_sums[f] += s[first_row + v, f]
            for f in range(units):
                graph_squares[f] += s[first_row + v, f] * s[first_row + v, f]
        for f in range(units):
            sums[0, f] += graph_sums[f]
            sums[1, f] += graph_squares[f]


@compiled
def layer_forward_tangent(
    dy: Array,
    dbias: Array,
    neighbour_starts: Array,
    neighbours: Array,
    s: Array,
    relu_mask: Array,
    ds: Array,
    sums: Array,
) -> None:
    """Tangent of `layer_forward`: write ds (N, H) for changes dy and dbias; add Σ ds and Σ s ds to `sums`."""
    nodes, units = len(neighbour_starts) - 1, s.shape[1]
    zero = s.dtype.type(0)
    graph_sums, graph_products = np.empty(units, s.dtype), np.empty(units, s.dtype)
    row = np.empty(2 * units, s.dtype)
    for first_row in range(0, len(dy), nodes):
        graph_sums[:] = zero
        graph_products[:] = zero
        for v in range(nodes):
            for f in range(2 * units):
                row[f] = dbias[f]
            for f in range(units):
                row[units + f] += dy[first_row + v, units + f]
            for k in range(neighbour_starts[v], neighbour_starts[v + 1]):
                neighbour_row = first_row + neighbours[k]
                for f in range(units):
                    row[f] += dy[neighbour_row, f]
            for f in range(2 * units):
                row[f] *= s.dtype.type(relu_mask[first_row + v, f])
            for f in range(units):
                ds[first_row + v, f] = row[f] + row[units + f]
            for f in range(units):
                graph_sums[f] += ds[first_row + v, f]
            for f in range(units):
                graph_products[f] += ds[first_row + v, f] * s[first_row + v, f]
        for f in range(units):
            sums[0, f] += graph_sums[f]
            sums[1, f] += graph_products[f]


@compiled
def layer_backward(
    grad: Array,
    s: Array,
    slope: Array,
    relu_mask: Array,
    neighbour_starts: Array,
    neighbours: Array,
    grad_y: Array,
    sums: Array,
) -> None:
    """Compute the gradient with respect to y from the one with respect to s.

    Args:
        grad: (N, H); the gradient with respect to s is `grad + slope * s`.
        s: (N, H).
        slope: (H,).
        relu_mask: From `layer_forward`.
        neighbour_starts: See the module.
        neighbours: See the module.
        grad_y: (N, 2H), output.
        sums: (2, 2H), output: the gradient of the biases and Σ grad_y are added.
    """
    nodes, units = len(neighbour_starts) - 1, s.shape[1]
    grad_convolution, grad_residual = np.empty((nodes, units), s.dtype), np.empty((nodes, units), s.dtype)
    sum_convolution, sum_residual = np.empty(units, s.dtype), np.empty(units, s.dtype)
    sum_by_degree, row = np.empty(units, s.dtype), np.empty(units, s.dtype)
    for first_row in range(0, len(s), nodes):
        for v in range(nodes):
            for f in range(units):
                grad_convolution[v, f] = grad[first_row + v, f] + slope[f] * s[first_row + v, f]
            for f in range(units):
                grad_residual[v, f] = grad_convolution[v, f] * s.dtype.type(
                    relu_mask[first_row + v, units + f]
                )
            for f in range(units):
                grad_convolution[v, f] *= s.dtype.type(relu_mask[first_row + v, f])
        _write_grad_y(
            grad_convolution,
            grad_residual,
            neighbour_starts,
            neighbours,
            first_row,
            grad_y,
            sums,
            sum_convolution,
            sum_residual,
            sum_by_degree,
            row,
        )


@compiled
def layer_backward_tangent(
    dgrad: Array,
    s: Array,
    dslope: Array,
    ds: Array,
    slope: Array,
    relu_mask: Array,
    neighbour_starts: Array,
    neighbours: Array,
    dgrad_y: Array,
    sums: Array,
) -> None:
    """Tangent of `layer_backward`, whose input changes by dgrad + dslope·s + slope·ds."""
    # The ReLU masks are applied here and in `layer_backward`: in a function of their own they are slower.
    nodes, units = len(neighbour_starts) - 1, s.shape[1]
    grad_convolution, grad_residual = np.empty((nodes, units), s.dtype), np.empty((nodes, units), s.dtype)
    sum_convolution, sum_residual = np.empty(units, s.dtype), np.empty(units, s.dtype)
    sum_by_degree, row = np.empty(units, s.dtype), np.empty(units, s.dtype)
    for first_row in range(0, len(s), nodes):
        for v in range(nodes):
            for f in range(units):
                grad_convolution[v, f] = dgrad[first_row + v, f] + dslope[f] * s[first_row + v, f]
            for f in range(units):
                grad_convolution[v, f] += slope[f] * ds[first_row + v, f]
            for f in range(units):
                grad_residual[v, f] = grad_convolution[v, f] * s.dtype.type(
                    relu_mask[first_row + v, units + f]
                )
            for f in range(units):
                grad_convolution[v, f] *= s.dtype.type(relu_mask[first_row + v, f])
        _write_grad_y(
            grad_convolution,
            grad_residual,
            neighbour_starts,
            neighbours,
            first_row,
            dgrad_y,
            sums,
            sum_convolution,
            sum_residual,
            sum_by_degree,
            row,
        )


@compiled
def _write_grad_y(
    grad_convolution: Array,
    grad_residual: Array,
    neighbour_starts: Array,
    neighbours: Array,
    first_row: int,
    grad_y: Array,
    sums: Array,
    sum_convolution: Array,
    sum_residual: Array,
    sum_by_degree: Array,
    row: Array,
) -> None:
    """Write one graph's rows of `grad_y` and add to `sums`.

    The convolution's half is the neighbour sum of `grad_convolution` (V, H), the residual's half is
    `grad_residual` (V, H). The last four arguments (H,) are work space.
    """
    nodes, units = grad_convolution.shape
    zero = grad_convolution.dtype.type(0)
    sum_convolution[:] = zero
    sum_residual[:] = zero
    sum_by_degree[:] = zero
    for v in range(nodes):
        for f in range(units):
            sum_convolution[f] += grad_convolution[v, f]
        for f in range(units):
            sum_residual[f] += grad_residual[v, f]
        degree = grad_convolution.dtype.type(neighbour_starts[v + 1] - neighbour_starts[v])
        for f in range(units):
            sum_by_degree[f] += degree * grad_convolution[v, f]
        for f in range(units):
            grad_y[first_row + v, units + f] = grad_residual[v, f]
        row[:] = zero
        for k in range(neighbour_starts[v], neighbour_starts[v + 1]):
            neighbour_row = neighbours[k]
            for f in range(units):
                row[f] += grad_convolution[neighbour_row, f]
        for f in range(units):
            grad_y[first_row + v, f] = row[f]
    for f in range(units):
        sums[0, f] += sum_convolution[f]
        sums[0, units + f] += sum_residual[f]
        sums[1, f] += sum_by_degree[f]
        sums[1, units + f] += sum_residual[f]
