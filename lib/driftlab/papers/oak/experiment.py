"""Online continual object detection on a stream: what a run is.

Wang, Wang, Shang-Guan, Gupta: Wanderlust: Online Continual Object Detection in the Real World, ICCV 2021.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from driftlab.core.devices import device_kind
from driftlab.notebooks.parameters import check_values
from driftlab.papers.oak.methods import ONLINE, OPTIONS, WITHOUT_MEMORY
from driftlab.papers.oak.parameters import RunSettings, StreamProtocol
from driftlab.papers.oak.stage import OakData, execute_stage
from driftlab.runs.experiment import Config, Row, StageResult, State
from driftlab.scenarios.stream import evaluations
from driftlab.training.cpu_settings import keep_freed_memory, resolve_device

PROTOCOL = (*StreamProtocol.model_fields, "replace")
"""The settings of a run that all runs of a session share."""

OWN = ("method", "seed", "mixed_precision", "micro_batch")
"""Settings on which every stage depends that trains."""


def run_config(
    *,
    detector: str,
    method: str,
    vocabulary: str,
    steps: int,
    seed: int = 0,
    batch: int = 0,
    iterations: int = 10,
    interval: int = 10,
    stretch: int = 40,
    learning_rate: float = 0.005,
    strength: float = 1000.0,
    fisher: str = "predicted",
    half_penalty: bool = False,
    slots: int = 5,
    replace: float = 5 / 6,
    rehearsal: str = "positives",
    unknown_boxes: str = "regressed",
    offline_interval: int = 200,
    offline_epochs: int = 10,
    offline_learning_rate: float = 0.05,
    offline_batch: int = 16,
    micro_batch: int = 0,
    mixed_precision: bool = False,
) -> dict[str, Any]:
    """The configuration of one run; the defaults are the released code's where it names them.

    Args:
        detector: From `driftlab.models.registry.DETECTORS`.
        method: One of `METHODS`.
        vocabulary: `known` (all outputs from the start) or `unknown` (they appear with their class).
        steps: How many the stream has (`len(timeline(stream, batch))`).
        seed: Of sampling and memory.
        batch: Frames per step; 0 takes the steps that the stream comes in.
        iterations: Optimiser's steps on the frames of each step of the stream.
        interval: Steps between evaluations.
        stretch: Steps of a stretch, for transfer.
        learning_rate: On the stream, constant.
        strength: Weight of EWC's penalty.
        fisher: Whose labels EWC's Fisher is of, `predicted` or `labels` (`driftlab.methods.ewc.OnlineEWC`).
        half_penalty: Whether EWC's penalty has the factor ½.
        slots: Remembered objects per class.
        replace: Probability with which a new object takes a slot of a class whose slots are full.
        rehearsal: What iCaRL learns of a remembered image, `positives` or `all`
            (`driftlab.methods.icarl.ICaRL`).
        unknown_boxes: The boxes of IDK, `regressed` or `proposals` (`driftlab.models.detectors.heads.Doubt`).
        offline_interval: Steps between the evaluations of offline training, which begins anew for each; a
            multiple of `interval`, so that all methods have evaluations in common.
        offline_epochs: Its epochs over everything seen so far.
        offline_learning_rate: Peak learning rate, after warm-up.
        offline_batch: Frames per batch.
        micro_batch: Frames whose gradients are computed at once and accumulated; 0 for the whole batch.
        mixed_precision: Whether to train in half precision where that is safe.

    Raises:
        ParameterError: A setting is of another type or impossible, or settings do not go together.
    """
    settings = {
        "detector": detector,
        "method": method,
        "vocabulary": vocabulary,
        "steps": steps,
        "seed": seed,
        "batch": batch,
        "iterations": iterations,
        "interval": interval,
        "stretch": stretch,
        "learning_rate": learning_rate,
        "strength": strength,
        "fisher": fisher,
        "half_penalty": half_penalty,
        "slots": slots,
        "replace": replace,
        "rehearsal": rehearsal,
        "unknown_boxes": unknown_boxes,
        "offline_interval": offline_interval,
        "offline_epochs": offline_epochs,
        "offline_learning_rate": offline_learning_rate,
        "offline_batch": offline_batch,
        "micro_batch": micro_batch,
        "mixed_precision": mixed_precision,
    }
    check_values(RunSettings, settings, "An OAK run")
    return {
        "variant": f"oak/{detector}/{vocabulary}",
        "detector": detector,
        "vocabulary": vocabulary,
        "method": method,
        "seed": seed,
        "stream": {"steps": steps, "batch": batch, "interval": interval, "stretch": stretch},
        "online": {"iterations": iterations, "learning_rate": learning_rate, "strength": strength},
        "options": {"fisher": fisher, "half_penalty": half_penalty, "rehearsal": rehearsal},
        "memory": {"slots": slots, "replace": replace},
        "offline": {
            "interval": offline_interval,
            "epochs": offline_epochs,
            "learning_rate": offline_learning_rate,
            "batch": offline_batch,
        },
        "unknown_boxes": unknown_boxes,
        "micro_batch": micro_batch,
        "mixed_precision": mixed_precision,
    }


@dataclass(frozen=True)
class OnlineDetection:
    """The experiment (`driftlab.runs.experiment.Experiment`): a stage is the stream up to an evaluation.

    For offline training, a stage is one epoch.

    Raise `version` when a change to training, methods, detectors or evaluation changes results.

    Attributes:
        device: `cpu`, `cuda` …; `auto` is decided once, where the experiment is created.
    """

    device: str = "auto"
    name: str = "oak"
    version: int = 5

    def __post_init__(self) -> None:
        if self.device == "auto":
            object.__setattr__(self, "device", device_kind())

    @property
    def numerics(self) -> str:
        """The kind of device, other than a CPU."""
        kind = self.device.split(":")[0]
        return "" if kind == "cpu" else kind

    def shared(self, stage: Config) -> bool:
        """No stage: what runs have in common, the first evaluation, leaves no state."""
        return False

    def chain(self, config: Config) -> Sequence[Config]:
        """The stages of a run: the pretrained detector's evaluation, common to all, then one per evaluation.

        Offline training begins anew for each evaluation and has one stage per epoch; the last epoch's
        detector is evaluated. A stage's configuration holds only what influences its result: incremental
        fine-tuning has no memory's slots, offline training no iterations per step.
        """
        common = {key: config[key] for key in ("detector", "vocabulary", "stream")}
        first = {**common, "stream": {**config["stream"], "steps": 0}, "method": "Non-adaptation"}
        method, stream = config["method"], config["stream"]
        if method == "Non-adaptation":
            return [first, {**common, "method": method}]
        own: dict[str, Any] = {
            key: config[key] for key in ("method", "seed", "mixed_precision", "micro_batch")
        }
        if config["vocabulary"] == "unknown":
            own["unknown_boxes"] = config["unknown_boxes"]
        if method == "Offline training":
            own["training"] = {key: value for key, value in config["offline"].items() if key != "interval"}
            stream = {key: value for key, value in stream.items() if key != "interval"}  # each end alone
        else:
            own["training"] = {key: config["online"][key] for key in ("iterations", "learning_rate")}
            hyper = ONLINE[method].hyper_parameters
            own["hyper"] = {"strength": config["online"]["strength"]} if "strength" in hyper else {}
            own["options"] = {key: config["options"][key] for key in OPTIONS.get(method, ())}
            own["memory"] = {"slots": 1, "replace": 1.0} if method in WITHOUT_MEMORY else config["memory"]
        interval = config["offline" if method == "Offline training" else "stream"]["interval"]
        stages = [
            {**common, **own, "stream": {**stream, "steps": end}}
            for end in evaluations(stream["steps"], interval)
        ]
        if method == "Offline training":
            epochs = range(config["offline"]["epochs"])
            stages = [{**stage, "epoch": epoch} for stage in stages for epoch in epochs]
        return [first, *stages]

    def describe(self, config: Config) -> Row:
        """The columns that all rows of a run have in common."""
        return {
            "paper": "oak",
            "variant": config["variant"],
            "method": config["method"],
            "seed": config["seed"],
            "order": "",
        }

    def batch_key(self, stage: Config) -> str:
        """A key of its own for each stage, as detectors are not trained side by side."""
        return json.dumps(stage, sort_keys=True)

    def execute(
        self, data: OakData, stages: Sequence[Config], states: Sequence[State | None]
    ) -> list[StageResult]:
        """Execute stages one after the other, see `driftlab.papers.oak.stage.execute_stage`."""
        keep_freed_memory()
        device = resolve_device(self.device)
        return [
            execute_stage(data, stage, state, device) for stage, state in zip(stages, states, strict=True)
        ]
