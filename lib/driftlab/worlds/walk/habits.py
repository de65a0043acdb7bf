"""The walker's itinerary: which places are visited when, over nine months of recorded days."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from driftlab.worlds.walk.places import PLACES

FIRST_DAY = datetime(2014, 9, 1)
DAYS = 273
"""Nine months, as in KrishnaCam, OAK's source."""
_STEPS_PER_DAY = 8  # mean length of the visits to home, street and two more places
_RAIN_PROBABILITY = (0.25, 0.5, 0.4, 0.1, 0.05, 0.1, 0.25, 0.45, 0.2, 0.2)  # per month, from September


@dataclass(frozen=True)
class Visit:
    """A visit to one place, recorded as one clip of the video.

    Attributes:
        number: Index in time order, from 0.
        place: Name of the place in `PLACES`.
        start: Date and time of the first frame.
        steps: Number of the stream's steps in this clip.
        rain: Whether it rains (outdoors).
    """

    number: int
    place: str
    start: datetime
    steps: int
    rain: bool

    @property
    def progress(self) -> float:
        """Elapsed share of the nine months, from 0 to 1."""
        return (self.start - FIRST_DAY) / timedelta(days=DAYS)

    @property
    def winter(self) -> bool:
        """Whether there is snow on the ground."""
        return self.start.month in (1, 2)


def itinerary(steps: int, seed: int) -> list[Visit]:
    """Generate the visits of a stream of `steps` steps, in time order.

    Recorded days are spread over the whole nine months; a longer stream has more of them.
    """
    rng = np.random.default_rng([seed, 0])
    days = min(max(round(steps / _STEPS_PER_DAY), 2), DAYS)
    edges = np.arange(days + 1) * DAYS // days
    day_numbers = rng.integers(edges[:-1], edges[1:]).tolist()
    visits: list[Visit] = []
    days_since_visit: dict[str, int] = dict.fromkeys(PLACES, 3)
    for index, day in enumerate(day_numbers):
        date = FIRST_DAY + timedelta(days=day)
        places = ["home", "street", *_destinations(date, days_since_visit, rng)]
        rain = bool(rng.random() < _RAIN_PROBABILITY[(date.month - FIRST_DAY.month) % 12])
        # steps are divided evenly among the days; the last day ends at the last step
        target = round(steps * (index + 1) / days)
        visits += _visits_of_day(
            places, date, target - sum(visit.steps for visit in visits), rain, len(visits), rng
        )
    return visits


def _destinations(date: datetime, days_since_visit: dict[str, int], rng: np.random.Generator) -> list[str]:
    """Choose up to two open places to visit; weights grow with the recorded days since the last visit."""
    progress = (date - FIRST_DAY) / timedelta(days=DAYS)
    weights = {}
    for name, place in PLACES.items():
        day_weight = place.weekend_weight if date.weekday() >= 5 else place.weekday_weight
        is_open = any(start <= progress < end for start, end in place.open_periods)
        weights[name] = day_weight * days_since_visit[name] ** 1.5 if is_open else 0.0
    names = [name for name in weights if weights[name] > 0]
    open_weights = np.array([weights[name] for name in names])
    count = min(2, len(names))
    indices = rng.choice(len(names), count, replace=False, p=open_weights / open_weights.sum())
    chosen = [names[index] for index in indices]
    for name in days_since_visit:
        days_since_visit[name] = 1 if name in chosen else days_since_visit[name] + 1
    return chosen


def _visits_of_day(
    places: list[str], date: datetime, steps: int, rain: bool, first_number: int, rng: np.random.Generator
) -> list[Visit]:
    """Generate a day's visits, with `steps` steps in all; places for which no steps are left are skipped."""
    step_ranges = np.array([PLACES[place].visit_steps for place in places])
    lengths = rng.integers(step_ranges[:, 0], step_ranges[:, 1] + 1)
    while lengths.sum() < steps:
        lengths[rng.integers(len(places))] += 1
    visits: list[Visit] = []
    minute_of_day, remaining_steps = float(rng.uniform(440, 560)), steps
    for place, length in zip(places, lengths.tolist(), strict=True):
        visit_steps = min(length, remaining_steps)
        if visit_steps == 0:
            break
        start = date + timedelta(minutes=round(minute_of_day), milliseconds=int(rng.integers(1000)))
        visits.append(Visit(first_number + len(visits), place, start, visit_steps, rain))
        remaining_steps -= visit_steps
        minute_of_day += rng.uniform(60, 240)
    return visits
