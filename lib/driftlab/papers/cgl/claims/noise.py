"""Differences between methods with their noise: over repetitions, or by bootstrap where there is only one.

With at least three repetitions a statistic is computed per repetition, on the same orders for all methods,
and the noise is the standard error of its mean. With fewer, the noise is the deviation of 1,000 bootstrap
draws of orders; an OPD, which is a range over orders, cannot be bootstrapped and is then decided only beyond
10 points.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from driftlab.reporting.decisions import Difference, bootstrapped, paired

Floats = NDArray[np.float64]
REPETITIONS = 3
"""With fewer repetitions their spread says too little."""
ORDERS = 5
"""With fewer orders a bootstrap says nothing: the noise is unknown."""
CLEAR = 0.10
"""The difference of two ranges that decides without knowing the noise."""


def noisy(statistic: Callable[..., float], *values: Floats) -> Difference:
    """A statistic of runs with its noise.

    Args:
        statistic: Of arrays such as `values`, of any number of repetitions and orders.
        values: Each (R, O, …): repetitions, orders.
    """
    repetitions, orders = values[0].shape[:2]
    if repetitions >= REPETITIONS:
        per_repetition = [statistic(*(v[r : r + 1] for v in values)) for r in range(repetitions)]
        return paired(per_repetition, np.zeros(repetitions))
    if orders < ORDERS:
        return Difference(statistic(*values), float("nan"))
    return bootstrapped(lambda drawn: statistic(*(v[:, drawn] for v in values)), orders)


def mean_difference(first: Floats, second: Floats) -> Difference:
    """The difference of the means over orders, (R, O, …) each."""
    return noisy(lambda a, b: float(a.mean() - b.mean()), first, second)


def spread_difference(first: Floats, second: Floats) -> Difference:
    """The difference of the standard deviations over orders, (R, O) each; per repetition, then the mean."""
    return noisy(lambda a, b: float(a.std(axis=1).mean() - b.std(axis=1).mean()), first, second)


def range_difference(first: Floats, second: Floats) -> Difference:
    """The difference of two OPD statistics, (R,) each: one value per repetition."""
    if len(first) >= REPETITIONS:
        return paired(first, second)
    difference = float(np.mean(first) - np.mean(second))
    return Difference(difference, 0.0 if abs(difference) > CLEAR else float("nan"))


def unpaired(first: Difference, second: Difference) -> Difference:
    """The difference of two independent statistics."""
    return Difference(first.value - second.value, float(np.hypot(first.noise, second.noise)))


def points(difference: Difference) -> str:
    """For evidence, in percentage points: "+1.24 ± 0.30", or "+1.24" where it was decided without noise."""
    if difference.noise == 0:
        return f"{100 * difference.value:+.2f}"
    return Difference(100 * difference.value, 100 * difference.noise).text()
