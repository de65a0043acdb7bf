"""Figures 3a to 3f on a stream that can be counted by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from driftlab.core.errors import DataError
from driftlab.data.detection.oak_locations import ClipLocation
from driftlab.data.detection.records import FrameStream
from driftlab.papers.oak import data_figures as figures
from driftlab.papers.oak import stream_statistics as statistics
from driftlab.reporting.figures import save_figure
from driftlab.reporting.sidecars import provenance_of
from driftlab.scenarios.stream import timeline
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from reporting.looking import texts_overlap

from .plausible_stream import CLASSES, STREAM, detection_set, plausible_stream

IN_ORDER = [
    figures.categories_over_time,
    figures.boxes_per_category,
    figures.categories_per_frame,
    figures.reappearance_gaps,
    figures.box_sizes,
    figures.recording_places,
]
OURS = [figures.objects_per_frame, figures.presence]
PLACES = tuple(
    ClipLocation(name, 0.01 * east, 0.01 * north)
    for name, east, north in (("a", 0, 0), ("b", 0.01, 0), ("c", 1, 0), ("d", 2, 1))
)
CAR, PERSON, CHAIR = range(3)


@pytest.fixture
def stream() -> FrameStream:
    """Six steps of two frames, and two test frames after frames 1 and 7; the chair comes at step 3."""
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
    return FrameStream(train, np.arange(12) // 2, test, np.array([1, 7]), (CAR, PERSON), PLACES)


def heights(axis: Axes) -> list[float]:
    return [patch.get_height() for patch in axis.patches]  # type: ignore[attr-defined]


def names(labels: list[object]) -> list[str]:
    return [label.get_text() for label in labels]  # type: ignore[attr-defined]


def test_3a_categories_over_time(stream: FrameStream) -> None:
    (axis,) = figures.categories_over_time(stream).axes
    # The car in step 0, the person in step 1, the chair in step 3.
    steps = np.asarray(axis.get_lines()[0].get_xydata()).tolist()
    assert steps == [[0, 0], [0, 1], [1, 2], [3, 3], [6, 3]]
    assert axis.get_xlabel() == "step of the stream (2 training frames each)"
    (above,) = axis.child_axes
    assert above.get_xlabel() == "hours of labelled video"


def test_3b_boxes_per_category(stream: FrameStream) -> None:
    (axis,) = figures.boxes_per_category(stream).axes
    # All labelled frames: training and test frames together.
    assert heights(axis) == [8, 3, 3]
    assert names(axis.get_xticklabels()) == ["car", "person", "chair"]
    assert np.asarray(axis.get_lines()[0].get_ydata()).tolist() == [2, 1, 0]
    assert axis.get_yscale() == "log"
    assert axis.get_xlabel() == f"3 categories ({len(CLASSES) - 3} of the list without a box)"


def test_3c_categories_per_frame(stream: FrameStream) -> None:
    (axis,) = figures.categories_per_frame(stream).axes
    # Of 14 frames 5 show none, 6 one (two cars are one), 3 two.
    assert heights(axis) == pytest.approx([100 * count / 14 for count in (5, 6, 3)])
    assert axis.get_xlabel() == "distinct categories in a frame"


def test_presence_in_time_has_the_test_frames_amid_the_others(stream: FrameStream) -> None:
    shown = statistics.presence_in_time(stream)
    assert np.flatnonzero(shown[:, CAR]).tolist() == [0, 2, 5, 6, 9, 12, 13]
    assert np.flatnonzero(shown[:, PERSON]).tolist() == [2, 3, 7]


def test_3d_reappearance_gaps(stream: FrameStream) -> None:
    gaps = statistics.reappearance_gaps(statistics.presence_in_time(stream))
    # A gap of 1 is the next frame and left out.
    assert [gap.tolist() for gap in gaps[:3]] == [[2, 3, 3, 3], [4], [6]]
    (axis,) = figures.reappearance_gaps(stream).axes
    assert sum(heights(axis)) == 6
    assert names(axis.get_legend().get_texts()) == ["median 3"]  # type: ignore[union-attr]
    assert axis.get_xscale() == "log"


def test_3e_box_sizes(stream: FrameStream) -> None:
    # Frames are 120 pixels high, a sixth of 720: sides of 5, 10 and 20 are 30, 60 and 120 pixels.
    count = len(stream.train.labels)
    sides = np.resize([5, 10, 20], count)
    boxes = np.stack([0 * sides, 0 * sides, sides, sides], axis=1).astype(np.float32)
    crowd = np.arange(count) >= 3
    test = replace(stream.test, crowd=np.ones(3, dtype=np.bool_))
    changed = replace(stream, train=replace(stream.train, boxes=boxes, crowd=crowd), test=test, evaluated=())
    assert statistics.box_sides(changed.train) == pytest.approx([30, 60, 120])
    (axis,) = figures.box_sizes(changed).axes
    assert sum(heights(axis)) == pytest.approx(100)
    shares = [text.get_text().splitlines()[-1] for text in axis.texts]
    assert shares == ["33 %", "33 %", "33 %"]
    limits = [line.get_xdata()[0] for line in axis.get_lines()]  # type: ignore[index]
    assert limits == [32, 96]


def test_3f_recording_places(stream: FrameStream) -> None:
    (axis,) = figures.recording_places(stream).axes
    points = np.asarray(axis.collections[0].get_offsets())
    assert points.tolist() == [[place.longitude, place.latitude] for place in PLACES]
    # Two clips 11 metres apart are in one cell of 500 metres.
    assert sorted(names(list(axis.texts))) == ["25 %", "25 %", "50 %"]
    assert axis.get_xlabel() == "longitude (degrees)" and axis.get_ylabel() == "latitude (degrees)"
    assert statistics.clips_per_cell(PLACES).tolist() == [2, 1, 1]


def test_without_places_it_is_said_what_is_missing(stream: FrameStream) -> None:
    with pytest.raises(DataError, match=r"places are not known.*Put locations\.json beside the frames"):
        figures.recording_places(replace(stream, places=()))


def test_ours_objects_per_frame(stream: FrameStream) -> None:
    (axis,) = figures.objects_per_frame(stream).axes
    # Of 14 frames 5 have no object, 5 one, 3 two and 1 three.
    assert heights(axis) == pytest.approx([100 * count / 14 for count in (5, 5, 3, 1)])


def test_ours_presence(stream: FrameStream) -> None:
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
    (axis,) = figures.reappearance_gaps(stream).axes
    assert sum(heights(axis)) == 0 and axis.get_legend() is None


def test_boxes_per_step(stream: FrameStream) -> None:
    counts = statistics.boxes_per_step(stream, timeline(stream))
    assert counts[:, CAR].tolist() == [2, 0, 2, 0, 0, 2]
    assert statistics.boxes_per_step(stream, timeline(stream, 6))[:, CHAIR].tolist() == [0, 3]


def test_the_gini_coefficient() -> None:
    assert statistics.gini(np.array([3, 3, 3])) == pytest.approx(0.0)
    assert statistics.gini(np.array([0, 0, 0, 8])) == pytest.approx(0.75)


@pytest.mark.parametrize("draw", IN_ORDER + OURS, ids=lambda draw: draw.__name__)
def test_they_can_be_read_and_saved(draw: Callable[[FrameStream], Figure], tmp_path: Path) -> None:
    figure = draw(replace(plausible_stream(), places=PLACES))
    assert not texts_overlap(figure)
    letter = "abcdef"[IN_ORDER.index(draw)] if draw in IN_ORDER else "d"
    saved = save_figure(
        figure,
        paper="oak",
        artifact=f"figure_3{letter}",
        part="" if draw in IN_ORDER else "ours",
        title="The stream",
        caption="Counts.",
        provenance=provenance_of(STREAM, scale="demo", notebook="20_oak_data"),
        outputs=tmp_path,
    )
    assert set(saved.files) == {"png", "pdf"}
