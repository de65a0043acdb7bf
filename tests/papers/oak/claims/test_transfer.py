"""oak-34: the gain in AP after the first hundred training boxes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from driftlab.papers.oak.claims.transfer import early_gains, ewc_is_the_more_cautious_learner

from .printed import printed

NAMES = ["car", "bag", "kiosk"]
BOXES = np.zeros((40, 3), dtype=np.int64)
BOXES[5, 0] = 100  # the car has its hundred boxes after step 6
BOXES[[10, 20], 1] = 60  # the bag after step 21
BOXES[30, 2] = 99  # the kiosk never


def ap(gains: Mapping[str, float]) -> pd.DataFrame:
    """AP 0.1 before the stream and at 5 steps; then more by the method's gain, and much more later."""
    rows = [
        (method, seed, time, name, value)
        for method, gain in gains.items()
        for seed in range(3)
        for name in NAMES
        for time, value in ((0, 0.1), (5, 0.1), (10, 0.1 + gain), (25, 0.1 + gain), (40, 0.9))
    ]
    frame = pd.DataFrame(rows, columns=["method", "seed", "trained_on", "class", "value"])
    return frame.assign(paper="oak", variant="oak/small/known", order="")


def test_the_first_evaluation_after_a_hundred_boxes() -> None:
    gains = early_gains(ap({"EWC": 0.2}), BOXES, NAMES)
    assert gains.groupby("class")["gain"].mean().to_dict() == pytest.approx({"bag": 0.2, "car": 0.2})


@pytest.mark.parametrize(
    ("incremental", "outcome"), [(0.3, "holds"), (0.1, "does not hold"), (0.2005, "undecided")]
)
def test_the_more_cautious_learner(incremental: float, outcome: str) -> None:
    table_4 = printed("table_4", "FWT", "BWT")
    verdict = ewc_is_the_more_cautious_learner(
        table_4, ap({"Incremental": incremental, "EWC": 0.2}), BOXES, NAMES
    )
    assert (verdict.claim, verdict.outcome) == ("oak-34", outcome), verdict.evidence
    assert "FWT: Incremental 15.01, EWC 14.84" in verdict.evidence


def test_a_stream_with_few_boxes() -> None:
    table_4 = printed("table_4", "FWT", "BWT")
    few = ewc_is_the_more_cautious_learner(table_4, ap({"Incremental": 0.3, "EWC": 0.2}), BOXES[:5], NAMES)
    assert few.outcome == "not testable" and "No class has 100 training boxes" in few.evidence
