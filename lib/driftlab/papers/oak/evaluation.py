"""Evaluation of a stream's detector on the whole test set: AP per class, of IDK and per stretch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from driftlab.data.detection.records import FrameStream
from driftlab.metrics.detection import Detections, Truth, average_precision
from driftlab.models.detectors.heads import Doubt
from driftlab.models.detectors.stream_detector import StreamFasterRCNN
from driftlab.papers.oak.methods import SHUFFLED
from driftlab.runs.experiment import Config, Row
from driftlab.scenarios.stream import Timeline, frames_of, stretches
from driftlab.training.detection.evaluation import detect, unknown_precision
from driftlab.training.detection.frames import Frames
from driftlab.training.detection.ground_truth import truths_of
from driftlab.training.detection.kept_features import FreshFeatures, KeptFeatures

DOUBT = {"Incremental": 0.1, "EWC": 0.2, "iCaRL": 0.2, "Offline training": 0.1}
"""Class probability below which an object is IDK, per method (released code; others: `DOUBT_OF_OTHERS`)."""
DOUBT_OF_OTHERS = 0.1


@dataclass(frozen=True)
class Evaluation:
    """Evaluates the detector of a run on the whole test set.

    Attributes:
        stream: Test frames and evaluated classes.
        detector: Evaluated in its present state.
        frames: The test frames, scaled for the detector.
        time: The step to which each test frame belongs.
        stage: The stage's configuration.
        features: Folder of the frozen part's cached features; None computes them at every evaluation.
    """

    stream: FrameStream
    detector: StreamFasterRCNN
    frames: Frames
    time: Timeline
    stage: Config
    features: Path | None

    def rows(self, until: int) -> list[Row]:
        """The table's rows: AP per evaluated class and of IDK, at a stretch's end mAP per stretch.

        Args:
            until: How many steps of the stream were learnt (`trained_on`).

        Returns:
            Rows tested on `class:NAME` and `idk` with the metric `ap50`, on `stretch:NUMBER` with `map50`.
        """
        known = self.detector.roi_head.bbox_head.known[:-1].cpu().numpy()
        doubts = self.stage["vocabulary"] == "unknown" and self.stage["method"] != "Non-adaptation"
        doubt = (
            Doubt(
                DOUBT.get(self.stage["method"], DOUBT_OF_OTHERS),
                regressed=self.stage["unknown_boxes"] == "regressed",
            )
            if doubts
            else None
        )
        images = range(len(self.stream.test))
        detections = detect(self.detector, self.frames, self._features(), images, doubt)
        truth = truths_of(self.stream.test, images)
        named = [_of_known_classes(of_frame, len(known)) for of_frame in detections]
        rows = [
            _row(until, f"class:{self.stream.categories[c]}", "ap50", ap)
            for c, ap in self._precision(named, truth).items()
        ]
        unknown = unknown_precision(detections, truth, known) if doubts else None
        if unknown is not None:
            rows.append(_row(until, "idk", "ap50", unknown))
        return rows + self._stretches(until, named, truth)

    @property
    def ends(self) -> list[int]:
        """The numbers of steps after which stretches are evaluated: the end of each stretch."""
        return [part.stop for part in self._parts]

    @property
    def _parts(self) -> list[range]:
        return stretches(self.time, self.stage["stream"]["stretch"])

    def _stretches(self, until: int, named: Sequence[Detections], truth: Sequence[Truth]) -> list[Row]:
        rows: list[Row] = []
        if (until and until not in self.ends) or self.stage["method"] == SHUFFLED:
            return rows  # a stream without its order has no stretches
        for number, part in enumerate(self._parts, 1):
            frames = frames_of(self.time, part)
            if ap := self._precision([named[i] for i in frames], [truth[i] for i in frames]):
                mean = float(np.mean(list(ap.values())))
                rows.append(_row(until, f"stretch:{number}", "map50", mean))
        return rows

    def _precision(self, detections: Sequence[Detections], truth: Sequence[Truth]) -> dict[int, float]:
        """AP per evaluated class that has a box in these frames, by class index."""
        if not truth:
            return {}
        ap = average_precision(detections, truth, len(self.stream.categories))
        return {c: float(ap[c]) for c in self.stream.evaluated if not np.isnan(ap[c])}

    def _features(self) -> KeptFeatures | FreshFeatures:
        if self.features is None or len(np.unique(self.frames.records.sizes, axis=0)) > 1:
            return FreshFeatures(self.detector, self.frames)
        return KeptFeatures(self.features, self.detector, self.frames)


def _row(until: int, tested_on: str, metric: str, value: float) -> Row:
    return {"trained_on": until, "tested_on": tested_on, "metric": metric, "value": value}


def _of_known_classes(detections: Detections, classes: int) -> Detections:
    kept = detections.labels < classes
    return Detections(detections.boxes[kept], detections.scores[kept], detections.labels[kept])
