"""Intersection over union by hand and against torchvision."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from driftlab.metrics.boxes import intersection_over_union
from torchvision.ops import box_iou


def test_by_hand() -> None:
    first = np.array([[0, 0, 2, 1], [5, 5, 6, 6]], dtype=np.float32)
    assert intersection_over_union(first, np.array([[0, 0, 1, 1]], dtype=np.float32)).tolist() == [
        [0.5],
        [0.0],
    ]
    assert intersection_over_union(first, np.zeros((0, 4), dtype=np.float32)).shape == (2, 0)


def test_torchvision_agrees() -> None:
    rng = np.random.default_rng(0)
    corners = rng.random((2, 7, 2)) * 50
    boxes = np.concatenate([corners, corners + 1 + 40 * rng.random((2, 7, 2))], axis=2)
    expected = box_iou(*map(torch.from_numpy, boxes)).numpy()
    assert intersection_over_union(*boxes) == pytest.approx(expected)
