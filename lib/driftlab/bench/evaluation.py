"""A detector's evaluation on test frames, with the frozen part's features kept and computed anew."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from driftlab.bench.plain import BenchmarkError
from driftlab.metrics.detection import Detections, average_precision
from driftlab.models.detectors.build import build_detector
from driftlab.models.detectors.configs import INPUT
from driftlab.models.detectors.stream_detector import StreamFasterRCNN
from driftlab.models.detectors.stream_loss import Features
from driftlab.papers.oak.session import load_stream
from driftlab.training.cpu_settings import keep_freed_memory
from driftlab.training.detection.batches import train_detector
from driftlab.training.detection.evaluation import detect
from driftlab.training.detection.features import StreamFeatures
from driftlab.training.detection.frames import Frames
from driftlab.training.detection.ground_truth import truths_of
from driftlab.training.detection.kept_features import FreshFeatures, KeptFeatures
from driftlab.training.detection.runner import Optimisation

DETECTOR = "small"
LEARNT = 320
"""Frames over which the detector learns first: one with random weights finds nothing, and is fast."""


@dataclass(frozen=True)
class EvaluationTimes:
    """Seconds of evaluations of one detector, in one process with one thread.

    Attributes:
        detector: Its name.
        frames: How many test frames there are.
        filling: Computing and writing their features.
        bytes: That the features take on disk.
        fresh: Evaluations that compute the features themselves, by round.
        kept: Evaluations that read them, by round.
    """

    detector: str
    frames: int
    filling: float
    bytes: int
    fresh: list[float]
    kept: list[float]

    @property
    def ratios(self) -> list[float]:
        """How many times faster an evaluation with kept features is, by round."""
        return [fresh / kept for fresh, kept in zip(self.fresh, self.kept, strict=True)]


def measure_evaluation(rounds: int, say: Callable[[str], None], steps: int = 150) -> EvaluationTimes:
    """Evaluate in turn both ways, on the demo's stream and detector.

    Args:
        rounds: How often each way.
        say: Is told what is being done.
        steps: How long the stream is; it has one test frame a step.

    Raises:
        BenchmarkError: The two ways did not find the same.
    """
    keep_freed_memory()
    say(f"A detector's evaluation on {steps} test frames")
    stream = load_stream("world", steps=steps)
    size, classes = INPUT[DETECTOR], len(stream.categories)
    frames, truth = Frames(stream.test, size), truths_of(stream.test, range(len(stream.test)))
    fresh: list[float] = []
    kept: list[float] = []
    with _one_thread(), tempfile.TemporaryDirectory(prefix="driftlab-bench-") as folder:
        detector = _learnt(Frames(stream.train, size), classes)
        began = time.perf_counter()
        reading = KeptFeatures(Path(folder, "features"), detector, frames)
        filling = time.perf_counter() - began
        ways: tuple[tuple[list[float], Callable[[int], Features]], ...] = (
            (fresh, FreshFeatures(detector, frames)),
            (kept, reading),
        )
        for number in range(1, rounds + 1):
            found: list[list[Detections]] = []
            for times, features in ways:
                began = time.perf_counter()
                found.append(detect(detector, frames, features, range(len(stream.test))))
                average_precision(found[-1], truth, classes)
                times.append(time.perf_counter() - began)
            _require_equal(*found)
            say(f"Round {number} of {rounds}: {fresh[-1]:.2f} s, with kept features {kept[-1]:.2f} s")
        size_on_disk = sum(file.stat().st_size for file in Path(folder, "features").iterdir())
    return EvaluationTimes(DETECTOR, len(stream.test), filling, size_on_disk, fresh, kept)


def _learnt(frames: Frames, classes: int) -> StreamFasterRCNN:
    detector = build_detector(DETECTOR, classes, 0, torch.device("cpu"))
    detector.freeze()
    images = np.arange(min(LEARNT, len(frames.records)))
    features = StreamFeatures(detector, frames, 2**30)
    train_detector(detector, features, images, Optimisation(0.02), epochs=1, batch=16, seed=0)
    return detector


def _require_equal(fresh: list[Detections], kept: list[Detections]) -> None:
    for image, (one, other) in enumerate(zip(fresh, kept, strict=True)):
        same = (
            np.array_equal(one.boxes, other.boxes)
            and np.array_equal(one.scores, other.scores)
            and np.array_equal(one.labels, other.labels)
        )
        if not same:
            raise BenchmarkError(
                f"With kept features the detector finds something else in test frame {image} than with "
                "features computed anew, so that times cannot be compared. This is a bug; please report it."
            )


@contextmanager
def _one_thread() -> Iterator[None]:
    """As in the workers of a sweep."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
