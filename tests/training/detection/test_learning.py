"""A detector learns: from random weights to some average precision in a few seconds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from driftlab.core.provenance import Source
from driftlab.data.detection.records import DetectionSet
from driftlab.methods.bare import Bare
from driftlab.methods.exemplars import Exemplars
from driftlab.metrics.detection import average_precision
from driftlab.models.detectors.build import build_detector
from driftlab.models.detectors.stream_detector import StreamFasterRCNN
from driftlab.training.detection.batches import train_detector
from driftlab.training.detection.evaluation import detect
from driftlab.training.detection.features import StreamFeatures
from driftlab.training.detection.frames import Frames
from driftlab.training.detection.ground_truth import truths_of
from driftlab.training.detection.kept_features import FreshFeatures
from driftlab.training.detection.runner import Optimisation
from driftlab.training.detection.stream import OnlineDetector
from PIL import Image

SIDE, COLOURS = 64, np.array([[220, 40, 40], [40, 60, 220]], dtype=np.uint8)
SIZE = (SIDE, SIDE)


def squares(folder: Path, count: int, colours: list[int], seed: int) -> DetectionSet:
    """Grey pictures with one square each, of one of some colours: its class."""
    folder.mkdir()
    draw = np.random.default_rng(seed)
    files, boxes, labels = [], [], []
    for number in range(count):
        side, label = int(draw.integers(20, 34)), colours[number % len(colours)]
        left, top = (int(place) for place in draw.integers(2, SIDE - side - 2, 2))
        pixels = draw.integers(90, 150, (SIDE, SIDE, 3), dtype=np.uint8)
        pixels[top : top + side, left : left + side] = COLOURS[label]
        files.append(folder / f"{number}.png")
        Image.fromarray(pixels).save(files[-1])
        boxes.append([left, top, left + side, top + side])
        labels.append(label)
    return DetectionSet(
        images=tuple(files),
        names=tuple(file.stem for file in files),
        sizes=np.full((count, 2), SIDE, dtype=np.int32),
        starts=np.arange(count + 1),
        boxes=np.array(boxes, dtype=np.float32),
        labels=np.array(labels, dtype=np.int64),
        crowd=np.zeros(count, dtype=np.bool_),
        categories=("red", "blue"),
        source=Source("synthetic", "squares", "coloured squares", "digest"),
    )


def precision(detector: StreamFasterRCNN, records: DetectionSet) -> list[float]:
    frames, every = Frames(records, SIZE), range(len(records))
    found = detect(detector, frames, FreshFeatures(detector, frames), every)
    ap = average_precision(found, truths_of(records, every), 2)
    return [float(value) for value in ap]


@pytest.fixture(scope="module")
def pretrained(tmp_path_factory: pytest.TempPathFactory) -> StreamFasterRCNN:
    """Knows red squares."""
    records = squares(tmp_path_factory.mktemp("static") / "red", 48, [0], 0)
    detector = build_detector("small", 2, 0, torch.device("cpu"))
    optimisation = Optimisation(0.002, optimiser="AdamW", weight_decay=0.01, clip=10.0)
    train_detector(detector, Frames(records, SIZE), np.arange(48), optimisation, epochs=8, batch=8, seed=0)
    return detector


def test_a_detector_learns_and_then_learns_another_class_online(
    pretrained: StreamFasterRCNN, tmp_path: Path
) -> None:
    test = squares(tmp_path / "test", 16, [0, 1], 7)
    before = precision(pretrained, test)
    assert before[0] > 0.5 and before[1] == 0, "the class that it has seen, and not the other"
    stream = squares(tmp_path / "stream", 32, [0, 1], 3)
    online = OnlineDetector(
        pretrained,
        Bare([0], {}),
        StreamFeatures(pretrained, Frames(stream, SIZE), 2**30),
        Exemplars(2),
        Optimisation(0.01),
        iterations=12,
        seed=0,
        open_vocabulary=False,
    )
    online.learn([(step, np.arange(8 * step, 8 * step + 8)) for step in range(4)])
    after = precision(pretrained, test)
    assert after[0] > 0.4 and after[1] > 0.2
