"""Statistics over repetitions, by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from driftlab.core.errors import DataError
from driftlab.metrics.repetitions import mean_and_deviation, over_repetitions


def frame(values: list[float]) -> pd.DataFrame:
    columns = {"paper": "cgl", "variant": "nucla/gcn", "method": "BARE"}
    return pd.DataFrame([columns | {"seed": seed, "aopd": value} for seed, value in enumerate(values)])


def test_mean_and_sample_deviation() -> None:
    (row,) = over_repetitions(frame([0.5, 0.6, 0.7]), ["aopd"]).to_dict("records")
    # mean 0.6; deviations -0.1, 0, 0.1: squares sum to 0.02, over n - 1 = 2 gives 0.01, root 0.1
    assert row["repetitions"] == 3
    assert row["aopd"] == pytest.approx(0.6)
    assert row["aopd_std"] == pytest.approx(0.1)


def test_population_deviation() -> None:
    # The squares sum to 0.02; over n = 3 the root is 0.0816...
    (row,) = over_repetitions(frame([0.5, 0.6, 0.7]), ["aopd"], ddof=0).to_dict("records")
    assert row["aopd_std"] == pytest.approx((0.02 / 3) ** 0.5)
    (alone,) = over_repetitions(frame([0.5]), ["aopd"], ddof=0).to_dict("records")
    assert np.isnan(alone["aopd_std"])


@pytest.mark.parametrize("ddof", [0, 1])
def test_the_table_applies_the_formula(ddof: int) -> None:
    values = [0.31, 0.5, 0.47, 0.62]
    (row,) = over_repetitions(frame(values), ["aopd"], ddof=ddof).to_dict("records")
    assert (row["aopd"], row["aopd_std"]) == pytest.approx(mean_and_deviation(values, ddof))
    assert np.isnan(mean_and_deviation([0.5], ddof)[1])


def test_t_interval() -> None:
    (row,) = over_repetitions(frame([0.5, 0.6, 0.7]), ["aopd"], interval=0.95).to_dict("records")
    # t(0.975, 2 degrees of freedom) = 4.302653 (printed tables), times 0.1 / sqrt(3)
    assert row["aopd_interval"] == pytest.approx(4.302653 * 0.1 / 3**0.5, rel=1e-6)


def test_one_repetition_has_no_deviation() -> None:
    (row,) = over_repetitions(frame([0.5]), ["aopd"], interval=0.95).to_dict("records")
    assert row["aopd"] == 0.5
    assert np.isnan(row["aopd_std"]) and np.isnan(row["aopd_interval"])


def test_rows_of_one_repetition_must_be_averaged_first() -> None:
    doubled = pd.concat([frame([0.5]), frame([0.7])])
    with pytest.raises(DataError, match="method BARE, seed 0 has several rows: average over orders"):
        over_repetitions(doubled, ["aopd"])


def test_an_impossible_interval_is_an_error() -> None:
    with pytest.raises(DataError, match="between 0 and 1, not 95"):
        over_repetitions(frame([0.5]), ["aopd"], interval=95)
