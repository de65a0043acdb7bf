"""The state of a training as named tensors, and as the named arrays that the run store keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Tensors = dict[str, Tensor]


def part(state: Mapping[str, Tensor], name: str) -> Tensors:
    """The entries `NAME/…` of a state, without that prefix."""
    prefix = f"{name}/"
    return {key.removeprefix(prefix): value for key, value in state.items() if key.startswith(prefix)}


def arrays(state: Mapping[str, Tensor]) -> dict[str, NDArray[Any]]:
    """A state as NumPy arrays, for the store."""
    return {name: value.cpu().numpy() for name, value in state.items()}


def tensors(state: Mapping[str, NDArray[Any]] | None) -> Tensors:
    """A state from the store as tensors that may be changed; empty for None."""
    return {name: torch.from_numpy(np.array(value)) for name, value in (state or {}).items()}
