"""Frames of a stream with their ground truth (Figure 2), and with detections before and after learning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from driftlab.core.errors import ParameterError
from driftlab.data.detection.records import FrameStream, read_image
from driftlab.metrics.boxes import box_iou
from driftlab.metrics.detection import Detections, Truth
from driftlab.papers.oak.drawn_boxes import (
    BOX_STYLES,
    WIDTH,
    BoxKind,
    Pixels,
    draw_boxes,
    show_pixels,
)
from driftlab.reporting.style import panels, styled

THRESHOLD = 0.3
"""Least score of a drawn detection: detectors that learnt little give low scores."""


@styled
def labelled_frames(
    frames: Sequence[Pixels],
    truth: Sequence[Truth],
    categories: Sequence[str],
    titles: Sequence[str],
    *,
    columns: int = 4,
) -> Figure:
    """Frames with the boxes and names of their ground truth (Figure 2).

    Args:
        frames: Each (H, W, 3).
        truth: Ground truth, one per frame.
        categories: Names by label.
        titles: One per frame, for example its step.
        columns: Frames side by side.

    Raises:
        ParameterError: No frames, or another number of truths or titles.
    """
    _same_length(frames, {"truth": truth, "titles": titles})
    figure, axes = panels(len(frames), size=(WIDTH, _height(frames) + 0.22), columns=columns, share=False)
    for axis, pixels, labelled, title in zip(axes, frames, truth, titles, strict=True):
        show_pixels(axis, pixels)
        names = [categories[label] for label in labelled.labels]
        draw_boxes(axis, pixels, labelled.boxes, names, ["labelled"] * len(names))
        axis.set_title(title, fontsize=9, fontweight="normal")
    return figure


@styled
def detection_strip(
    frames: Sequence[Pixels],
    truth: Sequence[Truth],
    detections: Mapping[str, Sequence[Detections]],
    categories: Sequence[str],
    titles: Sequence[str],
    *,
    threshold: float = THRESHOLD,
    iou: float = 0.5,
) -> Figure:
    """The same frames with the detections of several detectors, one row per detector, below the ground truth.

    Args:
        frames: Each (H, W, 3).
        truth: Ground truth, one per frame.
        detections: Row title ("before the stream", "iCaRL, after") to detections, one per frame. A label
            beyond the categories is an object of an unknown class, IDK, and right on a box of any class.
        categories: Names by label.
        titles: One per frame.
        threshold: Least score of a drawn detection.
        iou: Least intersection over union of a right detection with a box of its class.

    Raises:
        ParameterError: No frames, or another number of truths, titles or detections.
    """
    per_row = {f"detections, {row}": of_frames for row, of_frames in detections.items()}
    _same_length(frames, {"truth": truth, "titles": titles} | per_row)
    rows = ["labelled", *detections]
    size = (WIDTH, _height(frames) + 0.12)
    figure, axes = panels(len(rows) * len(frames), size=size, columns=len(frames), share=False)
    grid = [axes[start : start + len(frames)] for start in range(0, len(axes), len(frames))]
    for place, (pixels, labelled, title) in enumerate(zip(frames, truth, titles, strict=True)):
        show_pixels(grid[0][place], pixels)
        names = [categories[label] for label in labelled.labels]
        draw_boxes(grid[0][place], pixels, labelled.boxes, names, ["labelled"] * len(names))
        grid[0][place].set_title(title, fontsize=9, fontweight="normal")
        for line, of_frames in zip(grid[1:], detections.values(), strict=True):
            show_pixels(line[place], pixels, pale=True)
            _draw_detections(line[place], pixels, of_frames[place], labelled, categories, threshold, iou)
    for line, row in zip(grid, rows, strict=True):
        line[0].set_ylabel(row, fontsize=9)
    handles = [Line2D([], [], color=colour, ls=line, lw=2) for colour, line in BOX_STYLES.values()]
    words = ["labelled", f"detected (score from {threshold:g}), right", "detected, wrong"]
    figure.legend(handles, words, loc="outside upper center", ncols=3)
    return figure


def before_and_after(
    stream: FrameStream,
    truth: Sequence[Truth],
    detections: Mapping[str, Sequence[Detections]],
    *,
    count: int = 3,
    threshold: float = THRESHOLD,
) -> Figure:
    """A `detection_strip` of the test frames in which learning has changed the detections most.

    Args:
        stream: Test frames and categories.
        truth: Ground truth of all test frames.
        detections: Row title to detections in all test frames; the first row is before learning.
        count: How many frames.
        threshold: Least score of a drawn detection.
    """
    before, *after = detections.values()
    frames = changing_frames(truth, before, after, count, threshold=threshold)
    return detection_strip(
        [read_image(stream.test.images[frame]) for frame in frames],
        [truth[frame] for frame in frames],
        {row: [of_row[frame] for frame in frames] for row, of_row in detections.items()},
        stream.categories,
        [f"step {stream.test_steps[frame]}" for frame in frames],
        threshold=threshold,
    )


def changing_frames(
    truth: Sequence[Truth],
    before: Sequence[Detections],
    after: Iterable[Sequence[Detections]],
    count: int,
    *,
    threshold: float = THRESHOLD,
    iou: float = 0.5,
) -> list[int]:
    """The frames in which learning has changed the detections most, spread over the time.

    Args:
        truth: Ground truth, one per frame, in time order.
        before: Detections of the detector that has not learnt the stream, one per frame.
        after: The same of each detector that has.
        count: How many frames; of each of as many equal parts of the time, one.
        threshold: Least score of a detection.
        iou: Least intersection over union of a right detection.

    Returns:
        At most `count` indices, ascending.
    """
    start = _right_counts(truth, before, threshold, iou)
    changes = sum(
        (abs(_right_counts(truth, of, threshold, iou) - start) for of in after), np.zeros(len(truth))
    )
    parts = np.array_split(np.arange(len(truth)), min(count, len(truth)))
    return [int(part[changes[part].argmax()]) for part in parts]


def _right_counts(
    truth: Sequence[Truth], detections: Sequence[Detections], threshold: float, iou: float
) -> NDArray[np.float64]:
    """How many boxes of each frame have a right detection."""
    counts = []
    for labelled, found in zip(truth, detections, strict=True):
        sure = found.scores >= threshold
        same = found.labels[sure][:, None] == labelled.labels
        overlap = box_iou(found.boxes[sure], labelled.boxes) >= iou
        counts.append(float((same & overlap).any(axis=0).sum()))
    return np.array(counts)


def _draw_detections(
    axis: Axes,
    pixels: Pixels,
    detections: Detections,
    truth: Truth,
    categories: Sequence[str],
    threshold: float,
    iou: float,
) -> None:
    """Draw detections with class and score, the one of the highest score last."""
    order = np.argsort(detections.scores, kind="stable")
    order = order[detections.scores[order] >= threshold]
    boxes, labels = detections.boxes[order], detections.labels[order]
    right = (box_iou(boxes, truth.boxes) >= iou) & (
        (labels[:, None] == truth.labels) | (labels[:, None] >= len(categories))
    )
    names = [
        f"{categories[label] if label < len(categories) else 'IDK'} {score:.2f}"
        for label, score in zip(labels, detections.scores[order], strict=True)
    ]
    kinds: list[BoxKind] = ["right" if is_right else "wrong" for is_right in right.any(axis=1)]
    draw_boxes(axis, pixels, boxes, names, kinds)


def _height(frames: Sequence[Pixels]) -> float:
    """Height in inches of the tallest frame at a panel's width."""
    return max(WIDTH * pixels.shape[0] / pixels.shape[1] for pixels in frames)


def _same_length(frames: Sequence[Pixels], others: Mapping[str, Sequence[object]]) -> None:
    if not frames:
        raise ParameterError("There are no frames to show.")
    for name, values in others.items():
        if len(values) != len(frames):
            raise ParameterError(f"{len(frames)} frames are shown, but '{name}' has {len(values)}.")
