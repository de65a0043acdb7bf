"""One graph-convolution layer with a residual branch.

h'_i = BatchNorm( relu(W Σ_{j ∈ N(i) ∪ {i}} h_j + b) + relu(W_r h_i + b_r) )
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from driftlab.models.graphs.convolutions import SumConvolution
from driftlab.models.graphs.kernels import Linear
from driftlab.models.graphs.norm import RowNorm, Statistics


class GraphLayer(nn.Module):
    """Graph convolution (neighbour sum, linear map) plus a linear residual branch; see the module.

    The adjacency includes self loops.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.convolution = SumConvolution(inputs, outputs)
        self.residual = Linear(inputs, outputs)
        self.norm = RowNorm(outputs)
        nn.init.xavier_uniform_(self.convolution.nn.weight)
        nn.init.zeros_(self.convolution.nn.bias)

    def forward(
        self,
        x: Tensor,
        adjacency: Tensor,
        summed: Tensor | None,
        statistics: Statistics,
        mask: Tensor | None = None,
    ) -> Tensor:
        """Transform node features.

        Args:
            x: (B, V, inputs).
            adjacency: (V, V) with ones for bones and self loops.
            summed: `adjacency @ x` if it is precomputed, as for the first layer; else None.
            statistics: Which statistics the batch norm uses.
            mask: (B,), zero for padded graphs.

        Returns:
            (B, V, outputs).
        """
        convolved = self.convolution(x, adjacency) if summed is None else self.convolution.nn(summed)
        h = torch.relu(convolved) + torch.relu(self.residual(x))
        rows = None if mask is None else mask.repeat_interleave(x.shape[1])
        normalised: Tensor = self.norm(h.flatten(0, 1), statistics, rows)
        return normalised.view(h.shape)

    def topology(self, x: Tensor, adjacency: Tensor) -> Tensor:
        """‖E‖² of each graph, (B,), with e_ij = (W h_i)ᵀ tanh(W h_j) over the edges (TWP, Liu et al. 2021).

        This is TWP's topology score for backbones without attention.
        """
        z = nn.functional.linear(x, self.convolution.nn.weight)
        scores = z @ torch.tanh(z).transpose(1, 2)
        return (scores * adjacency).square().sum((1, 2))
