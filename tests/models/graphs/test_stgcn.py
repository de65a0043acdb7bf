"""ST-GCN against its form with two-dimensional convolutions, channels first."""

from __future__ import annotations

import math

import pytest
import torch
from driftlab.models.graphs import STGCN
from driftlab.models.graphs.norm import RowNorm
from torch import Tensor, nn

from .small import ADJACENCY, BONES, EDGES, JOINTS, drawn, named_gradients, normal

CLASSES, FRAMES = 4, 11


def stgcn(width: int = 6, depth: int = 2, dtype: torch.dtype = torch.float64) -> STGCN:
    return drawn(STGCN(JOINTS, BONES, 3, CLASSES, width, depth), dtype)


def norm_2d(norm: RowNorm, training: bool) -> nn.BatchNorm2d:
    copy = nn.BatchNorm2d(norm.num_features).to(norm.weight.dtype)
    copy.load_state_dict(norm.state_dict())
    return copy.train(training)


def reference(network: STGCN, x: Tensor, training: bool) -> tuple[Tensor, list[nn.BatchNorm2d]]:
    """Logits and the batch norms after the call, in the order spatial, temporal, spatial …"""
    b, m = x.shape[:2]
    degree = ADJACENCY.sum(1).to(x.dtype)
    normalised = ADJACENCY.to(x.dtype) / torch.outer(degree, degree).sqrt()
    h, norms = x.reshape(b * m, *x.shape[2:]).permute(0, 3, 1, 2), []  # (B·M, C, T, V)
    for layer in network.layers:
        width = layer.temporal.out_channels
        spatial = nn.Conv2d(h.shape[1], width, 1, bias=False)
        spatial.weight = nn.Parameter(layer.spatial.lin.weight[..., None, None])
        temporal = nn.Conv2d(width, width, (9, 1), padding=(4, 0))
        temporal.weight = nn.Parameter(layer.temporal.weight.unsqueeze(-1))
        temporal.bias = layer.temporal.bias
        norms += [norm_2d(layer.spatial_norm, training), norm_2d(layer.temporal_norm, training)]
        g = torch.einsum("bctv,vw->bctw", spatial(h), normalised) + layer.spatial.bias[:, None, None]
        g = norms[-1](temporal(norms[-2](g).clamp(min=0)))
        h = (g + h if h.shape[1] == width else g).clamp(min=0)
    pooled = nn.functional.avg_pool2d(h, h.shape[2:]).view(b, m, -1).mean(1)
    return pooled @ network.output.weight.T + network.output.bias, norms


@pytest.mark.parametrize("bodies", [1, 2])
@pytest.mark.parametrize("statistics", ["update", "batch", "running"])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 1e-4)])
def test_forward(statistics: str, bodies: int, dtype: torch.dtype, tolerance: float) -> None:
    network, x = stgcn(dtype=dtype), normal(4, bodies, FRAMES, JOINTS, 3, dtype=dtype)
    before = {name: value.clone() for name, value in network.named_buffers()}
    expected, norms = reference(network, x, training=statistics != "running")
    logits, energy = network(x, **network.constants(x), statistics=statistics)
    assert logits.shape == (4, CLASSES) and energy is None
    torch.testing.assert_close(logits, expected, rtol=tolerance, atol=tolerance)
    row_norms = [norm for layer in network.layers for norm in (layer.spatial_norm, layer.temporal_norm)]
    if statistics == "update":
        for a, b in zip(row_norms, norms, strict=True):
            torch.testing.assert_close(a.running_mean, b.running_mean, rtol=tolerance, atol=tolerance)
            torch.testing.assert_close(a.running_var, b.running_var, rtol=tolerance, atol=tolerance)
    else:
        assert all(torch.equal(before[name], value) for name, value in network.named_buffers())


@pytest.mark.parametrize(("width", "depth"), [(3, 1), (3, 2), (1, 4)])
def test_width_and_depth_are_free(width: int, depth: int) -> None:
    # Width 3 gives the first layer a residual too.
    x = normal(3, 1, FRAMES, JOINTS, 3)
    torch.testing.assert_close(stgcn(width, depth)(x)[0], reference(stgcn(width, depth), x, True)[0])


def test_a_sequence_shorter_than_the_kernel() -> None:
    x = normal(3, 2, 2, JOINTS, 3)
    torch.testing.assert_close(stgcn()(x)[0], reference(stgcn(), x, True)[0])


def test_padded_sequences_count_nowhere() -> None:
    network, alone = stgcn(), stgcn()
    mask = torch.tensor([1, 0, 1, 1], dtype=torch.float64)
    x = normal(4, 2, FRAMES, JOINTS, 3)
    x[mask == 0] = -30.0
    actual, energy = network(x, mask=mask, topology=True)
    expected, right = alone(x[mask == 1], topology=True)
    torch.testing.assert_close(actual[mask == 1], expected)
    torch.testing.assert_close(energy[mask == 1], right)
    for name, buffer in network.named_buffers():
        torch.testing.assert_close(buffer, dict(alone.named_buffers())[name])
    gradients = named_gradients(network, actual[mask == 1].pow(2).sum())
    for name, gradient in named_gradients(alone, expected.pow(2).sum()).items():
        torch.testing.assert_close(gradients[name], gradient)


def test_the_topology_score() -> None:
    network, x = stgcn(depth=1), normal(2, 2, 3, JOINTS, 3)
    weight = network.layers[0].spatial.lin.weight.tolist()
    actual = network(x, topology=True)[1].tolist()
    for record, score in zip(x.tolist(), actual, strict=True):
        expected = 0.0
        for frame in (frame for body in record for frame in body):
            z = [[sum(w * c for w, c in zip(row, joint, strict=True)) for row in weight] for joint in frame]
            for i, j in EDGES:
                expected += sum(a * math.tanh(b) for a, b in zip(z[i], z[j], strict=True)) ** 2
        assert score == pytest.approx(expected, rel=1e-12)


def test_bodies_come_before_frames() -> None:
    coordinates = normal(2, 5, 3, JOINTS, 3)  # (B, T, M, V, 3)
    nodes = STGCN.inputs(coordinates)
    assert nodes.shape == (2, 3, 5, JOINTS, 3) and STGCN.features((5, 3, JOINTS, 3)) == 3
    assert torch.equal(nodes[1, 2, 4], coordinates[1, 4, 2])
