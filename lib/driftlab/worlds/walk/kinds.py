"""The labelled object categories of the walker's world: drawings, positions and movement."""

from __future__ import annotations

from dataclasses import dataclass

from driftlab.worlds.walk import fixtures, movers
from driftlab.worlds.walk.pen import Drawing


@dataclass(frozen=True)
class Kind:
    """A category of objects.

    Attributes:
        drawings: Possible appearances; each object has one of them.
        side_distance: Smallest and largest distance from the path's centre line, in metres.
        base_height: Height of the lower edge above the ground, in metres.
        moving_share: Share of such objects that move.
        speed: Typical speed of moving objects, in metres per frame.
    """

    drawings: tuple[Drawing, ...]
    side_distance: tuple[float, float]
    base_height: float = 0.0
    moving_share: float = 0.0
    speed: float = 0.0


KINDS: dict[str, Kind] = {
    "bicycle": Kind((movers.BICYCLE,), (0.8, 2.6)),
    "bus": Kind((movers.BUS, movers.BUS_FROM_BEHIND), (3.2, 5.0), moving_share=0.4, speed=2.0),
    "car": Kind((movers.CAR, movers.CAR_FROM_BEHIND), (3.0, 5.0), moving_share=0.3, speed=2.0),
    "chair": Kind((fixtures.CHAIR,), (0.7, 2.2)),
    "dining table": Kind((fixtures.DINING_TABLE,), (1.1, 2.3)),
    "dog": Kind((movers.DOG,), (0.3, 2.0), moving_share=0.6, speed=0.7),
    "person": Kind((movers.PERSON,), (0.3, 2.6), moving_share=0.6, speed=0.7),
    "potted plant": Kind((fixtures.POTTED_PLANT,), (1.1, 2.4)),
    "stroller": Kind((movers.STROLLER,), (0.4, 2.0), moving_share=0.6, speed=0.5),
    "lamp": Kind((fixtures.LAMP,), (1.4, 2.4)),
    "box": Kind((fixtures.BOX,), (0.7, 2.2)),
    "bench": Kind((fixtures.BENCH,), (1.4, 2.8)),
    "awning": Kind((fixtures.AWNING,), (2.6, 3.8), base_height=2.1),
    "streetlight": Kind((fixtures.STREETLIGHT,), (1.9, 3.0)),
    "booth": Kind((fixtures.BOOTH,), (2.2, 3.8)),
    "bag": Kind((fixtures.BAG,), (0.4, 1.7)),
    "trashcan": Kind((fixtures.TRASHCAN,), (1.2, 2.6)),
    "fireplug": Kind((fixtures.FIREPLUG,), (1.1, 2.2)),
    "umbrella": Kind((fixtures.UMBRELLA,), (1.2, 3.0)),
    "mailbox": Kind((fixtures.MAILBOX,), (1.3, 2.4)),
    "trafficcone": Kind((fixtures.TRAFFICCONE,), (0.6, 2.6)),
    "ship": Kind((movers.SHIP,), (5.0, 9.0), moving_share=0.6, speed=0.8),
}
"""Categories by OAK's names: the eight that VOC also has, then the others, both in the order of OAK's ids."""

CATEGORIES = tuple(KINDS)
VOC_CATEGORIES = CATEGORIES[:8]
