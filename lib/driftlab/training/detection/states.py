"""What a training leaves: named tensors, and as the run store keeps them named arrays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from driftlab.runs import experiment

State = dict[str, Tensor]


def part(state: Mapping[str, Tensor], name: str) -> State:
    """What a state holds as `NAME/…`, without that prefix."""
    prefix = f"{name}/"
    return {key.removeprefix(prefix): value for key, value in state.items() if key.startswith(prefix)}


def arrays(state: Mapping[str, Tensor]) -> experiment.State:
    """For the store."""
    return {name: value.cpu().numpy() for name, value in state.items()}


def tensors(state: experiment.State | None) -> State:
    """From the store, to be written to."""
    return {name: torch.from_numpy(np.array(value)) for name, value in (state or {}).items()}
