"""Detections in test frames, and the average precision of unknown objects (IDK, "I don't know")."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

import numpy as np
import torch
from numpy.typing import NDArray

from driftlab.metrics.detection import Detections, Truth, average_precision
from driftlab.models.detectors.heads import Doubt
from driftlab.models.detectors.stream_detector import StreamFasterRCNN
from driftlab.models.detectors.stream_loss import Features
from driftlab.training.detection.frames import Frames

BATCH = 16
"""Images per batch."""


@torch.no_grad()
def detect(
    detector: StreamFasterRCNN,
    frames: Frames,
    features: Callable[[int], Features],
    images: Sequence[int],
    doubt: Doubt | None = None,
) -> list[Detections]:
    """Run a detector on images; boxes are in pixels of the original images.

    Args:
        detector: Its mode is restored afterwards.
        frames: The images.
        features: Returns the frozen part's features of an image.
        images: Indices of the images.
        doubt: Criterion for predicting an unknown class, whose label is the number of classes; None for none.

    Returns:
        One `Detections` per image.
    """
    training, head = detector.training, detector.roi_head.bbox_head
    device = detector.data_preprocessor.device
    detector.eval()
    head.doubt = doubt
    detections: list[Detections] = []
    try:
        for batch in _batches(frames, images):
            levels = tuple(torch.cat(level) for level in zip(*map(features, batch), strict=True))
            samples = [frames.sample(image).to(device) for image in batch]
            for sample in detector.predict(tuple(level.to(device) for level in levels), samples):
                predicted = sample.pred_instances.cpu()
                detections.append(
                    Detections(predicted.bboxes.numpy(), predicted.scores.numpy(), predicted.labels.numpy())
                )
    finally:
        detector.train(training)
        head.doubt = None
    return detections


def _batches(frames: Frames, images: Sequence[int]) -> Iterator[list[int]]:
    """Batches of consecutive images of one size, whose features make one tensor."""
    for _, group in groupby(map(int, images), key=lambda image: tuple(frames.records.sizes[image])):
        same_size = list(group)
        yield from (same_size[start : start + BATCH] for start in range(0, len(same_size), BATCH))


def unknown_precision(
    detections: Sequence[Detections], truth: Sequence[Truth], known: NDArray[np.bool_]
) -> float | None:
    """Average precision of IDK: detections of unknown objects against boxes of classes that are not known.

    Args:
        detections: Detections in each frame; the label of IDK is the number of classes.
        truth: Ground truth of the same frames.
        known: (classes,) which classes are known.

    Returns:
        AP in [0, 1]; None if no box is of an unknown class.
    """
    classes = len(known)
    predicted = [_only(of_frame, of_frame.labels == classes) for of_frame in detections]
    unknown = [
        Truth(
            of_frame.boxes[unknown_boxes],
            np.zeros(unknown_boxes.sum(), dtype=np.int64),
            of_frame.ignored[unknown_boxes],
        )
        for of_frame, unknown_boxes in ((of_frame, ~known[of_frame.labels]) for of_frame in truth)
    ]
    precision = average_precision(predicted, unknown, 1)[0]
    return None if np.isnan(precision) else float(precision)


def _only(detections: Detections, chosen: NDArray[np.bool_]) -> Detections:
    """The chosen detections, all of one class."""
    labels = np.zeros(chosen.sum(), dtype=np.int64)
    return Detections(detections.boxes[chosen], detections.scores[chosen], labels)
