"""The places that the walker visits: their objects, appearance and opening periods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Tone = tuple[float, float, float]
"""Hue, saturation and value."""
DENSITY_LENGTH = 8.0
"""Length of path, in metres, that densities of objects refer to."""


@dataclass(frozen=True)
class Place:
    """A place: a straight path with objects, walls and scenery on both sides.

    Attributes:
        densities: Mean number of objects per category and `DENSITY_LENGTH` metres of path; long-tailed.
        wall_tone: Colour of the walls.
        ground_tone: Colour of the ground.
        path_tone: Colour of the path.
        weekday_weight: Relative probability that it is a destination on weekdays; 0 if it never is one.
        weekend_weight: Relative probability on Saturdays and Sundays.
        open_periods: When it can be visited, as (start, end) shares of the nine months.
        indoors: Whether it has a ceiling and artificial light.
        wall_distances: Distance of the left and the right wall from the path's centre line, in metres; 0 for
            no wall.
        storey_range: Smallest and largest number of storeys of its buildings.
        path_width: Width of the path, in metres.
        has_road: Whether a road runs on the right.
        has_water: Whether there is water on the right.
        tree_density: Mean number of trees, and of bushes, per `DENSITY_LENGTH` metres of path.
        visit_steps: Smallest and largest number of the stream's steps per visit.
    """

    densities: Mapping[str, float]
    wall_tone: Tone
    ground_tone: Tone
    path_tone: Tone
    weekday_weight: float = 0.0
    weekend_weight: float = 0.0
    open_periods: tuple[tuple[float, float], ...] = ((0.0, 1.0),)
    indoors: bool = False
    wall_distances: tuple[float, float] = (0.0, 0.0)
    storey_range: tuple[int, int] = (1, 1)
    path_width: float = 3.0
    has_road: bool = False
    has_water: bool = False
    tree_density: float = 0.0
    visit_steps: tuple[int, int] = (1, 3)


PLACES: dict[str, Place] = {
    "home": Place(
        densities={
            "chair": 1.5,
            "dining table": 0.7,
            "potted plant": 0.9,
            "lamp": 0.9,
            "box": 0.5,
            "bag": 0.4,
            "dog": 0.15,
        },
        wall_tone=(0.11, 0.25, 0.85),
        ground_tone=(0.08, 0.4, 0.55),
        path_tone=(0.08, 0.45, 0.6),
        indoors=True,
        wall_distances=(2.6, 2.6),
        visit_steps=(1, 2),
    ),
    "street": Place(
        densities={
            "car": 1.7,
            "person": 0.8,
            "streetlight": 0.5,
            "fireplug": 0.6,
            "trashcan": 0.4,
            "mailbox": 0.35,
            "bicycle": 0.35,
            "awning": 0.3,
            "bag": 0.1,
            "dog": 0.08,
            "stroller": 0.05,
        },
        wall_tone=(0.04, 0.35, 0.6),
        ground_tone=(0.6, 0.05, 0.5),
        path_tone=(0.1, 0.05, 0.68),
        wall_distances=(4.0, 9.0),
        storey_range=(2, 4),
        has_road=True,
    ),
    "campus": Place(
        densities={
            "person": 1.3,
            "bicycle": 1.1,
            "bench": 0.6,
            "streetlight": 0.4,
            "trashcan": 0.4,
            "bag": 0.5,
            "chair": 0.1,
            "potted plant": 0.1,
        },
        weekday_weight=3.0,
        weekend_weight=0.3,
        open_periods=((0.0, 0.40), (0.52, 1.0)),
        wall_tone=(0.07, 0.2, 0.75),
        ground_tone=(0.28, 0.45, 0.5),
        path_tone=(0.09, 0.12, 0.72),
        wall_distances=(9.0, 11.0),
        storey_range=(2, 3),
        tree_density=0.7,
    ),
    "shop": Place(
        densities={
            "person": 0.9,
            "box": 1.1,
            "bag": 1.1,
            "potted plant": 0.4,
            "awning": 0.4,
            "trashcan": 0.2,
            "chair": 0.2,
            "stroller": 0.2,
        },
        weekday_weight=1.0,
        weekend_weight=1.0,
        open_periods=((0.1, 1.0),),
        wall_tone=(0.55, 0.12, 0.85),
        ground_tone=(0.5, 0.04, 0.8),
        path_tone=(0.5, 0.04, 0.86),
        indoors=True,
        wall_distances=(3.9, 3.9),
    ),
    "park": Place(
        densities={
            "bench": 1.0,
            "dog": 0.9,
            "stroller": 0.9,
            "person": 0.7,
            "trashcan": 0.3,
            "bicycle": 0.3,
            "bag": 0.05,
        },
        weekday_weight=1.5,
        weekend_weight=4.0,
        open_periods=((0.05, 0.30), (0.68, 1.0)),
        wall_tone=(0.3, 0.4, 0.4),
        ground_tone=(0.28, 0.55, 0.55),
        path_tone=(0.1, 0.3, 0.7),
        path_width=2.4,
        tree_density=2.4,
    ),
    "station": Place(
        densities={
            "bus": 1.9,
            "person": 1.2,
            "bag": 1.1,
            "bench": 0.5,
            "trashcan": 0.3,
            "streetlight": 0.3,
            "car": 0.2,
        },
        weekday_weight=3.0,
        weekend_weight=2.0,
        open_periods=((0.15, 0.36), (0.76, 0.92)),
        wall_tone=(0.58, 0.15, 0.55),
        ground_tone=(0.6, 0.03, 0.42),
        path_tone=(0.6, 0.03, 0.6),
        wall_distances=(5.0, 10.0),
        storey_range=(1, 2),
        has_road=True,
        visit_steps=(2, 4),
    ),
    "market": Place(
        densities={
            "booth": 1.3,
            "umbrella": 0.5,
            "person": 0.9,
            "box": 0.9,
            "potted plant": 0.4,
            "bag": 0.3,
            "awning": 0.2,
            "dog": 0.1,
        },
        weekday_weight=3.0,
        weekend_weight=8.0,
        open_periods=((0.2, 0.38), (0.8, 0.97)),
        wall_tone=(0.06, 0.3, 0.7),
        ground_tone=(0.07, 0.15, 0.6),
        path_tone=(0.07, 0.15, 0.66),
        wall_distances=(5.5, 5.5),
        storey_range=(2, 3),
        visit_steps=(2, 4),
    ),
    "works": Place(
        densities={
            "trafficcone": 3.2,
            "car": 0.7,
            "box": 0.4,
            "person": 0.3,
            "streetlight": 0.3,
            "trashcan": 0.2,
        },
        weekday_weight=3.0,
        weekend_weight=3.0,
        open_periods=((0.42, 0.56),),
        wall_tone=(0.09, 0.3, 0.5),
        ground_tone=(0.08, 0.3, 0.45),
        path_tone=(0.08, 0.2, 0.5),
        wall_distances=(4.5, 9.0),
        storey_range=(1, 4),
        has_road=True,
        visit_steps=(2, 4),
    ),
    "waterfront": Place(
        densities={
            "ship": 2.4,
            "umbrella": 0.5,
            "bench": 0.4,
            "person": 0.7,
            "dog": 0.2,
            "bicycle": 0.3,
            "chair": 0.3,
            "stroller": 0.1,
        },
        weekday_weight=3.0,
        weekend_weight=6.0,
        open_periods=((0.6, 0.76), (0.9, 1.0)),
        wall_tone=(0.13, 0.2, 0.9),
        ground_tone=(0.12, 0.35, 0.8),
        path_tone=(0.1, 0.2, 0.75),
        wall_distances=(7.0, 0.0),
        storey_range=(2, 3),
        has_water=True,
        tree_density=0.2,
        visit_steps=(2, 4),
    ),
}
"""Places by name. `home` and `street` have no weights: every recorded day begins with them."""

UMBRELLAS_IN_RAIN = 0.5
"""Mean number of people with umbrellas per `DENSITY_LENGTH` metres, outdoors when it rains."""
