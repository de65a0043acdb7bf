"""The claims on width and depth."""

from __future__ import annotations

import numpy as np
import pandas as pd
from driftlab.papers.cgl.sweep_claims import claim_7, claim_8


def sweep(
    setting: str, values: dict[str, dict[int, float]], runs: int = 12, noise: float = 0.5
) -> pd.DataFrame:
    """Final AA (percent) of each method at each setting, with noise of that many points a run."""
    rng = np.random.default_rng([7, 7])
    return pd.DataFrame(
        [
            {
                "method": method,
                setting: size,
                "seed": 0,
                "order": str(run),
                "average_accuracy": (mean + noise * rng.standard_normal()) / 100,
            }
            for method, curve in values.items()
            for size, mean in curve.items()
            for run in range(runs)
        ]
    )


def test_width_a_clear_drop_holds() -> None:
    verdict = claim_7(sweep("width", {"BARE": {32: 20, 64: 22, 128: 24}, "LwF": {32: 30, 64: 36, 128: 32}}))
    assert verdict.outcome == "holds"
    assert "1 of 6 comparisons; the largest drop: LwF from width 64 to 128" in verdict.evidence


def test_width_that_always_helps_does_not_hold() -> None:
    verdict = claim_7(sweep("width", {"BARE": {32: 20, 64: 22}, "LwF": {32: 30, 64: 36}}))
    assert verdict.outcome == "does not hold"
    assert "0 of 2 comparisons" in verdict.evidence


def test_width_noise_and_small_drops_do_not_count() -> None:
    flat = {name: dict.fromkeys((32, 64, 128, 256, 512), 20.0) for name in "ABCDEFG"}
    assert claim_7(sweep("width", flat, runs=6, noise=4.0)).outcome == "does not hold"
    small = claim_7(sweep("width", {"A": {32: 20, 64: 19.5}}, noise=0.01))
    assert small.outcome == "does not hold"
    assert "(not enough)" in small.evidence


def test_width_equal_drops_are_certain() -> None:
    assert claim_7(sweep("width", {"A": {32: 25.0, 64: 20.0}}, runs=2, noise=0.0)).outcome == "holds"


def test_width_needs_paired_runs() -> None:
    one = claim_7(sweep("width", {"A": {32: 25.0, 64: 20.0}}, runs=1))
    assert one.outcome == "not testable"
    assert "two runs in common" in one.evidence


RISING = {1: 50.0, 2: 55.0, 4: 58.0, 8: 60.0}
BENT = {1: 20.0, 2: 25.0, 4: 22.0, 8: 27.0}


def test_depth() -> None:
    verdict = claim_8(sweep("depth", {"REPLAY": RISING, "BARE": BENT}, noise=0.0))
    assert verdict.outcome == "holds"
    assert verdict.evidence.startswith("Consistent: REPLAY. Mean final AA at depths 1, 2, 4, 8: BARE 20.0, ")
    both = claim_8(sweep("depth", {"REPLAY": RISING, "BARE": RISING}, noise=0.1))
    assert (both.outcome, both.evidence[:24]) == ("does not hold", "Consistent: BARE, REPLAY")
    none = claim_8(sweep("depth", {"REPLAY": BENT, "BARE": BENT}, noise=0.1))
    assert none.outcome == "does not hold" and "Consistent: none." in none.evidence


def test_depth_a_steady_change_below_a_point_is_no_effect() -> None:
    faint = {1: 20.0, 2: 20.2, 4: 20.4, 8: 20.6}
    assert claim_8(sweep("depth", {"REPLAY": RISING, "BARE": faint}, noise=0.0)).outcome == "holds"


def test_depth_needs_three_depths_and_other_methods() -> None:
    two = claim_8(sweep("depth", {"REPLAY": {1: 1, 2: 2}, "BARE": {1: 1, 2: 2}}))
    assert (two.outcome, two.evidence) == ("not testable", "It needs every method at three depths or more.")
    alone = claim_8(sweep("depth", {"REPLAY": RISING}))
    assert alone.outcome == "not testable"
    gap = claim_8(sweep("depth", {"REPLAY": RISING, "BARE": {1: 20.0, 2: 21.0, 8: 22.0}}))
    assert gap.outcome == "not testable"
