"""Claims about bins of the time since a class was seen, on curves made by hand."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from driftlab.papers.oak.claims.forgetting import (
    forgetting_grows_with_time,
    incremental_does_best_in_most_classes,
    losses,
)
from driftlab.papers.oak.scores import CONTINUAL

CLASSES = [f"class {c}" for c in range(6)]


def curve(slopes: Mapping[str, float], *, bins: int = 5, start: float = 60.0) -> pd.DataFrame:
    """aCAP that falls by `slope` points from bin to bin, for each method and class."""
    rows = [
        (method, name, k, 4.0 * k, (start - slope * k) / 100, 5)
        for method, slope in slopes.items()
        for name in CLASSES
        for k in range(bins)
    ]
    frame = pd.DataFrame(rows, columns=["method", "class", "bin", "since", "value", "evaluations"])
    return frame.assign(paper="oak", variant="oak/small/known", seed=0, order="")


def test_forgetting_so_far() -> None:
    bins = losses(curve({"EWC": 2.0}))
    assert bins[bins["class"] == "class 0"]["loss"].round(6).tolist() == [0, 2, 4, 6, 8]


def test_it_grows_for_two_of_three_methods() -> None:
    verdict = forgetting_grows_with_time(curve({"Incremental": 2.0, "EWC": 1.0, "iCaRL": -1.0}))
    assert (verdict.claim, verdict.outcome) == ("oak-22", "holds")
    assert "iCaRL: median -1.00, positive in 0 of 6 classes" in verdict.evidence
    shrinks = curve({"Incremental": 2.0, "EWC": -1.0, "iCaRL": -1.0})
    assert forgetting_grows_with_time(shrinks).outcome == "does not hold"


def test_methods_that_disagree_or_few_classes_leave_it_undecided() -> None:
    some = curve(dict.fromkeys(CONTINUAL, 1.0))
    few = some[some["class"].isin(CLASSES[:3])]
    assert forgetting_grows_with_time(few).outcome == "undecided", "three signs cannot have p < 0.05"


def test_bins_that_are_too_few() -> None:
    verdict = forgetting_grows_with_time(curve(dict.fromkeys(CONTINUAL, 1.0), bins=3))
    assert (verdict.outcome, verdict.evidence) == ("not testable", "Incremental: no class has 4 bins.")
    assert forgetting_grows_with_time(curve({"EWC": 1.0})).evidence == "Without runs of Incremental, iCaRL."


def test_incremental_does_best() -> None:
    best = incremental_does_best_in_most_classes(
        curve({"Incremental": 0.5, "EWC": 1.0, "iCaRL": 2.0}), CLASSES
    )
    assert (best.claim, best.outcome) == ("oak-23", "holds")
    assert "Of 6 classes Incremental forgets least in 6" in best.evidence
    worse = incremental_does_best_in_most_classes(
        curve({"Incremental": 1.5, "EWC": 1.0, "iCaRL": 2.0}), CLASSES
    )
    assert worse.outcome == "does not hold"


def test_a_tie_counts_half() -> None:
    tied = incremental_does_best_in_most_classes(
        curve({"Incremental": 1.0, "EWC": 1.0, "iCaRL": 2.0}), CLASSES
    )
    assert tied.outcome == "does not hold" and "forgets least in 3" in tied.evidence


def test_no_sample_class_has_two_bins() -> None:
    verdict = incremental_does_best_in_most_classes(curve(dict.fromkeys(CONTINUAL, 1.0), bins=1), CLASSES)
    assert verdict.outcome == "not testable"
