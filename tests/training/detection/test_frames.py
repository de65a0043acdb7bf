"""Frames and single boxes as records, scaled for the detector."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from driftlab.core.errors import DataError
from driftlab.data.detection.records import DetectionSet, FrameStream, read_image
from driftlab.training.detection.frames import Frames


def test_a_record_is_an_image_or_one_of_its_boxes(stream: FrameStream) -> None:
    records = stream.train
    frames = Frames(records, (128, 128))
    for image in range(len(records)):
        whole = frames.sample(image).gt_instances
        objects = frames.objects_of(image)
        assert frames.image_of(image) == image and len(objects) == len(whole)
        np.testing.assert_allclose(whole.bboxes, records.boxes_of(image) * 2)  # from 64 to 128 pixels
        assert whole.labels.tolist() == records.labels_of(image).tolist()
        for place, record in enumerate(objects):
            assert frames.image_of(record) == image
            single = frames.sample(record).gt_instances
            assert torch.equal(single.bboxes, whole.bboxes[[place]])
            assert torch.equal(single.labels, whole.labels[[place]])
    assert sum(len(frames.objects_of(image)) for image in range(len(records))) == len(records.boxes)


def test_pixels_are_scaled_in_proportion_and_bgr(mixed: DetectionSet) -> None:
    frames = Frames(mixed, (32, 32))
    assert [tuple(frames.pixels(i).shape) for i in (0, 2)] == [(3, 32, 32), (3, 12, 32)]
    sample = frames.sample(2)
    assert sample.img_shape == (12, 32) and sample.ori_shape == (24, 64)
    assert sample.scale_factor == (0.5, 0.5)
    same = Frames(mixed, (64, 64)).pixels(0)
    assert torch.equal(same, torch.from_numpy(read_image(mixed.images[0])[..., ::-1].copy()).permute(2, 0, 1))


def test_a_frame_of_which_nothing_is_left(mixed: DetectionSet) -> None:
    sizes = mixed.sizes.copy()
    sizes[1] = (4000, 3)
    narrow = dataclasses.replace(
        mixed,
        sizes=sizes,
        starts=mixed.starts * 0,
        boxes=mixed.boxes[:0],
        labels=mixed.labels[:0],
        crowd=mixed.crowd[:0],
    )
    frames = Frames(narrow, (64, 64))
    with pytest.raises(DataError, match=r"This frame of 4000 x 3 pixels is too narrow: scaled to 64 at most"):
        frames.pixels(1)


def test_crowds_are_neither_learnt_nor_counted_as_background(stream: FrameStream) -> None:
    image = int(np.diff(stream.train.starts).argmax())
    start, stop = stream.train.starts[image : image + 2]
    assert stop - start > 1
    crowd = np.zeros(len(stream.train.boxes), dtype=np.bool_)
    crowd[start] = True
    sample = Frames(dataclasses.replace(stream.train, crowd=crowd), (64, 64)).sample(image)
    assert len(sample.ignored_instances) == 1 and len(sample.gt_instances) == stop - start - 1
    np.testing.assert_array_equal(sample.ignored_instances.bboxes[0], stream.train.boxes[start])
