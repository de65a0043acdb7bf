"""A tiny stream and a detector with random weights."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np
import pytest
import torch
from driftlab.core.provenance import Source
from driftlab.data.detection.oak import load_oak
from driftlab.data.detection.records import DetectionSet, FrameStream
from driftlab.models.detectors.build import build_detector
from driftlab.models.detectors.stream_detector import StreamFasterRCNN
from driftlab.worlds.walk.layout import oak_world
from PIL import Image

SIDE = 64


@pytest.fixture(scope="package")
def stream(tmp_path_factory: pytest.TempPathFactory) -> FrameStream:
    """Four steps of two frames for training and one for testing."""
    folder = tmp_path_factory.mktemp("world") / "oak"
    return load_oak(oak_world(folder, steps=4, frames_per_step=2, pixels=SIDE))


@pytest.fixture(scope="package")
def built(stream: FrameStream) -> StreamFasterRCNN:
    made = build_detector("small", len(stream.categories), 0, torch.device("cpu"))
    with torch.no_grad():
        made.roi_head.bbox_head.fc_cls.weight *= 50  # sure of something
    return made


@pytest.fixture
def detector(built: StreamFasterRCNN) -> Callable[[], StreamFasterRCNN]:
    """Makes a detector for the stream's categories, always with the same weights."""
    return lambda: copy.deepcopy(built)


@pytest.fixture(scope="package")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> DetectionSet:
    """Six pictures of two sizes, one box in each."""
    folder = tmp_path_factory.mktemp("mixed")
    sizes = [(64, 64), (64, 64), (64, 24), (64, 24), (64, 64), (64, 24)]
    draw = np.random.default_rng(0)
    files = []
    for number, (width, height) in enumerate(sizes):
        files.append(folder / f"{number}.jpg")
        noise = draw.integers(0, 256, (height // 8, width // 8, 3), dtype=np.uint8)
        Image.fromarray(noise).resize((width, height)).save(files[-1])
    count = len(sizes)
    return DetectionSet(
        images=tuple(files),
        names=tuple(file.stem for file in files),
        sizes=np.array(sizes, dtype=np.int32),
        starts=np.arange(count + 1),
        boxes=np.tile(np.array([8, 4, 40, 22], dtype=np.float32), (count, 1)),
        labels=np.arange(count) % 2,
        crowd=np.zeros(count, dtype=np.bool_),
        categories=tuple("abcdefghijklmnopqrstuv"),
        source=Source("official", "mixed", "six pictures", "digest"),
    )
