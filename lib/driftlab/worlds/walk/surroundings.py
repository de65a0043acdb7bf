"""Draws the surroundings from quadrilaterals in space: ground, walls, windows, ceiling."""

from __future__ import annotations

import colorsys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from driftlab.worlds.walk.pen import Colour, Drawing, Pen, colour, near, shade
from driftlab.worlds.walk.places import Place, Tone

Floats = NDArray[np.float64]
LENGTH = 140.0
"""Metres of a place's way, which leads back to where it begins."""
_STRIP = 2.0  # metres; what is partly behind the camera is left out, so nothing may be long
_BEHIND = 6.0  # metres
_STOREY = 3.0
_CEILING = 2.7
_DEPTH = 6.0  # of houses
_GLASS: Colour = (70, 85, 105)
_LIT: Colour = (235, 215, 150)
_SNOW: Tone = (0.6, 0.04, 0.93)


@dataclass(frozen=True)
class Surroundings:
    """Quadrilaterals of one round of the way; in a strip, what is behind comes first.

    Attributes:
        corners: (P, 4, 3), metres: right of the middle of the way, up, along the way.
        starts: (P,) metres along the way, where the strip begins that each is in.
        colours: (P, 3) in 0..255.
        skyline: (n,) heights in metres, at a great distance, of what stands on the horizon.
    """

    corners: Floats
    starts: Floats
    colours: Floats
    skyline: Floats


class _Builder:
    def __init__(self) -> None:
        self.corners: list[list[tuple[float, float, float]]] = []
        self.starts: list[float] = []
        self.colours: list[Colour] = []

    def flat(self, left: float, right: float, height: float, start: float, end: float, tint: Colour) -> None:
        """Ground or ceiling."""
        self._add(
            [(left, height, start), (right, height, start), (right, height, end), (left, height, end)], tint
        )

    def along(self, x: float, low: float, high: float, start: float, end: float, tint: Colour) -> None:
        """A wall beside the way, or a piece of one."""
        self._add([(x, low, start), (x, low, end), (x, high, end), (x, high, start)], tint)

    def across(self, x: float, outer: float, high: float, start: float, tint: Colour) -> None:
        """The narrow side of a house, seen by who comes along the way."""
        self._add([(x, 0, start), (outer, 0, start), (outer, high, start), (x, high, start)], tint)

    def _add(self, corners: list[tuple[float, float, float]], tint: Colour) -> None:
        self.corners.append(corners)
        self.starts.append(corners[0][2] // _STRIP * _STRIP)
        self.colours.append(tint)


def surroundings(place: Place, seed: list[int], winter: bool) -> Surroundings:
    """A place's, the same at every visit but for the snow."""
    draw = np.random.default_rng(seed)
    build = _Builder()
    white = winter and not place.indoors
    strips = np.arange(0, LENGTH, _STRIP).tolist()
    for number, start in enumerate(strips):
        _ground(build, place, start, number % 2 == 1, white)
    for side, distance in zip((-1, 1), place.walls, strict=True):
        if distance:
            _walls(build, place, side * distance, strips, draw)
    skyline = draw.uniform(2, 9, 40) if not place.indoors else np.zeros(40)
    return Surroundings(
        np.array(build.corners), np.array(build.starts), np.array(build.colours, dtype=float), skyline
    )


def ahead(along: Floats, here: float) -> Floats:
    """Metres along the way, in the round in which it comes next for who is at `here`, or was just passed."""
    return along - LENGTH * np.floor((along - here + _BEHIND) / LENGTH)


def _ground(build: _Builder, place: Place, start: float, odd: bool, white: bool) -> None:
    """A strip of the way, and of what lies beside it."""
    end = start + _STRIP
    half = place.breadth / 2
    way = _tone(_SNOW if white else place.way)
    build.flat(-half, half, 0, start, end, shade(way, 0.94 if odd else 1.0))
    if place.road:
        build.flat(2.4, 7.4, 0, start, end, (88, 88, 94))
        build.flat(2.25, 2.45, 0, start, end, (200, 200, 198))
        if odd:
            build.flat(5.1, 5.3, 0, start, end, (225, 225, 215))
    if place.water:
        build.flat(3.2, 60.0, 0, start, end, shade((70, 130, 175), 0.94 if odd else 1.03))
    if place.indoors:
        build.flat(
            -place.walls[0], place.walls[1], _CEILING, start, end, (232, 230, 224) if odd else (224, 222, 216)
        )


def _walls(build: _Builder, place: Place, x: float, strips: list[float], draw: np.random.Generator) -> None:
    """Houses in a row with windows and doors; indoors, one wall with pictures."""
    left, storeys, tint = 0, 1, _tone(place.wall)
    for start in strips:
        if left == 0 and not place.indoors:
            left, storeys = (
                int(draw.integers(3, 7)),
                int(draw.integers(place.storeys[0], place.storeys[1] + 1)),
            )
            tint = near(draw, *place.wall)
            narrow = _STOREY * storeys + 0.6
            build.across(x, x + np.sign(x) * _DEPTH, narrow, start, shade(tint, 0.75))
        left -= 1
        top = _CEILING if place.indoors else _STOREY * storeys + 0.6
        light = draw.normal(1, 0.02) * (0.9 if x < 0 else 1.0)
        build.along(x, 0, top, start, start + _STRIP, shade(tint, light))
        if place.indoors:
            _furnish(build, x, start, draw)
            continue
        for storey in range(storeys):
            low = _STOREY * storey + 0.9
            glass = _LIT if draw.random() < 0.12 else shade(_GLASS, draw.uniform(0.7, 1.4))
            door = storey == 0 and draw.random() < 0.2
            bottom, high = (0.0, 2.2) if door else (low, low + 1.5)
            inside = (start + 0.45, start + _STRIP - 0.45)
            build.along(x, bottom, high, *inside, near(draw, 0.07, 0.5, 0.35) if door else glass)


def _furnish(build: _Builder, x: float, start: float, draw: np.random.Generator) -> None:
    """A picture, a door, a shelf or nothing on a strip of an inner wall."""
    build.along(x, 0, 0.12, start, start + _STRIP, (120, 105, 90))
    kind = draw.random()
    if kind < 0.25:
        low = draw.uniform(1.1, 1.4)
        build.along(x, low - 0.08, low + 0.78, start + 0.42, start + 1.58, (95, 80, 65))
        build.along(x, low, low + 0.7, start + 0.5, start + 1.5, near(draw, draw.random(), 0.4, 0.7))
    elif kind < 0.4:
        build.along(x, 0, 2.1, start + 0.4, start + 1.6, near(draw, 0.08, 0.45, 0.45))
    elif kind < 0.6:
        for shelf in (0.6, 1.1, 1.6):
            build.along(x, shelf, shelf + 0.06, start + 0.1, start + 1.9, (110, 85, 60))
            for book in range(int(draw.integers(2, 6))):
                at = start + 0.2 + 0.3 * book
                build.along(
                    x,
                    shelf + 0.06,
                    shelf + draw.uniform(0.25, 0.4),
                    at,
                    at + 0.24,
                    near(draw, draw.random(), 0.5, 0.5),
                )


def _tone(tone: Tone) -> Colour:
    red, green, blue = (round(255 * part) for part in colorsys.hsv_to_rgb(*tone))
    return red, green, blue


def tree(foliage: Tone | None) -> Drawing:
    """A tree with leaves of this tone, or bare."""

    def paint(pen: Pen, draw: np.random.Generator, phase: float) -> None:
        middle, bark = pen.aspect / 2, near(draw, 0.07, 0.4, 0.3)
        pen.shape([(middle - 0.03, 0.5), (middle + 0.03, 0.5), (middle + 0.05, 1), (middle - 0.05, 1)], bark)
        for _ in range(9):
            x, y = middle + draw.uniform(-0.24, 0.24), draw.uniform(0.12, 0.5)
            if foliage is None:
                pen.line([(middle, 0.62), (x, y)], bark, 0.02)
            else:
                leaves = near(draw, foliage[0], foliage[1], foliage[2], 0.015)
                pen.oval(x, y, draw.uniform(0.09, 0.16), draw.uniform(0.09, 0.14), leaves)

    return Drawing(paint, 0.85, (4.0, 7.0))


def bush(foliage: Tone) -> Drawing:
    """A bush."""

    def paint(pen: Pen, draw: np.random.Generator, phase: float) -> None:
        for _ in range(10):
            x, y = draw.uniform(0.25, pen.aspect - 0.25), draw.uniform(0.35, 0.7)
            pen.oval(x, y, 0.24, 0.28, near(draw, foliage[0], foliage[1], foliage[2], 0.015))

    return Drawing(paint, 1.5, (0.6, 1.1))


def board(seed_hue: float) -> Drawing:
    """A board with writing on it, on a post: to be met everywhere, and not labelled."""

    def paint(pen: Pen, draw: np.random.Generator, phase: float) -> None:
        face = colour(seed_hue + draw.normal(0, 0.1), 0.4, 0.8)
        middle = pen.aspect / 2
        pen.box(middle - 0.03, 0.3, middle + 0.03, 0.99, (90, 90, 95))
        pen.box(0.05, 0.02, pen.aspect - 0.05, 0.45, face, 0.04)
        for y in (0.12, 0.22, 0.32):
            pen.box(0.12, y, pen.aspect - draw.uniform(0.12, 0.3), y + 0.04, shade(face, 0.4))

    return Drawing(paint, 0.7, (1.6, 2.3))
