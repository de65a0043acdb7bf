"""A cache of images' tensors within a limit of bytes, shared by the runs of one process."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from torch import Tensor


class TensorPool:
    """Keeps tensors per image, the first that come, within a limit of bytes.

    Args:
        memory: The limit, in bytes.
    """

    def __init__(self, memory: int) -> None:
        self.memory, self._taken = memory, 0
        self._kept: dict[int, tuple[Tensor, ...]] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Without the tensors: another process begins with an empty pool."""
        return {"memory": self.memory, "_taken": 0, "_kept": {}}

    def get(self, image: int) -> tuple[Tensor, ...] | None:
        """The tensors of an image, or None if they are not kept."""
        return self._kept.get(image)

    def offer(self, image: int, tensors: tuple[Tensor, ...]) -> bool:
        """Keep the tensors of one more image if the limit allows; whether they are kept."""
        if self._taken + _bytes(tensors) > self.memory:
            return False
        self._kept[image] = tensors
        self._taken += _bytes(tensors)
        return True

    def keep_only(self, images: Container[int]) -> None:
        """Forget the tensors of all other images."""
        self._kept = {image: kept for image, kept in self._kept.items() if image in images}
        self._taken = sum(map(_bytes, self._kept.values()))


def _bytes(tensors: tuple[Tensor, ...]) -> int:
    return sum(tensor.nbytes for tensor in tensors)
