"""Mean, deviation and confidence over repetitions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from driftlab.core.errors import DataError
from driftlab.core.lineage import carries_lineage


@carries_lineage
def over_repetitions(
    frame: pd.DataFrame,
    values: Sequence[str],
    *,
    by: Sequence[str] = ("paper", "variant", "method"),
    over: str = "seed",
    interval: float | None = None,
) -> pd.DataFrame:
    """Mean and sample standard deviation of each value over the repetitions.

    The deviation divides by n − 1 (ddof = 1), the estimate for repetitions beyond those that were run. One
    repetition has no deviation: it is missing (NaN), and tables show the mean alone.

    Args:
        frame: One row a group and repetition.
        values: Columns to summarise.
        by: Columns that name a group.
        over: Column that numbers the repetitions.
        interval: Probability of a two-sided Student's t interval of the mean, for example 0.95; none if
            absent.

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
        result[f"{name}_std"] = groups[name].std(ddof=1)
        if interval is not None:
            count = groups[name].count()
            t = stats.t.ppf((1 + interval) / 2, count.clip(lower=2) - 1)
            result[f"{name}_interval"] = t * result[f"{name}_std"] / np.sqrt(count)
    return result.reset_index()
