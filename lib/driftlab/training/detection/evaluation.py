"""What a detector finds in the test frames, and how precise it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

import numpy as np
import torch
from numpy.typing import NDArray

from driftlab.metrics.detection import Detections, Truth, average_precision
from driftlab.models.detectors.heads import Doubt
from driftlab.models.detectors.stream_detector import Features, StreamFasterRCNN
from driftlab.training.detection.frames import Frames

BATCH = 16


@torch.no_grad()
def detect(
    detector: StreamFasterRCNN,
    frames: Frames,
    features: Callable[[int], Features],
    images: Sequence[int],
    doubt: Doubt | None = None,
) -> list[Detections]:
    """What it finds in some images, in pixels of the original ones.

    Args:
        detector: In any mode, which it is left in.
        frames: The images.
        features: The frozen part's features of an image.
        images: Which of them.
        doubt: When an object is taken for one of an unknown class; its label is the number of classes.
    """
    training, head = detector.training, detector.roi_head.bbox_head
    device = detector.data_preprocessor.device
    detector.eval()
    head.doubt = doubt
    found: list[Detections] = []
    try:
        for part in _batches(frames, images):
            levels = tuple(torch.cat(level) for level in zip(*map(features, part), strict=True))
            samples = [frames.sample(image).to(device) for image in part]
            for sample in detector.predict(tuple(level.to(device) for level in levels), samples):
                one = sample.pred_instances.cpu()
                found.append(Detections(one.bboxes.numpy(), one.scores.numpy(), one.labels.numpy()))
    finally:
        detector.train(training)
        head.doubt = None
    return found


def _batches(frames: Frames, images: Sequence[int]) -> Iterator[list[int]]:
    """Neighbours of one size, whose features make one tensor."""
    for _, same in groupby(map(int, images), key=lambda image: tuple(frames.records.sizes[image])):
        own = list(same)
        yield from (own[start : start + BATCH] for start in range(0, len(own), BATCH))


def unknown_precision(
    found: Sequence[Detections], truth: Sequence[Truth], known: NDArray[np.bool_]
) -> float | None:
    """AP of IDK: detections of unknown objects against the boxes of classes that are not known.

    Args:
        found: With IDK labelled as the number of classes.
        truth: Of the same frames.
        known: (classes,) which classes are known.

    Returns:
        None where no box is of an unknown class.
    """
    classes = len(known)
    said = [_only(one, one.labels == classes) for one in found]
    unknown = [
        Truth(one.boxes[new], np.zeros(new.sum(), dtype=np.int64), one.ignored[new])
        for one, new in ((one, ~known[one.labels]) for one in truth)
    ]
    precision = average_precision(said, unknown, 1)[0]
    return None if np.isnan(precision) else float(precision)


def _only(one: Detections, chosen: NDArray[np.bool_]) -> Detections:
    return Detections(one.boxes[chosen], one.scores[chosen], np.zeros(chosen.sum(), dtype=np.int64))
