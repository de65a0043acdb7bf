"""Images with their boxes while a loader reads them, and the record made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from driftlab.core.provenance import Source
from driftlab.data.detection.boxes import Box
from driftlab.data.detection.records import DetectionSet


@dataclass
class Picture:
    """One picture while its files are read; the fields are those of `DetectionSet`, of this picture alone.

    Attributes:
        name: Unique in its set.
        path: The file.
        size: Width and height in pixels.
        boxes: x1, y1, x2, y2 in pixels.
        labels: One per box.
        crowd: One per box.
        cut: How many boxes stood out of the picture and were cut, see `driftlab.data.detection.boxes`.
    """

    name: str
    path: Path
    size: tuple[int, int]
    boxes: list[Box] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    crowd: list[bool] = field(default_factory=list)
    cut: int = 0


def detection_set(
    pictures: Sequence[Picture], categories: tuple[str, ...], source: Source, notes: tuple[str, ...]
) -> DetectionSet:
    """Make the record of these pictures, in this order.

    Raises:
        DataError: As `DetectionSet`.
    """
    lengths = [len(picture.boxes) for picture in pictures]
    boxes = [box for picture in pictures for box in picture.boxes]
    return DetectionSet(
        images=tuple(picture.path for picture in pictures),
        names=tuple(picture.name for picture in pictures),
        sizes=np.array([picture.size for picture in pictures], dtype=np.int32),
        starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        boxes=np.array(boxes, dtype=np.float32).reshape(len(boxes), 4),
        labels=np.array([label for picture in pictures for label in picture.labels], dtype=np.int64),
        crowd=np.array([crowd for picture in pictures for crowd in picture.crowd], dtype=np.bool_),
        categories=categories,
        source=source,
        notes=notes,
    )
