"""Small graphs, and networks whose every parameter and running statistic is drawn."""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import Tensor, nn

N = TypeVar("N", bound=nn.Module)
JOINTS = 5
BONES = ((0, 1), (1, 2), (1, 3), (4, 3))
EDGES = {
    (0, 0),
    (1, 1),
    (2, 2),
    (3, 3),
    (4, 4),
    (0, 1),
    (1, 0),
    (1, 2),
    (2, 1),
    (1, 3),
    (3, 1),
    (3, 4),
    (4, 3),
}
"""What the adjacency holds, written out: bones both ways and self loops."""
ADJACENCY = torch.tensor([[float((i, j) in EDGES) for j in range(JOINTS)] for i in range(JOINTS)])


def drawn(network: N, dtype: torch.dtype = torch.float64, seed: int = 0) -> N:
    """The network with nothing left at zero or one."""
    generator = torch.Generator().manual_seed(seed)
    network = network.to(dtype)
    with torch.no_grad():
        for name, value in [*network.named_parameters(), *network.named_buffers()]:
            if name == "adjacency" or not value.is_floating_point():
                continue
            noise = torch.randn(value.shape, generator=generator, dtype=dtype)
            value.copy_(noise.abs() + 0.5 if name.endswith("running_var") else 0.5 * noise + 0.1)
    return network


def normal(*shape: int, dtype: torch.dtype = torch.float64, seed: int = 1) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def named_gradients(network: nn.Module, value: Tensor) -> dict[str, Tensor]:
    names, parameters = zip(*network.named_parameters(), strict=True)
    return dict(zip(names, torch.autograd.grad(value, parameters), strict=True))
