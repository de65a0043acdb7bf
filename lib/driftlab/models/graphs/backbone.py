"""The interface of skeleton networks for trainers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from torch import Tensor, nn

from driftlab.models.graphs.kernels import FusedGCN


class Backbone(nn.Module):
    """A network on skeleton sequences; its forward takes what `inputs` and `constants` give, by name."""

    @staticmethod
    @abstractmethod
    def features(shape: Sequence[int]) -> int:
        """Length of an input vector for sequences of shape (T, M, V, 3)."""

    @staticmethod
    @abstractmethod
    def inputs(coordinates: Tensor) -> Tensor:
        """Prepared coordinates (B, T, M, V, 3) in the network's own layout, (B, …)."""

    @abstractmethod
    def constants(self, x: Tensor) -> dict[str, Tensor]:
        """Values that depend on the inputs alone, computed once; by argument name of the forward pass."""

    def fused(self) -> FusedGCN | None:
        """The same network with its gradient written out, where there is such a form."""
        return None
