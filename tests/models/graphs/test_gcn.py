"""The GCN against the same network written down independently."""

from __future__ import annotations

import pytest
import torch
from driftlab.models.graphs import GCN
from driftlab.models.graphs.gcn import skeleton_adjacency
from driftlab.models.graphs.norm import RowNorm
from torch import Tensor, nn

from .small import ADJACENCY, BONES, JOINTS, drawn, named_gradients, normal

FEATURES, CLASSES = 6, 4


def gcn(width: int = 7, depth: int = 2, dtype: torch.dtype = torch.float64) -> GCN:
    return drawn(GCN(JOINTS, BONES, FEATURES, CLASSES, width, depth), dtype)


def torch_norm(norm: RowNorm, training: bool) -> nn.BatchNorm1d:
    copy = nn.BatchNorm1d(norm.num_features).to(norm.weight.dtype)
    copy.load_state_dict(norm.state_dict())
    copy.weight, copy.bias = norm.weight, norm.bias
    return copy.train(training)


def reference(network: GCN, x: Tensor, training: bool) -> tuple[Tensor, Tensor, list[nn.BatchNorm1d]]:
    """Logits, TWP's ‖E‖² of each graph, and the batch norms after the call."""
    adjacency, h, norms = ADJACENCY.to(x.dtype), x, []
    energy = torch.zeros(len(x), dtype=x.dtype)
    for layer in network.layers:
        w, b = layer.convolution.nn.weight, layer.convolution.nn.bias
        scores = torch.einsum("bio,bjo->bij", h @ w.T, torch.tanh(h @ w.T))
        energy = energy + torch.einsum("bij,ij->b", scores**2, adjacency)
        summed = torch.einsum("ij,bjf->bif", adjacency, h)
        convolved = (torch.einsum("bif,of->bio", summed, w) + b).clamp(min=0)
        residual = (torch.einsum("bif,of->bio", h, layer.residual.weight) + layer.residual.bias).clamp(min=0)
        norms.append(torch_norm(layer.norm, training))
        h = norms[-1]((convolved + residual).reshape(-1, w.shape[0])).reshape(convolved.shape)
    weight = 1 / (1 + torch.exp(-(h @ network.attention.weight[0] + network.attention.bias)))
    graph = torch.cat([torch.einsum("bi,bif->bf", weight, h), h.max(dim=1).values], dim=1)
    hidden = (graph @ network.hidden.weight.T + network.hidden.bias).clamp(min=0)
    norms.append(torch_norm(network.norm, training))
    return norms[-1](hidden) @ network.output.weight.T + network.output.bias, energy, norms


def used_gradients(network: GCN, value: Tensor) -> dict[str, Tensor]:
    """By name, where the value depends on the parameter."""
    names, parameters = zip(*network.named_parameters(), strict=True)
    actual = torch.autograd.grad(value, parameters, allow_unused=True, retain_graph=True)
    return {name: g for name, g in zip(names, actual, strict=True) if g is not None}


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 2e-4)])
@pytest.mark.parametrize("statistics", ["update", "batch", "running"])
def test_outputs_topology_and_gradients(statistics: str, dtype: torch.dtype, tolerance: float) -> None:
    network, x = gcn(dtype=dtype), normal(8, JOINTS, FEATURES, dtype=dtype)
    before = {name: value.clone() for name, value in network.named_buffers()}
    expected, expected_energy, norms = reference(network, x, training=statistics != "running")
    row_norms = [layer.norm for layer in network.layers] + [network.norm]
    inputs = network.constants(x)
    logits, energy = network(x, **inputs, statistics=statistics, topology=True)
    close = {"rtol": tolerance, "atol": tolerance}
    torch.testing.assert_close(logits, expected, **close)
    torch.testing.assert_close(energy, expected_energy, **close)
    if statistics == "update":
        for a, b in zip(row_norms, norms, strict=True):
            torch.testing.assert_close(a.running_mean, b.running_mean, **close)
            torch.testing.assert_close(a.running_var, b.running_var, **close)
        assert not any(
            torch.equal(before[name], value) for name, value in network.named_buffers() if "mean" in name
        )
    else:
        assert all(torch.equal(before[name], value) for name, value in network.named_buffers())
    weights = normal(8, CLASSES, dtype=dtype, seed=4)
    for mine, theirs, parameters in (
        ((logits * weights).sum(), (expected * weights).sum(), 20),
        (energy.mean(), expected_energy.mean(), 7),
    ):
        actual, right = used_gradients(network, mine), used_gradients(network, theirs)
        assert set(actual) == set(right) and len(actual) == parameters
        for name, gradient in actual.items():
            scale = right[name].abs().max().item()
            assert scale > 0, name
            torch.testing.assert_close(gradient, right[name], rtol=tolerance, atol=tolerance * scale)


def test_without_topology_there_is_no_score() -> None:
    x = normal(3, JOINTS, FEATURES)
    assert gcn()(x, **gcn().constants(x))[1] is None


def test_padded_graphs_count_nowhere() -> None:
    network, alone = gcn(), gcn()
    mask = torch.tensor([0, 1, 1, 0, 1, 1], dtype=torch.float64)
    x = normal(6, JOINTS, FEATURES)
    x[mask == 0] = 40.0
    true = x[mask == 1]
    actual, energy = network(x, **network.constants(x), mask=mask, topology=True)
    expected, right = alone(true, **alone.constants(true), topology=True)
    torch.testing.assert_close(actual[mask == 1], expected)
    torch.testing.assert_close(energy[mask == 1], right)
    for name, buffer in network.named_buffers():
        torch.testing.assert_close(buffer, dict(alone.named_buffers())[name])
    gradients = named_gradients(network, actual[mask == 1].pow(2).sum())
    for name, gradient in named_gradients(alone, expected.pow(2).sum()).items():
        torch.testing.assert_close(gradients[name], gradient)


def test_the_number_of_parameters() -> None:
    network = GCN(20, ((0, 1),), 156, 10, width=64, depth=2)
    first = 2 * (156 * 64 + 64) + 2 * 64  # convolution and residual, batch norm
    second = 2 * (64 * 64 + 64) + 2 * 64
    classifier = (64 + 1) + (128 * 64 + 64) + 2 * 64 + (64 * 10 + 10)
    assert sum(p.numel() for p in network.parameters()) == first + second + classifier == 37_771


@pytest.mark.parametrize(("width", "depth"), [(1, 1), (3, 1), (2, 5), (9, 3)])
def test_width_and_depth_are_free(width: int, depth: int) -> None:
    network, x = gcn(width, depth), normal(4, JOINTS, FEATURES)
    logits, _ = network(x, **network.constants(x))
    expected, _, _ = reference(gcn(width, depth), x, training=True)
    torch.testing.assert_close(logits, expected)
    assert len(network.layers) == depth


def test_the_graph_has_bones_both_ways_and_self_loops() -> None:
    assert torch.equal(skeleton_adjacency(JOINTS, BONES), ADJACENCY)
    assert "adjacency" not in gcn().state_dict(), "it is no part of a state"


def test_a_joints_input_is_its_coordinates_over_all_frames() -> None:
    coordinates = torch.arange(2 * 3 * 2 * 4 * 3, dtype=torch.float32).view(2, 3, 2, 4, 3)
    nodes = GCN.inputs(coordinates)
    assert nodes.shape == (2, 4, GCN.features((3, 2, 4, 3))) == (2, 4, 18)
    for record in range(2):
        for joint in range(4):
            expected = [
                coordinates[record, frame, body, joint, axis].item()
                for frame in range(3)
                for body in range(2)
                for axis in range(3)
            ]
            assert nodes[record, joint].tolist() == expected
