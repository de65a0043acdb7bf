"""Data augmentation of CTR-GCN's N-UCLA feeder in training mode: rotated and scaled copies."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from driftlab.core.errors import ParameterError
from driftlab.data.skeletons.records import SkeletonSet, origin


def augment(
    skeletons: SkeletonSet,
    *,
    repeats: int = 5,
    max_angle: int = 60,
    scales: tuple[float, float] = (0.5, 1.5),
    seed: int = 0,
) -> SkeletonSet:
    """Repeat the set `repeats` times, with each sequence rotated about the y and x axes and scaled at random.

    Meant for the training part of a split, before `prepare` (whose min-max undoes the scale, as it does in
    the feeder). The feeder also draws its frames at random; here they stay, and `prepare` takes them evenly.

    Args:
        skeletons: What to vary.
        repeats: How often each sequence comes, in rounds over the whole set.
        max_angle: Whole degrees; both angles are drawn evenly from -max_angle to max_angle.
        scales: The smallest and the largest factor.
        seed: Seed of the draws.

    Returns:
        `repeats` times as many records, named `NAME#1`, `NAME#2`, …

    Raises:
        ParameterError: A value is out of range.
    """
    smallest, largest = scales
    if repeats < 1 or not 0 <= max_angle <= 180 or not 0 < smallest <= largest:
        raise ParameterError(
            "augment needs repeats >= 1, max_angle from 0 to 180 and positive ascending scales; got "
            f"repeats={repeats}, max_angle={max_angle}, scales={scales}."
        )
    generator = np.random.default_rng([seed, repeats])
    angles = np.radians(generator.integers(-max_angle, max_angle + 1, size=(repeats, len(skeletons), 2)))
    factors = generator.uniform(smallest, largest, size=(repeats, len(skeletons)))
    sequences = tuple(
        _turned(sequence, rotation(*angles[round_, index]) * factors[round_, index])
        for round_ in range(repeats)
        for index, sequence in enumerate(skeletons.sequences)
    )
    how = f"{repeats} x, turned by up to {max_angle} degrees, scaled by {smallest} to {largest}, seed {seed}"
    digest = hashlib.sha256(f"{skeletons.source.digest} {how}".encode()).hexdigest()
    detail = f"{skeletons.source.detail}, augmented {how}"
    return SkeletonSet(
        sequences=sequences,
        labels=np.tile(skeletons.labels, repeats),
        names=tuple(f"{name}#{round_ + 1}" for round_ in range(repeats) for name in skeletons.names),
        classes=skeletons.classes,
        bones=skeletons.bones,
        source=replace(skeletons.source, detail=detail, digest=digest),
        notes=(*skeletons.notes, f"augmented {how}"),
    )


def rotation(x: float, y: float) -> NDArray[np.float64]:
    """(3, 3) matrix that turns row vectors by `x` about the x axis after `y` about the y axis, in radians."""
    about_x = np.array([[1, 0, 0], [0, np.cos(x), np.sin(x)], [0, -np.sin(x), np.cos(x)]])
    about_y = np.array([[np.cos(y), 0, -np.sin(y)], [0, 1, 0], [np.sin(y), 0, np.cos(y)]])
    return np.asarray(about_y @ about_x)


def _turned(sequence: NDArray[np.float32], matrix: NDArray[np.float64]) -> NDArray[np.float32]:
    """Centre a sequence and rotate it; where a body is absent it stays zero."""
    present = (sequence != 0).any(axis=(2, 3))  # (T, M)
    turned = np.zeros_like(sequence)
    turned[present] = (sequence[present] - origin(sequence)) @ matrix
    return turned
