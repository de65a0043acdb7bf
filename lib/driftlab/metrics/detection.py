"""Average precision (AP) of a detector, by MMDetection's `eval_map`.

MMDetection takes seconds to import and is imported by the first call only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftlab.core.errors import DataError, ParameterError


@dataclass(frozen=True)
class Detections:
    """The detections of one frame.

    Attributes:
        boxes: (n, 4) x1, y1, x2, y2 in pixels.
        scores: (n,) confidence; AP uses only their order and which of them are equal.
        labels: (n,) class ids.

    Raises:
        DataError: The fields do not fit together, or a box or score is not a finite number.
    """

    boxes: NDArray[np.float32]
    scores: NDArray[np.float32]
    labels: NDArray[np.int64]

    def __post_init__(self) -> None:
        _check_frame("Detections", self.boxes, scores=self.scores, labels=self.labels)
        if not np.isfinite(self.scores).all():
            raise DataError("Detections hold a score that is not a finite number.", field="scores")


@dataclass(frozen=True)
class Truth:
    """The ground truth of one frame.

    Attributes:
        boxes: (n, 4) x1, y1, x2, y2 in pixels.
        labels: (n,) class ids.
        ignored: (n,) whether a box is neither to be found nor to be missed (a crowd); by default none is.

    Raises:
        DataError: The fields do not fit together, or a box is not of finite numbers.
    """

    boxes: NDArray[np.float32]
    labels: NDArray[np.int64]
    ignored: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))

    def __post_init__(self) -> None:
        if not len(self.ignored):
            object.__setattr__(self, "ignored", np.zeros(len(self.boxes), dtype=np.bool_))
        _check_frame("Truth", self.boxes, labels=self.labels, ignored=self.ignored)


def average_precision(
    detections: Sequence[Detections],
    truth: Sequence[Truth],
    classes: int,
    *,
    iou: float = 0.5,
    areas: tuple[float, float] | None = None,
) -> NDArray[np.float64]:
    """AP of each class over frames: the area under the precision-recall curve, AP = ∫ max_{r' ≥ r} p(r') dr.

    Within a frame and class detections are matched in order of their scores. One whose best overlap is at
    least `iou` is a true positive if it is the first on that box, a false positive if the box is taken, and
    does not count if the box is ignored; all others are false positives.

    **Equal scores** are one threshold: detections with the same score enter the curve together. `eval_map`
    itself puts one after the other, in an order that its unstable sort happens to give; with IDK, whose
    detections all have score 0.5, the AP would be that of chance. Here it does not depend on the order of
    frames or detections, and with distinct scores it is `eval_map`'s number.

    Args:
        detections: One entry per frame; pass a part of the frames for the AP on that part.
        truth: Of the same frames.
        classes: Number of classes.
        iou: Least intersection over union of a true positive.
        areas: Least area and the area from which on boxes are too large, in square pixels, for the AP on
            objects of a size (COCO's rule: boxes of other sizes are ignored, and so are detections of other
            sizes that overlap none). None counts all.

    Returns:
        (classes,) from 0 to 1. A class without a box that counts is NaN; a class with one and without a
        detection has 0.

    Raises:
        DataError: A label outside 0..classes − 1.
        ParameterError: No frame, different numbers of frames, or an `iou` outside (0, 1].
    """
    if not truth or len(detections) != len(truth):
        raise ParameterError(
            f"AP needs detections and truth of the same frames, not of {len(detections)} and {len(truth)}."
        )
    if not 0 < iou <= 1:
        raise ParameterError(f"The overlap of a true positive is above 0 and at most 1, not {iou}.")
    from mmdet.evaluation.functional import eval_map, mean_ap

    found, given = _stacked(detections), _stacked(truth)
    scores = np.concatenate([frame.scores for frame in detections]).astype(np.float64)
    ignored = np.concatenate([frame.ignored for frame in truth])
    found_labels, labels = _labels(detections, classes), _labels(truth, classes)
    rows = np.column_stack([found, scores])
    # All frames as one record, taken apart again in `_match`: with several, eval_map forks a pool of
    # processes at each call, which a process with threads or a CUDA context must not do.
    _, results = eval_map(
        [[rows[found_labels == label] for label in range(classes)]],
        [
            {
                "bboxes": given[~ignored],
                "labels": labels[~ignored],
                "bboxes_ignore": given[ignored],
                "labels_ignore": labels[ignored],
            }
        ],
        scale_ranges=None if areas is None else [(areas[0] ** 0.5, areas[1] ** 0.5)],
        iou_thr=iou,
        tpfp_fn=_match,
        logger="silent",
    )
    ap = np.full(classes, np.nan)
    for label, result in enumerate(results):
        if np.any(result["num_gts"]):
            ranked = np.sort(scores[found_labels == label])[::-1]
            last = np.append(ranked[1:] != ranked[:-1], np.ones(min(1, len(ranked)), dtype=np.bool_))
            recall, precision = (np.atleast_2d(result[key])[0, last] for key in ("recall", "precision"))
            ap[label] = mean_ap.average_precision(recall, precision, "area")
    return ap


def _match(
    found: NDArray[np.float64],
    given: NDArray[np.float64],
    ignored: NDArray[np.float64],
    iou: float,
    areas: Sequence[tuple[float, float]] | None,
    *_: Any,
    **__: Any,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """MMDetection's rule of true and false positives (`tpfp_default`), frame by frame.

    Args:
        found: (n, 6) x1, y1, x2, y2, frame, score.
        given: (m, 5) x1, y1, x2, y2, frame.
        ignored: (k, 5) likewise.
        iou: Least overlap.
        areas: None, or the one range of areas that counts.

    Returns:
        (1, n) twice: 1 where a detection is a true positive, and where it is a false positive.
    """
    from mmdet.evaluation.functional import mean_ap

    true, false = np.zeros((2, 1, len(found)), dtype=np.float32)
    for frame in np.unique(found[:, 4]):
        here = found[:, 4] == frame
        true[:, here], false[:, here] = mean_ap.tpfp_default(
            found[here][:, [0, 1, 2, 3, 5]],
            given[given[:, 4] == frame, :4],
            ignored[ignored[:, 4] == frame, :4],
            iou,
            areas,
        )
    return true, false


def _stacked(frames: Sequence[Detections] | Sequence[Truth]) -> NDArray[np.float64]:
    """(n, 5) the boxes of all frames, with the frame's number."""
    numbers = np.repeat(np.arange(len(frames)), [len(frame.boxes) for frame in frames])
    return np.column_stack([np.concatenate([frame.boxes for frame in frames]), numbers]).astype(np.float64)


def _labels(frames: Sequence[Detections] | Sequence[Truth], classes: int) -> NDArray[np.int64]:
    labels = np.concatenate([frame.labels for frame in frames]).astype(np.int64)
    outside = labels[(labels < 0) | (labels >= classes)]
    if len(outside):
        raise DataError(f"The label {outside[0]} is outside 0..{classes - 1}.", field="labels")
    return labels


def _check_frame(what: str, boxes: NDArray[np.float32], **others: NDArray[Any]) -> None:
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise DataError(f"{what} need boxes of shape (n, 4), not {boxes.shape}.", field="boxes")
    for name, array in others.items():
        if array.shape != (len(boxes),):
            raise DataError(
                f"{what} have {len(boxes)} boxes, but {name} of the shape {array.shape}.", field=name
            )
    if not np.isfinite(boxes).all():
        raise DataError(f"{what} hold a box that is not of finite numbers.", field="boxes")
