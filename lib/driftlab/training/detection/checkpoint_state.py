"""What a training leaves: named tensors, and as the run store keeps them named arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Tensors = dict[str, Tensor]


def part(state: Mapping[str, Tensor], name: str) -> Tensors:
    """What a state holds as `NAME/…`, without that prefix."""
    prefix = f"{name}/"
    return {key.removeprefix(prefix): value for key, value in state.items() if key.startswith(prefix)}


def arrays(state: Mapping[str, Tensor]) -> dict[str, NDArray[Any]]:
    """As arrays, for the store."""
    return {name: value.cpu().numpy() for name, value in state.items()}


def tensors(state: Mapping[str, NDArray[Any]] | None) -> Tensors:
    """As tensors that may be changed, from the store."""
    return {name: torch.from_numpy(np.array(value)) for name, value in (state or {}).items()}
