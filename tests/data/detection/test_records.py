from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from driftlab.core.errors import DataError, ParameterError
from driftlab.core.provenance import Kind, Source
from driftlab.data.detection.records import DetectionSet, FrameStream, read_image


def detections(kind: Kind = "official", **changes: object) -> DetectionSet:
    """Three pictures of 40 x 30 with 2, 0 and 1 boxes."""
    fields: dict[str, object] = {
        "images": tuple(Path(f"{name}.jpg") for name in "abc"),
        "names": ("a", "b", "c"),
        "sizes": np.array([[40, 30]] * 3, dtype=np.int32),
        "starts": np.array([0, 2, 2, 3], dtype=np.int64),
        "boxes": np.array([[0, 0, 40, 30], [1, 2, 3, 4], [5, 5, 6, 6]], dtype=np.float32),
        "labels": np.array([1, 0, 1], dtype=np.int64),
        "crowd": np.array([False, False, True]),
        "categories": ("cat", "dog", "cow"),
        "source": Source(kind, "toy", "3 pictures", "digest"),
    }
    return DetectionSet(**(fields | changes))  # type: ignore[arg-type]


def boxes(*corners: float) -> np.ndarray:
    return np.array([[0, 0, 40, 30], corners, [5, 5, 6, 6]], dtype=np.float32)


def test_boxes_belong_to_their_pictures():
    whole = detections()
    assert len(whole) == 3
    assert [whole.boxes_of(i).tolist() for i in range(3)] == [
        [[0, 0, 40, 30], [1, 2, 3, 4]],
        [],
        [[5, 5, 6, 6]],
    ]
    assert [whole.labels_of(i).tolist() for i in range(3)] == [[1, 0], [], [1]]
    assert [whole.crowd_of(i).tolist() for i in range(3)] == [[False, False], [], [True]]
    assert whole.counts.tolist() == [1, 1, 0], "a crowd does not count"
    assert read_image.__module__ == "driftlab.data.detection.images"


def test_subset_keeps_order_and_boxes_and_is_never_official():
    part = detections().subset([2, 0], "for a test")
    assert part.names == ("c", "a") and part.starts.tolist() == [0, 1, 3]
    assert part.boxes.tolist() == [[5, 5, 6, 6], [0, 0, 40, 30], [1, 2, 3, 4]]
    assert part.labels.tolist() == [1, 1, 0] and part.crowd.tolist() == [True, False, False]
    assert part.source.kind == "subset" and part.source.detail == "2 of 3 pictures, for a test"
    assert part.notes == ("1 of 3 pictures left out: for a test",)
    assert detections("synthetic").subset([1], "").source.kind == "synthetic"
    assert len({part.source.digest, "digest", detections().subset([0, 2], "").source.digest}) == 3


def test_a_subset_of_pictures_without_boxes():
    part = detections().subset([1], "an empty one")
    assert part.boxes.shape == (0, 4) and part.counts.tolist() == [0, 0, 0]


@pytest.mark.parametrize(("indices", "message"), [([0, 3], r"from 0 to 2; got \[3\]"), ([], "got none")])
def test_impossible_subsets(indices, message):
    with pytest.raises(ParameterError, match=message):
        detections().subset(indices, "")


def test_a_set_cannot_be_changed():
    whole = detections()
    for field in ("sizes", "starts", "boxes", "labels", "crowd"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(whole, field)[0] = 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"images": ()}, "at least one picture"),
        ({"names": ("a", "b", "a")}, "field 'names': 3 pictures need 3 different names; got 2"),
        ({"categories": ("cat", "cat", "cow")}, "field 'categories': A category is named twice"),
        ({"sizes": np.zeros((3, 2), np.int64)}, r"'sizes': This must be int32 \(3, 2\), not int64 \(3, 2\)"),
        ({"sizes": np.array([[40, 30], [0, 30], [40, 30]], np.int32)}, "record b, field 'sizes'.*no area"),
        ({"starts": np.array([0, 2, 1, 3])}, "field 'starts': This must rise from 0 to 3"),
        ({"starts": np.array([0, 2, 2, 2])}, "field 'starts': This must rise from 0 to 3"),
        ({"boxes": np.zeros((3, 4))}, r"'boxes': This must be float32 \(3, 4\), not float64 \(3, 4\)"),
        ({"labels": np.array([1, 0])}, r"'labels': This must be int64 \(3,\), not int64 \(2,\)"),
        ({"crowd": np.zeros(3)}, "'crowd': This must be bool"),
        ({"labels": np.array([1, 3, 0])}, r"record a, field 'labels'.*outside 0\.\.2"),
        ({"labels": np.array([1, 0, -1])}, "record c, field 'labels'"),
        ({"boxes": boxes(3, 2, 3, 4)}, "record a, field 'boxes'.*no area"),
        ({"boxes": boxes(-1, 2, 3, 4)}, "record a, field 'boxes'.*outside"),
        ({"boxes": boxes(1, 2, 3, 31)}, "record a, field 'boxes'.*outside"),
        ({"boxes": boxes(1, np.nan, 3, 4)}, "record a, field 'boxes'.*not finite"),
    ],
)
def test_a_set_that_does_not_fit_together(changes, message):
    with pytest.raises(DataError, match=message):
        detections(**changes)


def stream(**changes: object) -> FrameStream:
    """Steps 0, 0, 1; the test frame has a cat, which occurs in training."""
    fields: dict[str, object] = {
        "train": detections(),
        "steps": np.array([0, 0, 1]),
        "test": detections(labels=np.array([0, 0, 2])).subset([0], "one"),
        "test_after": np.array([2]),
        "evaluated": (0,),
    }
    return FrameStream(**(fields | changes))  # type: ignore[arg-type]


def test_a_stream():
    sound = stream()
    assert sound.test_steps.tolist() == [1]
    assert sound.length == 2 and sound.source.name == "toy" and sound.categories == ("cat", "dog", "cow")
    with pytest.raises(ValueError, match="read-only"):
        sound.steps[0] = 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"test": detections(categories=("cat", "dog", "hen"))}, "the same categories"),
        ({"steps": np.array([0, 1])}, r"'steps': This must be int64 \(3,\)"),
        ({"steps": np.array([0, 0, 1], dtype=np.int32)}, "int64"),
        ({"steps": np.array([1, 1, 2])}, "begin at 0 and rise by 1"),
        ({"steps": np.array([0, 1, 0])}, "begin at 0 and rise by 1"),
        ({"steps": np.array([0, 0, 2])}, "begin at 0 and rise by 1"),
        (
            {"test_after": np.array([3])},
            "'test_after': A test frame comes after a training frame that is not",
        ),
        (
            {"test_after": np.array([-1])},
            "'test_after': A test frame comes after a training frame that is not",
        ),
        ({"test_after": np.array([2, 2])}, r"'test_after': This must be int64 \(1,\)"),
        ({"evaluated": (0, 1)}, r"'evaluated'.*\(0,\); got \(0, 1\)"),
    ],
)
def test_a_stream_that_does_not_fit_together(changes, message):
    with pytest.raises(DataError, match=message):
        stream(**changes)


def test_records_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        detections().names = ()  # type: ignore[misc]
