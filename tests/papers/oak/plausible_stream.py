"""Evaluation tables and streams that look like Wanderlust's, to draw and to judge."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from driftlab.core.evaluation_table import evaluation_table
from driftlab.core.provenance import Source
from driftlab.data.detection.records import DetectionSet, FrameStream
from numpy.typing import NDArray

STREAM = Source("synthetic", "oak", "a walk of 120 steps, seed 0", "ab" * 32)
CLASSES = [
    "car",
    "person",
    "chair",
    "dining table",
    "bag",
    "awning",
    "fireplug",
    "umbrella",
    "booth",
    "kiosk",
]
KNOWN_TO_VOC = {"car": 0.55, "person": 0.5, "chair": 0.25, "dining table": 0.25}
# How fast a method learns a class it sees, what it keeps of one it does not see each step, and its ceiling.
LEARNS = {
    "Incremental": (0.06, 0.985, 0.7),
    "EWC": (0.057, 0.985, 0.7),
    "iCaRL": (0.06, 0.997, 0.75),
    "Offline training": (0.2, 1.0, 0.85),
}
METHODS = ["Non-adaptation", *LEARNS]


@cache
def presence(steps: int = 120, classes: int = len(CLASSES), seed: int = 0) -> NDArray[np.bool_]:
    """(steps, classes) which step shows which class: visits of some steps, rarer for later classes."""
    rng = np.random.default_rng([seed, 8])
    shown = np.zeros((steps, classes), dtype=np.bool_)
    for label in range(classes):
        first = 0 if label < 2 else int(steps * 0.5 * label / classes)
        at = first
        while at < steps:
            stay = int(rng.integers(3, 14))
            shown[at : at + stay, label] = rng.random(len(shown[at : at + stay])) < 0.9
            shown[at, label] = True
            at += stay + int(rng.integers(4, 8 + 6 * label))
    return shown


def stream_table(
    *,
    methods: Sequence[str] = METHODS,
    seeds: int = 1,
    vocabulary: str = "known",
    steps: int = 120,
    every: int = 5,
    stretch: int = 20,
    noise: float = 0.01,
) -> pd.DataFrame:
    """AP that rises while a class is seen and decays while it is not, with all the rows of an experiment."""
    shown = presence(steps)
    rows: list[tuple[str, int, int, str, str, float]] = []
    for method in methods:
        for seed in range(seeds):
            rng = np.random.default_rng([seed, sum(method.encode()), 9])
            ap = np.array([KNOWN_TO_VOC.get(name, 0.0) for name in CLASSES])
            floor, last = 0.4 * ap, np.full(len(CLASSES), -1)
            ceiling = np.linspace(1.0, 0.5, len(CLASSES)) * (0.9 if vocabulary == "unknown" else 1.0)
            for step in range(steps + 1):
                if step:
                    now = shown[step - 1]
                    last[now] = step - 1
                    if method in LEARNS:
                        learns, keeps, top = LEARNS[method]
                        aim = np.maximum(top * ceiling, ap)
                        ap = np.where(now, ap + learns * (aim - ap), floor + keeps * (ap - floor))
                jitter = noise * (ap > 0) * (method in LEARNS)
                seen = np.clip(ap + jitter * rng.normal(0, 1, len(ap)), 0, 1)
                if step % every == 0 and (step or method != "Offline training"):
                    for label, name in enumerate(CLASSES):
                        rows.append((method, seed, step, f"class:{name}", "ap50", seen[label]))
                        if last[label] >= 0 and method != "Non-adaptation":
                            gap = float(step - 1 - last[label])
                            rows.append((method, seed, step, f"class:{name}", "steps_since_seen", gap))
                    if vocabulary == "unknown" and step and (last < 0).any() and method != "Non-adaptation":
                        rows.append((method, seed, step, "idk", "ap50", float(rng.uniform(0.001, 0.006))))
                if step % stretch == 0 and method != "Offline training":
                    for j in range(steps // stretch):
                        here = shown[j * stretch : (j + 1) * stretch].any(axis=0)
                        rows.append(
                            (method, seed, step, f"stretch:{j + 1}", "map50", float(seen[here].mean()))
                        )
    frame = pd.DataFrame(rows, columns=["method", "seed", "trained_on", "tested_on", "metric", "value"])
    return evaluation_table(frame.assign(paper="oak", variant=f"oak/small/{vocabulary}", order=""))


def detection_set(
    frames: Sequence[Sequence[int]],
    *,
    size: tuple[int, int] = (160, 120),
    seed: int = 0,
    prefix: str = "train",
) -> DetectionSet:
    """Frames with boxes of the given labels at random places; the pictures themselves are not there."""
    rng = np.random.default_rng([seed, 10])
    labels = np.array([label for frame in frames for label in frame], dtype=np.int64)
    side = np.exp(rng.normal(np.log(22), 0.5, (len(labels), 2))).clip(6, 100)
    corner = rng.random((len(labels), 2)) * (np.array(size) - side)
    return DetectionSet(
        images=tuple(Path(f"{prefix}/{place:05}.jpg") for place in range(len(frames))),
        names=tuple(f"{prefix}/{place:05}" for place in range(len(frames))),
        sizes=np.tile(np.array(size, dtype=np.int32), (len(frames), 1)),
        starts=np.cumsum([0, *map(len, frames)]).astype(np.int64),
        boxes=np.hstack([corner, corner + side]).astype(np.float32),
        labels=labels,
        crowd=np.zeros(len(labels), dtype=np.bool_),
        categories=tuple(CLASSES),
        source=STREAM,
    )


def plausible_stream(steps: int = 120, frames: int = 4) -> FrameStream:
    """A stream that shows the classes when `presence` does."""
    rng = np.random.default_rng([0, 11])

    def frame(step: int) -> list[int]:
        present = np.flatnonzero(presence(steps)[step])
        return [int(label) for label in present for _ in range(rng.poisson(1.6 / (1 + 0.3 * label)))]

    of_step = np.repeat(np.arange(steps), frames)
    train = detection_set([frame(step) for step in of_step])
    test = detection_set([frame(step) for step in range(steps)], seed=1, prefix="test")
    both = np.flatnonzero((train.counts > 0) & (test.counts > 0))
    last = np.searchsorted(of_step, np.arange(steps), "right") - 1
    return FrameStream(train, of_step, test, last, tuple(int(label) for label in both))
