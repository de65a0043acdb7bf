"""A detector of a stream on the whole test set: the rows of the evaluation table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from driftlab.data.detection.records import FrameStream
from driftlab.metrics.detection import Detections, Truth, average_precision
from driftlab.models.detectors.heads import Doubt
from driftlab.models.detectors.stream_detector import StreamFasterRCNN
from driftlab.runs.experiment import Config, Row
from driftlab.scenarios.stream import Timeline, frames_of, stretches
from driftlab.training.detection.evaluation import detect, unknown_precision
from driftlab.training.detection.frames import Frames
from driftlab.training.detection.ground_truth import truths_of
from driftlab.training.detection.kept_features import FreshFeatures, KeptFeatures

DOUBT = {"Incremental": 0.1, "EWC": 0.2, "iCaRL": 0.2, "Offline training": 0.1}
"""Below which probability of every class an object is IDK (released code; `DOUBT_OF_OTHERS` for others)."""
DOUBT_OF_OTHERS = 0.1


@dataclass(frozen=True)
class Evaluation:
    """The test set, as the detector of a run is tested on it.

    Attributes:
        stream: Its test frames and evaluated classes.
        detector: As it is at the time.
        frames: The test frames.
        time: To which step each belongs.
        stage: The run's settings.
        features: Where the frozen part's features lie; None computes them anew.
    """

    stream: FrameStream
    detector: StreamFasterRCNN
    frames: Frames
    time: Timeline
    stage: Config
    features: Path | None

    def rows(self, until: int) -> list[Row]:
        """AP of every evaluated class, of IDK, and at a stretch's end the mean AP of each stretch."""
        known = self.detector.roi_head.bbox_head.known[:-1].cpu().numpy()
        doubts = self.stage["vocabulary"] == "unknown" and self.stage["method"] != "Non-adaptation"
        doubt = Doubt(DOUBT.get(self.stage["method"], DOUBT_OF_OTHERS)) if doubts else None
        images = range(len(self.stream.test))
        found = detect(self.detector, self.frames, self._features(), images, doubt)
        truth = truths_of(self.stream.test, images)
        named = [_of_known_classes(one, len(known)) for one in found]
        rows = [
            _row(until, f"class:{self.stream.categories[c]}", "ap50", ap)
            for c, ap in self._precision(named, truth).items()
        ]
        unknown = unknown_precision(found, truth, known) if doubts else None
        if unknown is not None:
            rows.append(_row(until, "idk", "ap50", unknown))
        return rows + self._stretches(until, named, truth)

    @property
    def ends(self) -> list[int]:
        """At which evaluations the stretches are measured: at the end of each of them."""
        return [part.stop for part in self._parts]

    @property
    def _parts(self) -> list[range]:
        return stretches(self.time, self.stage["stream"]["stretch"])

    def _stretches(self, until: int, named: Sequence[Detections], truth: Sequence[Truth]) -> list[Row]:
        rows: list[Row] = []
        if until and until not in self.ends:
            return rows
        for number, part in enumerate(self._parts, 1):
            own = frames_of(self.time, part)
            if ap := self._precision([named[i] for i in own], [truth[i] for i in own]):
                mean = float(np.mean(list(ap.values())))
                rows.append(_row(until, f"stretch:{number}", "map50", mean))
        return rows

    def _precision(self, found: Sequence[Detections], truth: Sequence[Truth]) -> dict[int, float]:
        """AP of the evaluated classes that have a box."""
        if not truth:
            return {}
        ap = average_precision(found, truth, len(self.stream.categories))
        return {c: float(ap[c]) for c in self.stream.evaluated if not np.isnan(ap[c])}

    def _features(self) -> KeptFeatures | FreshFeatures:
        if self.features is None or len(np.unique(self.frames.records.sizes, axis=0)) > 1:
            return FreshFeatures(self.detector, self.frames)
        return KeptFeatures(self.features, self.detector, self.frames)


def _row(until: int, tested_on: str, metric: str, value: float) -> Row:
    return {"trained_on": until, "tested_on": tested_on, "metric": metric, "value": value}


def _of_known_classes(one: Detections, classes: int) -> Detections:
    kept = one.labels < classes
    return Detections(one.boxes[kept], one.scores[kept], one.labels[kept])
