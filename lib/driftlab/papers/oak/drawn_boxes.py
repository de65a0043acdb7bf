"""Frames of a video with boxes and names drawn on them."""

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

# Colours of Okabe and Ito's palette; dashes for print without colours.
BOX_STYLES: dict[BoxKind, tuple[str, str]] = {
    "labelled": ("#f0e442", "-"),
    "right": ("#009e73", "-"),
    "wrong": ("#d55e00", "--"),
}
WIDTH = 2.7
"""Width of a panel in inches."""
FONT = 7.0
"""Size of the names in points."""
MOST_PIXELS = 320
"""Side of a drawn frame; larger ones are reduced, so that figures stay small."""
COLOURS = 12
"""Levels of each colour of a drawn frame: camera noise would make files large."""
GREYS = 12
"""Grey levels of a pale frame."""


def show_pixels(axis: Axes, pixels: Pixels, *, pale: bool = False) -> None:
    """Show a frame without ticks, in the coordinates of its own pixels.

    Args:
        axis: The panel.
        pixels: (H, W, 3).
        pale: Whether to show it in light grey, so that boxes stand out and the file stays small.
    """
    height, width = pixels.shape[:2]
    stride = -(-max(height, width) // MOST_PIXELS)
    shown = pixels[::stride, ::stride]
    if not pale:
        shown = shown // (256 // COLOURS) * (256 // COLOURS) + 128 // COLOURS
    else:
        level = np.floor(shown.mean(axis=2) / 256 * GREYS) / GREYS
        shown = np.repeat((255 * (0.3 + 0.7 * level)).astype(np.uint8)[:, :, None], 3, axis=2)
    axis.imshow(shown, extent=(-0.5, width - 0.5, height - 0.5, -0.5), interpolation="nearest")
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
    """Draw boxes, each with its name placed where it covers the other names least.

    Args:
        axis: A panel `WIDTH` inches wide that shows the frame.
        pixels: (H, W, 3) the frame.
        boxes: (n, 4) x1, y1, x2, y2 in pixels.
        names: (n,) text on each box.
        kinds: (n,) style of each box, see `BOX_STYLES`.
    """
    height, width = pixels.shape[:2]
    # Size of a letter in pixels of the frame: fonts are in points, a panel is WIDTH inches wide.
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
