"""Overlap of boxes, against torchvision and by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from driftlab.metrics.boxes import box_area, box_iou
from numpy.typing import NDArray
from torchvision import ops


def random_boxes(count: int, seed: int) -> NDArray[np.float64]:
    corners = np.sort(np.random.default_rng(seed).integers(0, 30, size=(count, 2, 2)), axis=1)
    return corners.reshape(count, 4).astype(np.float64)


def test_as_torchvision() -> None:
    first, second = random_boxes(40, 0), random_boxes(50, 1)
    assert (box_area(first) == 0).any(), "boxes of no area are among them"
    expected = ops.box_iou(torch.from_numpy(first), torch.from_numpy(second)).nan_to_num(0).numpy()
    np.testing.assert_allclose(box_iou(first, second), expected, atol=1e-12)
    np.testing.assert_allclose(box_area(first), ops.box_area(torch.from_numpy(first)).numpy())


def test_with_the_last_pixel_boxes_are_torchvisions_of_boxes_one_pixel_larger() -> None:
    first, second = random_boxes(40, 2), random_boxes(50, 3)
    larger = [torch.from_numpy(np.add(boxes, [0, 0, 1, 1])) for boxes in (first, second)]
    np.testing.assert_allclose(
        box_iou(first, second, last_pixel=True), ops.box_iou(*larger).numpy(), atol=1e-12
    )


@pytest.mark.parametrize(
    ("box", "last_pixel", "expected"),
    [
        ([0, 0, 10, 10], False, 1.0),
        ([0, 0, 10, 5], False, 0.5),
        ([5, 0, 15, 10], False, 1 / 3),
        ([10, 0, 20, 10], False, 0.0),
        ([10, 0, 20, 10], True, 11 / (2 * 121 - 11)),  # they share the pixels of one column
        ([20, 20, 30, 30], True, 0.0),
    ],
)
def test_by_hand(box: list[int], last_pixel: bool, expected: float) -> None:
    overlap = box_iou(np.array([[0.0, 0, 10, 10]]), np.array([box], dtype=np.float32), last_pixel=last_pixel)
    assert overlap.dtype == np.float64 and overlap.tolist() == [[pytest.approx(expected)]]


def test_without_boxes_and_without_area() -> None:
    assert box_iou(np.zeros((0, 4)), random_boxes(3, 0)).shape == (0, 3)
    point = np.array([[4.0, 4, 4, 4]])
    assert box_iou(point, point).tolist() == [[0.0]]
    assert box_iou(point, point, last_pixel=True).tolist() == [[1.0]]
    assert box_area(np.array([[5.0, 5, 2, 2], [5, 5, 2, 9]])).tolist() == [0.0, 0.0]
