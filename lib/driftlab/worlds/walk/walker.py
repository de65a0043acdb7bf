"""Clips of the walker's video: a visit's camera, objects and rendered frames."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from driftlab.worlds.walk.camera import Camera, walk
from driftlab.worlds.walk.habits import Visit
from driftlab.worlds.walk.places import PLACES
from driftlab.worlds.walk.renderer import ProjectedObject, Shot, render
from driftlab.worlds.walk.scene_objects import SceneObject, scene_objects
from driftlab.worlds.walk.surroundings import (
    PATH_LENGTH,
    Surroundings,
    build_surroundings,
    positions_ahead,
)

SECONDS_A_FRAME = 2
"""Seconds between two frames; OAK has labels at 0.5 frames per second."""
_MIN_DISTANCE, _MAX_DISTANCE = 1.1, 24.0  # metres from the camera at which objects are drawn
_MAX_DISTANCE_LARGE, _LARGE_HEIGHT = 38.0, 2.0  # metres, for objects higher than this


def clip(visit: Visit, frames: int, size: int, seed: int) -> Iterator[Shot]:
    """Render the frames of a visit, `SECONDS_A_FRAME` apart.

    Args:
        visit: The visit.
        frames: Number of frames.
        size: Side of a frame, in pixels.
        seed: Seed of the world.
    """
    rng = np.random.default_rng([seed, 1, visit.number])
    place, objects = PLACES[visit.place], scene_objects(visit, seed)
    place_surroundings = _surroundings(visit.place, seed, visit.winter)
    cameras = walk(frames, float(rng.uniform(0, PATH_LENGTH)), rng)
    for frame, camera in enumerate(cameras):
        projected_objects = _project_objects(objects, camera, frame)
        yield render(
            place, place_surroundings, camera, projected_objects, visit, frame * SECONDS_A_FRAME, size, rng
        )


def _project_objects(objects: list[SceneObject], camera: Camera, frame: int) -> list[ProjectedObject]:
    """Project the objects in front of the camera into the image, furthest first."""
    positions = np.array([(item.x, item.base_height, item.position(frame)) for item in objects])
    positions[:, 2] = positions_ahead(positions[:, 2], camera.z)
    points, depths = camera.project(positions)
    far_to_near = np.argsort(-depths, kind="stable")
    return [
        ProjectedObject(
            objects[index].category,
            objects[index].sprite(frame),
            float(points[index, 0]),
            float(points[index, 1]),
            float(depths[index]),
            objects[index].height,
        )
        for index in far_to_near.tolist()
        if _MIN_DISTANCE
        < depths[index]
        < (_MAX_DISTANCE_LARGE if objects[index].height > _LARGE_HEIGHT else _MAX_DISTANCE)
        and -0.8 < points[index, 0] < 1.8
    ]


@lru_cache(maxsize=64)
def _surroundings(name: str, seed: int, winter: bool) -> Surroundings:
    return build_surroundings(PLACES[name], [seed, 6, list(PLACES).index(name)], winter)
