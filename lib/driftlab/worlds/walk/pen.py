"""Sprites of objects, drawn from flat shapes on a transparent background; and colours."""

from __future__ import annotations

import colorsys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

Colour = tuple[int, int, int]
Point = tuple[float, float]
RESOLUTION = 150
"""Length of a drawing's longer side, in pixels."""


class Pen:
    """Draws on a transparent image in units of its height: x from 0 to `aspect`, y from 0 to 1, downwards."""

    def __init__(self, aspect: float) -> None:
        self.aspect = aspect
        self._scale = RESOLUTION / max(aspect, 1.0)
        size = (max(round(aspect * self._scale), 2), max(round(self._scale), 2))
        self.image = Image.new("RGBA", size, (0, 0, 0, 0))
        self._draw = ImageDraw.Draw(self.image)

    def shape(self, points: Sequence[Point], colour: Colour) -> None:
        """Draw a filled polygon."""
        self._draw.polygon(self._pixels(points), fill=colour)

    def box(
        self, left: float, top: float, right: float, bottom: float, colour: Colour, radius: float = 0
    ) -> None:
        """Draw a filled rectangle with corners rounded by `radius`."""
        corners = self._pixels([(left, top), (right, bottom)])
        self._draw.rounded_rectangle(corners, radius * self._scale, fill=colour)

    def oval(self, x: float, y: float, radius_x: float, radius_y: float, colour: Colour) -> None:
        """Draw a filled ellipse with centre (x, y) and half axes `radius_x` and `radius_y`."""
        self._draw.ellipse(
            self._pixels([(x - radius_x, y - radius_y), (x + radius_x, y + radius_y)]), fill=colour
        )

    def ring(self, x: float, y: float, radius: float, colour: Colour, width: float) -> None:
        """Draw the outline of a circle with centre (x, y)."""
        corners = self._pixels([(x - radius, y - radius), (x + radius, y + radius)])
        self._draw.ellipse(corners, outline=colour, width=max(round(width * self._scale), 1))

    def line(self, points: Sequence[Point], colour: Colour, width: float) -> None:
        """Draw a line through points."""
        self._draw.line(
            self._pixels(points), fill=colour, width=max(round(width * self._scale), 1), joint="curve"
        )

    def _pixels(self, points: Sequence[Point]) -> list[Point]:
        return [(x * self._scale, y * self._scale) for x, y in points]


@dataclass(frozen=True)
class Drawing:
    """How to draw objects of one kind.

    Attributes:
        paint: Draws one object with a pen. The random generator decides what differs between objects; the
            phase in [0, 1) is that of a periodic movement such as walking.
        aspect: Width divided by height of the image that `paint` draws on.
        height_range: Smallest and largest height of such objects, in metres.
    """

    paint: Callable[[Pen, np.random.Generator, float], None]
    aspect: float
    height_range: tuple[float, float]


def sprite(drawing: Drawing, seed: Sequence[int], phase: float = 0.0) -> Image.Image:
    """Draw one object as a cropped RGBA image; a seed gives the same object in every phase."""
    rng = np.random.default_rng(list(seed))
    pen = Pen(drawing.aspect)
    drawing.paint(pen, rng, phase)
    return pen.image.crop(pen.image.getbbox())


def colour(hue: float, saturation: float, value: float) -> Colour:
    """RGB colour from hue (modulo 1), saturation and value (clipped to 0..1)."""
    red, green, blue = colorsys.hsv_to_rgb(hue % 1, min(max(saturation, 0), 1), min(max(value, 0), 1))
    return round(255 * red), round(255 * green), round(255 * blue)


def shade(base: Colour, factor: float) -> Colour:
    """Scale a colour's brightness: darker for factors below 1, lighter above."""
    red, green, blue = (min(round(channel * factor), 255) for channel in base)
    return red, green, blue


def random_colour(rng: np.random.Generator, saturation: float = 0.6, value: float = 0.7) -> Colour:
    """Random colour of any hue, with saturation and value near the given ones."""
    return colour(rng.random(), rng.normal(saturation, 0.15), rng.normal(value, 0.15))


def colour_near(
    rng: np.random.Generator, hue: float, saturation: float, value: float, spread: float = 0.04
) -> Colour:
    """Random colour near the given hue, saturation and value."""
    return colour(rng.normal(hue, spread), rng.normal(saturation, 0.1), rng.normal(value, 0.1))
