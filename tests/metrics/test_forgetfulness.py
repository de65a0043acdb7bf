"""Forgetfulness on tables worked by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from driftlab.core.errors import DataError, ParameterError
from driftlab.metrics.forgetfulness import (
    class_forgetfulness,
    equal_count_bins,
    exposure,
    forgetfulness,
    forgetfulness_summary,
    forgetting_curve,
)

from .streams import gap_rows, stream_rows, table_of

# Evaluations after 10, 20, … 60 steps. The car is seen up to step 20 and from 51 on; the bag first at 33.
CAR = {0: 0.1, 10: 0.6, 20: 0.8, 30: 0.5, 40: 0.4, 50: 0.2, 60: 0.6}
CAR_SINCE = {10: 0, 20: 3, 30: 13, 40: 23, 50: 33, 60: 0}
BAG = {0: 0.0, 10: 0.0, 20: 0.0, 30: 0.0, 40: 0.5, 50: 0.3, 60: 0.3}
BAG_SINCE = {40: 7, 50: 17, 60: 27}


def two_classes() -> pd.DataFrame:
    values = {steps: {"car": CAR[steps], "bag": BAG[steps]} for steps in CAR}
    since = {steps: {"car": gap} for steps, gap in CAR_SINCE.items()}
    for steps, gap in BAG_SINCE.items():
        since[steps]["bag"] = float(gap)
    return table_of(stream_rows(values), gap_rows(since))


@pytest.fixture
def exposed() -> pd.DataFrame:
    return exposure(two_classes())


def of(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    return frame[frame["class"] == name]


def test_exposure_says_when_the_stream_showed_a_class(exposed: pd.DataFrame) -> None:
    car, bag = of(exposed, "car"), of(exposed, "bag")
    assert car["trained_on"].tolist() == [0, 10, 20, 30, 40, 50, 60]
    # After 30 steps the car was last in a batch 13 steps ago, before the evaluation after 20.
    assert car["seen"].tolist() == [False, True, True, False, False, False, True]
    assert bag["seen"].tolist() == [False, False, False, False, True, False, False]
    assert bag["since"].isna().tolist() == [True] * 4 + [False] * 3
    assert car["change"].tolist()[1:] == pytest.approx([0.5, 0.2, -0.3, -0.1, -0.2, 0.4])
    assert np.isnan(car["change"].iloc[0])


def test_seen_looks_back_to_the_evaluation_before() -> None:
    # Evaluations after 5 and 8 steps: 3 steps between them, so a gap of 2 is inside and one of 3 is not.
    for gap, seen in ((2, True), (3, False)):
        table = table_of(
            stream_rows({5: {"car": 0.5}, 8: {"car": 0.5}}), gap_rows({5: {"car": 0}, 8: {"car": gap}})
        )
        assert exposure(table)["seen"].tolist() == [True, seen]


def test_bins_of_equal_count() -> None:
    assert equal_count_bins(np.array([9.0, 1, 3, 5, 7, 11]), 3).tolist() == [2, 0, 0, 1, 1, 2]
    # Equal gaps stay together, whatever the count; no number is left out.
    assert equal_count_bins(np.array([0.0] * 9 + [4.0]), 2).tolist() == [0] * 9 + [1]
    assert equal_count_bins(np.array([0.0, 0, 0, 2, 2, 5, 6, 9]), 4).tolist() == [0, 0, 0, 1, 1, 1, 2, 2]
    assert equal_count_bins(np.array([2.0, 2.0]), 10).tolist() == [0, 0]
    # As released every distinct gap is a bin.
    assert equal_count_bins(np.array([7.0, 0, 7, 3]), 0).tolist() == [2, 0, 2, 1]


def test_forgetfulness_of_one_class_by_hand() -> None:
    k, acap = np.array([2.0, 4.0, 8.0]), np.array([0.5, 0.4, 0.2])
    # Weights 0, 2, 6 over 8: (2 * 0.1 + 6 * 0.3) / 8.
    assert class_forgetfulness(k, acap) == pytest.approx(0.25)
    # The gap itself also weighs the first bin: (2 * 0 + 4 * 0.1 + 8 * 0.3) / 14.
    assert class_forgetfulness(k, acap, "gap") == pytest.approx(0.2)


def test_curve_in_bins(exposed: pd.DataFrame) -> None:
    curve = forgetting_curve(exposed, bins=3)
    car = of(curve, "car")
    # Gaps 0, 0 | 3, 13 | 23, 33: two evaluations each.
    assert car["bin"].tolist() == [0, 1, 2]
    assert car["since"].tolist() == [0, 8, 28]
    assert car["value"].tolist() == pytest.approx([0.6, 0.65, 0.3])
    assert car["evaluations"].tolist() == [2, 2, 2]
    assert of(curve, "bag")["value"].tolist() == pytest.approx([0.5, 0.3, 0.3])


def test_forgetfulness_of_the_paper(exposed: pd.DataFrame) -> None:
    found = forgetfulness(forgetting_curve(exposed, bins=3)).set_index("class")
    # car: weights 0, 8, 28 over 36: (8 (0.6 - 0.65) + 28 (0.6 - 0.3)) / 36 = 8 / 36
    # bag: gaps 7, 17, 27, weights 0, 10, 20 over 30: (10 * 0.2 + 20 * 0.2) / 30
    assert found["forgetfulness"].to_dict() == pytest.approx({"car": 8 / 36, "bag": 0.2})
    assert found["bins"].to_dict() == {"car": 3, "bag": 3}


def test_forgetfulness_as_released(exposed: pd.DataFrame) -> None:
    curve = forgetting_curve(exposed, bins=0)
    found = forgetfulness(curve, weights="gap").set_index("class")["forgetfulness"]
    # car: gaps 0, 3, 13, 23, 33 with aCAP 0.6, 0.8, 0.5, 0.4, 0.2, weights 3, 13, 23, 33 over 72:
    # (3 * -0.2 + 13 * 0.1 + 23 * 0.2 + 33 * 0.4) / 72 = 18.5 / 72
    # bag: gaps 7, 17, 27 over 51: (7 * 0 + 17 * 0.2 + 27 * 0.2) / 51 = 8.8 / 51
    assert found.to_dict() == pytest.approx({"car": 18.5 / 72, "bag": 8.8 / 51})


def test_improvement_is_negative() -> None:
    table = table_of(
        stream_rows({10: {"car": 0.2}, 20: {"car": 0.5}}), gap_rows({10: {"car": 0}, 20: {"car": 10}})
    )
    assert forgetfulness(forgetting_curve(exposure(table)))["forgetfulness"].tolist() == pytest.approx([-0.3])


def test_a_class_with_one_bin_has_nothing_to_compare(exposed: pd.DataFrame) -> None:
    once = exposed[(exposed["class"] == "car") | (exposed["trained_on"] == 40)]
    curve = forgetting_curve(once)
    assert of(curve, "bag")["bin"].tolist() == [0]
    assert forgetfulness(curve)["class"].tolist() == ["car"]


def test_summary_and_the_worst_classes(exposed: pd.DataFrame) -> None:
    classes = forgetfulness(forgetting_curve(exposed, bins=3))
    (row,) = forgetfulness_summary(classes, worst=1).to_dict("records")
    assert (row["classes"], row["worst"]) == (2, 1)
    assert row["forgetfulness"] == pytest.approx((8 / 36 + 0.2) / 2)
    assert row["worst_forgetfulness"] == pytest.approx(8 / 36)
    (row,) = forgetfulness_summary(classes).to_dict("records")
    assert (row["worst"], row["worst_forgetfulness"]) == (2, pytest.approx((8 / 36 + 0.2) / 2))


def test_a_run_that_never_trains_is_absent() -> None:
    still = stream_rows({steps: {"car": 0.1, "bag": 0.0} for steps in CAR}, method="Non-adaptation")
    table = pd.concat([two_classes(), table_of(still)], ignore_index=True)
    exposed = exposure(table)
    assert set(exposed["method"]) == {"Incremental", "Non-adaptation"}
    assert not exposed.loc[exposed["method"] == "Non-adaptation", "seen"].any()
    assert set(forgetfulness(forgetting_curve(exposed))["method"]) == {"Incremental"}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (table_of(stream_rows({10: {"car": 0.5}})), "no class rows of the metric 'steps_since_seen'"),
        (table_of(gap_rows({10: {"car": 0}})), "no class rows of the metric 'ap50'"),
        (
            table_of(stream_rows({10: {"car": 0.5}}), gap_rows({10: {"car": 10}})),
            "car cannot have been seen 10 steps before an evaluation after 10 steps",
        ),
        (
            table_of(stream_rows({10: {"car": 0.5}}), gap_rows({10: {"car": -1}})),
            "cannot have been seen -1 steps before",
        ),
        (
            table_of(stream_rows({10: {"car": 0.5}}), gap_rows({10: {"car": 1}}), gap_rows({10: {"car": 2}})),
            "two different values at class car, trained_on 10",
        ),
    ],
)
def test_impossible_tables_are_named(table: pd.DataFrame, message: str) -> None:
    with pytest.raises(DataError, match=message):
        exposure(table)


def test_impossible_parameters_are_named(exposed: pd.DataFrame) -> None:
    for bins in (1, -2):
        with pytest.raises(ParameterError, match=f"at least two bins, not {bins}; 0 makes every"):
            forgetting_curve(exposed, bins=bins)
    curve = forgetting_curve(exposed)
    with pytest.raises(ParameterError, match="'excess' or 'gap', not by 'time'"):
        forgetfulness(curve, weights="time")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="at least one, not 0"):
        forgetfulness_summary(forgetfulness(curve), worst=0)


def test_without_two_bins_there_is_nothing_to_forget() -> None:
    curve = pd.DataFrame(
        [{**RUN_OF_ONE, "class": "car", "bin": 0, "since": 0, "value": 0.5, "evaluations": 3}]
    )
    with pytest.raises(ParameterError, match=r"no class was evaluated in two bins .*`bins`"):
        forgetfulness(curve)


RUN_OF_ONE = {"paper": "oak", "variant": "s", "method": "m", "seed": 0, "order": ""}
