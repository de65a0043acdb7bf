"""Frames with boxes, and strips of them before and after learning."""

from __future__ import annotations

import numpy as np
import pytest
from driftlab.core.errors import ParameterError
from driftlab.metrics.detection import Detections, Truth
from driftlab.papers.oak.drawn_boxes import BOX_STYLES, MOST_PIXELS
from driftlab.papers.oak.stream_pictures import changing_frames, detection_strip, labelled_frames
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from reporting.looking import texts_overlap

NAMES = ["car", "dining table"]
FRAME = np.full((120, 160, 3), 90, dtype=np.uint8)
BOX = (20, 30, 70, 80)
FAR = (100, 10, 150, 60)


def truth(*rows: tuple[tuple[int, ...], int]) -> Truth:
    return Truth(
        np.array([box for box, _ in rows], dtype=np.float32).reshape(-1, 4),
        np.array([label for _, label in rows], dtype=np.int64),
    )


def found(*rows: tuple[tuple[int, ...], float, int]) -> Detections:
    return Detections(
        np.array([box for box, _, _ in rows], dtype=np.float32).reshape(-1, 4),
        np.array([score for _, score, _ in rows], dtype=np.float32),
        np.array([label for _, _, label in rows], dtype=np.int64),
    )


def colours(axis: Axes) -> list[str]:
    """The boxes' colours, without the dark line under each."""
    boxes = [patch for patch in axis.patches if isinstance(patch, Rectangle)]
    return [to_hex(box.get_edgecolor()) for box in boxes[1::2]]


def words(axis: Axes) -> list[str]:
    return [text.get_text() for text in axis.texts]


def names_overlap(figure: Figure) -> bool:
    """Whether names lie on each other or beyond their frame."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    for axis in figure.axes:
        boxes = [text.get_window_extent(canvas.get_renderer()) for text in axis.texts]
        if any(first.overlaps(second) for place, first in enumerate(boxes) for second in boxes[:place]):
            return True
        if any(box.x0 < axis.bbox.x0 - 3 or box.x1 > axis.bbox.x1 + 3 for box in boxes):
            return True
    return False


def test_labelled_frames() -> None:
    frames = [FRAME] * 3
    figure = labelled_frames(
        frames, [truth((BOX, 0), ((90, 10, 150, 60), 1)), truth((BOX, 0)), truth()], NAMES, ["a", "b", "c"]
    )
    assert [axis.get_title() for axis in figure.axes] == ["a", "b", "c"]
    assert words(figure.axes[0]) == NAMES and not words(figure.axes[2])
    box = figure.axes[1].patches[0]
    assert isinstance(box, Rectangle)
    assert (box.get_x(), box.get_y(), box.get_width(), box.get_height()) == (20, 30, 50, 50)
    assert not texts_overlap(figure)


def test_a_strip_shows_what_is_right_and_wrong() -> None:
    labels = [truth((BOX, 0)), truth((BOX, 1))]
    before = [found((BOX, 0.9, 1)), found()]
    after = [found((BOX, 0.9, 0), ((22, 30, 70, 80), 0.29, 0)), found(((25, 30, 70, 80), 0.71, 1))]
    figure = detection_strip(
        [FRAME] * 2, labels, {"before": before, "after 40 steps": after}, NAMES, ["step 3", "step 9"]
    )
    grid = np.array(figure.axes).reshape(3, 2)
    assert [axis.get_ylabel() for axis in grid[:, 0]] == ["labelled", "before", "after 40 steps"]
    assert [axis.get_title() for axis in grid[0]] == ["step 3", "step 9"]
    assert words(grid[1, 0]) == ["dining table 0.90"] and colours(grid[1, 0]) == [BOX_STYLES["wrong"][0]]
    assert not words(grid[1, 1])
    # The detection with score 0.29 is not drawn.
    assert words(grid[2, 0]) == ["car 0.90"] and colours(grid[2, 0]) == [BOX_STYLES["right"][0]]
    assert colours(grid[2, 1]) == [BOX_STYLES["right"][0]]
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["labelled", "detected (score from 0.3), right", "detected, wrong"]
    assert not texts_overlap(figure)


def test_a_detection_that_overlaps_too_little_is_wrong() -> None:
    found_there = {"now": [found(((45, 30, 95, 80), 0.9, 0))]}
    figure = detection_strip([FRAME], [truth((BOX, 0))], found_there, NAMES, [""])
    assert colours(figure.axes[1]) == [BOX_STYLES["wrong"][0]]
    figure = detection_strip([FRAME], [truth((BOX, 0))], found_there, NAMES, [""], iou=0.3)
    assert colours(figure.axes[1]) == [BOX_STYLES["right"][0]]


def test_unknown_objects_and_the_threshold() -> None:
    now = {"now": [found((BOX, 0.5, 2), ((0, 0, 10, 10), 0.4, 0))]}
    figure = detection_strip([FRAME], [truth((BOX, 1))], now, NAMES, [""], threshold=0.25)
    # The surest is drawn last.
    assert words(figure.axes[1]) == ["car 0.40", "IDK 0.50"]
    assert colours(figure.axes[1]) == [BOX_STYLES["wrong"][0], BOX_STYLES["right"][0]]


def test_names_keep_apart_and_inside() -> None:
    crowded = truth((BOX, 1), (BOX, 0), ((120, 0, 160, 40), 1), ((0, 90, 40, 120), 1))
    assert not names_overlap(labelled_frames([FRAME], [crowded], NAMES, ["crowded"]))


def test_wrong_numbers_of_frames_are_named() -> None:
    with pytest.raises(ParameterError, match="no frames to show"):
        labelled_frames([], [], NAMES, [])
    with pytest.raises(ParameterError, match="2 frames are shown, but 'titles' has 1"):
        labelled_frames([FRAME] * 2, [truth()] * 2, NAMES, ["a"])
    with pytest.raises(ParameterError, match="1 frames are shown, but 'detections, before' has 2"):
        detection_strip([FRAME], [truth()], {"before": [found(), found()]}, NAMES, ["a"])


def test_frames_in_which_detections_change() -> None:
    truth_of = [truth((BOX, 0), (FAR, 1))] * 6
    nothing, one, both = found(), found((BOX, 0.9, 0)), found((BOX, 0.9, 0), (FAR, 0.4, 1))
    before = [one, one, nothing, nothing, nothing, nothing]
    # One detector improves in frame 1 and 4, another loses frame 0; a sure wrong class does not count.
    first = [one, both, nothing, found((BOX, 0.9, 1)), both, nothing]
    second = [nothing, one, nothing, nothing, nothing, found((BOX, 0.1, 0))]
    assert changing_frames(truth_of, before, [first], 2) == [1, 4]
    assert changing_frames(truth_of, before, [second], 3) == [0, 2, 4]
    assert changing_frames(truth_of, before, [first], 99) == [0, 1, 2, 3, 4, 5]


def test_large_frames_are_reduced_and_boxes_stay_where_they_are() -> None:
    large = np.zeros((720, 1280, 3), dtype=np.uint8)
    (axis,) = labelled_frames([large], [truth(((640, 360, 1280, 720), 0))], NAMES, ["large"]).axes
    (image,) = axis.get_images()
    assert max(np.asarray(image.get_array()).shape) <= MOST_PIXELS
    assert list(image.get_extent()) == [-0.5, 1279.5, 719.5, -0.5]
    box = axis.patches[0]
    assert isinstance(box, Rectangle) and (box.get_x(), box.get_width()) == (640, 640)


def test_detections_are_drawn_on_grey_frames() -> None:
    colourful = np.random.default_rng(0).integers(0, 256, (60, 80, 3), dtype=np.uint8)
    figure = detection_strip([colourful], [truth((BOX, 0))], {"now": [found()]}, NAMES, [""])
    pixels = np.asarray(figure.axes[1].get_images()[0].get_array())
    assert (pixels[..., 0] == pixels[..., 1]).all() and len(np.unique(pixels)) <= 12


def test_a_name_is_no_formula() -> None:
    figure = labelled_frames([FRAME], [truth((BOX, 0))], [r"cost $\bad{$ & 5% _x"], ["step 0"])
    FigureCanvasAgg(figure).draw()
    assert words(figure.axes[0]) == [r"cost $\bad{$ & 5% _x"]
