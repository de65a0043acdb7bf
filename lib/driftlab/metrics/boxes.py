"""Overlap of boxes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def box_area(boxes: NDArray[np.floating], *, last_pixel: bool = False) -> NDArray[np.float64]:
    """Area of boxes in square pixels: (x2 − x1) · (y2 − y1).

    Args:
        boxes: (n, 4) x1, y1, x2, y2 in pixels.
        last_pixel: Whether x2 and y2 are the last pixels inside the box, as in PASCAL VOC and Visual Genome's
            evaluation, so that each side is one pixel longer.

    Returns:
        (n,) areas; a box with x2 < x1 or y2 < y1 has none.
    """
    corners = np.asarray(boxes, dtype=np.float64)
    return np.asarray(np.clip(corners[:, 2:] - corners[:, :2] + last_pixel, 0, None).prod(axis=1))


def box_iou(
    first: NDArray[np.floating], second: NDArray[np.floating], *, last_pixel: bool = False
) -> NDArray[np.float64]:
    """Intersection over union of each box with each other: |A ∩ B| / |A ∪ B|.

    Args:
        first: (n, 4) x1, y1, x2, y2 in pixels.
        second: (m, 4) likewise.
        last_pixel: See `box_area`.

    Returns:
        (n, m) from 0 to 1; 0 where the union has no area.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    low = np.maximum(a[:, None, :2], b[None, :, :2])
    high = np.minimum(a[:, None, 2:], b[None, :, 2:])
    common = np.clip(high - low + last_pixel, 0, None).prod(axis=2)
    areas = box_area(a, last_pixel=last_pixel)[:, None] + box_area(b, last_pixel=last_pixel)[None]
    union = areas - common
    return np.asarray(np.divide(common, union, out=np.zeros_like(common), where=union > 0))
