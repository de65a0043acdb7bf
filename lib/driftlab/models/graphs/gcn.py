"""The graph-convolution network on skeletons (the CGL paper's default backbone)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn

from driftlab.models.graphs.backbone import Backbone
from driftlab.models.graphs.graph_layer import GraphLayer
from driftlab.models.graphs.kernels import FusedGCN, Linear
from driftlab.models.graphs.norm import RowNorm, Statistics


def skeleton_adjacency(joints: int, bones: Sequence[tuple[int, int]]) -> Tensor:
    """Adjacency matrix (V, V): ones for bones in both directions and for self loops."""
    adjacency = torch.eye(joints)
    for a, b in bones:
        adjacency[a, b] = adjacency[b, a] = 1.0
    return adjacency


class GCN(Backbone):
    """Graph-convolution layers, a readout over the joints, and a small classifier.

    Each joint's input is its coordinates over all frames as one vector. Readout: the sigmoid-weighted sum
    over the joints beside the maximum over them. Classifier: linear, ReLU, batch norm, linear.

    Args:
        joints: Number of joints V.
        bones: Pairs of joints.
        features: Length of a joint's input vector (3 × frames × bodies).
        classes: Number of outputs, those of future classes included.
        width: Units of a graph-convolution layer.
        depth: Number of graph-convolution layers.
        hidden: Units of the classifier's hidden layer. The paper's width sweep keeps it at 64.
    """

    def __init__(
        self,
        joints: int,
        bones: Sequence[tuple[int, int]],
        features: int,
        classes: int,
        width: int = 64,
        depth: int = 2,
        hidden: int = 64,
    ) -> None:
        super().__init__()
        sizes = [features] + [width] * depth
        self.layers = nn.ModuleList(
            GraphLayer(inputs, outputs) for inputs, outputs in itertools.pairwise(sizes)
        )
        self.attention = nn.Linear(width, 1)
        self.hidden = Linear(2 * width, hidden)
        self.norm = RowNorm(hidden)
        self.output = nn.Linear(hidden, classes)
        self.register_buffer("adjacency", skeleton_adjacency(joints, bones), persistent=False)
        self.adjacency: Tensor

    @staticmethod
    def features(shape: Sequence[int]) -> int:
        """Length of a joint's input vector for sequences of shape (T, M, V, 3)."""
        return shape[0] * shape[1] * shape[3]

    @staticmethod
    def inputs(coordinates: Tensor) -> Tensor:
        """Rearrange coordinates (B, T, M, V, 3) as node features (B, V, T·M·3)."""
        return coordinates.permute(0, 3, 1, 2, 4).flatten(2).contiguous()

    def constants(self, x: Tensor) -> dict[str, Tensor]:
        """The first layer's neighbour sum (B, V, features), as `summed`."""
        return {"summed": self.adjacency @ x}

    def fused(self) -> FusedGCN:
        """The same network with a forward and backward pass without autograd."""
        return FusedGCN(self.adjacency, len(self.layers), self.norm.eps)

    def forward(
        self,
        x: Tensor,
        summed: Tensor,
        *,
        statistics: Statistics = "update",
        mask: Tensor | None = None,
        topology: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Classify graphs.

        Args:
            x: (B, V, features).
            summed: (B, V, features), neighbour sum of x, from `constants`.
            statistics: See `RowNorm`.
            mask: (B,), zero for padded graphs.
            topology: Also return TWP's ‖E‖², summed over the layers.

        Returns:
            Logits (B, classes), and (B,) or None.
        """
        energy: Tensor | None = None
        h = x
        neighbour_sum: Tensor | None = summed
        for layer in cast(list[GraphLayer], self.layers):
            if topology:
                layer_energy = layer.topology(h, self.adjacency)
                energy = layer_energy if energy is None else energy + layer_energy
            h = layer(h, self.adjacency, neighbour_sum, statistics, mask)
            neighbour_sum = None
        weight = torch.sigmoid(self.attention(h))
        graph = torch.cat([(h * weight).sum(1), h.amax(1)], dim=-1)
        return self.output(self.norm(torch.relu(self.hidden(graph)), statistics, mask)), energy
