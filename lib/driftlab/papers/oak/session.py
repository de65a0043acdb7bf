"""Sessions of the OAK notebooks: stream, pretrained detector and runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from driftlab.core.errors import DataError, ParameterError, StoreError
from driftlab.core.paths import outputs_dir
from driftlab.data import catalog
from driftlab.data.checkpoints import find_checkpoint
from driftlab.data.detection.records import DetectionSet, FrameStream
from driftlab.metrics.detection import Detections
from driftlab.models.detectors.configs import INPUT
from driftlab.papers.oak.experiment import PROTOCOL, OnlineDetection, run_config
from driftlab.papers.oak.methods import METHODS
from driftlab.papers.oak.pretraining import (
    Pretraining,
    StaticImages,
    for_stream,
    from_checkpoint,
    pretrained_weights,
    pretraining_config,
)
from driftlab.papers.oak.stage import OakData, restored
from driftlab.papers.oak.tables import shown_classes
from driftlab.papers.session import Session
from driftlab.runs.experiment import Config, Experiment, State, stage_id
from driftlab.scenarios.stream import Timeline, frames_of, stretches, timeline
from driftlab.training.cpu_settings import resolve_device
from driftlab.training.detection.evaluation import detect
from driftlab.training.detection.frames import Frames
from driftlab.training.detection.kept_features import FreshFeatures
from driftlab.worlds.walk.static_images import static_world


class OakDataSession(Session):
    """A session of a stream's data.

    Args:
        notebook: Its name, for provenance.
        scale: `smoke`, `demo` or `paper`, for provenance.
        data: `world` is synthetic, `oak` the official data.
        data_folder: Where official data lie, if not in their usual place.
        world_steps: How many steps a synthetic stream has.
        changed: Parameters that differ from the scale's own, for provenance.
        engine: `local` or `ray`.
        jobs: How many runs are worked on at once; 0 for one per core.
        others: The notebook's other parameters, which it uses itself.

    Raises:
        ParameterError: A name is unknown or a number impossible.
        MissingDataError: The data are not there; the text says what to get.
    """

    def __init__(
        self,
        notebook: str,
        *,
        scale: str,
        data: str,
        data_folder: str = "",
        world_steps: int = 150,
        changed: Mapping[str, Any] | None = None,
        engine: str = "local",
        jobs: int = 0,
        **others: Any,
    ) -> None:
        self.stream = load_stream(data, data_folder, world_steps)
        super().__init__("oak", notebook, scale, self.stream.source, engine, jobs, changed=changed)

    @property
    def shown(self) -> dict[str, str]:
        """The classes that have a column of their own, see `driftlab.papers.oak.tables.shown_classes`."""
        return shown_classes(self.stream.categories, self.stream.train.counts, self.stream.evaluated)


class OakSession(OakDataSession):
    """A session of a stream that is learnt.

    Args:
        notebook: Its name, for provenance.
        data: See `OakDataSession`.
        static_images: How many images pretraining has in a synthetic world.
        pretraining_epochs: Epochs over them.
        checkpoint: A detector trained on PASCAL VOC; empty for pretraining on the synthetic static images.
        detector: From `driftlab.models.registry.DETECTORS`.
        cached: Whether the test frames' features are computed once and kept.
        offline_seeds: How many repetitions offline training has, with the first of the seeds.
        settings: For `OakDataSession`, and those of `driftlab.papers.oak.experiment.PROTOCOL` for the runs.

    Raises:
        ParameterError: A name is unknown or a number impossible.
        MissingDataError: Data or checkpoint are not there; the text says what to get.
    """

    def __init__(
        self,
        notebook: str,
        *,
        data: str,
        static_images: int = 800,
        pretraining_epochs: int = 8,
        checkpoint: str = "",
        detector: str = "small",
        cached: bool = True,
        offline_seeds: int = 1,
        **settings: Any,
    ) -> None:
        super().__init__(notebook, data=data, **settings)
        self._offline_seeds = offline_seeds
        self.detector = detector
        self.protocol = {name: settings[name] for name in PROTOCOL if name in settings}
        self.timeline: Timeline = timeline(self.stream, self.protocol.get("batch", 0))
        if checkpoint and data == "world":
            raise ParameterError(
                "checkpoint is a detector of VOC's 20 classes, for official data; the world's detector is "
                "trained on its own static pictures. Leave it empty, or set data to oak."
            )
        if data != "world":
            find_checkpoint(checkpoint)
        self._static_images, self._checkpoint, self._cached = static_images, checkpoint, cached
        self._data: tuple[OakData, str] | None = None
        # Impossible settings are an error before anything starts.
        local = settings.get("engine", "local") == "local"  # a cluster's workers may have what this has not
        if local and self.protocol.get("mixed_precision") and resolve_device("auto").type != "cuda":
            raise ParameterError("mixed_precision needs a CUDA device, and there is none here. Leave it off.")
        self.config(METHODS[0], "known")
        if problem := self.untested_stretch():
            print(f"Note: {problem}")
        self._pretraining = pretraining_config(detector, epochs=pretraining_epochs)

    def config(self, method: str, vocabulary: str, seed: int = 0) -> dict[str, Any]:
        """A run's configuration, see `driftlab.papers.oak.experiment.run_config`."""
        return run_config(
            detector=self.detector,
            method=method,
            vocabulary=vocabulary,
            steps=len(self.timeline),
            seed=seed,
            **self.protocol,
        )

    def require_transfer(self) -> None:
        """Stop before anything is computed, if transfer cannot be measured.

        Raises:
            ParameterError: A stretch of the stream has nothing to be tested on.
        """
        if problem := self.untested_stretch():
            raise ParameterError(problem)

    @property
    def stretches(self) -> list[range]:
        """The steps of each stretch of the stream."""
        return stretches(self.timeline, self.config(METHODS[0], "known")["stream"]["stretch"])

    def untested_stretch(self) -> str:
        """Why transfer cannot be measured, if a stretch has nothing to be tested on; else empty."""
        test, parts = self.stream.test, self.stretches
        for number, part in enumerate(parts, 1):
            labels = [test.labels_of(int(frame)) for frame in frames_of(self.timeline, part)]
            if not np.isin(np.concatenate([[], *labels]), self.stream.evaluated).any():
                return (
                    f"The test frames of stretch {number} of {len(parts)} (steps {part.start} to "
                    f"{part.stop - 1}) show no evaluated class: transfer to it (notebook 24) cannot be "
                    "measured. Choose a longer `stretch`; all runs are computed anew with it."
                )
        return ""

    def runs(
        self, methods: Sequence[str], vocabulary: str, seeds: Sequence[int], *, keep: bool = False
    ) -> pd.DataFrame:
        """The evaluation table of every method and repetition; what is in the store is not computed again.

        Args:
            methods: From `driftlab.papers.oak.methods.METHODS`.
            vocabulary: `known` or `unknown`.
            seeds: Repetitions; offline training has the first `offline_seeds` of them.
            keep: Whether each run's last detector is kept, for `final_detections`.
        """
        repetitions = {"Offline training": seeds[: self._offline_seeds]}
        configs = [
            self.config(method, vocabulary, seed)
            for method in methods
            for seed in repetitions.get(method, seeds)
        ]
        data, digest = self.data()
        return self.sweep(
            OnlineDetection(), configs, data, digest, keep_states="last" if keep else False
        ).table

    def final_detections(
        self, methods: Sequence[str], vocabulary: str = "known", seed: int = 0
    ) -> dict[str, list[Detections]]:
        """Detections in all test frames before the stream and after it.

        Args:
            methods: Whose detectors; they are trained again unless `runs` was to keep them.
            vocabulary: As for `runs`.
            seed: The repetition.

        Returns:
            "before the stream" and "METHOD, after" to detections, one entry per test frame.
        """
        data, digest = self.data()
        experiment, test = OnlineDetection(), Frames(self.stream.test, INPUT[self.detector])
        configs = {method: self.config(method, vocabulary, seed) for method in methods}
        train = partial(
            self.sweep, experiment, list(configs.values()), data, digest, keep_states="last", progress=False
        )
        rows: dict[str, tuple[Config, State | None]] = {}
        for method, config in configs.items():
            chain = experiment.chain(config)
            rows.setdefault("before the stream", (chain[0], None))
            rows[f"{method}, after"] = (chain[-1], self._state(experiment, digest, chain[-1], train))
        detections = {}
        for row, (stage, state) in rows.items():
            detector = restored(data, stage, state, torch.device("cpu"))
            every = range(len(self.stream.test))
            detections[row] = detect(detector, test, FreshFeatures(detector, test), every)
        return detections

    def data(self) -> tuple[OakData, str]:
        """The data that runs are executed on, and their digest; pretrains on first use."""
        if self._data is None:
            weights, pretrained, origin = self._weights()
            digest = hashlib.sha256(json.dumps([self.source.digest, origin]).encode()).hexdigest()
            # Whatever the frozen part's features depend on; a new version promises that all is made anew.
            key = [digest, self.detector, INPUT[self.detector], OnlineDetection().version]
            name = hashlib.sha256(json.dumps(key).encode()).hexdigest()[:16]
            features = outputs_dir() / "features" / name if self._cached else None
            places = tuple(self.stream.categories.index(name) for name in pretrained)
            self._data = OakData(self.stream, weights, places, features), digest
        return self._data

    def _weights(self) -> tuple[Mapping[str, Tensor], Sequence[str], str]:
        """The pretrained weights for the stream's categories, the classes they know, and what made them."""
        wanted = self.stream.categories
        if self._checkpoint:
            weights, digest = from_checkpoint(Path(self._checkpoint), self.detector, wanted)
            known = weights["roi_head.bbox_head.known"][:-1].numpy()
            return weights, [wanted[c] for c in np.flatnonzero(known)], digest
        static = catalog.load("voc", static_world(images=self._static_images))
        assert isinstance(static, DetectionSet)
        config, experiment = self._pretraining, Pretraining()
        digest = static.source.digest
        train = partial(self.sweep, experiment, [config], StaticImages(static), digest, keep_states="last")
        train()
        last = experiment.chain(config)[-1]
        learnt = pretrained_weights(self._state(experiment, digest, last, train))
        weights = for_stream(learnt, static.categories, self.detector, wanted, "the pretraining")
        stage = stage_id(experiment, digest, last)
        return weights, static.categories, stage.key

    def _state(
        self, experiment: Experiment, digest: str, stage: Config, again: Callable[[], object]
    ) -> State:
        """The state of a stage that a sweep keeps; a damaged one is computed again."""
        for attempt in range(2):
            entry = self.store.get(stage_id(experiment, digest, stage))
            state = self.store.load_state(entry) if entry else None
            if state is not None:
                return state
            if not attempt:
                again()
        raise StoreError(
            f"The store {self.store.folder} has lost a detector since it was trained; another process "
            "may have removed it. Run the cell again."
        )


def load_stream(data: str, folder: str = "", steps: int = 150) -> FrameStream:
    """A stream, official or synthetic, by the name that notebooks use.

    Args:
        data: `world` or `oak`.
        folder: Where the official data lie; empty for their usual place.
        steps: How many steps a world's stream has.

    Raises:
        ParameterError: The name is unknown.
        MissingDataError: The data are not there.
        DataError: They are damaged, or no category can be evaluated.
    """
    stream = catalog.load_by_data_name(data, "stream", folder, steps=steps)
    assert isinstance(stream, FrameStream)
    if not stream.evaluated:
        raise DataError(
            "No category has boxes both in training and in test frames, so that nothing can be evaluated.",
            file=stream.source.name,
            hint="Complete the label files.",
        )
    return stream
