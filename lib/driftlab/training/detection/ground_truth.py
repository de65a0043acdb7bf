"""Ground truth of images, for metrics and figures."""

from __future__ import annotations

from collections.abc import Iterable

from driftlab.data.detection.records import DetectionSet
from driftlab.metrics.detection import Truth


def truths_of(records: DetectionSet, images: Iterable[int]) -> list[Truth]:
    """Ground truth of some images, one `Truth` per image; crowds are marked as ignored."""
    return [
        Truth(records.boxes_of(i), records.labels_of(i), records.crowd_of(i))
        for i in (int(image) for image in images)
    ]
