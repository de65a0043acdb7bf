"""Detectors with random weights, built once."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
from driftlab.models.detectors.build import build_detector
from driftlab.models.detectors.stream_detector import StreamFasterRCNN

CLASSES = 5


@pytest.fixture(scope="package")
def built() -> StreamFasterRCNN:
    return build_detector("small", CLASSES, 0, torch.device("cpu"))


@pytest.fixture
def small(built: StreamFasterRCNN) -> Callable[[], StreamFasterRCNN]:
    """Makes a small detector for five classes, always with the same weights."""
    return lambda: copy.deepcopy(built)
