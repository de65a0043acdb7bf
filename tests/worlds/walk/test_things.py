from __future__ import annotations

from datetime import datetime

import numpy as np
import pytest
from driftlab.worlds.walk.habits import Visit
from driftlab.worlds.walk.kinds import CATEGORIES, KINDS
from driftlab.worlds.walk.places import PLACES
from driftlab.worlds.walk.things import Thing, things


def visit(place: str, number: int = 0, *, month: int = 9, rain: bool = False) -> Visit:
    return Visit(number, place, datetime(2014 if month > 8 else 2015, month, 3, 12), 2, rain)


def where(there: list[Thing]) -> set[tuple[str, float, float]]:
    return {(thing.category, thing.x, thing.z) for thing in there if thing.category}


@pytest.mark.parametrize("place", PLACES)
def test_about_half_of_what_stands_still_is_met_again(place: str) -> None:
    one, other = (where(things(visit(place, number), 0)) for number in (0, 1))
    still = sum(KINDS[category].moves == 0 for category, _, _ in one)
    assert 0.25 * still <= len(one & other) < len(one)
    assert not one & where(things(visit(place, 0), 1)), "another seed is another town"


def test_mixes_are_followed() -> None:
    found = [thing.category for number in range(40) for thing in things(visit("home", number), number)]
    mix = PLACES["home"].mix
    counts = np.array([found.count(category) for category in mix])
    expected = np.array(list(mix.values()))
    np.testing.assert_allclose(counts / counts.sum(), expected / expected.sum(), rtol=0.25)


def test_some_things_move_and_show_it() -> None:
    there = things(visit("park"), 0)
    moving = [thing for thing in there if thing.pace]
    assert {thing.category for thing in moving} == {"dog", "person", "stroller"}
    people = [thing for thing in there if thing.category == "person"]
    assert 0.3 < np.mean([bool(thing.pace) for thing in people]) < 0.9
    walker = next(thing for thing in moving if thing.category == "person")
    assert walker.at(3) == pytest.approx(walker.z + 3 * walker.pace)
    assert walker.sprite(0).tobytes() != walker.sprite(1).tobytes()
    assert walker.sprite(0) is walker.sprite(4)
    bench = next(thing for thing in there if thing.category == "bench")
    assert bench.at(9) == bench.z and bench.sprite(0) is bench.sprite(1)


def test_vehicles_keep_to_the_road_and_furniture_between_the_walls() -> None:
    for thing in things(visit("street"), 0):
        if thing.category in ("car", "bus"):
            assert thing.x - thing.drawing.aspect * thing.height / 2 > 2
    for thing in things(visit("home"), 0):
        if thing.category:
            assert abs(thing.x) <= PLACES["home"].walls[0] - 0.3


def test_in_the_rain_people_carry_umbrellas() -> None:
    dry, wet = (things(visit("campus", rain=rain), 0) for rain in (False, True))
    umbrellas = [thing for thing in wet if thing.category == "umbrella"]
    people = [thing for thing in wet if thing.category == "person"]
    assert len(umbrellas) > 5 and not [thing for thing in dry if thing.category == "umbrella"]
    for umbrella in umbrellas:
        assert any(
            abs(umbrella.x - person.x) < 0.2
            and abs(umbrella.z - person.z) < 0.2
            and umbrella.pace == person.pace
            for person in people
        )


def test_scenery_has_no_label_and_every_label_is_a_category() -> None:
    for place in PLACES:
        labels = {thing.category for thing in things(visit(place, rain=True), 0)}
        assert labels - {""} <= set(CATEGORIES) and "" in labels


def test_trees_follow_the_season() -> None:
    trees = {}
    for month in (9, 10, 1):
        scenery = [thing for thing in things(visit("park", month=month), 0) if not thing.category]
        trees[month] = max(scenery, key=lambda thing: thing.height)
    assert len({thing.sprite(0).tobytes() for thing in trees.values()}) == 3
    assert len({(thing.x, thing.z) for thing in trees.values()}) == 1
