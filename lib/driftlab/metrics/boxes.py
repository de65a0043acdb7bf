"""Overlap of boxes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def intersection_over_union(first: NDArray[np.floating], second: NDArray[np.floating]) -> NDArray[np.float64]:
    """Intersection over union (IoU) of every pair of boxes.

    Args:
        first: (n, 4) x1, y1, x2, y2.
        second: (m, 4) likewise.

    Returns:
        (n, m) from 0 to 1; 0 where both boxes have no area.
    """
    low = np.maximum(first[:, None, :2], second[None, :, :2])
    high = np.minimum(first[:, None, 2:], second[None, :, 2:])
    common = np.prod(np.clip(high - low, 0, None), axis=2)
    areas = [np.prod(boxes[:, 2:] - boxes[:, :2], axis=1) for boxes in (first, second)]
    union = areas[0][:, None] + areas[1][None, :] - common
    return np.asarray(common / np.maximum(union, 1e-9), dtype=np.float64)
