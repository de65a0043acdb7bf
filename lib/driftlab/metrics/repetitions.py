"""Mean, standard deviation and confidence interval over repetitions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from driftlab.core.errors import DataError
from driftlab.core.lineage import carries_lineage


def mean_and_deviation(values: ArrayLike, ddof: int = 1) -> tuple[float, float]:
    """Mean and standard deviation of one value per repetition.

    Args:
        values: (R,)
        ddof: 1 for the sample deviation (divides by R − 1), 0 for the population deviation (divides by R).

    Returns:
        Mean and deviation; the deviation is NaN for one repetition.
    """
    numbers = np.asarray(values, dtype=np.float64)
    deviation = numbers.std(ddof=ddof) if len(numbers) > 1 else np.nan
    return float(numbers.mean()), float(deviation)


@carries_lineage
def over_repetitions(
    frame: pd.DataFrame,
    values: Sequence[str],
    *,
    by: Sequence[str] = ("paper", "variant", "method"),
    over: str = "seed",
    interval: float | None = None,
    ddof: int = 1,
) -> pd.DataFrame:
    """`mean_and_deviation` of each value over the repetitions of each group.

    The deviation of one repetition is missing (NaN), and tables show the mean alone.

    Args:
        frame: One row per group and repetition.
        values: Columns to summarise.
        by: Columns that name a group.
        over: Column that numbers the repetitions.
        interval: Probability of a two-sided Student's t interval of the mean, for example 0.95; none if
            absent.
        ddof: See `mean_and_deviation`.

    Returns:
        The columns `by`, `repetitions`, and for each value `NAME`, `NAME_std` and, with `interval`,
        `NAME_interval` (half the interval's width; missing for one repetition).

    Raises:
        DataError: A group has two rows for one repetition, or `interval` is not between 0 and 1.
    """
    keys = list(by)
    if interval is not None and not 0 < interval < 1:
        raise DataError(f"A confidence interval needs a probability between 0 and 1, not {interval}.")
    twice = frame.duplicated([*keys, over])
    if twice.any():
        first = frame[twice].iloc[0]
        group = ", ".join(f"{name} {first[name]}" for name in [*keys, over])
        raise DataError(
            f"{group} has several rows: average over orders, tasks or classes first, "
            "or the deviation would not be one over repetitions."
        )
    groups = frame.groupby(keys)
    result = pd.DataFrame({"repetitions": groups.size()})
    for name in values:
        result[name] = groups[name].mean()
        count = groups[name].count()
        result[f"{name}_std"] = groups[name].std(ddof=ddof).where(count > 1)
        if interval is not None:
            t = stats.t.ppf((1 + interval) / 2, count.clip(lower=2) - 1)
            result[f"{name}_interval"] = t * groups[name].std(ddof=1) / np.sqrt(count)
    return result.reset_index()
