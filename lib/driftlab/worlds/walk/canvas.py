"""A picture in the making that remembers whose each pixel is, so that boxes are what can be seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from driftlab.worlds.walk.pen import Colour

FINE = 2
"""Pixels of the canvas a pixel of the picture, along a side."""
VISIBLE = 0.35
"""Smallest visible share of an object that is labelled."""
OPAQUE = 50
"""Smallest opacity, of 255, of an object's pixels. It is low because thin poles and spokes are drawn pale."""
NOTHING = -1


@dataclass(frozen=True)
class Seen:
    """An object as it appears: its category, and its box (x1, y1, x2, y2) in pixels of the picture."""

    category: str
    box: tuple[float, float, float, float]


class Canvas:
    """A square picture of `size` pixels a side; what is pasted later covers what was there.

    Attributes:
        owners: (FINE * size, FINE * size) int16, which object each pixel shows (numbered in the order in
            which labelled ones are pasted), or `NOTHING`.
    """

    def __init__(self, size: int) -> None:
        self.size, self.side = size, FINE * size
        self.image = Image.new("RGB", (self.side, self.side))
        self.owners: NDArray[np.int16] = np.full((self.side, self.side), NOTHING, dtype=np.int16)
        self._draw = ImageDraw.Draw(self.image)
        self._categories: list[str] = []
        self._areas: list[int] = []

    def polygon(self, points: Sequence[tuple[float, float]], colour: Colour) -> None:
        """Fill a part of the background; points in pixels of the picture, y down."""
        self._draw.polygon([(FINE * x, FINE * y) for x, y in points], fill=colour)

    def paste(
        self, sprite: Image.Image, middle: float, ground: float, height: float, category: str = ""
    ) -> None:
        """Put an RGBA sprite onto the picture.

        Args:
            sprite: What to put.
            middle: Where its middle comes, in pixels from the left.
            ground: Where its lower edge comes, in pixels from the top.
            height: Its height in pixels; the width follows.
            category: What it is labelled as; nothing for scenery.
        """
        tall = max(round(FINE * height), 1)
        wide = max(round(FINE * height * sprite.width / sprite.height), 1)
        left, top = round(FINE * middle - wide / 2), round(FINE * ground) - tall
        x1, y1, x2, y2 = max(left, 0), max(top, 0), min(left + wide, self.side), min(top + tall, self.side)
        if x1 >= x2 or y1 >= y2:
            return
        scaled = sprite.resize((wide, tall), Image.Resampling.BILINEAR)
        self.image.paste(scaled, (left, top), scaled)
        mask = np.asarray(scaled.getchannel("A")) > OPAQUE
        number = NOTHING
        if category:
            number = len(self._categories)
            self._categories.append(category)
            self._areas.append(int(np.count_nonzero(mask)))
        self.owners[y1:y2, x1:x2][mask[y1 - top : y2 - top, x1 - left : x2 - left]] = number

    def seen(self, least: float) -> list[Seen]:
        """The objects to label, in order of pasting.

        Left out is what is hidden or outside but for a part under `VISIBLE`, and what has a box of a smaller
        area than a square of `least` pixels, as OAK leaves out what is under 20 x 20.
        """
        found = []
        rows, columns = np.nonzero(self.owners != NOTHING)
        numbers = self.owners[rows, columns]
        count = len(self._categories)
        areas = np.bincount(numbers, minlength=count)
        low, high = np.full((2, count), self.side), np.full((2, count), -1)
        for axis, places in enumerate((columns, rows)):
            np.minimum.at(low[axis], numbers, places)
            np.maximum.at(high[axis], numbers, places)
        for number, category in enumerate(self._categories):
            x1, y1 = (low[:, number] / FINE).tolist()
            x2, y2 = ((high[:, number] + 1) / FINE).tolist()
            large = areas[number] > 0 and (x2 - x1) * (y2 - y1) >= least**2
            if large and areas[number] >= VISIBLE * self._areas[number]:
                found.append(Seen(category, (x1, y1, x2, y2)))
        return found

    def picture(self) -> Image.Image:
        """The picture at its size."""
        return self.image.reduce(FINE)
