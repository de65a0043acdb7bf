"""Where the places that the walker visits lie: a fictional town around longitude 0 and latitude 0."""

from __future__ import annotations

import numpy as np

from driftlab.worlds.walk.habits import Visit

METRES_PER_DEGREE = 111_320.0
"""Along a meridian, and along the equator, where the town lies."""
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
"""Metres east and north of home, by the place's name."""
SPREAD = 60.0
"""Standard deviation in metres of where a visit's clip begins, east and north."""


def location(visit: Visit, seed: int) -> tuple[float, float]:
    """Longitude and latitude in degrees at which a visit's clip begins.

    Args:
        visit: When and where.
        seed: The world's.
    """
    draw = np.random.default_rng([seed, 9, visit.number])
    metres = np.array(POSITIONS[visit.place]) + draw.normal(0.0, SPREAD, 2).clip(-3 * SPREAD, 3 * SPREAD)
    longitude, latitude = (metres / METRES_PER_DEGREE).round(6).tolist()
    return longitude, latitude
