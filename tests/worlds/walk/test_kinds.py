from __future__ import annotations

import json

import numpy as np
import pytest
from driftlab.data.detection.voc import OAK_NAMES
from driftlab.worlds.walk.kinds import CATEGORIES, KINDS, VOC_CATEGORIES
from driftlab.worlds.walk.pen import RESOLUTION, Drawing, colour, sprite
from driftlab.worlds.walk.places import PLACES
from driftlab.worlds.walk.surroundings import board, bush, tree

SCENERY = {
    "bush": bush((0.3, 0.5, 0.5)),
    "board": board(0.1),
    "tree": tree((0.3, 0.5, 0.5)),
    "bare": tree(None),
}
DRAWINGS = {
    **{
        f"{name} {view}": drawing
        for name, kind in KINDS.items()
        for view, drawing in enumerate(kind.drawings)
    },
    **SCENERY,
}


@pytest.mark.parametrize("drawing", DRAWINGS.values(), ids=list(DRAWINGS))
def test_every_drawing_shows_something_and_varies(drawing: Drawing) -> None:
    first, repeated, second = (sprite(drawing, [seed], 0.25) for seed in (1, 1, 2))
    assert first.tobytes() == repeated.tobytes() != second.tobytes()
    assert RESOLUTION / 2 < max(first.size) <= RESOLUTION + 1, "it fills its picture"
    alpha = np.asarray(first.getchannel("A"))
    assert (alpha > 0).mean() > 0.05
    for edge in (alpha[0], alpha[-1], alpha[:, 0], alpha[:, -1]):
        assert edge.any(), "cut to what is not transparent"


def test_legs_move() -> None:
    for name in ("person", "dog"):
        (drawing,) = KINDS[name].drawings
        assert sprite(drawing, [1], 0.0).tobytes() != sprite(drawing, [1], 0.25).tobytes()


def test_the_first_eight_are_vocs_and_all_are_oaks(real_data) -> None:
    listed = json.loads((real_data / "oak" / "oak_classes.json").read_text())
    official = listed["mapping_name_to_id (113; ids 0-19 = VOC order)"]
    ids = [official[name] for name in CATEGORIES]
    assert all(number < 20 for number in ids[:8]) and all(number >= 20 for number in ids[8:])
    assert ids[:8] == sorted(ids[:8]) and ids[8:] == sorted(ids[8:])
    assert len(CATEGORIES) == 22 and len(VOC_CATEGORIES) == 8
    assert set(OAK_NAMES.values()) <= set(official)
    printed = {"booth", "umbrella", "awning", "bag", "chair", "dining table", "fireplug", "car"}
    assert printed <= set(CATEGORIES), "the paper's tables have columns of them"


def test_every_category_is_at_home_somewhere_and_the_places_differ() -> None:
    assert {category for place in PLACES.values() for category in place.densities} == set(CATEGORIES)
    mixes = [place.densities for place in PLACES.values()]
    assert all(one != other for one in mixes for other in mixes if one is not other)
    for name, place in PLACES.items():
        densities = sorted(place.densities.values())
        assert densities[-1] >= 3 * densities[0], f"{name} has a tail"


def test_colours() -> None:
    assert colour(0, 1, 1) == (255, 0, 0) and colour(1 / 3, 1, 0.5) == (0, 128, 0)
    assert colour(2.0, 9, 1) == (255, 0, 0) and colour(0.5, -1, 2) == (255, 255, 255)
