"""The graph layer: its two forms against each other, finite differences, and TWP's score against loops."""

from __future__ import annotations

import math

import pytest
import torch
from driftlab.models.graphs.graph_layer import GraphLayer
from driftlab.models.graphs.norm import Statistics
from torch import Tensor

from .small import ADJACENCY, EDGES, JOINTS, drawn, named_gradients, normal

TINY = torch.tensor([[1.0, 1.0], [1.0, 1.0]], dtype=torch.float64)


def step(
    dtype: torch.dtype, statistics: Statistics, *, fused: bool, constant: bool
) -> tuple[GraphLayer, dict[str, Tensor]]:
    """A layer after one call, with the call's output and gradients (the input's too, if not constant)."""
    layer, adjacency = drawn(GraphLayer(3, 4), dtype), ADJACENCY.to(dtype)
    x = normal(6, JOINTS, 3, dtype=dtype)
    if constant:
        summed = adjacency @ x
        known = (summed, statistics, None, fused, (x.flatten(0, 1).T, summed.flatten(0, 1).T))
    else:
        x.requires_grad_()
        known = (None, statistics, None, fused, None)
    out = layer(x, adjacency, *known)
    (out * normal(6, JOINTS, 4, dtype=dtype, seed=5)).sum().backward()
    found = {name: p.grad for name, p in [*layer.named_parameters(), ("x", x)] if p.grad is not None}
    return layer, found | {"out": out.detach()}


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-11), (torch.float32, 2e-5)])
@pytest.mark.parametrize("statistics", ["update", "batch"])
def test_the_fused_form_is_the_plain_one(
    dtype: torch.dtype, tolerance: float, statistics: Statistics
) -> None:
    plain, expected = step(dtype, statistics, fused=False, constant=False)
    assert set(expected) == {"out", "x", *(name for name, _ in plain.named_parameters())}
    assert all(value.any() for value in expected.values())
    untouched = drawn(GraphLayer(3, 4), dtype).norm.running_mean
    assert torch.equal(plain.norm.running_mean, untouched) == (statistics == "batch")
    for constant in (False, True):
        layer, found = step(dtype, statistics, fused=True, constant=constant)
        assert set(found) == set(expected) - ({"x"} if constant else set())
        for name, value in [*found.items(), *layer.named_buffers()]:
            other = expected[name] if name in expected else dict(plain.named_buffers())[name]
            torch.testing.assert_close(value, other, rtol=tolerance, atol=tolerance)


def test_the_fused_gradient_is_the_differences() -> None:
    layer = drawn(GraphLayer(2, 3))
    names = [name for name, _ in layer.named_parameters()]

    def apply(x: Tensor, *parameters: Tensor) -> Tensor:
        named = dict(zip(names, parameters, strict=True))
        arguments = (x, TINY, None, "batch", None, True)
        out: Tensor = torch.func.functional_call(layer, named, arguments)
        return out

    assert torch.autograd.gradcheck(apply, (normal(3, 2, 2).requires_grad_(), *layer.parameters()))


def test_the_plain_form_is_differentiable_twice() -> None:
    layer = drawn(GraphLayer(2, 2))
    names = [name for name, _ in layer.named_parameters()]

    def apply(x: Tensor, *parameters: Tensor) -> Tensor:
        named = dict(zip(names, parameters, strict=True))
        out: Tensor = torch.func.functional_call(layer, named, (x, TINY, None, "batch"))
        return out

    assert torch.autograd.gradgradcheck(apply, (normal(3, 2, 2).requires_grad_(), *layer.parameters()))


def test_the_fused_gradient_cannot_be_differentiated_again() -> None:
    """It must fail, not give zero: TWP relies on it."""
    layer = drawn(GraphLayer(3, 4))
    out = layer(normal(6, JOINTS, 3), ADJACENCY.double(), None, "batch", None, True)
    gradients = torch.autograd.grad(out.pow(2).sum(), list(layer.parameters()), create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        sum(g.abs().sum() for g in gradients).backward()


@pytest.mark.parametrize("fused", [False, True])
def test_padding_counts_nowhere(fused: bool) -> None:
    layer, alone = drawn(GraphLayer(3, 4)), drawn(GraphLayer(3, 4))
    mask = torch.tensor([1, 1, 0, 1, 0], dtype=torch.float64)
    x = normal(5, JOINTS, 3)
    x[mask == 0] = -50.0
    found = layer(x, ADJACENCY.double(), None, "update", mask, fused)[mask == 1]
    expected = alone(x[mask == 1], ADJACENCY.double(), None, "update")
    torch.testing.assert_close(found, expected)
    weights = normal(3, JOINTS, 4, seed=7)
    for name, gradient in named_gradients(layer, (found * weights).sum()).items():
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

    found = layer.topology(x, ADJACENCY.double())
    for graph, score in zip(x.tolist(), found.tolist(), strict=True):
        expected = 0.0
        for i, j in EDGES:
            pairs = zip(mapped(graph[i]), mapped(graph[j]), strict=True)
            expected += sum(a * math.tanh(b) for a, b in pairs) ** 2
        assert score == pytest.approx(expected, rel=1e-12)
