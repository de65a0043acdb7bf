from __future__ import annotations

import numpy as np
import pytest
from driftlab.worlds.walk.canvas import SUPERSAMPLING, Canvas
from driftlab.worlds.walk.kinds import KINDS
from driftlab.worlds.walk.pen import sprite
from PIL import Image

SQUARE = Image.new("RGBA", (50, 50), (200, 30, 30, 255))
PINK = (255, 0, 200)  # of which nothing is


def canvas() -> Canvas:
    blank = Canvas(100)
    blank.polygon([(0, 0), (101, 0), (101, 101), (0, 101)], PINK)
    return blank


@pytest.mark.parametrize("category", KINDS)
@pytest.mark.parametrize("height", [12.0, 40.0])
def test_a_box_is_as_tight_as_what_it_changes(category: str, height: float) -> None:
    """The box against the pixels that differ from the background, which know nothing of masks."""
    for seed in range(3):
        picture = canvas()
        thing = sprite(KINDS[category].drawings[0], [seed])
        picture.paste(thing, 48.3, 70.6, height, category)
        (label,) = picture.visible_objects(1)
        differs = np.abs(np.asarray(picture.image).astype(int) - PINK).max(axis=2) > 12
        rows, columns = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
        extents = np.array([columns[0], rows[0], columns[-1] + 1, rows[-1] + 1]) / SUPERSAMPLING
        # antialiased edges are half transparent: they may differ by a pixel and a half
        assert np.abs(np.array(label.box) - extents).max() <= 1.5, (label.box, extents)


def test_where_a_sprite_comes() -> None:
    picture = canvas()
    picture.paste(SQUARE, 50, 80, 20, "box")
    (label,) = picture.visible_objects(1)
    assert label.category == "box" and label.box == (40, 60, 60, 80)


def test_a_box_is_what_can_be_seen() -> None:
    picture = canvas()
    picture.paste(SQUARE, 30, 60, 20, "bus")
    picture.paste(SQUARE, 40, 60, 20, "car")
    assert [(label.category, label.box) for label in picture.visible_objects(1)] == [
        ("bus", (20, 40, 30, 60)),
        ("car", (30, 40, 50, 60)),
    ]


def test_what_is_hidden_is_not_labelled() -> None:
    picture = canvas()
    picture.paste(SQUARE, 30, 60, 20, "bus")
    picture.paste(SQUARE, 33, 60, 20)  # scenery: 3 of 20 columns are left to be seen
    assert picture.visible_objects(1) == []


def test_what_is_outside_is_cut_and_not_labelled_if_it_is_the_most() -> None:
    picture = canvas()
    for middle, foot, category in ((5, 60, "bus"), (98, 60, "car"), (-6, 90, "dog"), (150, 60, "chair")):
        picture.paste(SQUARE, middle, foot, 20, category)
    assert [(label.category, label.box) for label in picture.visible_objects(1)] == [
        ("bus", (0, 40, 15, 60)),
        ("car", (88, 40, 100, 60)),
    ]


def test_what_is_small_is_not_labelled() -> None:
    picture = canvas()
    for middle, height in ((20, 7.5), (60, 8.0)):
        picture.paste(SQUARE, middle, 60, height, "bag")
    (label,) = picture.visible_objects(8)
    assert label.box == (56, 52, 64, 60)
    assert canvas().visible_objects(8) == []


def test_the_picture_is_smoothed() -> None:
    picture = canvas()
    picture.paste(SQUARE, 50.5, 80, 20, "box")
    assert picture.downsampled().size == (100, 100)
    edge = np.asarray(picture.downsampled())[70, 40]
    assert 5 < edge[1] < 25, "half the background's and half the square's"
