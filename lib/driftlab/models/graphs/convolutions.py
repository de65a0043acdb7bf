"""Graph convolutions over a dense adjacency.

Layers, parameter names and initial values are those of PyTorch Geometric's `DenseGINConv` and `DenseGCNConv`,
against which the tests compare them. They stand here because importing that library takes three seconds, in
every notebook and in every worker process.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from driftlab.models.graphs.kernels import Linear


class SumConvolution(nn.Module):
    """Sum over the neighbours, then a linear map: W Σ_j a_ij h_j + b (GIN with ε = 0, Xu et al. 2019)."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.nn = Linear(inputs, outputs)
        # Drawn again, as in PyTorch Geometric, so that a seed gives the same network.
        self.nn.reset_parameters()

    def forward(self, x: Tensor, adjacency: Tensor) -> Tensor:
        """Map (B, V, inputs) to (B, V, outputs); `adjacency` is (V, V) and includes self loops."""
        mapped: Tensor = self.nn(adjacency @ x)
        return mapped


class NormalisedConvolution(nn.Module):
    """Linear map, then a sum weighted by 1/√(d_i d_j), and a bias (GCN, Kipf and Welling 2017)."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.lin = nn.Linear(inputs, outputs, bias=False)
        self.bias = nn.Parameter(torch.zeros(outputs))
        limit = math.sqrt(6 / (inputs + outputs))
        nn.init.uniform_(self.lin.weight, -limit, limit)

    def forward(self, x: Tensor, adjacency: Tensor) -> Tensor:
        """Map (B, V, inputs) to (B, V, outputs); `adjacency` is (V, V) and includes self loops."""
        inverse_root = adjacency.sum(-1).clamp(min=1).pow(-0.5)
        normalised = inverse_root[:, None] * adjacency * inverse_root
        mapped: Tensor = normalised[None] @ self.lin(x) + self.bias
        return mapped
