"""A second implementation of `driftlab.models.graphs.gcn.GCN`, with PyTorch Geometric's sparse layers.

It shares no code with the first: tests compare their results, and the benchmark compares their speed.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn
from torch_geometric.nn import GCNConv, global_add_pool, global_max_pool


class PyGGCN(nn.Module):
    """Graph convolutions with a linear residual branch and batch norm; weighted-sum and max readout.

    Args:
        features: Length of a node's input vector.
        classes: Number of outputs.
        width: Units of a layer.
        depth: Number of graph-convolution layers.
        hidden: Units of the classifier.
    """

    def __init__(
        self, features: int, classes: int, width: int = 64, depth: int = 2, hidden: int = 64
    ) -> None:
        super().__init__()
        sizes = [features] + [width] * depth
        pairs = list(itertools.pairwise(sizes))
        self.convolutions = nn.ModuleList(
            GCNConv(inputs, outputs, normalize=False, add_self_loops=False) for inputs, outputs in pairs
        )
        self.residuals = nn.ModuleList(nn.Linear(inputs, outputs) for inputs, outputs in pairs)
        self.norms = nn.ModuleList(nn.BatchNorm1d(outputs) for _, outputs in pairs)
        self.attention = nn.Linear(width, 1)
        self.classifier = nn.Sequential(
            nn.Linear(2 * width, hidden), nn.ReLU(), nn.BatchNorm1d(hidden), nn.Linear(hidden, classes)
        )

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        """Classify graphs.

        Args:
            x: (nodes, features).
            edge_index: (2, edges), with self loops.
            batch: (nodes,), the graph that each node belongs to.

        Returns:
            Logits (graphs, classes).
        """
        for convolution, residual, norm in zip(self.convolutions, self.residuals, self.norms, strict=True):
            x = norm(torch.relu(convolution(x, edge_index)) + torch.relu(residual(x)))
        weighted = global_add_pool(x * torch.sigmoid(self.attention(x)), batch)
        logits: Tensor = self.classifier(torch.cat([weighted, global_max_pool(x, batch)], dim=1))
        return logits


def from_gcn(values: Mapping[str, Tensor], depth: int = 2) -> dict[str, Tensor]:
    """Rename parameters or gradients of a `driftlab.models.graphs.GCN` to their names in `PyGGCN`."""
    prefixes = {
        "attention": "attention",
        "hidden": "classifier.0",
        "norm": "classifier.2",
        "output": "classifier.3",
    }
    for layer in range(depth):
        prefixes |= {
            f"layers.{layer}.residual": f"residuals.{layer}",
            f"layers.{layer}.norm": f"norms.{layer}",
        }
    names = {
        f"{theirs}.{part}": f"{ours}.{part}"
        for theirs, ours in prefixes.items()
        for part in ("weight", "bias", "running_mean", "running_var")
    }
    for layer in range(depth):
        names[f"layers.{layer}.convolution.nn.weight"] = f"convolutions.{layer}.lin.weight"
        names[f"layers.{layer}.convolution.nn.bias"] = f"convolutions.{layer}.bias"
    return {names[name]: value for name, value in values.items() if name in names}


def edges(bones: Sequence[tuple[int, int]], joints: int) -> Tensor:
    """Edge index (2, edges): every bone in both directions, and self loops."""
    pairs = [*bones, *((b, a) for a, b in bones), *((joint, joint) for joint in range(joints))]
    return torch.tensor(pairs).T.contiguous()
