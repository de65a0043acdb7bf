"""The objects of the walker's world: which there are in a place, where they stand, and how they look."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PIL import Image

from driftlab.worlds.walk.habits import Visit
from driftlab.worlds.walk.kinds import CATEGORIES, KINDS
from driftlab.worlds.walk.pen import Drawing, sprite
from driftlab.worlds.walk.places import IN_RAIN, PLACES, STRETCH, Place
from driftlab.worlds.walk.surroundings import LENGTH, board, bush, tree

_STAYS = 0.5  # of what does not move, the part that is there at every visit
_PHASES = 4
_ON_THE_RIGHT = ("bus", "car", "ship")  # where roads and water are
_KERB = 2.2  # metres from the middle of the way


@dataclass
class Thing:
    """One object, or a piece of unlabelled scenery.

    Attributes:
        category: Its label; empty for scenery.
        drawing: How it looks.
        seed: Of its looks.
        x: Metres right of the middle of the way.
        base: Metres above the ground.
        z: Metres along the way, in the clip's first frame.
        height: Metres.
        pace: Metres along the way from one frame to the next.
    """

    category: str
    drawing: Drawing
    seed: tuple[int, ...]
    x: float
    base: float
    z: float
    height: float
    pace: float = 0.0

    def __post_init__(self) -> None:
        self._sprites: dict[int, Image.Image] = {}

    def at(self, frame: int) -> float:
        """Metres along the way in this frame of the clip."""
        return self.z + self.pace * frame

    def sprite(self, frame: int) -> Image.Image:
        """How it looks in this frame of the clip."""
        phase = frame % _PHASES if self.pace else 0
        if phase not in self._sprites:
            self._sprites[phase] = sprite(self.drawing, self.seed, phase / _PHASES)
        return self._sprites[phase]


def things(visit: Visit, seed: int) -> list[Thing]:
    """The things at a visit; half of those that do not move are there at every visit of the place.

    Args:
        visit: Where and when.
        seed: The world's.
    """
    place, number = PLACES[visit.place], list(PLACES).index(visit.place)
    there = [
        *_objects(place, [seed, 2, number], stays=True),
        *_objects(place, [seed, 3, visit.number], stays=False),
        *_scenery(place, [seed, 4, number], visit),
    ]
    if visit.rain and not place.indoors:
        there += _umbrellas([seed, 5, visit.number])
    return there


def _objects(place: Place, seed: list[int], *, stays: bool) -> list[Thing]:
    """The objects of a place that are there at every visit, or those of this visit alone."""
    found = []
    for category, density in place.mix.items():
        kind, label = KINDS[category], CATEGORIES.index(category)
        draw = np.random.default_rng([*seed, label])
        expected = density * LENGTH / STRETCH
        part = 1 - kind.moves
        number = draw.poisson(expected * (part * _STAYS if stays else 1 - part * _STAYS))
        for index in range(number):
            # of a visit's own things the share that `moves` tells of all of them is on the move
            moving = not stays and draw.random() < kind.moves / (1 - part * _STAYS)
            drawing = kind.drawings[draw.integers(len(kind.drawings))]
            height = float(draw.uniform(*drawing.metres))
            x = float(draw.uniform(*kind.aside))
            if category in _ON_THE_RIGHT:
                x = max(x, _KERB + drawing.aspect * height / 2)
            elif draw.random() < 0.5:
                x = -x
            if place.indoors:
                x = float(np.clip(x, 0.3 - place.walls[0], place.walls[1] - 0.3))
            pace = kind.pace * float(draw.choice([-1, 1]) * draw.uniform(0.5, 1.2)) if moving else 0.0
            z = float(draw.uniform(0, LENGTH))
            found.append(Thing(category, drawing, (*seed, label, index), x, kind.base, z, height, pace))
    return found


def _umbrellas(seed: list[int]) -> list[Thing]:
    """People under umbrellas."""
    draw = np.random.default_rng(seed)
    person, umbrella = KINDS["person"].drawings[0], KINDS["umbrella"].drawings[0]
    found = []
    for index in range(draw.poisson(IN_RAIN * LENGTH / STRETCH)):
        x, z = float(draw.uniform(-2.2, 2.2)), float(draw.uniform(0, LENGTH))
        pace = float(draw.uniform(-0.8, 0.8))
        found.append(Thing("person", person, (*seed, index, 0), x, 0.0, z, 1.7, pace))
        found.append(Thing("umbrella", umbrella, (*seed, index, 1), x + 0.12, 1.0, z - 0.05, 1.15, pace))
    return found


def _scenery(place: Place, seed: list[int], visit: Visit) -> list[Thing]:
    """Trees, bushes and boards, the same at every visit, trees in the dress of the season."""
    draw = np.random.default_rng(seed)
    month = visit.start.month
    autumn, bare = month in (10, 11), month in (12, 1, 2, 3)
    foliage = (0.08, 0.7, 0.7) if autumn else (0.3, 0.6, 0.5)
    kinds: list[tuple[Drawing, float, tuple[float, float]]] = [
        (tree(None if bare else foliage), place.trees, (3.0, 9.0)),
        (bush(foliage), place.trees, (2.2, 8.0)),
        (board(place.wall[0]), 0.25, (1.6, 2.5)),
    ]
    found = []
    for kind, (drawing, density, aside) in enumerate(kinds):
        for index in range(draw.poisson(density * LENGTH / STRETCH)):
            x = float(draw.choice([-1, 1]) * draw.uniform(*aside))
            z, height = float(draw.uniform(0, LENGTH)), float(draw.uniform(*drawing.metres))
            if not (place.water and x > 4):
                found.append(Thing("", drawing, (*seed, kind, index), x, 0.0, z, height))
    return found
