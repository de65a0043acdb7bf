"""Claims about the labelled stream, on streams that can be counted by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from driftlab.core.provenance import Source
from driftlab.data.detection.oak_locations import ClipLocation
from driftlab.data.detection.records import FrameStream
from driftlab.metrics.detection import Detections, Truth
from driftlab.papers.oak.claims import data, detector

from ..plausible_stream import CLASSES, detection_set, plausible_stream


def stream(frames: list[list[int]], **changes: object) -> FrameStream:
    """One training frame per step, and the first one again for testing."""
    train, test = detection_set(frames), detection_set(frames[:1], prefix="test")
    both = np.flatnonzero((train.counts > 0) & (test.counts > 0)).tolist()
    made = FrameStream(train, np.arange(len(frames)), test, np.array([0]), tuple(both))
    return replace(made, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("first", "outcome"),
    [
        ([0, 1, 2, 3, 5, 7, 9, 11, 30, 49], "undecided"),  # eight of ten early: p = 0.055
        ([0, 1, 2, 3, 5, 7, 9, 11, 12, 49], "holds"),
        ([30, 32, 34, 36, 38, 40, 42, 44, 46, 49], "does not hold"),
        ([0, 0, 0, 0, 0, 0, 0, 0, 0, 0], "does not hold"),  # all at once
    ],
)
def test_new_categories(first: list[int], outcome: str) -> None:
    frames = [[label for label, step in enumerate(first) if step <= now] for now in range(50)]
    verdict = data.new_categories_become_rarer(stream(frames))
    assert (verdict.claim, verdict.outcome) == ("oak-25", outcome), verdict.evidence


def test_instances() -> None:
    tail = [[0] * 20, *([label] for label in range(1, 10))]
    verdict = data.instances_have_a_long_tail(stream(tail))
    assert verdict.outcome == "holds", verdict.evidence
    assert "Gini coefficient" in verdict.evidence
    assert data.instances_have_a_long_tail(stream([[0, 1, 2]] * 3)).outcome == "does not hold"


def test_categories_per_image() -> None:
    frames = [[0]] * 20 + [[0, 1, 2, 3, 4]]
    assert data.categories_per_image_have_a_long_tail(stream(frames)).outcome == "holds"
    even = [[0], [0, 1], [0, 1, 2]]
    assert data.categories_per_image_have_a_long_tail(stream(even)).outcome == "does not hold"


def test_box_sizes_are_those_of_720_pixels() -> None:
    # Frames are 120 pixels high: 16 pixels are 96 of 720.
    some = stream([[0, 0, 0]])
    boxes = np.array([[0, 0, 15, 15], [0, 0, 15, 15], [0, 0, 17, 17]], dtype=np.float32)
    train, test = (replace(part, boxes=boxes) for part in (some.train, some.test))
    verdict = data.boxes_are_small_and_medium(replace(some, train=train, test=test))
    assert (verdict.claim, verdict.outcome) == ("oak-28", "holds")
    assert verdict.evidence == "0 % below 32 × 32, 67 % below 96 × 96."
    large = np.full((3, 4), [0, 0, 17, 17], dtype=np.float32)
    train, test = (replace(part, boxes=large) for part in (some.train, some.test))
    assert data.boxes_are_small_and_medium(replace(some, train=train, test=test)).outcome == "does not hold"


def places(*kilometres: float) -> tuple[ClipLocation, ...]:
    return tuple(ClipLocation(f"clip {i}", east / 111.32, 0.0) for i, east in enumerate(kilometres))


def test_places() -> None:
    often = stream([[0]], places=places(0, 0.1, 0.05, 2, 5, 9))
    verdict = data.few_places_are_visited_often(often)
    assert (verdict.claim, verdict.outcome) == ("oak-29", "holds")
    assert verdict.evidence == "67 % of 6 clips in two of 4 cells."
    seldom = stream([[0]], places=places(0, 1, 2, 3, 4, 5))
    assert data.few_places_are_visited_often(seldom).outcome == "does not hold"
    assert "locations.json" in data.few_places_are_visited_often(stream([[0]])).evidence


def test_counts_of_the_data_need_official_data() -> None:
    made = plausible_stream()
    for judge in (data.counts_are_as_printed, data.one_frame_in_sixteen_is_held_out):
        verdict = judge(made)
        assert (verdict.outcome, verdict.evidence[:18]) == ("not testable", "Needs official OAK")


def official(frames: int, held_out: int) -> FrameStream:
    source = Source("official", "oak", "", "ab" * 32)
    train, test = (
        replace(detection_set([[0]] * count, prefix=name), source=source)
        for count, name in ((frames, "train"), (held_out, "test"))
    )
    after = np.linspace(0, frames - 1, held_out).astype(np.int64)
    return FrameStream(train, np.arange(frames) // 16, test, after, (0,))


def test_one_frame_in_sixteen_of_official_data() -> None:
    assert data.one_frame_in_sixteen_is_held_out(official(160, 10)).outcome == "holds"
    assert "Share 0.0588" in data.one_frame_in_sixteen_is_held_out(official(160, 10)).evidence
    assert data.one_frame_in_sixteen_is_held_out(official(160, 20)).outcome == "does not hold"


def test_other_counts_are_reported_and_not_failed() -> None:
    verdict = data.counts_are_as_printed(official(160, 10))
    assert verdict.outcome == "undecided" and "170 boxes, 170 labelled frames" in verdict.evidence


def test_long_absences() -> None:
    always = [[0]] * 2000
    away = [[0, 1], *always[2:], [0, 1]]
    verdict = data.categories_stay_away_for_hours(stream(away))
    assert (verdict.claim, verdict.outcome) == ("oak-32", "holds"), verdict.evidence
    assert "50 % of 2 categories" in verdict.evidence
    assert data.categories_stay_away_for_hours(stream(always)).outcome == "does not hold"
    short = data.categories_stay_away_for_hours(stream(always[:900]))
    assert short.outcome == "not testable" and "0.50 h of video" in short.evidence


def objects(sizes: list[int], labels: list[int]) -> tuple[Truth, Detections]:
    """A frame with objects far apart, of which those above 20 pixels are detected."""
    corner = np.arange(len(sizes), dtype=np.float32)[:, None] * 300
    boxes = np.hstack([corner, np.zeros_like(corner), corner, np.zeros_like(corner)])
    boxes[:, 2:] += np.array(sizes, dtype=np.float32)[:, None]
    classes = np.array(labels)
    found = boxes[:, 3] > 20
    scores = np.full(found.sum(), 0.9, dtype=np.float32)
    return Truth(boxes, classes), Detections(boxes[found], scores, classes[found])


def test_small_objects() -> None:
    sizes, labels = [10, 50, 200] * 2, [0, 0, 0, 1, 1, 1]
    truth, detections = zip(*[objects(sizes, labels)] * 10, strict=True)
    verdict = detector.small_objects_are_hard({"before": detections[::-1], "after": detections}, truth, 720)
    assert (verdict.claim, verdict.outcome) == ("oak-36", "holds")
    assert verdict.evidence.startswith("after: AP 0.0 small, 100.0 medium, 100.0 large, over 2 classes")
    # In frames of 180 pixels 10 pixels are medium: nothing is small.
    assert detector.small_objects_are_hard({"after": detections}, truth, 180).outcome == "not testable"


def test_a_frozen_rpn_was_not_trained() -> None:
    verdict = detector.training_the_rpn_improves_fine_tuning()
    assert (verdict.claim, verdict.outcome) == ("oak-33", "not testable")


def test_the_stand_in_is_judged() -> None:
    made = plausible_stream()
    assert data.new_categories_become_rarer(made).outcome != "not testable"
    assert len(CLASSES) == 10
