"""Comparisons are decided with their noise, by hand-worked cases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from driftlab.reporting.decisions import (
    Decision,
    Difference,
    bootstrapped,
    every,
    greater,
    paired,
    similar,
)


def test_the_paired_difference_and_the_noise_of_its_mean() -> None:
    difference = paired([3.0, 5.0, 7.0], [1.0, 2.0, 3.0])
    # differences 2, 3, 4: mean 3, standard deviation 1 (ddof 1), divided by √3
    assert difference.value == 3.0
    assert difference.noise == pytest.approx(1 / math.sqrt(3))
    assert difference.text(" points", 1) == "+3.0 points ± 0.6"


def test_what_both_sides_share_is_no_noise() -> None:
    repetitions = np.array([10.0, 50.0, 90.0])
    assert paired(repetitions + 1, repetitions).noise == pytest.approx(0.0)


def test_one_repetition_decides_nothing() -> None:
    difference = paired([9.0], [1.0])
    assert difference.value == 8.0 and math.isnan(difference.noise)
    assert greater(difference) == "undecided" and similar(difference, 100.0) == "undecided"
    assert difference.text() == "+8.00 noise unknown"


@pytest.mark.parametrize(
    ("value", "noise", "margin", "decision"),
    [
        (1.0, 0.4, 0.0, "holds"),
        (1.0, 0.5, 0.0, "undecided"),  # d − 2s is 0
        (1.0, 0.4, 1.5, "undecided"),  # below the margin, within the noise of it
        (1.0, 0.2, 1.5, "fails"),
        (-1.0, 0.4, 0.0, "fails"),
        (-1.0, 0.5, 0.0, "undecided"),
        (0.0, 0.0, 0.0, "undecided"),
        (-0.01, 0.001, -0.02, "undecided"),  # at least the margin, but below 0
    ],
)
def test_greater(value: float, noise: float, margin: float, decision: Decision) -> None:
    assert greater(Difference(value, noise), margin) == decision


@pytest.mark.parametrize(
    ("value", "noise", "decision"),
    [
        (0.3, 0.1, "holds"),
        (-0.3, 0.1, "holds"),
        (0.3, 0.2, "undecided"),
        (0.8, 0.1, "fails"),
        (-0.8, 0.1, "fails"),
        (-0.8, 0.2, "undecided"),
    ],
)
def test_similar_within_a_tolerance_of_a_half(value: float, noise: float, decision: Decision) -> None:
    assert similar(Difference(value, noise), 0.5) == decision


@pytest.mark.parametrize(
    ("decisions", "decision"),
    [
        (["holds", "holds"], "holds"),
        (["holds", "undecided"], "undecided"),
        (["undecided", "fails", "holds"], "fails"),
        ([], "undecided"),
    ],
)
def test_every(decisions: list[Decision], decision: Decision) -> None:
    assert every(decisions) == decision


def test_bootstrapped_noise_is_that_of_the_mean_and_is_deterministic() -> None:
    items = np.random.default_rng(1).normal(2.0, 3.0, 400)
    difference = bootstrapped(lambda indices: float(items[indices].mean()), len(items))
    assert difference.value == pytest.approx(items.mean())
    assert difference.noise == pytest.approx(items.std(ddof=1) / math.sqrt(400), rel=0.1)
    assert bootstrapped(lambda indices: float(items[indices].mean()), len(items)) == difference
    other = bootstrapped(lambda indices: float(items[indices].mean()), len(items), seed=1)
    assert other.noise != difference.noise
