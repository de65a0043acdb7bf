"""A place's surroundings as quadrilaterals in space (ground, walls, windows, ceiling), and its scenery."""

from __future__ import annotations

import colorsys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from driftlab.worlds.walk.pen import Colour, Drawing, Pen, colour, colour_near, shade
from driftlab.worlds.walk.places import Place, Tone

Floats = NDArray[np.float64]
PATH_LENGTH = 140.0
"""Length of a place's path in metres; the path is a loop."""
_STRIP_LENGTH = 2.0  # metres; short, since quadrilaterals that are partly behind the camera are not drawn
_BEHIND_CAMERA = 6.0  # metres behind the camera from which on a position belongs to the next lap
_STOREY_HEIGHT = 3.0  # metres
_CEILING_HEIGHT = 2.7  # metres
_HOUSE_DEPTH = 6.0  # metres
_DARK_WINDOW: Colour = (70, 85, 105)
_LIT_WINDOW: Colour = (235, 215, 150)
_SNOW_TONE: Tone = (0.6, 0.04, 0.93)


@dataclass(frozen=True)
class Surroundings:
    """Quadrilaterals along one lap of the path; within a strip in drawing order (windows after their wall).

    Attributes:
        corners: (P, 4, 3) in metres: right of the path's centre line, up, along the path.
        starts: (P,) in metres along the path: the beginning of each quadrilateral's strip.
        colours: (P, 3) RGB in 0..255.
        skyline: (n,) heights of distant roofs on the horizon, in metres.
    """

    corners: Floats
    starts: Floats
    colours: Floats
    skyline: Floats


class _QuadBuilder:
    """Collects quadrilaterals; all lengths in metres."""

    def __init__(self) -> None:
        self.corners: list[list[tuple[float, float, float]]] = []
        self.starts: list[float] = []
        self.colours: list[Colour] = []

    def add_horizontal(
        self, left: float, right: float, height: float, start: float, end: float, tint: Colour
    ) -> None:
        """Add a horizontal rectangle: ground, path or ceiling."""
        self._add(
            [(left, height, start), (right, height, start), (right, height, end), (left, height, end)], tint
        )

    def add_side_wall(
        self, x: float, low: float, high: float, start: float, end: float, tint: Colour
    ) -> None:
        """Add a vertical rectangle parallel to the path, at the distance `x` from its centre line."""
        self._add([(x, low, start), (x, low, end), (x, high, end), (x, high, start)], tint)

    def add_front_wall(self, x: float, outer: float, high: float, start: float, tint: Colour) -> None:
        """Add a vertical rectangle at right angles to the path, from `x` to `outer`: a house's side wall."""
        self._add([(x, 0, start), (outer, 0, start), (outer, high, start), (x, high, start)], tint)

    def _add(self, corners: list[tuple[float, float, float]], tint: Colour) -> None:
        self.corners.append(corners)
        self.starts.append(corners[0][2] // _STRIP_LENGTH * _STRIP_LENGTH)
        self.colours.append(tint)


def build_surroundings(place: Place, seed: list[int], winter: bool) -> Surroundings:
    """Generate the surroundings of a place; only the snow differs between visits.

    Args:
        place: The place.
        seed: Seed of its random draws.
        winter: Whether there is snow outdoors.
    """
    rng = np.random.default_rng(seed)
    builder = _QuadBuilder()
    snow = winter and not place.indoors
    strips = np.arange(0, PATH_LENGTH, _STRIP_LENGTH).tolist()
    for number, start in enumerate(strips):
        _ground(builder, place, start, number % 2 == 1, snow)
    for side, distance in zip((-1, 1), place.wall_distances, strict=True):
        if distance:
            _walls(builder, place, side * distance, strips, rng)
    skyline = rng.uniform(2, 9, 40) if not place.indoors else np.zeros(40)
    return Surroundings(
        np.array(builder.corners), np.array(builder.starts), np.array(builder.colours, dtype=float), skyline
    )


def positions_ahead(positions: Floats, camera_position: float) -> Floats:
    """Move positions on the looped path, in metres, to the lap in which the camera passes them next.

    The results lie from `_BEHIND_CAMERA` metres behind the camera's position to nearly one lap ahead of it.
    """
    return positions - PATH_LENGTH * np.floor((positions - camera_position + _BEHIND_CAMERA) / PATH_LENGTH)


def _ground(builder: _QuadBuilder, place: Place, start: float, odd: bool, snow: bool) -> None:
    """Add one strip of the path, and of road, water or ceiling."""
    end = start + _STRIP_LENGTH
    half_width = place.path_width / 2
    path_colour = _rgb(_SNOW_TONE if snow else place.path_tone)
    builder.add_horizontal(-half_width, half_width, 0, start, end, shade(path_colour, 0.94 if odd else 1.0))
    if place.has_road:
        builder.add_horizontal(2.4, 7.4, 0, start, end, (88, 88, 94))
        builder.add_horizontal(2.25, 2.45, 0, start, end, (200, 200, 198))
        if odd:
            builder.add_horizontal(5.1, 5.3, 0, start, end, (225, 225, 215))
    if place.has_water:
        builder.add_horizontal(3.2, 60.0, 0, start, end, shade((70, 130, 175), 0.94 if odd else 1.03))
    if place.indoors:
        builder.add_horizontal(
            -place.wall_distances[0],
            place.wall_distances[1],
            _CEILING_HEIGHT,
            start,
            end,
            (232, 230, 224) if odd else (224, 222, 216),
        )


def _walls(
    builder: _QuadBuilder, place: Place, x: float, strips: list[float], rng: np.random.Generator
) -> None:
    """Add a row of houses with windows and doors along one side; indoors, one wall with furniture."""
    strips_left, storeys, tint = 0, 1, _rgb(place.wall_tone)
    for start in strips:
        if strips_left == 0 and not place.indoors:
            strips_left, storeys = (
                int(rng.integers(3, 7)),
                int(rng.integers(place.storey_range[0], place.storey_range[1] + 1)),
            )
            tint = colour_near(rng, *place.wall_tone)
            gable_height = _STOREY_HEIGHT * storeys + 0.6
            builder.add_front_wall(x, x + np.sign(x) * _HOUSE_DEPTH, gable_height, start, shade(tint, 0.75))
        strips_left -= 1
        top = _CEILING_HEIGHT if place.indoors else _STOREY_HEIGHT * storeys + 0.6
        brightness = rng.normal(1, 0.02) * (0.9 if x < 0 else 1.0)
        builder.add_side_wall(x, 0, top, start, start + _STRIP_LENGTH, shade(tint, brightness))
        if place.indoors:
            _furnish(builder, x, start, rng)
            continue
        for storey in range(storeys):
            sill = _STOREY_HEIGHT * storey + 0.9
            glass = _LIT_WINDOW if rng.random() < 0.12 else shade(_DARK_WINDOW, rng.uniform(0.7, 1.4))
            door = storey == 0 and rng.random() < 0.2
            low, high = (0.0, 2.2) if door else (sill, sill + 1.5)
            inside = (start + 0.45, start + _STRIP_LENGTH - 0.45)
            builder.add_side_wall(x, low, high, *inside, colour_near(rng, 0.07, 0.5, 0.35) if door else glass)


def _furnish(builder: _QuadBuilder, x: float, start: float, rng: np.random.Generator) -> None:
    """Add a picture, a door, a bookshelf or nothing to a strip of an indoor wall."""
    builder.add_side_wall(x, 0, 0.12, start, start + _STRIP_LENGTH, (120, 105, 90))
    choice = rng.random()
    if choice < 0.25:
        low = rng.uniform(1.1, 1.4)
        builder.add_side_wall(x, low - 0.08, low + 0.78, start + 0.42, start + 1.58, (95, 80, 65))
        builder.add_side_wall(
            x, low, low + 0.7, start + 0.5, start + 1.5, colour_near(rng, rng.random(), 0.4, 0.7)
        )
    elif choice < 0.4:
        builder.add_side_wall(x, 0, 2.1, start + 0.4, start + 1.6, colour_near(rng, 0.08, 0.45, 0.45))
    elif choice < 0.6:
        for shelf in (0.6, 1.1, 1.6):
            builder.add_side_wall(x, shelf, shelf + 0.06, start + 0.1, start + 1.9, (110, 85, 60))
            for book in range(int(rng.integers(2, 6))):
                book_start = start + 0.2 + 0.3 * book
                builder.add_side_wall(
                    x,
                    shelf + 0.06,
                    shelf + rng.uniform(0.25, 0.4),
                    book_start,
                    book_start + 0.24,
                    colour_near(rng, rng.random(), 0.5, 0.5),
                )


def _rgb(tone: Tone) -> Colour:
    """RGB colour of a tone."""
    red, green, blue = (round(255 * part) for part in colorsys.hsv_to_rgb(*tone))
    return red, green, blue


def tree(foliage: Tone | None) -> Drawing:
    """Drawing of a tree with leaves of this tone; None for a tree without leaves."""

    def paint(pen: Pen, rng: np.random.Generator, phase: float) -> None:
        middle, bark = pen.aspect / 2, colour_near(rng, 0.07, 0.4, 0.3)
        pen.shape([(middle - 0.03, 0.5), (middle + 0.03, 0.5), (middle + 0.05, 1), (middle - 0.05, 1)], bark)
        for _ in range(9):
            x, y = middle + rng.uniform(-0.24, 0.24), rng.uniform(0.12, 0.5)
            if foliage is None:
                pen.line([(middle, 0.62), (x, y)], bark, 0.02)
            else:
                leaves = colour_near(rng, foliage[0], foliage[1], foliage[2], 0.015)
                pen.oval(x, y, rng.uniform(0.09, 0.16), rng.uniform(0.09, 0.14), leaves)

    return Drawing(paint, 0.85, (4.0, 7.0))


def bush(foliage: Tone) -> Drawing:
    """Drawing of a bush with leaves of this tone."""

    def paint(pen: Pen, rng: np.random.Generator, phase: float) -> None:
        for _ in range(10):
            x, y = rng.uniform(0.25, pen.aspect - 0.25), rng.uniform(0.35, 0.7)
            pen.oval(x, y, 0.24, 0.28, colour_near(rng, foliage[0], foliage[1], foliage[2], 0.015))

    return Drawing(paint, 1.5, (0.6, 1.1))


def board(hue: float) -> Drawing:
    """Drawing of an unlabelled signboard on a post, with a colour near this hue."""

    def paint(pen: Pen, rng: np.random.Generator, phase: float) -> None:
        face = colour(hue + rng.normal(0, 0.1), 0.4, 0.8)
        middle = pen.aspect / 2
        pen.box(middle - 0.03, 0.3, middle + 0.03, 0.99, (90, 90, 95))
        pen.box(0.05, 0.02, pen.aspect - 0.05, 0.45, face, 0.04)
        for y in (0.12, 0.22, 0.32):
            pen.box(0.12, y, pen.aspect - rng.uniform(0.12, 0.3), y + 0.04, shade(face, 0.4))

    return Drawing(paint, 0.7, (1.6, 2.3))
