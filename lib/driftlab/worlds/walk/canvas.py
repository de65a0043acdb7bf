"""An image to draw on that records which object each pixel shows, so that boxes cover visible parts only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from driftlab.worlds.walk.pen import Colour

SUPERSAMPLING = 2
"""Canvas pixels per image pixel, along each side."""
MIN_VISIBLE_SHARE = 0.35
"""Smallest visible share of an object's pixels for it to be labelled."""
MIN_ALPHA = 50
"""Alpha (0..255) above which a pixel belongs to an object; low, as thin poles and spokes are drawn pale."""
NO_OBJECT = -1


@dataclass(frozen=True)
class Seen:
    """A labelled object: its category, and the box (x1, y1, x2, y2) of its visible part in image pixels."""

    category: str
    box: tuple[float, float, float, float]


class Canvas:
    """A square image of `size` pixels per side; later sprites cover earlier ones.

    Attributes:
        size: Side of the image, in pixels.
        canvas_size: Side of the canvas, `SUPERSAMPLING * size`, in pixels.
        image: The canvas, (canvas_size, canvas_size) RGB.
        object_ids: (canvas_size, canvas_size) int16, the labelled object that each pixel shows, numbered in
            the order of pasting, or `NO_OBJECT`.
    """

    def __init__(self, size: int) -> None:
        self.size, self.canvas_size = size, SUPERSAMPLING * size
        self.image = Image.new("RGB", (self.canvas_size, self.canvas_size))
        self.object_ids: NDArray[np.int16] = np.full(
            (self.canvas_size, self.canvas_size), NO_OBJECT, dtype=np.int16
        )
        self._draw = ImageDraw.Draw(self.image)
        self._categories: list[str] = []
        self._areas: list[int] = []

    def polygon(self, points: Sequence[tuple[float, float]], colour: Colour) -> None:
        """Fill a polygon of the background; points in image pixels, y down."""
        self._draw.polygon([(SUPERSAMPLING * x, SUPERSAMPLING * y) for x, y in points], fill=colour)

    def paste(
        self, sprite: Image.Image, x_centre: float, y_bottom: float, height: float, category: str = ""
    ) -> None:
        """Paste an RGBA sprite, scaled.

        Args:
            sprite: The sprite.
            x_centre: Horizontal position of its centre, in image pixels.
            y_bottom: Vertical position of its lower edge, in image pixels.
            height: Its height in image pixels; the width keeps the proportions.
            category: Its label; empty for scenery.
        """
        height_px = max(round(SUPERSAMPLING * height), 1)
        width_px = max(round(SUPERSAMPLING * height * sprite.width / sprite.height), 1)
        left, top = (
            round(SUPERSAMPLING * x_centre - width_px / 2),
            round(SUPERSAMPLING * y_bottom) - height_px,
        )
        x1, y1, x2, y2 = (
            max(left, 0),
            max(top, 0),
            min(left + width_px, self.canvas_size),
            min(top + height_px, self.canvas_size),
        )
        if x1 >= x2 or y1 >= y2:
            return
        scaled = sprite.resize((width_px, height_px), Image.Resampling.BILINEAR)
        self.image.paste(scaled, (left, top), scaled)
        mask = np.asarray(scaled.getchannel("A")) > MIN_ALPHA
        object_id = NO_OBJECT
        if category:
            object_id = len(self._categories)
            self._categories.append(category)
            self._areas.append(int(np.count_nonzero(mask)))
        self.object_ids[y1:y2, x1:x2][mask[y1 - top : y2 - top, x1 - left : x2 - left]] = object_id

    def visible_objects(self, min_side: float) -> list[Seen]:
        """The objects to label, with their boxes, in order of pasting.

        An object is left out if less than `MIN_VISIBLE_SHARE` of it is visible, or if its box has a smaller
        area than a square of `min_side` image pixels (OAK leaves out objects below 20 x 20 pixels).
        """
        labels = []
        rows, columns = np.nonzero(self.object_ids != NO_OBJECT)
        object_ids = self.object_ids[rows, columns]
        objects = len(self._categories)
        visible_areas = np.bincount(object_ids, minlength=objects)
        low, high = np.full((2, objects), self.canvas_size), np.full((2, objects), -1)
        for axis, positions in enumerate((columns, rows)):
            np.minimum.at(low[axis], object_ids, positions)
            np.maximum.at(high[axis], object_ids, positions)
        for object_id, category in enumerate(self._categories):
            x1, y1 = (low[:, object_id] / SUPERSAMPLING).tolist()
            x2, y2 = ((high[:, object_id] + 1) / SUPERSAMPLING).tolist()
            large_enough = visible_areas[object_id] > 0 and (x2 - x1) * (y2 - y1) >= min_side**2
            if large_enough and visible_areas[object_id] >= MIN_VISIBLE_SHARE * self._areas[object_id]:
                labels.append(Seen(category, (x1, y1, x2, y2)))
        return labels

    def downsampled(self) -> Image.Image:
        """The finished image of `size` pixels per side."""
        return self.image.reduce(SUPERSAMPLING)
