from __future__ import annotations

import itertools
from collections import Counter
from datetime import timedelta

import pytest
from driftlab.worlds.walk.habits import DAYS, FIRST_DAY, Visit, itinerary
from driftlab.worlds.walk.places import PLACES


def by_day(visits: list[Visit]) -> list[list[Visit]]:
    return [list(day) for _, day in itertools.groupby(visits, lambda visit: visit.start.date())]


@pytest.mark.parametrize("steps", [2, 7, 30, 150, 1500, 5000])
@pytest.mark.parametrize("seed", [0, 1])
def test_visits_fill_the_steps_in_time_order(steps: int, seed: int) -> None:
    visits = itinerary(steps, seed)
    assert sum(visit.steps for visit in visits) == steps and min(visit.steps for visit in visits) > 0
    assert [visit.number for visit in visits] == list(range(len(visits)))
    for earlier, later in itertools.pairwise(visits):
        assert later.start - earlier.start >= timedelta(minutes=30), "longer than a clip"
    assert visits[0].start >= FIRST_DAY
    assert visits[-1].start < FIRST_DAY + timedelta(days=DAYS + 1)
    assert itinerary(steps, seed) == visits != itinerary(steps, seed + 2)


def test_a_stream_covers_nine_months_whatever_its_length() -> None:
    few, many = itinerary(150, 0), itinerary(1500, 0)
    for visits in (few, many):
        assert visits[0].progress < 0.1 and visits[-1].progress > 0.9
    assert len(by_day(many)) > 8 * len(by_day(few))


def test_days_have_a_plan() -> None:
    for day in by_day(itinerary(300, 0)):
        places = [visit.place for visit in day]
        assert places[:2] == ["home", "street"][: len(places)]
        assert len(places) <= 4 and len(set(places)) == len(places)
        assert len({visit.rain for visit in day}) == 1


def test_places_are_visited_only_while_they_are_open() -> None:
    for visit in itinerary(1500, 0):
        day = (visit.start.replace(hour=0, minute=0, second=0, microsecond=0) - FIRST_DAY).days / DAYS
        assert any(start <= day < end for start, end in PLACES[visit.place].open_periods), visit


def test_weekends_differ_from_weekdays() -> None:
    visits = itinerary(1500, 0)
    weekend = Counter(visit.place for visit in visits if visit.start.weekday() >= 5)
    weekday = Counter(visit.place for visit in visits if visit.start.weekday() < 5)
    assert weekend["park"] / weekend.total() > 1.3 * weekday["park"] / weekday.total()
    assert weekend["campus"] / weekend.total() < 0.7 * weekday["campus"] / weekday.total()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_demo_stream_sees_every_place(seed: int) -> None:
    assert {visit.place for visit in itinerary(150, seed)} == set(PLACES)


def test_it_rains_more_in_autumn_than_in_winter() -> None:
    visits = itinerary(3000, 0)
    autumn = [visit.rain for visit in visits if visit.start.month in (10, 11)]
    winter = [visit.rain for visit in visits if visit.start.month in (12, 1, 2)]
    assert sum(autumn) / len(autumn) > 2 * sum(winter) / len(winter)
    assert {visit.start.month for visit in visits if visit.winter} == {1, 2}
