"""Backbones by name."""

from __future__ import annotations

import pytest
import torch
from driftlab.core.errors import ParameterError
from driftlab.models.graphs import BACKBONES, GCN, STGCN, make_backbone

SHAPE = (4, 2, 3, 3)  # frames, bodies, joints, axes
BONES = ((0, 1), (1, 2))


@pytest.mark.parametrize(("name", "kind"), [("gcn", GCN), ("stgcn", STGCN)])
def test_a_backbone_fits_its_data(name: str, kind: type[GCN] | type[STGCN]) -> None:
    build = make_backbone({"name": name, "width": 5, "depth": 3}, SHAPE, BONES, 7)
    torch.manual_seed(0)
    network = build()
    assert type(network) is kind is BACKBONES[name] and len(network.layers) == 3
    x = kind.inputs(torch.rand(6, *SHAPE))
    logits, energy = network(x, **network.constants(x), topology=True)
    assert logits.shape == (6, 7) and energy.shape == (6,)
    torch.manual_seed(0)
    same_seed, other = build(), build()
    weights = [n.output.weight for n in (network, same_seed, other)]
    assert torch.equal(weights[0], weights[1]) and not torch.equal(weights[0], weights[2])


def test_an_unknown_backbone() -> None:
    with pytest.raises(ParameterError, match=r"There is no backbone 'gat'\. .*There are: gcn, stgcn"):
        make_backbone({"name": "gat", "width": 4, "depth": 1}, SHAPE, BONES, 7)


@pytest.mark.parametrize(("width", "depth"), [(0, 2), (4, 0), (-1, 2)])
def test_sizes_that_are_none(width: int, depth: int) -> None:
    with pytest.raises(ParameterError, match=f"width and depth are at least 1, not {width} and {depth}"):
        make_backbone({"name": "gcn", "width": width, "depth": depth}, SHAPE, BONES, 7)


@pytest.mark.parametrize("width", [5, 64])
def test_the_classifier_has_its_own_size(width: int) -> None:
    network = make_backbone({"name": "gcn", "width": width, "depth": 2, "hidden": 6}, SHAPE, BONES, 7)()
    assert network.hidden.weight.shape == (6, 2 * width)  # the readout: sum beside maximum
    assert network.output.weight.shape == (7, 6)


def test_a_classifier_without_a_size_is_as_wide_as_the_layers() -> None:
    network = make_backbone({"name": "gcn", "width": 5, "depth": 2}, SHAPE, BONES, 7)()
    assert network.hidden.weight.shape == (5, 10)
