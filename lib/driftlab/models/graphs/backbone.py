"""The interface of skeleton networks that trainers use."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from torch import Tensor, nn

from driftlab.models.graphs.kernels import FusedGCN


class Backbone(nn.Module):
    """A network on skeleton sequences; `forward` takes the results of `inputs` and `constants` by name."""

    @staticmethod
    @abstractmethod
    def features(shape: Sequence[int]) -> int:
        """Length of an input vector for sequences of shape (T, M, V, 3)."""

    @staticmethod
    @abstractmethod
    def inputs(coordinates: Tensor) -> Tensor:
        """Rearrange prepared coordinates (B, T, M, V, 3) as the network's input (B, …)."""

    @abstractmethod
    def constants(self, x: Tensor) -> dict[str, Tensor]:
        """Values that depend on the inputs only and are computed once, by argument name of `forward`."""

    def fused(self) -> FusedGCN | None:
        """The same network with a forward and backward pass without autograd; None if it has none."""
        return None
