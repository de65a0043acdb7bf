"""Geographic positions of the places: a fictional town around longitude 0 and latitude 0."""

from __future__ import annotations

import numpy as np

from driftlab.worlds.walk.habits import Visit

METRES_PER_DEGREE = 111_320.0
"""Metres per degree of latitude, and of longitude at the equator."""
POSITIONS = {
    "home": (0.0, 0.0),
    "street": (500.0, 0.0),
    "campus": (1500.0, 1000.0),
    "shop": (1000.0, -500.0),
    "park": (-1000.0, 1500.0),
    "station": (2500.0, -1000.0),
    "market": (2000.0, 500.0),
    "works": (1000.0, 500.0),
    "waterfront": (-2500.0, -1500.0),
}
"""Metres east and north of home, per place."""
SPREAD = 60.0
"""Standard deviation of a clip's starting position, east and north, in metres."""


def location(visit: Visit, seed: int) -> tuple[float, float]:
    """Longitude and latitude of the start of a visit's clip, in degrees.

    Args:
        visit: The visit.
        seed: Seed of the world.
    """
    rng = np.random.default_rng([seed, 9, visit.number])
    offset_metres = np.array(POSITIONS[visit.place]) + rng.normal(0.0, SPREAD, 2).clip(
        -3 * SPREAD, 3 * SPREAD
    )
    longitude, latitude = (offset_metres / METRES_PER_DEGREE).round(6).tolist()
    return longitude, latitude
