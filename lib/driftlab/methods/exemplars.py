"""A few remembered records a class, replaced by newer ones: the memory of a stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

FREE = -1


class Exemplars:
    """Slots of records by class (Wanderlust's memory: five a class, each an image with one box).

    A class's first records fill its slots; each later one replaces a random slot with a probability, so that
    a slot that is full keeps to the newer data. What is drawn depends on seed and step only.

    Args:
        classes: How many classes there are.
        slots: Records kept of each.
        replace: The probability.
        seed: Of all draws.
    """

    def __init__(self, classes: int, slots: int = 5, replace: float = 5 / 6, seed: int = 0) -> None:
        self.records = np.full((classes, slots), FREE, dtype=np.int64)
        self.replace, self.seed = replace, seed

    def remember(self, step: int, records: Sequence[int], labels: Sequence[int]) -> None:
        """Offer a step's records with their classes, in order."""
        rng = np.random.default_rng([self.seed, 1, step])
        for record, label in zip(records, labels, strict=True):
            slots = self.records[label]
            free = np.flatnonzero(slots == FREE)
            if len(free):
                slots[free[0]] = record
            elif rng.random() < self.replace:
                slots[rng.integers(len(slots))] = record

    def draw(self, step: int) -> NDArray[np.int64]:
        """One random record of every class that has any, by class."""
        rng = np.random.default_rng([self.seed, 2, step])
        filled = [slots[slots != FREE] for slots in self.records]
        return np.array([rng.choice(slots) for slots in filled if len(slots)], dtype=np.int64)

    def state(self) -> dict[str, Tensor]:
        """The tensors that a resumed run needs."""
        return {"records": torch.from_numpy(self.records.copy())}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Take back what `state` gave."""
        self.records = state["records"].numpy().copy()
