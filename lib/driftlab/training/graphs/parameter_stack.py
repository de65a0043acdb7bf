"""The parameters of all replicas in one tensor (for the optimiser), with views by parameter name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import torch
from torch import Tensor

MULTIPLE = 64
"""The length of a row is a multiple of this number.

All rows then have the same memory alignment and end with whole vector registers, so that operations round
equally in each.
"""


class ParameterStack:
    """A matrix with one row of parameters per replica; named parameters are views of its columns.

    Args:
        networks: The parameters of each replica, by name.
        device: The device of the stack.

    Attributes:
        flat: (R, P), zero after the last parameter.
        named: Tensors (R, …) by name, leaves of the autograd graph that share the memory of `flat`.
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
        for r, parameters in enumerate(networks):
            self.write(self.flat, r, {name: value.detach() for name, value in parameters.items()})
        self.named = {name: view.detach().requires_grad_() for name, view in self.views(self.flat).items()}

    def views(self, flat: Tensor) -> dict[str, Tensor]:
        """Views (R, …) of the columns of a tensor (R, P), by parameter name."""
        return {
            name: flat[:, start : start + prod(shape)].view(len(flat), *shape)
            for name, (start, shape) in self._slots.items()
        }

    def parameters_of(self, r: int) -> dict[str, Tensor]:
        """Views of one replica's parameters by name, without a gradient."""
        row = self.flat[r]
        return {
            name: row[start : start + prod(shape)].view(shape) for name, (start, shape) in self._slots.items()
        }

    def write(self, flat: Tensor, r: int, named: Mapping[str, Any]) -> None:
        """Copy tensors or arrays, by parameter name, into row r of a tensor (R, P)."""
        row = flat[r]
        for name, (start, shape) in self._slots.items():
            row[start : start + prod(shape)].view(shape).copy_(torch.as_tensor(named[name]))

    def gather(self, named: Mapping[str, Tensor], out: Tensor) -> None:
        """Copy tensors (R, …), by parameter name, into a tensor (R, P)."""
        for name, view in self.views(out).items():
            view.copy_(named[name])
