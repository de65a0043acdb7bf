"""Claims about the detector: its region proposals (oak-33), and small objects (oak-36)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from driftlab.metrics.detection import Detections, Truth, average_precision
from driftlab.papers.oak.stream_statistics import HEIGHT, MEDIUM, SMALL
from driftlab.reporting.decisions import Decision, bootstrapped
from driftlab.reporting.verdicts import Verdict, judge, not_testable

FEWEST_BOXES = 10
MARGIN = 5.0


def training_the_rpn_improves_fine_tuning() -> Verdict:
    """oak-33: Training the RPN along significantly improves fine-tuning."""
    test = "CAP of Incremental with the RPN trained at least 0.5 points above that with it frozen."
    reason = "No notebook trains with a frozen RPN; the paper prints no number to compare with."
    return not_testable("oak-33", test, reason)


def small_objects_are_hard(
    detections: Mapping[str, Sequence[Detections]], truth: Sequence[Truth], height: float
) -> Verdict:
    """oak-36: Small boxes make detection hard.

    Args:
        detections: Of the test frames, by detector; the last one is judged, which has learnt most.
        truth: Of the same frames.
        height: Of the frames, in pixels; limits of sizes are scaled to it.
    """
    test = (
        f"AP of small objects (below {SMALL:g} × {SMALL:g} pixels of a frame {HEIGHT} pixels high), mean "
        f"over classes with at least {FEWEST_BOXES} boxes of each size, more than {MARGIN:g} points and two "
        f"standard deviations below that of large ones (from {MEDIUM:g} × {MEDIUM:g}); fails if it is not "
        "lower. One detector, bootstrap over classes."
    )
    detector, found = list(detections.items())[-1]
    labels = [frame.labels for frame in truth] + [frame.labels for frame in found]
    classes = 1 + max(int(of_frame.max(initial=0)) for of_frame in labels)
    limits = (np.array([0.0, SMALL, MEDIUM, np.inf]) * height / HEIGHT) ** 2
    ranges = list(zip(limits[:-1].tolist(), limits[1:].tolist(), strict=True))
    counts = np.stack([_counts(truth, classes, *limit) for limit in ranges])
    chosen = np.flatnonzero((counts >= FEWEST_BOXES).all(axis=0))
    if len(chosen) < 2:
        totals = ", ".join(map(str, counts.sum(axis=1).tolist()))
        reason = (
            f"{len(chosen)} classes have {FEWEST_BOXES} boxes of each size (small, medium, large: {totals})."
        )
        return not_testable("oak-36", test, reason)
    per_size = [average_precision(found, truth, classes, areas=limit) for limit in ranges]
    ap = 100 * np.stack(per_size)[:, chosen]
    lead = ap[2] - ap[0]
    gap = bootstrapped(lambda drawn: float(lead[drawn].mean()), len(chosen))
    decided: Decision = "undecided"
    if gap.value > max(MARGIN, 2 * gap.noise):
        decided = "holds"
    elif gap.value <= 0:
        decided = "fails"
    small, medium, large = ap.mean(axis=1)
    words = (
        f"{detector}: AP {small:.1f} small, {medium:.1f} medium, {large:.1f} large, over {len(chosen)} "
        f"classes; large − small {gap.text()}."
    )
    return judge("oak-36", test, decided, words)


def _counts(truth: Sequence[Truth], classes: int, least: float, most: float) -> NDArray[np.int64]:
    """(classes,) boxes with an area from `least` to below `most`."""
    boxes = np.concatenate([frame.boxes[~frame.ignored] for frame in truth]).astype(np.float64)
    labels = np.concatenate([frame.labels[~frame.ignored] for frame in truth])
    areas = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    chosen = labels[(areas >= least) & (areas < most)]
    return np.bincount(chosen, minlength=classes).astype(np.int64)
