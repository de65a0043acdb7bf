"""Boxes with names on a frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from driftlab.metrics.boxes import box_iou

Pixels = NDArray[np.uint8]
BoxKind = Literal["labelled", "right", "wrong"]

# Of Okabe and Ito's palette, with dashes for print without colours.
BOX_STYLES: dict[BoxKind, tuple[str, str]] = {
    "labelled": ("#f0e442", "-"),
    "right": ("#009e73", "-"),
    "wrong": ("#d55e00", "--"),
}
WIDTH = 2.7  # of a panel, inches
FONT = 7.0  # points


def show_pixels(axis: Axes, pixels: Pixels) -> None:
    """A frame without axes."""
    axis.imshow(pixels)
    axis.grid(visible=False)
    axis.set(xticks=[], yticks=[])
    axis.spines[:].set_visible(False)


def draw_boxes(
    axis: Axes,
    pixels: Pixels,
    boxes: NDArray[np.float32],
    names: Sequence[str],
    kinds: Sequence[BoxKind],
) -> None:
    """Boxes, each with its name where it covers the other names least.

    Args:
        axis: A panel `WIDTH` inches wide that shows the frame.
        pixels: The frame.
        boxes: (n, 4) x1, y1, x2, y2 in pixels.
        names: What stands on them.
        kinds: How they look, see `BOX_STYLES`.
    """
    height, width = pixels.shape[:2]
    # How large a letter is in pixels of the frame: fonts are in points, a panel is WIDTH inches wide.
    line, letter = 1.45 * FONT / 72 / WIDTH * width, 0.62 * FONT / 72 / WIDTH * width
    placed: list[NDArray[np.float64]] = []
    for (x1, y1, x2, y2), name, kind in zip(boxes.astype(float).tolist(), names, kinds, strict=True):
        colour, dashes = BOX_STYLES[kind]
        # A dark line under the coloured one keeps the box visible on any picture.
        for edge, thickness, ls in (("black", 2.4, "-"), (colour, 1.3, dashes)):
            axis.add_patch(Rectangle((x1, y1), x2 - x1, y2 - y1, fill=False, ec=edge, lw=thickness, ls=ls))
        left = max(0.0, min(x1, width - letter * len(name)))
        tops = [top for top in (y1 - line, y2, y1, y2 - line) if 0 <= top <= height - line] or [0.0]
        areas = [np.array([[left, top, left + letter * len(name), top + line]]) for top in tops]
        taken = np.concatenate(placed) if placed else np.zeros((0, 4))
        best = min(areas, key=lambda area: float(box_iou(area, taken).sum()))
        placed.append(best)
        axis.text(
            left,
            float(best[0, 1]) + line / 2,
            name,
            fontsize=FONT,
            va="center",
            ha="left",
            color="black",
            parse_math=False,
            bbox={"fc": colour, "ec": "none", "pad": 0.6, "alpha": 0.85},
        )
    axis.set(xlim=(-0.5, width - 0.5), ylim=(height - 0.5, -0.5))
