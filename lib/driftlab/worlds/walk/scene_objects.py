"""The objects and the scenery at a visit: positions, sizes, drawings and movement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PIL import Image

from driftlab.worlds.walk.habits import Visit
from driftlab.worlds.walk.kinds import CATEGORIES, KINDS
from driftlab.worlds.walk.pen import Drawing, sprite
from driftlab.worlds.walk.places import DENSITY_LENGTH, PLACES, UMBRELLAS_IN_RAIN, Place
from driftlab.worlds.walk.surroundings import PATH_LENGTH, board, bush, tree

_PERMANENT_SHARE = 0.5  # share of the stationary objects that are there at every visit
_WALK_PHASES = 4  # sprites per cycle of a moving object
_RIGHT_SIDE_ONLY = ("bus", "car", "ship")  # roads and water are on the right
_KERB_DISTANCE = 2.2  # metres from the path's centre line


@dataclass
class SceneObject:
    """A labelled object, or a piece of unlabelled scenery.

    Attributes:
        category: Its label; empty for scenery.
        drawing: How to draw it.
        seed: Seed of its appearance.
        x: Metres right of the path's centre line.
        base_height: Height of its lower edge above the ground, in metres.
        z: Position along the path in the clip's first frame, in metres.
        height: Height in metres.
        speed: Movement along the path, in metres per frame.
    """

    category: str
    drawing: Drawing
    seed: tuple[int, ...]
    x: float
    base_height: float
    z: float
    height: float
    speed: float = 0.0

    def __post_init__(self) -> None:
        self._sprites: dict[int, Image.Image] = {}

    def position(self, frame: int) -> float:
        """Position along the path in this frame of the clip, in metres."""
        return self.z + self.speed * frame

    def sprite(self, frame: int) -> Image.Image:
        """The RGBA image of it in this frame of the clip."""
        phase = frame % _WALK_PHASES if self.speed else 0
        if phase not in self._sprites:
            self._sprites[phase] = sprite(self.drawing, self.seed, phase / _WALK_PHASES)
        return self._sprites[phase]


def scene_objects(visit: Visit, seed: int) -> list[SceneObject]:
    """Generate the objects and the scenery at a visit.

    Half of the stationary objects are there at every visit of the place; the others differ.

    Args:
        visit: The visit.
        seed: Seed of the world.
    """
    place, number = PLACES[visit.place], list(PLACES).index(visit.place)
    objects = [
        *_objects(place, [seed, 2, number], permanent=True),
        *_objects(place, [seed, 3, visit.number], permanent=False),
        *_scenery(place, [seed, 4, number], visit),
    ]
    if visit.rain and not place.indoors:
        objects += _umbrellas([seed, 5, visit.number])
    return objects


def _objects(place: Place, seed: list[int], *, permanent: bool) -> list[SceneObject]:
    """Generate the objects that are in a place at every visit (`permanent`), or those of one visit only."""
    objects = []
    for category, density in place.densities.items():
        kind, category_id = KINDS[category], CATEGORIES.index(category)
        rng = np.random.default_rng([*seed, category_id])
        expected = density * PATH_LENGTH / DENSITY_LENGTH
        still_share = 1 - kind.moving_share
        count = rng.poisson(
            expected * (still_share * _PERMANENT_SHARE if permanent else 1 - still_share * _PERMANENT_SHARE)
        )
        for index in range(count):
            # only objects of this visit move: so many of them that `moving_share` holds for all objects
            moving = not permanent and rng.random() < kind.moving_share / (1 - still_share * _PERMANENT_SHARE)
            drawing = kind.drawings[rng.integers(len(kind.drawings))]
            height = float(rng.uniform(*drawing.height_range))
            x = float(rng.uniform(*kind.side_distance))
            if category in _RIGHT_SIDE_ONLY:
                x = max(x, _KERB_DISTANCE + drawing.aspect * height / 2)
            elif rng.random() < 0.5:
                x = -x
            if place.indoors:
                x = float(np.clip(x, 0.3 - place.wall_distances[0], place.wall_distances[1] - 0.3))
            speed = kind.speed * float(rng.choice([-1, 1]) * rng.uniform(0.5, 1.2)) if moving else 0.0
            z = float(rng.uniform(0, PATH_LENGTH))
            objects.append(
                SceneObject(
                    category, drawing, (*seed, category_id, index), x, kind.base_height, z, height, speed
                )
            )
    return objects


def _umbrellas(seed: list[int]) -> list[SceneObject]:
    """Generate people who carry umbrellas."""
    rng = np.random.default_rng(seed)
    person, umbrella = KINDS["person"].drawings[0], KINDS["umbrella"].drawings[0]
    objects = []
    for index in range(rng.poisson(UMBRELLAS_IN_RAIN * PATH_LENGTH / DENSITY_LENGTH)):
        x, z = float(rng.uniform(-2.2, 2.2)), float(rng.uniform(0, PATH_LENGTH))
        speed = float(rng.uniform(-0.8, 0.8))
        objects.append(SceneObject("person", person, (*seed, index, 0), x, 0.0, z, 1.7, speed))
        objects.append(
            SceneObject("umbrella", umbrella, (*seed, index, 1), x + 0.12, 1.0, z - 0.05, 1.15, speed)
        )
    return objects


def _scenery(place: Place, seed: list[int], visit: Visit) -> list[SceneObject]:
    """Generate trees, bushes and signboards, the same at every visit but for the season's leaves."""
    rng = np.random.default_rng(seed)
    month = visit.start.month
    autumn, bare = month in (10, 11), month in (12, 1, 2, 3)
    foliage = (0.08, 0.7, 0.7) if autumn else (0.3, 0.6, 0.5)
    layouts: list[tuple[Drawing, float, tuple[float, float]]] = [
        (tree(None if bare else foliage), place.tree_density, (3.0, 9.0)),
        (bush(foliage), place.tree_density, (2.2, 8.0)),
        (board(place.wall_tone[0]), 0.25, (1.6, 2.5)),
    ]
    objects = []
    for layout_number, (drawing, density, side_distance) in enumerate(layouts):
        for index in range(rng.poisson(density * PATH_LENGTH / DENSITY_LENGTH)):
            x = float(rng.choice([-1, 1]) * rng.uniform(*side_distance))
            z, height = float(rng.uniform(0, PATH_LENGTH)), float(rng.uniform(*drawing.height_range))
            if not (place.has_water and x > 4):
                objects.append(SceneObject("", drawing, (*seed, layout_number, index), x, 0.0, z, height))
    return objects
