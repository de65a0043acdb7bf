"""The walker's itinerary: recorded days over nine months, by weekday, season and habit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from driftlab.worlds.walk.places import PLACES

FIRST_DAY = datetime(2014, 9, 1)
DAYS = 273
"""Nine months, as KrishnaCam's."""
_STEPS_A_DAY = 8  # about what home, street and two places come to
_RAIN = (0.25, 0.5, 0.4, 0.1, 0.05, 0.1, 0.25, 0.45, 0.2, 0.2)  # by month


@dataclass(frozen=True)
class Visit:
    """A clip of the video, in one place.

    Attributes:
        number: From 0, in time order.
        place: Its name in `PLACES`.
        start: When it begins.
        steps: How many steps of the stream it fills.
        rain: Whether it rains outdoors.
    """

    number: int
    place: str
    start: datetime
    steps: int
    rain: bool

    @property
    def progress(self) -> float:
        """The part of the whole time that has passed, from 0 to 1."""
        return (self.start - FIRST_DAY) / timedelta(days=DAYS)

    @property
    def winter(self) -> bool:
        """Whether snow lies."""
        return self.start.month in (1, 2)


def itinerary(steps: int, seed: int) -> list[Visit]:
    """The visits that fill so many steps.

    Recorded days are spread over nine months, however many steps there are; a longer stream has more days.
    """
    draw = np.random.default_rng([seed, 0])
    count = min(max(round(steps / _STEPS_A_DAY), 2), DAYS)
    edges = np.arange(count + 1) * DAYS // count
    days = draw.integers(edges[:-1], edges[1:]).tolist()
    visits: list[Visit] = []
    since: dict[str, int] = dict.fromkeys(PLACES, 3)  # recorded days since each place was visited
    for index, day in enumerate(days):
        date = FIRST_DAY + timedelta(days=day)
        places = ["home", "street", *_destinations(date, since, draw)]
        rain = bool(draw.random() < _RAIN[(date.month - FIRST_DAY.month) % 12])
        # the days share what is to be filled evenly, so that the last one ends at the last step
        target = round(steps * (index + 1) / count)
        visits += _day(places, date, target - sum(visit.steps for visit in visits), rain, len(visits), draw)
    return visits


def _destinations(date: datetime, since: dict[str, int], draw: np.random.Generator) -> list[str]:
    """One or two places that are open; the longer one was not visited, the more it draws."""
    progress = (date - FIRST_DAY) / timedelta(days=DAYS)
    pull = {}
    for name, place in PLACES.items():
        habit = place.weekend if date.weekday() >= 5 else place.weekday
        here = any(start <= progress < end for start, end in place.open)
        pull[name] = habit * since[name] ** 1.5 if here else 0.0
    names = [name for name in pull if pull[name] > 0]
    weights = np.array([pull[name] for name in names])
    number = min(2, len(names))
    chosen = [
        names[index] for index in draw.choice(len(names), number, replace=False, p=weights / weights.sum())
    ]
    for name in since:
        since[name] = 1 if name in chosen else since[name] + 1
    return chosen


def _day(
    places: list[str], date: datetime, steps: int, rain: bool, first: int, draw: np.random.Generator
) -> list[Visit]:
    """A day's visits, in which there are `steps` steps in all; what does not fit any more is left out."""
    stays = np.array([PLACES[place].stay for place in places])
    lengths = draw.integers(stays[:, 0], stays[:, 1] + 1)
    while lengths.sum() < steps:
        lengths[draw.integers(len(places))] += 1
    visits: list[Visit] = []
    minute, left = float(draw.uniform(440, 560)), steps
    for place, length in zip(places, lengths.tolist(), strict=True):
        taken = min(length, left)
        if taken == 0:
            break
        start = date + timedelta(minutes=round(minute), milliseconds=int(draw.integers(1000)))
        visits.append(Visit(first + len(visits), place, start, taken, rain))
        left -= taken
        minute += draw.uniform(60, 240)
    return visits
