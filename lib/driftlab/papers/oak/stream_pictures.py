"""Frames of a stream with their boxes: what is labelled, and what a detector finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from driftlab.core.errors import ParameterError
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


@styled
def labelled_frames(
    frames: Sequence[Pixels],
    truth: Sequence[Truth],
    categories: Sequence[str],
    titles: Sequence[str],
    *,
    columns: int = 4,
) -> Figure:
    """Frames with what is labelled in them (Figure 2).

    Args:
        frames: Each (H, W, 3).
        truth: One a frame.
        categories: Names, by label.
        titles: One a frame, for example its step.
        columns: Frames side by side.

    Raises:
        ParameterError: Nothing to show, or not one of each a frame.
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
    least: float = 0.5,
    iou: float = 0.5,
) -> Figure:
    """The same frames at several times of learning, one row a time, under a row of what is labelled.

    A detection is right if it overlaps a box of its class by `iou`.

    Args:
        frames: Each (H, W, 3).
        truth: One a frame.
        detections: Row title ("before", "after 40 steps") to what was found then, one a frame. A label beyond
            the categories is an object of an unknown class, IDK, and right on a box of any class.
        categories: Names, by label.
        titles: One a frame.
        least: The lowest score that is drawn.
        iou: The least overlap of a right detection.

    Raises:
        ParameterError: Nothing to show, or not one of each a frame.
    """
    found = {f"detections, {row}": of_frames for row, of_frames in detections.items()}
    _same_length(frames, {"truth": truth, "titles": titles} | found)
    rows = ["labelled", *detections]
    size = (WIDTH, _height(frames) + 0.12)
    figure, axes = panels(len(rows) * len(frames), size=size, columns=len(frames), share=False)
    grid = [axes[start : start + len(frames)] for start in range(0, len(axes), len(frames))]
    for place, (pixels, labelled, title) in enumerate(zip(frames, truth, titles, strict=True)):
        for line in grid:
            show_pixels(line[place], pixels)
        names = [categories[label] for label in labelled.labels]
        draw_boxes(grid[0][place], pixels, labelled.boxes, names, ["labelled"] * len(names))
        grid[0][place].set_title(title, fontsize=9, fontweight="normal")
        for line, of_frames in zip(grid[1:], detections.values(), strict=True):
            _draw_found(line[place], pixels, of_frames[place], labelled, categories, least, iou)
    for line, row in zip(grid, rows, strict=True):
        line[0].set_ylabel(row, fontsize=9)
    handles = [Line2D([], [], color=colour, ls=line, lw=2) for colour, line in BOX_STYLES.values()]
    words = ["labelled", "found, right", "found, wrong"]
    figure.legend(handles, words, loc="outside upper center", ncols=3)
    return figure


def _draw_found(
    axis: Axes,
    pixels: Pixels,
    found: Detections,
    truth: Truth,
    categories: Sequence[str],
    least: float,
    iou: float,
) -> None:
    """Detections with class and score, the surest on top."""
    order = np.argsort(found.scores, kind="stable")
    order = order[found.scores[order] >= least]
    boxes, labels = found.boxes[order], found.labels[order]
    right = (box_iou(boxes, truth.boxes) >= iou) & (
        (labels[:, None] == truth.labels) | (labels[:, None] >= len(categories))
    )
    names = [
        f"{categories[label] if label < len(categories) else 'IDK'} {score:.2f}"
        for label, score in zip(labels, found.scores[order], strict=True)
    ]
    kinds: list[BoxKind] = ["right" if one else "wrong" for one in right.any(axis=1)]
    draw_boxes(axis, pixels, boxes, names, kinds)


def _height(frames: Sequence[Pixels]) -> float:
    """Inches that the tallest frame needs at a panel's width."""
    return max(WIDTH * pixels.shape[0] / pixels.shape[1] for pixels in frames)


def _same_length(frames: Sequence[Pixels], others: Mapping[str, Sequence[object]]) -> None:
    if not frames:
        raise ParameterError("There are no frames to show.")
    for name, values in others.items():
        if len(values) != len(frames):
            raise ParameterError(f"{len(frames)} frames are shown, but '{name}' has {len(values)}.")
