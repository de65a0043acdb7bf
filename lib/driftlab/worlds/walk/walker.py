"""A clip of the walker's video: which objects are there, and what each frame shows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from driftlab.worlds.walk.camera import Camera, walk
from driftlab.worlds.walk.habits import Visit
from driftlab.worlds.walk.places import PLACES
from driftlab.worlds.walk.renderer import Shot, Sight, render
from driftlab.worlds.walk.surroundings import LENGTH, Surroundings, ahead, surroundings
from driftlab.worlds.walk.things import Thing, things

SECONDS_A_FRAME = 2
"""OAK is labelled at half a frame a second."""
_FURTHEST, _FURTHEST_LARGE, _LARGE = 24.0, 38.0, 2.0  # metres at which things are still drawn, and large ones
_NEAREST = 1.1  # metres


def clip(visit: Visit, frames: int, size: int, seed: int) -> Iterator[Shot]:
    """The frames of a visit, `SECONDS_A_FRAME` apart.

    Args:
        visit: Where and when.
        frames: How many.
        size: Pixels of a frame's side.
        seed: The world's.
    """
    draw = np.random.default_rng([seed, 1, visit.number])
    place, there = PLACES[visit.place], things(visit, seed)
    around = _surroundings(visit.place, seed, visit.winter)
    cameras = walk(frames, float(draw.uniform(0, LENGTH)), draw)
    for frame, camera in enumerate(cameras):
        sights = _sights(there, camera, frame)
        yield render(place, around, camera, sights, visit, frame * SECONDS_A_FRAME, size, draw)


def _sights(there: list[Thing], camera: Camera, frame: int) -> list[Sight]:
    """The things in front of the camera, furthest first."""
    places = np.array([(thing.x, thing.base, thing.at(frame)) for thing in there])
    places[:, 2] = ahead(places[:, 2], camera.z)
    points, depths = camera.project(places)
    order = np.argsort(-depths, kind="stable")
    return [
        Sight(
            there[index].category,
            there[index].sprite(frame),
            float(points[index, 0]),
            float(points[index, 1]),
            float(depths[index]),
            there[index].height,
        )
        for index in order.tolist()
        if _NEAREST < depths[index] < (_FURTHEST_LARGE if there[index].height > _LARGE else _FURTHEST)
        and -0.8 < points[index, 0] < 1.8
    ]


@lru_cache(maxsize=64)
def _surroundings(name: str, seed: int, winter: bool) -> Surroundings:
    return surroundings(PLACES[name], [seed, 6, list(PLACES).index(name)], winter)
