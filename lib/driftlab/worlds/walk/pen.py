"""Drawing small pictures of things: flat shapes on a transparent ground."""

from __future__ import annotations

import colorsys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

Colour = tuple[int, int, int]
Point = tuple[float, float]
RESOLUTION = 150
"""Pixels of a drawing's longer side."""


class Pen:
    """Draws on a transparent picture whose height is 1 and whose width is `aspect`; y points down."""

    def __init__(self, aspect: float) -> None:
        self.aspect = aspect
        self._scale = RESOLUTION / max(aspect, 1.0)
        size = (max(round(aspect * self._scale), 2), max(round(self._scale), 2))
        self.image = Image.new("RGBA", size, (0, 0, 0, 0))
        self._draw = ImageDraw.Draw(self.image)

    def shape(self, points: Sequence[Point], colour: Colour) -> None:
        """A filled polygon."""
        self._draw.polygon(self._pixels(points), fill=colour)

    def box(
        self, left: float, top: float, right: float, bottom: float, colour: Colour, round_: float = 0
    ) -> None:
        """A filled rectangle, its corners rounded by a radius."""
        corners = self._pixels([(left, top), (right, bottom)])
        self._draw.rounded_rectangle(corners, round_ * self._scale, fill=colour)

    def oval(self, x: float, y: float, across: float, down: float, colour: Colour) -> None:
        """A filled ellipse about (x, y) with these half axes."""
        self._draw.ellipse(self._pixels([(x - across, y - down), (x + across, y + down)]), fill=colour)

    def ring(self, x: float, y: float, radius: float, colour: Colour, width: float) -> None:
        """A circle's outline."""
        corners = self._pixels([(x - radius, y - radius), (x + radius, y + radius)])
        self._draw.ellipse(corners, outline=colour, width=max(round(width * self._scale), 1))

    def line(self, points: Sequence[Point], colour: Colour, width: float) -> None:
        """A line through points."""
        self._draw.line(
            self._pixels(points), fill=colour, width=max(round(width * self._scale), 1), joint="curve"
        )

    def _pixels(self, points: Sequence[Point]) -> list[Point]:
        return [(x * self._scale, y * self._scale) for x, y in points]


@dataclass(frozen=True)
class Drawing:
    """How to draw a kind of thing.

    Attributes:
        paint: Draws one, with a generator for what differs between any two, and a phase (0..1) of movement.
        aspect: Width to height of the picture that `paint` is given.
        metres: The lowest and the highest height of such things.
    """

    paint: Callable[[Pen, np.random.Generator, float], None]
    aspect: float
    metres: tuple[float, float]


def sprite(drawing: Drawing, seed: Sequence[int], phase: float = 0.0) -> Image.Image:
    """One thing as RGBA, cut to what is not transparent; it is the same thing in every phase of a seed."""
    draw = np.random.default_rng(list(seed))
    pen = Pen(drawing.aspect)
    drawing.paint(pen, draw, phase)
    return pen.image.crop(pen.image.getbbox())


def colour(hue: float, saturation: float, value: float) -> Colour:
    """From hue (of any value; its fraction counts), saturation and value (cut to 0..1)."""
    red, green, blue = colorsys.hsv_to_rgb(hue % 1, min(max(saturation, 0), 1), min(max(value, 0), 1))
    return round(255 * red), round(255 * green), round(255 * blue)


def shade(base: Colour, factor: float) -> Colour:
    """Darker below 1, lighter above."""
    red, green, blue = (min(round(part * factor), 255) for part in base)
    return red, green, blue


def any_colour(draw: np.random.Generator, saturation: float = 0.6, value: float = 0.7) -> Colour:
    """A colour of any hue about this saturation and value."""
    return colour(draw.random(), draw.normal(saturation, 0.15), draw.normal(value, 0.15))


def near(
    draw: np.random.Generator, hue: float, saturation: float, value: float, spread: float = 0.04
) -> Colour:
    """A colour about this one."""
    return colour(draw.normal(hue, spread), draw.normal(saturation, 0.1), draw.normal(value, 0.1))
