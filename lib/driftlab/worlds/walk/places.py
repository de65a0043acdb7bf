"""The places of the walker's life: what is to be met there, how they look, and when they are open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Tone = tuple[float, float, float]
"""Hue, saturation and value."""
STRETCH = 8.0  # metres


@dataclass(frozen=True)
class Place:
    """One place.

    Attributes:
        mix: Objects of each category in `STRETCH` metres of the way; the tail is long.
        weekday: How much it draws the walker on weekdays.
        weekend: How much on Saturdays and Sundays.
        open: Stretches, in parts of the whole time, in which it can be visited.
        indoors: Whether it has a ceiling and its own light.
        walls: Distance in metres of the walls to the left and right of the way; 0 for none.
        storeys: Least and most, of the buildings.
        wall: Tone of walls.
        ground: Tone of the ground.
        way: Tone of the way, which is as wide as `breadth`, in metres.
        breadth: See `way`.
        road: Whether a road runs on the right.
        water: Whether there is water on the right.
        stay: Least and most steps of the stream that a visit fills.
        trees: Trees, and bushes, in `STRETCH` metres.
    """

    mix: Mapping[str, float]
    weekday: float
    weekend: float
    wall: Tone
    ground: Tone
    way: Tone
    open: tuple[tuple[float, float], ...] = ((0.0, 1.0),)
    indoors: bool = False
    walls: tuple[float, float] = (0.0, 0.0)
    storeys: tuple[int, int] = (1, 1)
    breadth: float = 3.0
    road: bool = False
    water: bool = False
    trees: float = 0.0
    stay: tuple[int, int] = (1, 3)


PLACES: dict[str, Place] = {
    "home": Place(
        mix={
            "chair": 1.5,
            "dining table": 0.7,
            "potted plant": 0.9,
            "lamp": 0.9,
            "box": 0.5,
            "bag": 0.4,
            "dog": 0.15,
        },
        weekday=0.0,  # every recorded day begins there, see `oak_habits`
        weekend=0.0,
        wall=(0.11, 0.25, 0.85),
        ground=(0.08, 0.4, 0.55),
        way=(0.08, 0.45, 0.6),
        indoors=True,
        walls=(2.6, 2.6),
        stay=(1, 2),
    ),
    "street": Place(
        mix={
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
        weekday=0.0,  # on the way to everywhere
        weekend=0.0,
        wall=(0.04, 0.35, 0.6),
        ground=(0.6, 0.05, 0.5),
        way=(0.1, 0.05, 0.68),
        walls=(4.0, 9.0),
        storeys=(2, 4),
        road=True,
    ),
    "campus": Place(
        mix={
            "person": 1.3,
            "bicycle": 1.1,
            "bench": 0.6,
            "streetlight": 0.4,
            "trashcan": 0.4,
            "bag": 0.5,
            "chair": 0.1,
            "potted plant": 0.1,
        },
        weekday=3.0,
        weekend=0.3,
        open=((0.0, 0.40), (0.52, 1.0)),
        wall=(0.07, 0.2, 0.75),
        ground=(0.28, 0.45, 0.5),
        way=(0.09, 0.12, 0.72),
        walls=(9.0, 11.0),
        storeys=(2, 3),
        trees=0.7,
    ),
    "shop": Place(
        mix={
            "person": 0.9,
            "box": 1.1,
            "bag": 1.1,
            "potted plant": 0.4,
            "awning": 0.4,
            "trashcan": 0.2,
            "chair": 0.2,
            "stroller": 0.2,
        },
        weekday=1.0,
        weekend=1.0,
        open=((0.1, 1.0),),
        wall=(0.55, 0.12, 0.85),
        ground=(0.5, 0.04, 0.8),
        way=(0.5, 0.04, 0.86),
        indoors=True,
        walls=(3.9, 3.9),
    ),
    "park": Place(
        mix={
            "bench": 1.0,
            "dog": 0.9,
            "stroller": 0.9,
            "person": 0.7,
            "trashcan": 0.3,
            "bicycle": 0.3,
            "bag": 0.05,
        },
        weekday=1.5,
        weekend=4.0,
        open=((0.05, 0.30), (0.68, 1.0)),
        wall=(0.3, 0.4, 0.4),
        ground=(0.28, 0.55, 0.55),
        way=(0.1, 0.3, 0.7),
        breadth=2.4,
        trees=2.4,
    ),
    "station": Place(
        mix={
            "bus": 1.9,
            "person": 1.2,
            "bag": 1.1,
            "bench": 0.5,
            "trashcan": 0.3,
            "streetlight": 0.3,
            "car": 0.2,
        },
        weekday=3.0,
        weekend=2.0,
        open=((0.15, 0.36), (0.76, 0.92)),
        wall=(0.58, 0.15, 0.55),
        ground=(0.6, 0.03, 0.42),
        way=(0.6, 0.03, 0.6),
        walls=(5.0, 10.0),
        storeys=(1, 2),
        road=True,
        stay=(2, 4),
    ),
    "market": Place(
        mix={
            "booth": 1.3,
            "umbrella": 0.5,
            "person": 0.9,
            "box": 0.9,
            "potted plant": 0.4,
            "bag": 0.3,
            "awning": 0.2,
            "dog": 0.1,
        },
        weekday=3.0,
        weekend=8.0,
        open=((0.2, 0.38), (0.8, 0.97)),
        wall=(0.06, 0.3, 0.7),
        ground=(0.07, 0.15, 0.6),
        way=(0.07, 0.15, 0.66),
        walls=(5.5, 5.5),
        storeys=(2, 3),
        stay=(2, 4),
    ),
    "works": Place(
        mix={"trafficcone": 3.2, "car": 0.7, "box": 0.4, "person": 0.3, "streetlight": 0.3, "trashcan": 0.2},
        weekday=3.0,
        weekend=3.0,
        open=((0.42, 0.56),),
        wall=(0.09, 0.3, 0.5),
        ground=(0.08, 0.3, 0.45),
        way=(0.08, 0.2, 0.5),
        walls=(4.5, 9.0),
        storeys=(1, 4),
        road=True,
        stay=(2, 4),
    ),
    "waterfront": Place(
        mix={
            "ship": 2.4,
            "umbrella": 0.5,
            "bench": 0.4,
            "person": 0.7,
            "dog": 0.2,
            "bicycle": 0.3,
            "chair": 0.3,
            "stroller": 0.1,
        },
        weekday=3.0,
        weekend=6.0,
        open=((0.6, 0.76), (0.9, 1.0)),
        wall=(0.13, 0.2, 0.9),
        ground=(0.12, 0.35, 0.8),
        way=(0.1, 0.2, 0.75),
        walls=(7.0, 0.0),
        storeys=(2, 3),
        water=True,
        trees=0.2,
        stay=(2, 4),
    ),
}
"""By name. `home` and `street` have no draw of their own: every day leads from the one through the other."""

IN_RAIN = 0.5
"""Umbrellas carried, in `STRETCH` metres, outdoors when it rains."""
