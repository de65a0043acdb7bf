"""Conversion of a training state between named tensors and the named arrays of the run store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Tensors = dict[str, Tensor]


def part(state: Mapping[str, Tensor], name: str) -> Tensors:
    """Entries `NAME/…` of a state, without the prefix."""
    prefix = f"{name}/"
    return {key.removeprefix(prefix): value for key, value in state.items() if key.startswith(prefix)}


def arrays(state: Mapping[str, Tensor]) -> dict[str, NDArray[Any]]:
    """Convert a state to NumPy arrays, for the store."""
    return {name: value.cpu().numpy() for name, value in state.items()}


def tensors(state: Mapping[str, NDArray[Any]] | None) -> Tensors:
    """Convert a state from the store to writable tensors; empty for None."""
    return {name: torch.from_numpy(np.array(value)) for name, value in (state or {}).items()}
