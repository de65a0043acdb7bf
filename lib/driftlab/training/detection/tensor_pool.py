"""An in-memory cache of tensors per image, with a limit in bytes, shared by the runs of one process."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from torch import Tensor


class TensorPool:
    """Caches tensors per image until a limit is reached; later images are not cached.

    Args:
        memory: Limit in bytes.
    """

    def __init__(self, memory: int) -> None:
        self.memory, self._used_bytes = memory, 0
        self._tensors: dict[int, tuple[Tensor, ...]] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without the tensors: another process begins with an empty cache."""
        return {"memory": self.memory, "_used_bytes": 0, "_tensors": {}}

    def get(self, image: int) -> tuple[Tensor, ...] | None:
        """The tensors of an image, or None if they are not cached."""
        return self._tensors.get(image)

    def offer(self, image: int, tensors: tuple[Tensor, ...]) -> bool:
        """Cache the tensors of an image if the limit allows, and return whether they are cached."""
        if self._used_bytes + _bytes(tensors) > self.memory:
            return False
        self._tensors[image] = tensors
        self._used_bytes += _bytes(tensors)
        return True

    def keep_only(self, images: Container[int]) -> None:
        """Remove the tensors of all other images."""
        self._tensors = {image: tensors for image, tensors in self._tensors.items() if image in images}
        self._used_bytes = sum(map(_bytes, self._tensors.values()))


def _bytes(tensors: tuple[Tensor, ...]) -> int:
    return sum(tensor.nbytes for tensor in tensors)
