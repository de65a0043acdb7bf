"""Checks of one box of an annotation file: finite numbers, order of corners, and the frame around it."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Mapping
from typing import Any

from driftlab.core.errors import DataError

Box = tuple[float, float, float, float]
Fault = Callable[[str, str, str | None], DataError]
"""Makes the error of a problem, the field in which it is, and a hint."""

OVERHANG = 0.02
"""By what part of the frame's side a box may stand out of the frame; 1 pixel at least.

Annotation tools let boxes end a little outside. What stands out is cut off, and counted.
"""


def corners(box: Mapping[str, Any], names: tuple[str, str, str, str], fault: Fault) -> Box:
    """The four numbers of a box, from fields of these names.

    Raises:
        DataError: From `fault`: a field is missing, or is not a finite number.
    """
    values = []
    for name in names:
        if name not in box:
            raise fault("This field is missing.", name, None)
        value = box[name]
        if isinstance(value, bool) or not isinstance(value, int | float) or not _finite(value):
            raise fault(f"This must be a finite number, not {reprlib.repr(value)}.", name, None)
        values.append(float(value))
    return values[0], values[1], values[2], values[3]


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer that no float can hold
        return False


def fitted(box: Box, size: tuple[int, int], fields: tuple[str, str], fault: Fault) -> tuple[Box, bool]:
    """Clip a box to its frame; also says whether anything was cut off.

    Args:
        box: x1, y1, x2, y2 in pixels.
        size: Width and height of the frame in pixels.
        fields: What to name in an error about x, and about y.
        fault: Makes the error.

    Raises:
        DataError: From `fault`: the box has no area, or stands out of the frame by more than `OVERHANG`.
    """
    cut = list(box)
    for axis, (side, field) in enumerate(zip(size, fields, strict=True)):
        low, high = box[axis], box[axis + 2]
        if not low < high:
            raise fault(
                f"The box has no area: it reaches from {low:g} to {high:g} in {'xy'[axis]}.",
                field,
                "Correct the corners (the smaller one comes first), or take the box out.",
            )
        allowed = max(1.0, OVERHANG * side)
        if low < -allowed or high > side + allowed or low >= side or high <= 0:
            raise fault(
                f"The box lies outside the frame: it reaches from {low:g} to {high:g} in {'xy'[axis]}, "
                f"and the frame is {side} pixels {('wide', 'high')[axis]}.",
                field,
                "Are these the labels of another picture, or of this one at another size?",
            )
        cut[axis], cut[axis + 2] = max(low, 0.0), min(high, float(side))
    fits = (cut[0], cut[1], cut[2], cut[3])
    return fits, fits != box
