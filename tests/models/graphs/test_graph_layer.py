"""The graph layer: finite differences, padding, and TWP's score against loops."""

from __future__ import annotations

import math

import pytest
import torch
from driftlab.models.graphs.graph_layer import GraphLayer
from torch import Tensor

from .small import ADJACENCY, EDGES, JOINTS, drawn, named_gradients, normal

TINY = torch.tensor([[1.0, 1.0], [1.0, 1.0]], dtype=torch.float64)


def test_it_is_differentiable_twice() -> None:
    layer = drawn(GraphLayer(2, 2))
    names = [name for name, _ in layer.named_parameters()]

    def apply(x: Tensor, *parameters: Tensor) -> Tensor:
        named = dict(zip(names, parameters, strict=True))
        out: Tensor = torch.func.functional_call(layer, named, (x, TINY, None, "batch"))
        return out

    assert torch.autograd.gradgradcheck(apply, (normal(3, 2, 2).requires_grad_(), *layer.parameters()))


def test_padding_counts_nowhere() -> None:
    layer, alone = drawn(GraphLayer(3, 4)), drawn(GraphLayer(3, 4))
    mask = torch.tensor([1, 1, 0, 1, 0], dtype=torch.float64)
    x = normal(5, JOINTS, 3)
    x[mask == 0] = -50.0
    actual = layer(x, ADJACENCY.double(), None, "update", mask)[mask == 1]
    expected = alone(x[mask == 1], ADJACENCY.double(), None, "update")
    torch.testing.assert_close(actual, expected)
    weights = normal(3, JOINTS, 4, seed=7)
    for name, gradient in named_gradients(layer, (actual * weights).sum()).items():
        other = named_gradients(
            alone, (alone(x[mask == 1], ADJACENCY.double(), None, "batch") * weights).sum()
        )
        torch.testing.assert_close(gradient, other[name])
    for name, buffer in layer.named_buffers():
        torch.testing.assert_close(buffer, dict(alone.named_buffers())[name])


def test_the_topology_score() -> None:
    layer = drawn(GraphLayer(3, 4))
    x = normal(2, JOINTS, 3)
    weight = layer.convolution.nn.weight.tolist()

    def mapped(h: list[float]) -> list[float]:
        return [sum(w * value for w, value in zip(row, h, strict=True)) for row in weight]

    actual = layer.topology(x, ADJACENCY.double())
    for graph, score in zip(x.tolist(), actual.tolist(), strict=True):
        expected = 0.0
        for i, j in EDGES:
            pairs = zip(mapped(graph[i]), mapped(graph[j]), strict=True)
            expected += sum(a * math.tanh(b) for a, b in pairs) ** 2
        assert score == pytest.approx(expected, rel=1e-12)
