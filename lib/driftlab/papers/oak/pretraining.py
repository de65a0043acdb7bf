"""The detector before the stream: trained on static images, or read from a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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

CLIP = 10.0
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
class Pretraining:
    """The experiment (`driftlab.runs.experiment.Experiment`): a stage is a pass over the images.

    Raise `version` when a change to training or detectors changes results.

    Attributes:
        device: `cpu`, `cuda` …; `auto` is decided once, where the experiment is created.
    """

    device: str = "auto"
    name: str = "oak-pretraining"
    version: int = 2

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
        """One stage a pass; all of them depend on how many there are, by the learning rate."""
        return [{**config, "pass": number} for number in range(config["epochs"])]

    def describe(self, config: Config) -> Row:
        """What a pass's row says."""
        return {
            "paper": "oak",
            "variant": f"static/{config['detector']}",
            "method": "pretraining",
            "seed": config["seed"],
            "order": "",
        }

    def batch_key(self, stage: Config) -> str:
        """Every detector on its own."""
        return repr(sorted(stage.items()))

    def execute(
        self, data: DetectionSet, stages: Sequence[Config], states: Sequence[State | None]
    ) -> list[StageResult]:
        """Make one pass each, the first from random weights."""
        keep_freed_memory()
        return [self._train(data, stage, state) for stage, state in zip(stages, states, strict=True)]

    def _train(self, data: DetectionSet, stage: Config, state: State | None) -> StageResult:
        detector = build_detector(
            stage["detector"], len(data.categories), stage["seed"], resolve_device(self.device)
        )
        before = tensors(state)
        number = stage["pass"]
        if number:
            load_weights(detector, part(before, WEIGHTS), "the passes before")
        left = train_detector(
            detector,
            Frames(data, INPUT[stage["detector"]]),
            np.arange(len(data)),
            Optimisation(stage["learning_rate"], clip=CLIP),
            epochs=stage["epochs"],
            batch=stage["batch"],
            seed=stage["seed"],
            passes=range(number, number + 1),
            before=before,
        )
        row = {"trained_on": len(data), "tested_on": "", "metric": "epochs", "value": float(number + 1)}
        weights = {f"{WEIGHTS}/{name}": value for name, value in detector.state_dict().items()}
        last = number + 1 == stage["epochs"]
        return StageResult([row], arrays(weights if last else weights | left))


def pretrained_weights(state: State) -> dict[str, Tensor]:
    """The detector's weights in what a pass has left."""
    return part(tensors(state), WEIGHTS)


def for_stream(
    weights: Mapping[str, Tensor], own: Sequence[str], detector: str, wanted: Sequence[str], file: str | Path
) -> dict[str, Tensor]:
    """Pretrained weights with the outputs of the stream's categories.

    Args:
        weights: For the classes `own`.
        own: Their names, in the order of the outputs.
        detector: Its name.
        wanted: The stream's categories.
        file: Where the weights are from, for errors.

    Raises:
        DataError: The weights belong to another architecture, or to another number of classes.
        ParameterError: A class of the weights is none of the stream's.
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
    detector: str, *, epochs: int, batch: int = 4, learning_rate: float = 0.01, seed: int = 0
) -> dict[str, Any]:
    """The configuration of pretraining.

    Args:
        detector: Its name.
        epochs: Passes over the static images.
        batch: Images a batch.
        learning_rate: At its highest.
        seed: Of weights, order and sampling.

    Raises:
        ParameterError: A number is impossible.
    """
    if min(epochs, batch) < 1 or seed < 0 or not 0 < learning_rate < inf:
        raise ParameterError(
            "Pretraining needs at least one pass, a batch of one, a positive learning rate and a seed from "
            f"0, not {epochs}, {batch}, {learning_rate} and {seed}."
        )
    return {
        "detector": detector,
        "epochs": epochs,
        "batch": batch,
        "learning_rate": learning_rate,
        "seed": seed,
    }
