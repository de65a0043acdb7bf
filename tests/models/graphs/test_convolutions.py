"""Dense graph convolutions against PyTorch Geometric's: equal initial values, equal outputs."""

from __future__ import annotations

import pytest
import torch
from driftlab.models.graphs.convolutions import NormalisedConvolution, SumConvolution
from driftlab.models.graphs.kernels import Linear
from torch import nn
from torch_geometric.nn import DenseGCNConv, DenseGINConv

from .small import ADJACENCY, JOINTS, drawn, normal


def pairs() -> list[tuple[nn.Module, nn.Module]]:
    """Ours and PyTorch Geometric's, each built after the same seed."""
    built: list[list[nn.Module]] = []
    for layers in (
        (lambda: SumConvolution(3, 4), lambda: NormalisedConvolution(3, 4)),
        (lambda: DenseGINConv(Linear(3, 4)), lambda: DenseGCNConv(3, 4)),
    ):
        torch.manual_seed(0)
        built.append([layer() for layer in layers])
    return list(zip(*built, strict=True))


@pytest.mark.parametrize("which", [0, 1], ids=["sum", "normalised"])
def test_a_seed_gives_the_same_parameters(which: int) -> None:
    ours, theirs = pairs()[which]
    expected = dict(theirs.named_parameters())
    assert list(dict(ours.named_parameters())) == list(expected)
    for name, value in ours.named_parameters():
        torch.testing.assert_close(value, expected[name], rtol=0, atol=0)


@pytest.mark.parametrize("which", [0, 1], ids=["sum", "normalised"])
def test_outputs(which: int) -> None:
    ours, theirs = (drawn(layer) for layer in pairs()[which])
    x = normal(6, JOINTS, 3)
    adjacency = ADJACENCY.double()
    torch.testing.assert_close(ours(x, adjacency), theirs(x, adjacency, add_loop=False))
