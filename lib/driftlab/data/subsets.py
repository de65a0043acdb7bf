"""Subsets of a dataset, and how they may be called."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from driftlab.core.errors import ParameterError
from driftlab.core.provenance import Kind, Source


def part(
    source: Source, indices: Sequence[int] | NDArray[np.integer], count: int, why: str
) -> tuple[list[int], Source]:
    """Check the positions of a subset, and give its source: real data become a subset, a world stays one.

    Args:
        source: Of the whole.
        indices: 0-based positions.
        count: How many records the whole has.
        why: A phrase for captions.

    Raises:
        ParameterError: There is no position, or one that the whole does not have.
    """
    chosen = [int(index) for index in indices]
    outside = [index for index in chosen if not 0 <= index < count]
    if outside or not chosen:
        raise ParameterError(f"A subset needs indices from 0 to {count - 1}; got {outside or 'none'}.")
    kind: Kind = "synthetic" if source.kind == "synthetic" else "subset"
    digest = hashlib.sha256(f"{source.digest} {chosen}".encode()).hexdigest()
    return chosen, Source(kind, source.name, f"{len(chosen):,} of {source.detail}, {why}", digest)
