"""The spatio-temporal graph-convolution network on skeletons (Yan, Xiong, Lin, AAAI 2018)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn

from driftlab.models.graphs.backbone import Backbone
from driftlab.models.graphs.convolutions import NormalisedConvolution
from driftlab.models.graphs.gcn import skeleton_adjacency
from driftlab.models.graphs.norm import RowNorm, Statistics

TEMPORAL_KERNEL = 9


class SpatioTemporalLayer(nn.Module):
    """A graph convolution over the joints of each frame, then a convolution over each joint's frames.

    The spatial part has a symmetric normalisation with self loops (the paper's uni-labelling partition).
    Each part is followed by batch norm; a residual is added where the sizes agree.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.spatial = NormalisedConvolution(inputs, outputs)
        self.spatial_norm = RowNorm(outputs)
        self.temporal = nn.Conv1d(outputs, outputs, TEMPORAL_KERNEL, padding=TEMPORAL_KERNEL // 2)
        self.temporal_norm = RowNorm(outputs)
        self.keeps_size = inputs == outputs

    def forward(self, x: Tensor, adjacency: Tensor, statistics: Statistics, mask: Tensor | None) -> Tensor:
        """Transform x (B, T, V, inputs) to (B, T, V, outputs); `mask` is (B,), zero for padded sequences."""
        b, t, v, _ = x.shape
        rows = None if mask is None else mask.repeat_interleave(t * v)
        h = self.spatial(x.flatten(0, 1), adjacency)
        h = torch.relu(self.spatial_norm(h.flatten(0, 1), statistics, rows)).view(b, t, v, -1)
        h = self.temporal(h.transpose(1, 2).flatten(0, 1).transpose(1, 2))  # (B·V, outputs, T)
        h = h.transpose(1, 2).reshape(b, v, t, -1).transpose(1, 2)
        h = self.temporal_norm(h.flatten(0, 2), statistics, rows)
        h = h.view(b, t, v, -1)
        return torch.relu(h + x) if self.keeps_size else torch.relu(h)

    def topology(self, x: Tensor, adjacency: Tensor) -> Tensor:
        """TWP's ‖E‖² of each sequence, (B,), summed over its frames; see `GraphLayer.topology`."""
        z = self.spatial.lin(x)
        scores = z @ torch.tanh(z).transpose(-1, -2)
        energy: Tensor = (scores * adjacency).square().sum((1, 2, 3))
        return energy


class STGCN(Backbone):
    """Spatio-temporal layers, the mean over frames, joints and bodies, and a linear classifier.

    Args:
        joints: Number of joints V.
        bones: Pairs of joints.
        features: Length of an input vector: 3 coordinates.
        classes: Number of outputs, those of future classes included.
        width: Units of a layer.
        depth: Number of layers.
    """

    def __init__(
        self,
        joints: int,
        bones: Sequence[tuple[int, int]],
        features: int,
        classes: int,
        width: int = 64,
        depth: int = 2,
    ) -> None:
        super().__init__()
        sizes = [features] + [width] * depth
        self.layers = nn.ModuleList(
            SpatioTemporalLayer(inputs, outputs) for inputs, outputs in itertools.pairwise(sizes)
        )
        self.output = nn.Linear(width, classes)
        self.register_buffer("adjacency", skeleton_adjacency(joints, bones), persistent=False)
        self.adjacency: Tensor

    @staticmethod
    def features(shape: Sequence[int]) -> int:
        """Length of an input vector for sequences of shape (T, M, V, 3)."""
        return shape[3]

    @staticmethod
    def inputs(coordinates: Tensor) -> Tensor:
        """Rearrange coordinates (B, T, M, V, 3) as (B, M, T, V, 3)."""
        return coordinates.transpose(1, 2).contiguous()

    def constants(self, x: Tensor) -> dict[str, Tensor]:
        """No values that are computed once."""
        return {}

    def forward(
        self,
        x: Tensor,
        *,
        statistics: Statistics = "update",
        mask: Tensor | None = None,
        topology: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Classify sequences; the arguments are those of `GCN.forward`.

        Args:
            x: (B, M, T, V, 3).
            statistics: See `RowNorm`.
            mask: (B,), zero for padded sequences.
            topology: Also return TWP's ‖E‖², summed over layers, frames and bodies.

        Returns:
            Logits (B, classes), and (B,) or None.
        """
        b, m = x.shape[:2]
        bodies = None if mask is None else mask.repeat_interleave(m)
        h = x.flatten(0, 1)
        energy: Tensor | None = None
        for layer in cast(list[SpatioTemporalLayer], self.layers):
            if topology:
                layer_energy = layer.topology(h, self.adjacency).view(b, m).sum(1)
                energy = layer_energy if energy is None else energy + layer_energy
            h = layer(h, self.adjacency, statistics, bodies)
        return self.output(h.mean((1, 2)).view(b, m, -1).mean(1)), energy
