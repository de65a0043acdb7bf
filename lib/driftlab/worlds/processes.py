"""Drawing the independent parts of a world side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import joblib

Labels = TypeVar("Labels")
_ENOUGH_IMAGES = 400
"""Number of images from which on the start of worker processes (about two seconds) pays for itself."""


def draw_parts(draw: Callable[..., Labels], parts: Sequence[tuple[Any, ...]], images: int) -> list[Labels]:
    """Call `draw(*part)` for every part, in worker processes if there are many images to draw.

    Args:
        draw: A function of a module that writes a part's files, each part from a seed of its own, so that the
            order of the calls does not matter.
        parts: The arguments of each call.
        images: Number of images in all parts together.

    Returns:
        What the calls returned, in the order of the parts.
    """
    processes = min(joblib.cpu_count(), len(parts)) if images >= _ENOUGH_IMAGES else 1
    results: list[Labels] = joblib.Parallel(n_jobs=processes)(joblib.delayed(draw)(*part) for part in parts)
    return results
