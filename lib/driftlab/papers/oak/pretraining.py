"""The pretrained detector: trained on static images from random weights, or read from a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from driftlab.core.devices import device_kind
from driftlab.core.errors import ParameterError
from driftlab.data.detection.records import DetectionSet
from driftlab.models.detectors.build import build_detector, load_weights, read_checkpoint, widen
from driftlab.models.detectors.configs import INPUT
from driftlab.runs.experiment import Config, Row, StageResult, State
from driftlab.training.cpu_settings import keep_freed_memory, resolve_device
from driftlab.training.detection.batches import train_detector
from driftlab.training.detection.checkpoint_state import arrays, part, tensors
from driftlab.training.detection.frames import Frames
from driftlab.training.detection.runner import Optimisation
from driftlab.training.detection.tensor_pool import TensorPool

CLIP = 10.0
WEIGHT_DECAY = 0.01
DECODED = 2**30
"""Bytes of decoded images: some 20,000 of the demo's."""
SCALES = (0.5, 0.75, 1.0)
"""Multi-scale training, as for the paper's detector: objects in a walker's frames are smaller than those in
static images."""
WEIGHTS = "weights"
VOC = (
    "aeroplane",
    "bicycle",
    "bird",
    "boat",
    "bottle",
    "bus",
    "car",
    "cat",
    "chair",
    "cow",
    "dining table",
    "dog",
    "horse",
    "motorcycle",
    "person",
    "potted plant",
    "sheep",
    "sofa",
    "train",
    "monitor",
)
"""PASCAL VOC's classes in the order of its detectors' outputs, named as OAK names them."""


@dataclass(frozen=True)
class StaticImages:
    """The images of pretraining.

    Attributes:
        records: Images and boxes.
        decoded: Cache of the decoded images per scale, which the epochs of a process share.
    """

    records: DetectionSet
    decoded: tuple[TensorPool, ...] = field(
        default_factory=lambda: tuple(TensorPool(DECODED // len(SCALES)) for _ in SCALES)
    )

    def scales(self, size: tuple[int, int]) -> list[Frames]:
        """The images at each of `SCALES`, of a detector's largest sides in pixels."""
        sides = [tuple(int(scale * side) for side in size) for scale in SCALES]
        return [
            Frames(self.records, (longest, shortest), pool)
            for (longest, shortest), pool in zip(sides, self.decoded, strict=True)
        ]


@dataclass(frozen=True)
class Pretraining:
    """The experiment (`driftlab.runs.experiment.Experiment`): a stage is one epoch.

    One detector is trained while everything else waits for it: PyTorch computes with `threads` threads, a
    fixed number, as the last digits of a sum depend on it.

    Raise `version` when a change to training or detectors changes results.

    Attributes:
        device: `cpu`, `cuda` …; `auto` is decided once, where the experiment is created.
        threads: Threads of PyTorch on the CPU.
    """

    device: str = "auto"
    threads: int = 2
    name: str = "oak-pretraining"
    version: int = 4

    def __post_init__(self) -> None:
        if self.device == "auto":
            object.__setattr__(self, "device", device_kind())

    @property
    def numerics(self) -> str:
        """The kind of device, other than a CPU."""
        kind = self.device.split(":")[0]
        return "" if kind == "cpu" else kind

    def shared(self, stage: Config) -> bool:
        """No stage: a session keeps the last one, which is all that others need."""
        return False

    def chain(self, config: Config) -> Sequence[Config]:
        """One stage per epoch; each depends on the number of epochs, by the learning rate's schedule."""
        return [{**config, "epoch": epoch} for epoch in range(config["epochs"])]

    def describe(self, config: Config) -> Row:
        """The columns that all rows of a run have in common."""
        return {
            "paper": "oak",
            "variant": f"static/{config['detector']}",
            "method": "pretraining",
            "seed": config["seed"],
            "order": "",
        }

    def batch_key(self, stage: Config) -> str:
        """A key of its own for each stage, as detectors are not trained side by side."""
        return repr(sorted(stage.items()))

    def execute(
        self, data: StaticImages, stages: Sequence[Config], states: Sequence[State | None]
    ) -> list[StageResult]:
        """Train one epoch per stage, the first from random weights."""
        keep_freed_memory()
        before = torch.get_num_threads()
        torch.set_num_threads(self.threads)
        try:
            return [self._train(data, stage, state) for stage, state in zip(stages, states, strict=True)]
        finally:
            torch.set_num_threads(before)

    def _train(self, data: StaticImages, stage: Config, state: State | None) -> StageResult:
        records, epoch, resume = data.records, stage["epoch"], tensors(state)
        detector = build_detector(
            stage["detector"], len(records.categories), stage["seed"], resolve_device(self.device)
        )
        if epoch:
            load_weights(detector, part(resume, WEIGHTS), "the epochs before")
        left = train_detector(
            detector,
            data.scales(INPUT[stage["detector"]]),
            np.arange(len(records)),
            Optimisation(stage["learning_rate"], optimiser="AdamW", weight_decay=WEIGHT_DECAY, clip=CLIP),
            epochs=stage["epochs"],
            batch=stage["batch"],
            seed=stage["seed"],
            only=range(epoch, epoch + 1),
            resume=resume,
        )
        row = {"trained_on": len(records), "tested_on": "", "metric": "epochs", "value": float(epoch + 1)}
        weights = {f"{WEIGHTS}/{name}": value for name, value in detector.state_dict().items()}
        last = epoch + 1 == stage["epochs"]
        return StageResult([row], arrays(weights if last else weights | left))


def pretrained_weights(state: State) -> dict[str, Tensor]:
    """The detector's weights in the state that an epoch has left."""
    return part(tensors(state), WEIGHTS)


def for_stream(
    weights: Mapping[str, Tensor], own: Sequence[str], detector: str, wanted: Sequence[str], file: str | Path
) -> dict[str, Tensor]:
    """Pretrained weights, widened to the outputs of the stream's categories.

    Args:
        weights: Weights for the classes `own`.
        own: Names of the pretrained classes, in the order of the outputs.
        detector: Name of the detector.
        wanted: The stream's categories.
        file: Where the weights are from, for error messages.

    Raises:
        DataError: The weights belong to another architecture, or to another number of classes.
        ParameterError: A pretrained class is not among the stream's.
    """
    cpu = torch.device("cpu")
    narrow = build_detector(detector, len(own), 0, cpu)
    # A detector that MMDetection has trained has no vocabulary yet.
    load_weights(
        narrow,
        {name: value for name, value in narrow.state_dict().items() if name.endswith(".known")}
        | dict(weights),
        file,
    )
    return widen(narrow.state_dict(), own, build_detector(detector, len(wanted), 0, cpu), wanted)


def from_checkpoint(file: Path, detector: str, wanted: Sequence[str]) -> tuple[dict[str, Tensor], str]:
    """A detector that was trained on PASCAL VOC, for a stream, and the file's digest.

    Raises:
        As `read_checkpoint` and `for_stream`.
    """
    weights = for_stream(read_checkpoint(file), VOC, detector, wanted, file)
    return weights, sha256(file.read_bytes()).hexdigest()


def pretraining_config(
    detector: str, *, epochs: int, batch: int = 4, learning_rate: float = 0.001, seed: int = 0
) -> dict[str, Any]:
    """The configuration of pretraining.

    Args:
        detector: Name of the detector.
        epochs: Epochs over the static images.
        batch: Images per batch.
        learning_rate: Peak learning rate, after warm-up.
        seed: Seed of weights, order and sampling.

    Raises:
        ParameterError: A number is impossible.
    """
    if min(epochs, batch) < 1 or seed < 0 or not 0 < learning_rate < inf:
        raise ParameterError(
            "Pretraining needs at least one epoch, a batch of one, a positive learning rate and a seed from "
            f"0, not {epochs}, {batch}, {learning_rate} and {seed}."
        )
    return {
        "detector": detector,
        "epochs": epochs,
        "batch": batch,
        "learning_rate": learning_rate,
        "seed": seed,
    }
