from __future__ import annotations

from datetime import datetime

import numpy as np
import pytest
from driftlab.worlds.walk.habits import Visit
from driftlab.worlds.walk.kinds import CATEGORIES, KINDS
from driftlab.worlds.walk.places import PLACES
from driftlab.worlds.walk.scene_objects import SceneObject, scene_objects


def visit(place: str, number: int = 0, *, month: int = 9, rain: bool = False) -> Visit:
    return Visit(number, place, datetime(2014 if month > 8 else 2015, month, 3, 12), 2, rain)


def where(objects: list[SceneObject]) -> set[tuple[str, float, float]]:
    return {(item.category, item.x, item.z) for item in objects if item.category}


@pytest.mark.parametrize("place", PLACES)
def test_about_half_of_what_stands_still_is_met_again(place: str) -> None:
    first_visit, second_visit = (where(scene_objects(visit(place, number), 0)) for number in (0, 1))
    still = sum(KINDS[category].moving_share == 0 for category, _, _ in first_visit)
    assert 0.25 * still <= len(first_visit & second_visit) < len(first_visit)
    assert not first_visit & where(scene_objects(visit(place, 0), 1)), "another seed is another town"


def test_mixes_are_followed() -> None:
    categories = [
        item.category for number in range(40) for item in scene_objects(visit("home", number), number)
    ]
    densities = PLACES["home"].densities
    counts = np.array([categories.count(category) for category in densities])
    expected = np.array(list(densities.values()))
    np.testing.assert_allclose(counts / counts.sum(), expected / expected.sum(), rtol=0.25)


def test_some_things_move_and_show_it() -> None:
    objects = scene_objects(visit("park"), 0)
    moving = [item for item in objects if item.speed]
    assert {item.category for item in moving} == {"dog", "person", "stroller"}
    people = [item for item in objects if item.category == "person"]
    assert 0.3 < np.mean([bool(item.speed) for item in people]) < 0.9
    walker = next(item for item in moving if item.category == "person")
    assert walker.position(3) == pytest.approx(walker.z + 3 * walker.speed)
    assert walker.sprite(0).tobytes() != walker.sprite(1).tobytes()
    assert walker.sprite(0) is walker.sprite(4)
    bench = next(item for item in objects if item.category == "bench")
    assert bench.position(9) == bench.z and bench.sprite(0) is bench.sprite(1)


def test_vehicles_keep_to_the_road_and_furniture_between_the_walls() -> None:
    for item in scene_objects(visit("street"), 0):
        if item.category in ("car", "bus"):
            assert item.x - item.drawing.aspect * item.height / 2 > 2
    for item in scene_objects(visit("home"), 0):
        if item.category:
            assert abs(item.x) <= PLACES["home"].wall_distances[0] - 0.3


def test_in_the_rain_people_carry_umbrellas() -> None:
    dry, wet = (scene_objects(visit("campus", rain=rain), 0) for rain in (False, True))
    umbrellas = [item for item in wet if item.category == "umbrella"]
    people = [item for item in wet if item.category == "person"]
    assert len(umbrellas) > 5 and not [item for item in dry if item.category == "umbrella"]
    for umbrella in umbrellas:
        assert any(
            abs(umbrella.x - person.x) < 0.2
            and abs(umbrella.z - person.z) < 0.2
            and umbrella.speed == person.speed
            for person in people
        )


def test_scenery_has_no_label_and_every_label_is_a_category() -> None:
    for place in PLACES:
        labels = {item.category for item in scene_objects(visit(place, rain=True), 0)}
        assert labels - {""} <= set(CATEGORIES) and "" in labels


def test_trees_follow_the_season() -> None:
    trees = {}
    for month in (9, 10, 1):
        scenery = [item for item in scene_objects(visit("park", month=month), 0) if not item.category]
        trees[month] = max(scenery, key=lambda item: item.height)
    assert len({item.sprite(0).tobytes() for item in trees.values()}) == 3
    assert len({(item.x, item.z) for item in trees.values()}) == 1
