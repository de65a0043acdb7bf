from __future__ import annotations

from datetime import datetime

import numpy as np
import pytest
from driftlab.metrics.boxes import box_iou
from driftlab.worlds.walk.canvas import SUPERSAMPLING
from driftlab.worlds.walk.habits import Visit
from driftlab.worlds.walk.places import PLACES
from driftlab.worlds.walk.renderer import MIN_LABEL_SIDE, Shot
from driftlab.worlds.walk.walker import clip


def visit(place: str, *, number: int = 0, month: int = 9, hour: int = 12, rain: bool = False) -> Visit:
    return Visit(number, place, datetime(2014 if month > 8 else 2015, month, 3, hour), 2, rain)


def shots(place: str, frames: int = 6, size: int = 96, seed: int = 0, **settings: object) -> list[Shot]:
    return list(clip(visit(place, **settings), frames, size, seed))  # type: ignore[arg-type]


def categories(shown: list[Shot]) -> set[str]:
    return {seen.category for shot in shown for seen in shot.seen}


@pytest.mark.parametrize("place", PLACES)
def test_boxes_are_the_extents_of_masks_inside_the_frame_and_not_small(place: str) -> None:
    size, boxes = 96, 0
    for shot in shots(place, 20, size):
        assert shot.pixels.shape == (size, size, 3) and shot.pixels.dtype == np.uint8
        masks = [
            np.argwhere(shot.canvas.object_ids == number) for number in np.unique(shot.canvas.object_ids)
        ]
        extents = {
            (*(mask.min(0)[::-1] / SUPERSAMPLING), *((mask.max(0) + 1)[::-1] / SUPERSAMPLING))
            for mask in masks
        }
        for seen in shot.seen:
            assert seen.box in extents
            x1, y1, x2, y2 = seen.box
            assert 0 <= x1 < x2 <= size and 0 <= y1 < y2 <= size
            assert (x2 - x1) * (y2 - y1) >= (MIN_LABEL_SIDE * size) ** 2
            boxes += 1
    assert boxes > 20


@pytest.mark.parametrize("place", PLACES)
def test_a_place_has_its_own_things_and_looks(place: str) -> None:
    shown = [shot for number in range(4) for shot in shots(place, 12, 64, number=number)]
    assert categories(shown) <= set(PLACES[place].densities)
    assert len(categories(shown)) >= 3
    picture = np.mean([shot.pixels.mean(axis=(0, 1)) for shot in shown], axis=0)
    for other in PLACES:
        if other != place:
            other_picture = np.mean([shot.pixels.mean(axis=(0, 1)) for shot in shots(other, 6, 64)], axis=0)
            assert np.abs(picture - other_picture).max() > 2, (place, other)


def kept(frames: list[Shot], apart: int) -> float:
    """The part of boxes that overlap with one of their category so many frames later."""
    overlaps = [
        max(
            (
                box_iou(np.array([seen.box]), np.array([later.box])).item()
                for later in after.seen
                if later.category == seen.category
            ),
            default=0,
        )
        > 0.2
        for before, after in zip(frames[:-apart], frames[apart:], strict=True)
        for seen in before.seen
    ]
    return float(np.mean(overlaps))


def test_objects_persist_from_frame_to_frame() -> None:
    shown = shots("campus", 60)
    assert kept(shown, 1) > 0.4
    assert kept(shown, 1) > 2 * kept(shown, 20)


def test_a_clip_depends_on_its_visit_and_seed_alone() -> None:
    def pictures(number: int, seed: int) -> list[bytes]:
        return [shot.pixels.tobytes() for shot in shots("home", 2, 64, number=number, seed=seed)]

    assert pictures(0, 0) == pictures(0, 0)
    assert len({pictures(*key)[0] for key in ((0, 0), (1, 0), (0, 1))}) == 3


def test_night_is_darker_than_noon_outdoors_only() -> None:
    def brightness(place: str, hour: int) -> float:
        return float(np.mean([shot.pixels.mean() for shot in shots(place, 3, 64, hour=hour, month=12)]))

    assert brightness("street", 21) < 0.7 * brightness("street", 13)
    assert brightness("home", 21) == pytest.approx(brightness("home", 13), rel=0.05)


def test_seasons_and_weather() -> None:
    summer, snow = (shots("park", 3, 64, month=month) for month in (9, 1))
    assert snow[0].pixels[40:].mean() > summer[0].pixels[40:].mean() + 30
    for rain in (True, False):
        present = {
            category
            for number in range(4)
            for category in categories(shots("street", 12, number=number, rain=rain))
        }
        assert ("umbrella" in present) is rain
    assert "umbrella" not in categories(shots("shop", 30, rain=True))


def test_a_turning_camera_blurs() -> None:
    """Across, where the camera turns fast, edges are weaker than where it does not."""
    shown = shots("market", 80)
    edges = np.array([np.abs(np.diff(shot.pixels.astype(float), axis=1)).mean() for shot in shown])
    assert edges.max() > 1.3 * edges.min()
