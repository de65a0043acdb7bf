"""The written-out network against `torch.autograd` on the plain one."""

from __future__ import annotations

import pytest
import torch
from driftlab.models.graphs import GCN
from driftlab.models.graphs.kernels import NodeFeatures, Trace, Vector, curvature
from torch import Tensor

from ..small import BONES, JOINTS, drawn, normal

GRAPHS, FEATURES, CLASSES = 7, 6, 4
LABELS = torch.tensor([0, 3, 1, 1, 2, 0, 3])


def gcn(width: int, depth: int, dtype: torch.dtype = torch.float64) -> GCN:
    return drawn(GCN(JOINTS, BONES, FEATURES, CLASSES, width, depth), dtype)


def records(dtype: torch.dtype = torch.float64) -> Tensor:
    return normal(GRAPHS, JOINTS, FEATURES, dtype=dtype)


def logits(network: GCN, x: Tensor) -> Tensor:
    result: Tensor = network(x, **network.constants(x), statistics="batch")[0]
    return result


def check(actual: dict[str, Tensor | Vector], expected: dict[str, Tensor], tolerance: float) -> None:
    assert set(actual) == set(expected)
    for name, value in expected.items():
        scale = value.abs().max().item()
        assert scale > 0, name
        gradient = torch.as_tensor(actual[name]).to(value.dtype)
        torch.testing.assert_close(gradient, value, rtol=0, atol=tolerance * scale, msg=name)


def by_name(network: GCN, gradients: tuple[Tensor, ...]) -> dict[str, Tensor]:
    return dict(zip(dict(network.named_parameters()), gradients, strict=True))


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-11), (torch.float32, 2e-4)])
@pytest.mark.parametrize(("width", "depth"), [(8, 2), (7, 1), (5, 3)])
def test_logits_statistics_and_gradient(width: int, depth: int, dtype: torch.dtype, tolerance: float) -> None:
    network, x = gcn(width, depth, dtype), records(dtype)
    fused = network.fused()
    trace = fused.forward(dict(network.named_parameters()), NodeFeatures(x))
    expected = logits(network, x)
    close = {"rtol": tolerance, "atol": tolerance}
    torch.testing.assert_close(trace.logits, expected.detach(), **close)
    weights = normal(GRAPHS, CLASSES, dtype=dtype, seed=4)
    gradients = torch.autograd.grad((expected * weights).sum(), list(network.parameters()))
    check(fused.gradient(trace, weights), by_name(network, gradients), tolerance)

    before = {name: value.clone() for name, value in network.named_buffers()}
    network(x, **network.constants(x), statistics="update")
    norms = [f"layers.{layer}.norm" for layer in range(depth)] + ["norm"]
    buffers = dict(network.named_buffers())
    for name, actual in zip(norms, trace.norms, strict=True):
        for kind, value in zip(("running_mean", "running_var"), actual, strict=True):
            moved = 0.9 * before[f"{name}.{kind}"] + 0.1 * torch.from_numpy(value).to(dtype)
            torch.testing.assert_close(buffers[f"{name}.{kind}"], moved, **close)


def test_running_statistics() -> None:
    network, x = gcn(8, 2), records()
    trace = network.fused().forward(
        dict(network.named_parameters()), NodeFeatures(x), dict(network.named_buffers())
    )
    expected, _ = network(x, **network.constants(x), statistics="running")
    torch.testing.assert_close(trace.logits, expected.detach())


def loss_of(value: Tensor) -> Tensor:
    return torch.nn.functional.cross_entropy(value, LABELS)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 1e-3)])
@pytest.mark.parametrize(("width", "depth"), [(8, 2), (7, 1), (5, 3)])
def test_the_curvature_is_a_double_backward(
    width: int, depth: int, dtype: torch.dtype, tolerance: float
) -> None:
    network, x = gcn(width, depth, dtype), records(dtype)
    parameters = dict(network.named_parameters())
    direction = {
        name: normal(*p.shape, dtype=dtype, seed=place).sign()
        for place, (name, p) in enumerate(parameters.items())
    }
    first = torch.autograd.grad(loss_of(logits(network, x)), list(parameters.values()), create_graph=True)
    along = sum((g * d).sum() for g, d in zip(first, direction.values(), strict=True))
    second = torch.autograd.grad(along, list(parameters.values()))  # type: ignore[arg-type]

    fused = network.fused()
    trace = fused.forward(parameters, NodeFeatures(x))
    p = torch.softmax(trace.logits, 1)
    fused.gradient(trace, (p - torch.nn.functional.one_hot(LABELS, CLASSES)) / GRAPHS)

    def change(dlogits: Tensor) -> Tensor:
        return p * (dlogits - (p * dlogits).sum(1, keepdim=True)) / GRAPHS

    check(curvature(fused, trace, direction, change), by_name(network, second), tolerance)


def trace_of(network: GCN, x: Tensor) -> Trace:
    return network.fused().forward(dict(network.named_parameters()), NodeFeatures(x))


def test_a_norm_that_turns_its_input_round_takes_the_right_maximum() -> None:
    network, x = gcn(8, 2), records()
    with torch.no_grad():
        network.layers[1].norm.weight.mul_(-1)  # type: ignore[union-attr,operator]
    torch.testing.assert_close(trace_of(network, x).logits, logits(network, x).detach())


def test_what_is_not_a_number_stays_so() -> None:
    network, x = gcn(8, 2), records()
    x[3, 1, 2] = torch.nan
    assert trace_of(network, x).logits.isnan().all()


def test_the_transposed_copy_is_made_when_it_is_needed() -> None:
    features = NodeFeatures(records())
    assert features.rows.data_ptr() == features.rows.data_ptr() and features._columns is None
    columns = features.columns
    assert torch.equal(columns, features.rows.T) and features.columns is columns
