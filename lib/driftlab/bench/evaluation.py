"""Benchmark of a detector's evaluation: cached features of the frozen part against computing them."""

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
TRAINING_FRAMES = 320
"""Frames that the detector is trained on first; with random weights it has no detections and is faster."""


@dataclass(frozen=True)
class EvaluationTimes:
    """Times of evaluations of one detector, in one process with one thread.

    Attributes:
        detector: Name of the detector.
        frames: Number of test frames.
        filling: Seconds to compute and write their features once.
        bytes: Size of the features on disk.
        fresh: Seconds of evaluations that compute the features, by round.
        kept: Seconds of evaluations that read the features from disk, by round.
    """

    detector: str
    frames: int
    filling: float
    bytes: int
    fresh: list[float]
    kept: list[float]

    @property
    def ratios(self) -> list[float]:
        """Speed-up of evaluation by cached features, by round."""
        return [fresh / kept for fresh, kept in zip(self.fresh, self.kept, strict=True)]


def measure_evaluation(
    rounds: int, report_progress: Callable[[str], None], steps: int = 150
) -> EvaluationTimes:
    """Time evaluations with computed and with cached features, on the demo's stream and detector.

    Args:
        rounds: Number of evaluations of each kind.
        report_progress: Called with a line of text for each stage of the measurement.
        steps: Length of the stream, which has one test frame per step.

    Raises:
        BenchmarkError: Detections with computed and with cached features differ.
    """
    keep_freed_memory()
    report_progress(f"A detector's evaluation on {steps} test frames")
    stream = load_stream("world", steps=steps)
    size, classes = INPUT[DETECTOR], len(stream.categories)
    frames, truth = Frames(stream.test, size), truths_of(stream.test, range(len(stream.test)))
    fresh: list[float] = []
    kept: list[float] = []
    with _single_thread(), tempfile.TemporaryDirectory(prefix="driftlab-bench-") as folder:
        detector = _trained_detector(Frames(stream.train, size), classes)
        start = time.perf_counter()
        kept_features = KeptFeatures(Path(folder, "features"), detector, frames)
        filling = time.perf_counter() - start
        feature_sources: tuple[tuple[list[float], Callable[[int], Features]], ...] = (
            (fresh, FreshFeatures(detector, frames)),
            (kept, kept_features),
        )
        for number in range(1, rounds + 1):
            detections: list[list[Detections]] = []
            for seconds, features in feature_sources:
                start = time.perf_counter()
                detections.append(detect(detector, frames, features, range(len(stream.test))))
                average_precision(detections[-1], truth, classes)
                seconds.append(time.perf_counter() - start)
            _require_equal(*detections)
            report_progress(
                f"Round {number} of {rounds}: {fresh[-1]:.2f} s, with kept features {kept[-1]:.2f} s"
            )
        size_on_disk = sum(file.stat().st_size for file in Path(folder, "features").iterdir())
    return EvaluationTimes(DETECTOR, len(stream.test), filling, size_on_disk, fresh, kept)


def _trained_detector(frames: Frames, classes: int) -> StreamFasterRCNN:
    """Train a detector for one epoch on the first frames."""
    detector = build_detector(DETECTOR, classes, 0, torch.device("cpu"))
    detector.freeze()
    images = np.arange(min(TRAINING_FRAMES, len(frames.records)))
    features = StreamFeatures(detector, frames, 2**30)
    train_detector(detector, features, images, Optimisation(0.02), epochs=1, batch=16, seed=0)
    return detector


def _require_equal(fresh: list[Detections], kept: list[Detections]) -> None:
    """Raise a `BenchmarkError` if detections differ in any bit."""
    for image, (computed, cached) in enumerate(zip(fresh, kept, strict=True)):
        same = (
            np.array_equal(computed.boxes, cached.boxes)
            and np.array_equal(computed.scores, cached.scores)
            and np.array_equal(computed.labels, cached.labels)
        )
        if not same:
            raise BenchmarkError(
                f"With kept features the detector finds something else in test frame {image} than with "
                "features computed anew, so that times cannot be compared. This is a bug; please report it."
            )


@contextmanager
def _single_thread() -> Iterator[None]:
    """Let PyTorch use one thread, as in the workers of a sweep."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
