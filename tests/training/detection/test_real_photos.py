"""The demo's detector learns real photographs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from driftlab.data.detection.coco import load_coco
from driftlab.data.detection.records import DetectionSet
from driftlab.metrics.detection import average_precision
from driftlab.models.detectors.build import build_detector
from driftlab.models.detectors.configs import INPUT
from driftlab.models.detectors.stream_detector import StreamFasterRCNN
from driftlab.training.detection.batches import train_detector
from driftlab.training.detection.evaluation import detect
from driftlab.training.detection.frames import Frames
from driftlab.training.detection.ground_truth import truths_of
from driftlab.training.detection.kept_features import FreshFeatures
from driftlab.training.detection.runner import Optimisation

PHOTOS = 32


def photos_of(folder: Path) -> DetectionSet:
    """Photos with people and the nine other classes that most photos show.

    Of 128-pixel photos a small detector sees large things only: those whose median box is the largest.
    """
    annotations, images = folder / "instances.json", folder / "images"
    everything = load_coco(annotations, images)
    shows = [set(everything.labels_of(i).tolist()) for i in range(len(everything))]
    person = everything.categories.index("person")
    number = [sum(c in one for one in shows) for c in range(len(everything.categories))]
    often = sorted(range(len(number)), key=lambda c: (c != person, -number[c]))[:10]
    photos = load_coco(annotations, images, categories=[everything.categories[c] for c in often])

    def size(photo: int) -> float:
        sides = np.diff(photos.boxes_of(photo).reshape(-1, 2, 2), axis=1)
        return float(np.median(np.sqrt(sides.prod(axis=(1, 2)))) / photos.sizes[photo].max())

    labelled = [i for i in range(len(photos)) if len(photos.boxes_of(i))]
    return photos.subset(sorted(sorted(labelled, key=size)[-PHOTOS:]), "those with the largest things")


def precision(detector: StreamFasterRCNN, frames: Frames) -> float:
    images = range(len(frames.records))
    found = detect(detector, frames, FreshFeatures(detector, frames), images)
    ap = average_precision(found, truths_of(frames.records, images), len(frames.records.categories))
    assert not np.isnan(ap).any(), "every class is shown"
    return float(ap.mean())


def test_the_demos_detector_learns_32_photos(real_data: Path) -> None:
    frames = Frames(photos_of(real_data / "coco128"), INPUT["small"])
    assert len(frames.records) == PHOTOS and frames.records.categories[0] == "person"
    detector = build_detector("small", len(frames.records.categories), 0, torch.device("cpu"))
    before = precision(detector, frames)

    optimisation = Optimisation(0.02, clip=10.0)
    train_detector(detector, frames, np.arange(PHOTOS), optimisation, epochs=40, batch=8, seed=0)

    assert before < 0.05
    assert precision(detector, frames) > 0.5
