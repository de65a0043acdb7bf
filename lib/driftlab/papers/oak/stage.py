"""One stage of a run on a stream: learn on to the next evaluation, or make one pass of offline training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from driftlab.data.detection.records import FrameStream
from driftlab.methods.base import Method
from driftlab.methods.exemplars import Exemplars
from driftlab.models.detectors.build import build_detector, load_weights
from driftlab.models.detectors.configs import INPUT
from driftlab.models.detectors.stream_detector import StreamFasterRCNN
from driftlab.papers.oak.evaluation import Evaluation
from driftlab.papers.oak.methods import ONLINE
from driftlab.runs.experiment import Config, Row, StageResult, State
from driftlab.scenarios.stream import begun, evaluations, timeline
from driftlab.training.detection.batches import train_detector
from driftlab.training.detection.checkpoint_state import arrays, tensors
from driftlab.training.detection.features import FeaturePool, StreamFeatures
from driftlab.training.detection.frames import Frames
from driftlab.training.detection.runner import Optimisation
from driftlab.training.detection.stream import OnlineDetector, detector_state, restore

MEMORY = 800 * 2**20
"""Bytes: the features of the demo's 2,400 frames, or of about fifty with the paper's detector."""


@dataclass(frozen=True)
class OakData:
    """What the runs are executed on.

    Attributes:
        stream: Frames and labels.
        weights: Of the pretrained detector, for the stream's categories.
        pretrained: The categories that it knows.
        features: The folder for the test frames' features, of these weights and frames, by device; None
            computes them anew at every evaluation.
        memory: How many bytes of training frames' features a run keeps at most for itself.
        shared: Those that the runs of a process share.
    """

    stream: FrameStream
    weights: Mapping[str, Tensor]
    pretrained: tuple[int, ...]
    features: Path | None
    memory: int = MEMORY
    shared: FeaturePool = field(default_factory=lambda: FeaturePool(MEMORY))


def execute_stage(data: OakData, stage: Config, state: State | None, device: torch.device) -> StageResult:
    """Learn the steps since the previous stage, and evaluate on the whole test set.

    Offline training makes one pass over all steps so far instead, and evaluates after the last pass.

    Args:
        data: Stream and pretrained detector.
        stage: From `OnlineDetection.chain`.
        state: The previous stage's.
        device: Where to compute.
    """
    time = timeline(data.stream, stage["stream"]["batch"])
    detector = _pretrained(data, stage, device)
    until = stage["stream"]["steps"]
    size = INPUT[stage["detector"]]
    # A GPU's features differ in their last digits from a CPU's.
    kept = data.features / device.type if data.features else None
    evaluation = Evaluation(data.stream, detector, Frames(data.stream.test, size), time, stage, kept)
    if stage["method"] == "Non-adaptation":
        rows = evaluation.rows(0)
        if until:  # it never changes
            rows = [
                row | {"trained_on": end}
                for end in evaluations(until, stage["stream"]["interval"])
                for row in rows
                if row["metric"] != "map50" or end in evaluation.ends
            ]
        return StageResult(rows, {})
    features = StreamFeatures(detector, Frames(data.stream.train, size), data.memory, data.shared)
    optimisation = Optimisation(stage["training"]["learning_rate"], mixed_precision=stage["mixed_precision"])
    if stage["method"] == "Offline training":
        left = _learn_offline(data, detector, features, time.train[:until], optimisation, stage, state)
        last = stage["pass"] + 1 == stage["training"]["epochs"]
        return StageResult(evaluation.rows(until), {}) if last else StageResult([], arrays(left))
    online = OnlineDetector(
        detector,
        _method(stage, device),
        features,
        Exemplars(len(data.stream.categories), **stage["memory"], seed=stage["seed"]),
        optimisation,
        iterations=stage["training"]["iterations"],
        seed=stage["seed"],
        open_vocabulary=stage["vocabulary"] == "unknown",
    )
    if state:
        online.load_state(tensors(state))
    online.learn(
        [(number, time.train[number]) for number in range(begun(until, stage["stream"]["interval"]), until)]
    )
    rows = evaluation.rows(until) + _since_seen(data.stream, online.last_seen, until)
    return StageResult(rows, arrays(online.state()))


def restored(data: OakData, stage: Config, state: State | None, device: torch.device) -> StreamFasterRCNN:
    """The detector as a stage has left it; without a state the pretrained one."""
    detector = _pretrained(data, stage, device)
    if state:
        restore(detector, tensors(state))
    return detector


def _pretrained(data: OakData, stage: Config, device: torch.device) -> StreamFasterRCNN:
    classes = range(len(data.stream.categories))
    detector = build_detector(stage["detector"], len(classes), 0, device)
    load_weights(detector, data.weights, "the pretrained detector")
    detector.freeze()
    all_known = stage["method"] != "Non-adaptation" and stage["vocabulary"] == "known"
    detector.roi_head.bbox_head.know(classes if all_known else data.pretrained)
    return detector


def _method(stage: Config, device: torch.device) -> Method:
    hyper = {name: torch.tensor([value], device=device) for name, value in stage["hyper"].items()}
    return ONLINE[stage["method"]]([stage["seed"]], hyper)


def _learn_offline(
    data: OakData,
    detector: StreamFasterRCNN,
    features: StreamFeatures,
    steps: Sequence[NDArray[np.int64]],
    optimisation: Optimisation,
    stage: Config,
    state: State | None,
) -> dict[str, Tensor]:
    """One pass; the first begins with the pretrained detector, whatever was learnt before."""
    images, settings, number = np.concatenate(steps), stage["training"], stage["pass"]
    before = tensors(state) if number else {}
    if number:
        restore(detector, before)
    if stage["vocabulary"] == "unknown":
        seen = [data.stream.train.labels_of(int(image)) for image in images]
        detector.roi_head.bbox_head.admit(np.unique(np.concatenate(seen)))
    left = train_detector(
        detector,
        features,
        images,
        optimisation,
        epochs=settings["epochs"],
        batch=settings["batch"],
        seed=stage["seed"],
        passes=range(number, number + 1),
        before=before,
    )
    return {**left, **detector_state(detector)}


def _since_seen(stream: FrameStream, last_seen: NDArray[np.int64], until: int) -> list[Row]:
    return [
        {
            "trained_on": until,
            "tested_on": f"class:{stream.categories[c]}",
            "metric": "steps_since_seen",
            "value": float(until - 1 - last_seen[c]),
        }
        for c in stream.evaluated
        if last_seen[c] >= 0
    ]
