"""Figures 3a to 3f on a stream that can be counted by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from driftlab.data.detection.records import FrameStream
from driftlab.papers.oak import data_figures as figures
from driftlab.reporting.figures import save_figure
from driftlab.reporting.sidecars import provenance_of
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from reporting.looking import texts_overlap

from .plausible_stream import CLASSES, STREAM, detection_set, plausible_stream

ALL = [
    figures.boxes_a_category,
    figures.categories_over_time,
    figures.objects_a_frame,
    figures.box_sizes,
    figures.absences,
    figures.presence,
]
CAR, PERSON, CHAIR = range(3)


@pytest.fixture
def stream() -> FrameStream:
    """Six steps of two frames. The car stays away for one step and then two, the chair comes at step 3."""
    frames = [
        [CAR, CAR],
        [],
        [PERSON],
        [],
        [CAR],
        [CAR],
        [CHAIR, PERSON],
        [],
        [],
        [],
        [CAR],
        [CAR, CHAIR, CHAIR],
    ]
    train = detection_set(frames)
    test = detection_set([[CAR, PERSON], [CAR]], prefix="test")
    return FrameStream(train, np.arange(12) // 2, test, np.array([1, 7]), (CAR, PERSON))


def heights(axis: Axes) -> list[float]:
    return [patch.get_height() for patch in axis.patches]  # type: ignore[attr-defined]


def names(labels: list[object]) -> list[str]:
    return [label.get_text() for label in labels]  # type: ignore[attr-defined]


def test_boxes_a_category(stream: FrameStream) -> None:
    (axis,) = figures.boxes_a_category(stream).axes
    assert heights(axis) == [6, 3, 2]
    assert names(axis.get_xticklabels()) == ["car", "chair", "person"]
    assert np.asarray(axis.get_lines()[0].get_ydata()).tolist() == [2, 0, 1]
    assert axis.get_yscale() == "log"
    assert axis.get_xlabel() == f"3 categories ({len(CLASSES) - 3} of the list without a box)"


def test_categories_over_time(stream: FrameStream) -> None:
    (axis,) = figures.categories_over_time(stream).axes
    # The car in step 0, the person in step 1, the chair in step 3.
    assert np.asarray(axis.get_lines()[0].get_xydata()).tolist() == [
        [0, 0],
        [0, 1],
        [1, 2],
        [3, 3],
        [6, 3],
    ]
    assert axis.get_xlabel() == "step of the stream (2 training frames each)"


def test_objects_a_frame(stream: FrameStream) -> None:
    (axis,) = figures.objects_a_frame(stream).axes
    # 5 frames without an object, 4 with one, 2 with two, 1 with three; of 12.
    assert heights(axis) == pytest.approx([100 * count / 12 for count in (5, 4, 2, 1)])
    assert names(axis.get_legend().get_texts()) == ["median 1.0", "mean 0.9"]  # type: ignore[union-attr]


def test_box_sizes(stream: FrameStream) -> None:
    boxes = np.array([[0, 0, 16, 12], [0, 0, 160, 120], [10, 10, 26, 22]], dtype=np.float32)
    train = stream.train
    some = replace(train, boxes=np.vstack([boxes, train.boxes[3:]]), crowd=np.arange(len(train.labels)) >= 3)
    (axis,) = figures.box_sizes(replace(stream, train=some)).axes
    # 16 x 12 of 160 x 120 is 1 %; the other boxes are crowds and do not count.
    assert names(axis.get_legend().get_texts()) == ["median 1.00", "mean 34.00"]  # type: ignore[union-attr]
    assert sum(heights(axis)) == pytest.approx(100)
    assert axis.get_xscale() == "log" and "%" in axis.get_xlabel()


def test_absences(stream: FrameStream) -> None:
    (axis,) = figures.absences(stream).axes
    # Car: steps 0, 2, 5 (away 1 and 2); person: 1, 3 (away 1); chair: 3, 5 (away 1).
    centres = [round(bar.get_x() + bar.get_width() / 2) for bar in axis.patches]  # type: ignore[attr-defined]
    counts = {x: height for x, height in zip(centres, heights(axis), strict=True) if height}
    assert counts == {1: 3, 2: 1}
    assert names(axis.get_legend().get_texts()) == ["median 1"]  # type: ignore[union-attr]


def test_presence(stream: FrameStream) -> None:
    (axis,) = figures.presence(stream).axes
    image = np.asarray(axis.get_images()[0].get_array())
    assert names(axis.get_yticklabels()) == ["car", "person", "chair"]
    assert image.astype(int).tolist() == [[1, 0, 1, 0, 0, 1], [0, 1, 0, 1, 0, 0], [0, 0, 0, 1, 0, 1]]


def test_a_long_stream_is_drawn_in_spans(monkeypatch: pytest.MonkeyPatch, stream: FrameStream) -> None:
    monkeypatch.setattr(figures, "SPANS", 2)
    (axis,) = figures.presence(stream).axes
    # Steps 0 to 2, and 3 to 5.
    assert np.asarray(axis.get_images()[0].get_array()).astype(int).tolist() == [[1, 1], [1, 1], [0, 1]]


def test_a_category_that_never_stays_away() -> None:
    train = detection_set([[CAR]] * 4)
    stream = FrameStream(train, np.arange(4), detection_set([[CAR]]), np.array([0]), (CAR,))
    (axis,) = figures.absences(stream).axes
    assert sum(heights(axis)) == 0 and axis.get_legend() is None


@pytest.mark.parametrize("draw", ALL, ids=lambda draw: draw.__name__)
def test_they_can_be_read_and_saved(draw: Callable[[FrameStream], Figure], tmp_path: Path) -> None:
    figure = draw(plausible_stream())
    assert not texts_overlap(figure)
    letter = "abcdef"[ALL.index(draw)]
    saved = save_figure(
        figure,
        paper="oak",
        artifact=f"figure_3{letter}",
        title="The stream",
        caption="Counts.",
        provenance=provenance_of(STREAM, scale="demo", notebook="20_oak_data"),
        outputs=tmp_path,
    )
    assert set(saved.files) == {"png", "pdf"}
