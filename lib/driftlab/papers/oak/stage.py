"""One stage of a run on a stream: learn on to the next evaluation, or one epoch of offline training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from driftlab.data.detection.records import FrameStream
from driftlab.methods.exemplars import Exemplars
from driftlab.models.detectors.build import build_detector, load_weights
from driftlab.models.detectors.configs import INPUT
from driftlab.models.detectors.stream_detector import StreamFasterRCNN
from driftlab.papers.oak.evaluation import Evaluation
from driftlab.papers.oak.methods import ONLINE, SHUFFLED
from driftlab.runs.experiment import Config, Row, StageResult, State
from driftlab.scenarios.stream import begun, evaluations, shuffled, timeline
from driftlab.training.detection.batches import train_detector
from driftlab.training.detection.checkpoint_state import arrays, tensors
from driftlab.training.detection.features import StreamFeatures
from driftlab.training.detection.frames import Frames
from driftlab.training.detection.runner import Optimisation
from driftlab.training.detection.stream import OnlineDetector, detector_state, restore
from driftlab.training.detection.tensor_pool import TensorPool

MEMORY = 800 * 2**20
"""Bytes: the features of the demo's 2,400 frames, or of about fifty with the paper's detector."""


@dataclass(frozen=True)
class OakData:
    """The stream and the pretrained detector that all runs are executed on.

    Attributes:
        stream: Frames and labels.
        weights: Weights of the pretrained detector, for the stream's categories.
        pretrained: Indices of the categories that it knows.
        features: Folder for the cached features of the test frames, one sub-folder per kind of device; None
            computes them at every evaluation.
        memory: Limit, in bytes, of a run's own cache of training frames' features.
        shared: Cache of training frames' features that the runs of a process share.
    """

    stream: FrameStream
    weights: Mapping[str, Tensor]
    pretrained: tuple[int, ...]
    features: Path | None
    memory: int = MEMORY
    shared: TensorPool = field(default_factory=lambda: TensorPool(MEMORY))


def execute_stage(data: OakData, stage: Config, state: State | None, device: torch.device) -> StageResult:
    """Learn the steps since the previous stage, and evaluate on the whole test set.

    A stage of offline training is one epoch over all steps so far instead, and the last epoch is evaluated.

    Args:
        data: Stream and pretrained detector.
        stage: From `OnlineDetection.chain`.
        state: The previous stage's; None for a run's first stage.
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
    order = shuffled(time, stage["seed"]) if stage["method"] == SHUFFLED else time
    features = StreamFeatures(detector, Frames(data.stream.train, size), data.memory, data.shared)
    optimisation = Optimisation(stage["training"]["learning_rate"], mixed_precision=stage["mixed_precision"])
    if stage["method"] == "Offline training":
        left = _learn_offline(data, detector, features, order.train[:until], optimisation, stage, state)
        if stage["epoch"] + 1 < stage["training"]["epochs"]:
            return StageResult([], arrays(left))
        left = detector_state(detector)  # nothing resumes from it, but the detector can be looked at
    else:
        left = _learn_online(data, detector, features, order.train, optimisation, stage, state)
    rows = evaluation.rows(until)
    # Without the stream's order, how long ago a class was seen says which outputs there are and nothing more.
    if stage["vocabulary"] == "unknown" or stage["method"] not in (SHUFFLED, "Offline training"):
        rows += _steps_since_seen(data.stream, order.train[:until])
    return StageResult(rows, arrays(left))


def restored(data: OakData, stage: Config, state: State | None, device: torch.device) -> StreamFasterRCNN:
    """The detector with the parameters that a stage has learnt; without a state the pretrained one."""
    detector = _pretrained(data, stage, device)
    if state:
        restore(detector, tensors(state))
    return detector


def _pretrained(data: OakData, stage: Config, device: torch.device) -> StreamFasterRCNN:
    classes = range(len(data.stream.categories))
    detector = build_detector(stage["detector"], len(classes), 0, device)
    load_weights(detector, data.weights, "the pretrained detector")
    detector.freeze()
    detector.micro_batch = stage.get("micro_batch", 0)
    all_known = stage["method"] != "Non-adaptation" and stage["vocabulary"] == "known"
    detector.roi_head.bbox_head.know(classes if all_known else data.pretrained)
    return detector


def _learn_online(
    data: OakData,
    detector: StreamFasterRCNN,
    features: StreamFeatures,
    steps: Sequence[NDArray[np.int64]],
    optimisation: Optimisation,
    stage: Config,
    state: State | None,
) -> dict[str, Tensor]:
    """Learn the steps that lead from the previous evaluation to this one; what the next stage needs."""
    device = detector.data_preprocessor.device
    hyper = {name: torch.tensor([value], device=device) for name, value in stage["hyper"].items()}
    online = OnlineDetector(
        detector,
        ONLINE[stage["method"]]([stage["seed"]], hyper, **stage["options"]),
        features,
        Exemplars(len(data.stream.categories), **stage["memory"], seed=stage["seed"]),
        optimisation,
        iterations=stage["training"]["iterations"],
        seed=stage["seed"],
        open_vocabulary=stage["vocabulary"] == "unknown",
    )
    if state:
        online.load_state(tensors(state))
    until = stage["stream"]["steps"]
    first = begun(until, stage["stream"]["interval"])
    online.learn([(number, steps[number]) for number in range(first, until)])
    return online.state()


def _learn_offline(
    data: OakData,
    detector: StreamFasterRCNN,
    features: StreamFeatures,
    steps: Sequence[NDArray[np.int64]],
    optimisation: Optimisation,
    stage: Config,
    state: State | None,
) -> dict[str, Tensor]:
    """One epoch; the first begins with the pretrained detector, whatever was learnt before."""
    images, settings, number = np.concatenate(steps), stage["training"], stage["epoch"]
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
        only=range(number, number + 1),
        resume=before,
    )
    return {**left, **detector_state(detector)}


def _steps_since_seen(stream: FrameStream, steps: Sequence[NDArray[np.int64]]) -> list[Row]:
    """Rows of how many steps ago each evaluated class that was seen was seen last."""
    last_seen = np.full(len(stream.categories), -1)
    for number, frames in enumerate(steps):
        for frame in frames:
            last_seen[stream.train.labels_of(int(frame))] = number
    return [
        {
            "trained_on": len(steps),
            "tested_on": f"class:{stream.categories[c]}",
            "metric": "steps_since_seen",
            "value": float(len(steps) - 1 - last_seen[c]),
        }
        for c in stream.evaluated
        if last_seen[c] >= 0
    ]
