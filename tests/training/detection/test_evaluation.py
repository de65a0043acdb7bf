"""What is found in test frames, and the precision of IDK."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from driftlab.data.detection.records import FrameStream
from driftlab.metrics.detection import Detections, Truth
from driftlab.models.detectors.heads import Doubt
from driftlab.models.detectors.stream_detector import StreamFasterRCNN
from driftlab.training.detection.evaluation import detect, unknown_precision
from driftlab.training.detection.frames import Frames
from driftlab.training.detection.kept_features import FreshFeatures

BOX = np.array([[10, 10, 20, 20]], dtype=np.float32)
AWAY = BOX + 50


def said(label: int, box: np.ndarray = BOX) -> Detections:
    return Detections(box, np.array([0.5], dtype=np.float32), np.array([label]))


def labelled(label: int, box: np.ndarray = BOX, ignored: bool = False) -> Truth:
    return Truth(box, np.array([label]), np.array([ignored]))


def test_unknown_objects_are_those_of_classes_that_are_not_known() -> None:
    known = np.array([True, False, True])
    # One of two unknown objects is found, and one IDK is on an object of a known class: 1/2 of recall at
    # a precision of 1/2, all at one score.
    found = [said(3), said(3), said(1)]
    truth = [labelled(1), labelled(0), labelled(1)]
    assert unknown_precision(found, truth, known) == 0.25
    assert unknown_precision(found[:1], truth[:1], known) == 1.0
    assert unknown_precision([said(3, AWAY)], truth[:1], known) == 0.0
    assert unknown_precision([said(0)], truth[:1], known) == 0.0, "a class's name is no IDK"


def test_without_unknown_objects_there_is_no_precision() -> None:
    assert unknown_precision([said(3)], [labelled(0)], np.array([True, False, True])) is None
    assert unknown_precision([said(1)], [labelled(0)], np.array([True])) is None
    crowd = [labelled(1, ignored=True)]
    assert unknown_precision([said(2)], crowd, np.array([True, False])) is None


def test_detecting_leaves_the_detector_as_it_was(
    stream: FrameStream, detector: Callable[[], StreamFasterRCNN]
) -> None:
    made = detector()
    made.freeze()
    made.train()
    frames = Frames(stream.test, (64, 64))
    features = FreshFeatures(made, frames)
    plain = detect(made, frames, features, range(4))
    before = {name: value.clone() for name, value in made.state_dict().items()}
    doubting = detect(made, frames, features, range(4), Doubt(classes=1.1, background=1.1))
    assert made.training and made.roi_head.bbox_head.doubt is None
    assert all(torch.equal(value, before[name]) for name, value in made.state_dict().items())
    for one, other in zip(plain, doubting, strict=True):
        named = other.labels < 22
        np.testing.assert_array_equal(one.boxes, other.boxes[named])
        assert set(other.labels[~named]) == {22} and (one.labels < 22).all() and len(one.labels)
    some = detect(made, frames, features, np.array([3, 1]))
    np.testing.assert_allclose(some[1].scores, plain[1].scores, rtol=1e-4)
