"""Claims about AP over time, on curves made by hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from driftlab.papers.oak.claims import over_time
from driftlab.papers.oak.scores import CONTINUAL
from driftlab.reporting.verdicts import Verdict

TIMES = range(10, 210, 10)


def curves(
    change: Callable[[bool], float], *, classes: int = 8, first: int = 3, methods: tuple[str, ...] = CONTINUAL
) -> pd.DataFrame:
    """Classes that are seen for two evaluations and away for three, changed by `change(seen)` points."""
    rows = []
    for method in methods:
        for c in range(classes):
            value, last = 0.3, None
            for place, time in enumerate(TIMES):
                seen = place >= first and (place + c) % 5 < 2
                step = change(seen) / 100 if place else np.nan
                value += 0.0 if np.isnan(step) else step
                last = time - 1 if seen else last
                since = np.nan if last is None else float(time - 1 - last)
                rows.append((method, f"class {c}", time, value, since, seen, step))
    frame = pd.DataFrame(rows, columns=["method", "class", "trained_on", "value", "since", "seen", "change"])
    return frame.assign(paper="oak", variant="oak/small/known", seed=0, order="")


def test_it_rises_while_seen_and_falls_after() -> None:
    verdict = over_time.ap_rises_while_seen_and_falls_after(curves(lambda seen: 2.0 if seen else -0.5))
    assert (verdict.claim, verdict.outcome) == ("oak-8", "holds")
    assert (
        "iCaRL: median +2.00 points per interval while seen and -0.50 while not, 8 classes"
        in verdict.evidence
    )


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        (lambda seen: -1.0 if seen else -0.5, "does not hold"),  # falls faster while seen
        (lambda seen: 1.0 if seen else 0.5, "undecided"),  # rises faster while seen, but never falls
    ],
)
def test_it_does_not(change: Callable[[bool], float], outcome: str) -> None:
    assert over_time.ap_rises_while_seen_and_falls_after(curves(change)).outcome == outcome


def test_few_classes_are_no_evidence() -> None:
    found = over_time.ap_rises_while_seen_and_falls_after(
        curves(lambda seen: 2.0 if seen else -0.5, classes=3)
    )
    assert found.outcome == "undecided", "three classes cannot have p < 0.05"
    late = curves(lambda seen: 2.0 if seen else -0.5, first=16)
    found = over_time.ap_rises_while_seen_and_falls_after(late)
    assert found.outcome == "not testable" and "no class has 3 intervals of each kind" in found.evidence


def returning(gain: float, *, classes: int = 8) -> pd.DataFrame:
    """Classes that are seen at first, away until the last third, and then gain so many points."""
    rows = []
    for method in CONTINUAL:
        for c in range(classes):
            for time in TIMES:
                seen = time <= 50 or time >= 160
                value = 0.3 if time < 160 else 0.3 + (gain + 0.01 * c) / 100
                since = 0.0 if seen else float(time - 50)
                rows.append((method, f"class {c}", time, value, since, seen, 0.0))
    frame = pd.DataFrame(rows, columns=["method", "class", "trained_on", "value", "since", "seen", "change"])
    return frame.assign(paper="oak", variant="oak/small/known", seed=0, order="")


@pytest.mark.parametrize(("gain", "outcome"), [(5.0, "holds"), (0.2, "undecided"), (-3.0, "does not hold")])
def test_ap_recovers(gain: float, outcome: str) -> None:
    verdict = over_time.ap_recovers_when_a_class_returns(returning(gain))
    assert (verdict.claim, verdict.outcome) == ("oak-24", outcome), verdict.evidence


def test_too_few_classes_return() -> None:
    verdict = over_time.ap_recovers_when_a_class_returns(returning(5.0, classes=4))
    assert (verdict.outcome, verdict.evidence) == ("not testable", "Incremental: only 4 classes return late.")


def seen_and_unseen(seen_ap: float, unseen_ap: float) -> pd.DataFrame:
    """Half of the classes are seen from the start, half from the middle on."""
    frame = curves(lambda _: 0.0)
    late = frame["class"].isin([f"class {c}" for c in range(4)])
    known = ~late | (frame["trained_on"] > 100)
    return frame.assign(since=np.where(known, 0.0, np.nan), value=np.where(late & ~known, unseen_ap, seen_ap))


def test_unseen_classes_pull_down() -> None:
    judge = over_time.unseen_classes_pull_an_evaluation_down
    verdict = judge(seen_and_unseen(0.5, 0.0), [])
    assert (verdict.claim, verdict.outcome) == ("oak-35", "holds")
    assert "EWC: 100 % of 10 evaluations" in verdict.evidence
    assert judge(seen_and_unseen(0.1, 0.2), []).outcome == "does not hold"
    everything = [f"class {c}" for c in range(8)]
    assert judge(seen_and_unseen(0.5, 0.0), everything).outcome == "not testable"


@pytest.mark.parametrize(
    "judge",
    [
        over_time.ap_rises_while_seen_and_falls_after,
        over_time.ap_recovers_when_a_class_returns,
        lambda frame: over_time.unseen_classes_pull_an_evaluation_down(frame, []),
    ],
)
def test_all_three_methods_are_needed(judge: Callable[[pd.DataFrame], Verdict]) -> None:
    verdict = judge(curves(lambda _: 1.0, methods=("Incremental", "iCaRL")))
    assert (verdict.outcome, verdict.evidence) == ("not testable", "Without runs of EWC.")
