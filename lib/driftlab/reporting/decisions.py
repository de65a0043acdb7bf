"""Decide comparisons with their noise: whatever lies within the spread is undecided.

S is a statistic of a method, d the mean over repetitions of the paired difference of two methods' S, and s
the noise of d: the standard deviation over repetitions (ddof 1) divided by √R, or that of bootstrap draws
where there is one repetition only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Decision = Literal["holds", "fails", "undecided"]
DRAWS = 1000


@dataclass(frozen=True)
class Difference:
    """A paired difference and its noise.

    Attributes:
        value: d.
        noise: s; NaN where it cannot be known, which leaves every comparison undecided.
    """

    value: float
    noise: float

    def text(self, unit: str = "", digits: int = 2) -> str:
        """The difference for a reader, for example "+1.24 ± 0.30"; the second number is s."""
        noise = "noise unknown" if np.isnan(self.noise) else f"± {self.noise:.{digits}f}"
        return f"{self.value:+.{digits}f}{unit} {noise}"


def paired(first: ArrayLike, second: ArrayLike) -> Difference:
    """Mean and noise of the paired difference S(first) − S(second) over repetitions.

    Args:
        first: (R,) one value per repetition, of the same repetitions as `second`.
        second: (R,).
    """
    differences = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    count = len(differences)
    noise = float(differences.std(ddof=1) / np.sqrt(count)) if count > 1 else float("nan")
    return Difference(float(differences.mean()), noise)


def bootstrapped(
    statistic: Callable[[NDArray[np.intp]], float], count: int, *, draws: int = DRAWS, seed: int = 0
) -> Difference:
    """Value and bootstrap noise of a statistic over items (orders, classes) resampled with replacement.

    Args:
        statistic: Takes the indices of the items, (count,).
        count: How many items there are.
        draws: How many resamples.
        seed: Of the resamples.
    """
    generator = np.random.default_rng(seed)
    values = [statistic(generator.integers(0, count, count)) for _ in range(draws)]
    return Difference(statistic(np.arange(count)), float(np.std(values, ddof=1)))


def greater(difference: Difference, margin: float = 0.0) -> Decision:
    """Decide whether a difference is at least a margin, beyond the noise: GREATER.

    Returns:
        `holds` if d ≥ margin and d − 2s > 0; `fails` if d + 2s < margin; else `undecided`.
    """
    d, s = difference.value, difference.noise
    if d >= margin and d - 2 * s > 0:
        return "holds"
    return "fails" if d + 2 * s < margin else "undecided"


def similar(difference: Difference, tolerance: float) -> Decision:
    """Decide whether a difference is within a tolerance, beyond the noise: SIMILAR.

    Returns:
        `holds` if |d| + 2s ≤ tolerance; `fails` if |d| − 2s > tolerance; else `undecided`.
    """
    d, s = abs(difference.value), difference.noise
    if d + 2 * s <= tolerance:
        return "holds"
    return "fails" if d - 2 * s > tolerance else "undecided"


def every(decisions: Iterable[Decision]) -> Decision:
    """Combine decisions: `holds` if all hold, `fails` if any fails, else `undecided`, also without any."""
    distinct = set(decisions)
    if "fails" in distinct:
        return "fails"
    return "holds" if distinct == {"holds"} else "undecided"
