"""The parameters of all replicas as one tensor, for the optimiser, and by name, for everyone else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import torch
from torch import Tensor

MULTIPLE = 64
"""A row's length is a multiple of this many numbers.

Then all rows lie alike in memory and end with whole vector registers: an operation rounds alike in each.
"""


class ParameterStack:
    """One row of numbers per replica; the named parameters are views of its columns.

    Args:
        networks: The parameters of each replica, by name.
        device: Where the stack is.

    Attributes:
        flat: (R, P), zero behind the last parameter.
        named: (R, …) by name, leaves of the graph that share the memory of `flat`.
    """

    def __init__(self, networks: Sequence[Mapping[str, Tensor]], device: torch.device) -> None:
        self._slots: dict[str, tuple[int, torch.Size]] = {}
        length = 0
        for name, value in networks[0].items():
            self._slots[name] = (length, value.shape)
            length += value.numel()
        first = next(iter(networks[0].values()))
        columns = -(-length // MULTIPLE) * MULTIPLE
        self.flat = torch.zeros(len(networks), columns, dtype=first.dtype, device=device)
        for r, own in enumerate(networks):
            self.write(self.flat, r, {name: value.detach() for name, value in own.items()})
        self.named = {name: view.detach().requires_grad_() for name, view in self.views(self.flat).items()}

    def views(self, flat: Tensor) -> dict[str, Tensor]:
        """The columns (R, …) of a tensor (R, P), by the parameters' names."""
        return {
            name: flat[:, start : start + prod(shape)].view(len(flat), *shape)
            for name, (start, shape) in self._slots.items()
        }

    def of(self, r: int) -> dict[str, Tensor]:
        """One replica's parameters, without a gradient."""
        row = self.flat[r]
        return {
            name: row[start : start + prod(shape)].view(shape) for name, (start, shape) in self._slots.items()
        }

    def write(self, flat: Tensor, r: int, named: Mapping[str, Any]) -> None:
        """Put tensors or arrays of the parameters' shapes into row r of a tensor (R, P)."""
        row = flat[r]
        for name, (start, shape) in self._slots.items():
            row[start : start + prod(shape)].view(shape).copy_(torch.as_tensor(named[name]))

    def gather(self, named: Mapping[str, Tensor], out: Tensor) -> None:
        """Put tensors (R, …) by the parameters' names into a tensor (R, P)."""
        for name, view in self.views(out).items():
            view.copy_(named[name])
