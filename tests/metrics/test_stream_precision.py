"""CAP, FAP and IDK on tables worked by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from driftlab.core.errors import DataError, ParameterError
from driftlab.metrics.stream_precision import (
    at_common_times,
    cap_curve,
    class_ap,
    class_metrics,
    continual_average_precision,
    final_average_precision,
    online_metrics,
    released_online_metrics,
    seen_average_precision,
    unknown_ap,
)

from .streams import gap_rows, stream_rows, table_of

#        car  bag  booth   CAP_t
VALUES = {
    0: {"car": 0.5, "bag": 0.0, "booth": 0.0},  # the pretrained detector; enters no mean over time
    10: {"car": 0.6, "bag": 0.3, "booth": 0.0},  # 0.3
    20: {"car": 0.4, "bag": 0.5, "booth": 0.0},  # 0.3
    30: {"car": 0.8, "bag": 0.1, "booth": 0.3},  # 0.4
}


@pytest.fixture
def ap() -> pd.DataFrame:
    return class_ap(table_of(stream_rows(VALUES)))


def test_the_formulas_on_an_array() -> None:
    ap = np.array([[0.6, 0.3, 0.0], [0.4, 0.5, 0.0], [0.8, 0.1, 0.3]])
    assert continual_average_precision(ap) == pytest.approx(3.0 / 9)
    assert final_average_precision(ap) == pytest.approx(1.2 / 3)


def test_runs_are_compared_at_common_times() -> None:
    often = stream_rows(VALUES)
    rarely = stream_rows({20: VALUES[20], 30: VALUES[30]}, method="Offline training")
    common = at_common_times(class_ap(table_of(often, rarely)))
    assert {(method, time) for method, time in common[["method", "trained_on"]].to_numpy().tolist()} == {
        (method, time) for method in ("Incremental", "Offline training") for time in (20, 30)
    }
    caps = online_metrics(common).set_index("method")["cap"]
    assert caps.tolist() == pytest.approx([0.35, 0.35])
    # A run that is alone keeps all its evaluations after learning.
    assert set(at_common_times(class_ap(table_of(often)))["trained_on"]) == {10, 20, 30}


def test_runs_without_a_common_time() -> None:
    table = table_of(stream_rows({10: VALUES[10]}), stream_rows({15: VALUES[20]}, method="Offline training"))
    with pytest.raises(DataError, match=r"never evaluated at the same time.* `offline_interval`"):
        at_common_times(class_ap(table))


def test_the_released_average_of_an_unknown_vocabulary() -> None:
    ap = np.array([[0.6, 0.3, 0.5], [0.4, 0.5, 0.1]])
    seen = np.array([[True, False, False], [True, True, False]])
    idk = np.array([0.2, np.nan])
    # (0.6 + 0.2) / 2, then (0.4 + 0.5) / 2 without IDK; nothing at all is missing.
    assert seen_average_precision(ap, seen, idk) == pytest.approx([0.4, 0.45])
    assert np.isnan(seen_average_precision(ap, np.zeros_like(seen), np.full(2, np.nan))).all()


def test_the_released_average_of_a_table() -> None:
    table = table_of(
        stream_rows({10: {"car": 0.6, "bag": 0.0, "booth": 0.5}, 20: {"car": 0.4, "bag": 0.5, "booth": 0.1}}),
        stream_rows({10: {"idk": 0.3}}),
        gap_rows({10: {"booth": 0}, 20: {"booth": 10, "bag": 3}}),
    )
    (row,) = released_online_metrics(table, ["car"]).to_dict("records")
    # After 10 steps car and booth have outputs, bag is IDK: (0.6 + 0.5 + 0.3) / 3; then all three.
    assert row["fap"] == pytest.approx(1 / 3)
    assert row["cap"] == pytest.approx((1.4 / 3 + 1 / 3) / 2)
    (ours,) = online_metrics(class_ap(table)).to_dict("records")
    assert ours["cap"] == pytest.approx((1.1 / 3 + 1 / 3) / 2)


def test_cap_over_time_leaves_the_pretrained_detector_out(ap: pd.DataFrame) -> None:
    curve = cap_curve(ap)
    assert dict(zip(curve["trained_on"], curve["value"], strict=True)) == pytest.approx(
        {10: 0.3, 20: 0.3, 30: 0.4}
    )


def test_each_class(ap: pd.DataFrame) -> None:
    found = class_metrics(ap).set_index("class")
    assert found["cap"].to_dict() == pytest.approx({"car": 0.6, "bag": 0.3, "booth": 0.1})
    assert found["fap"].to_dict() == pytest.approx({"car": 0.8, "bag": 0.1, "booth": 0.3})


def test_one_row_a_run(ap: pd.DataFrame) -> None:
    (row,) = online_metrics(ap, top=2).to_dict("records")
    assert (row["evaluations"], row["classes"], row["top"]) == (3, 3, 2)
    assert row["cap"] == pytest.approx(1 / 3)  # (0.6 + 0.3 + 0.1) / 3, and (0.3 + 0.3 + 0.4) / 3
    assert row["fap"] == pytest.approx(0.4)
    assert row["top_cap"] == pytest.approx(0.45)  # by CAP car and bag, although booth ends above bag


def test_fewer_classes_than_the_best_20_are_said(ap: pd.DataFrame) -> None:
    (row,) = online_metrics(ap).to_dict("records")
    assert row["top"] == 3
    assert row["top_cap"] == pytest.approx(row["cap"])


def test_evaluations_out_of_order_do_not_matter(ap: pd.DataFrame) -> None:
    backwards = {steps: VALUES[steps] for steps in reversed(VALUES)}
    pd.testing.assert_frame_equal(class_ap(table_of(stream_rows(backwards))), ap)
    pd.testing.assert_frame_equal(class_metrics(ap.iloc[::-1]), class_metrics(ap))


def test_runs_are_kept_apart_and_may_be_evaluated_at_other_times() -> None:
    table = table_of(
        stream_rows({10: {"car": 0.2}, 20: {"car": 0.4}}),
        stream_rows({10: {"car": 0.6}, 20: {"car": 0.6}}, seed=1),
        stream_rows({20: {"car": 0.9, "bag": 0.7}}, method="Offline training"),
    )
    found = online_metrics(class_ap(table)).set_index(["method", "seed"])
    assert found["cap"].to_dict() == pytest.approx(
        {("Incremental", 0): 0.3, ("Incremental", 1): 0.6, ("Offline training", 0): 0.8}
    )
    assert found["evaluations"].to_dict() == {
        ("Incremental", 0): 2,
        ("Incremental", 1): 2,
        ("Offline training", 0): 1,
    }


def test_repeated_rows_count_once(ap: pd.DataFrame) -> None:
    rows = stream_rows(VALUES)
    pd.testing.assert_frame_equal(class_ap(table_of(rows, rows)), ap)


def test_unknown_objects_are_averaged_over_the_evaluations_that_have_any() -> None:
    table = table_of(
        stream_rows({0: {"idk": 0.9}, 10: {"idk": 0.02, "car": 0.1}, 20: {"idk": 0.04}, 30: {"car": 0.5}}),
        stream_rows({10: {"car": 0.1}}, method="Non-adaptation"),
    )
    (row,) = unknown_ap(table).to_dict("records")
    assert (row["method"], row["evaluations"]) == ("Incremental", 2)
    assert row["idk"] == pytest.approx(0.03)


def changed(**columns: Any) -> pd.DataFrame:
    return table_of(stream_rows({10: {"car": 0.5}}, **columns))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (changed(metric="map"), "no class rows of the metric 'ap50'; its metrics: map"),
        (table_of(), "its metrics: none"),
        (table_of(stream_rows({10: {"car": 1.01}})), "1 rows .* Incremental, seed 0, after 10 .* value 1.01"),
        (table_of(stream_rows({10: {"car": float("nan")}})), "not average precisions .*'class:car'.* nan"),
        (
            table_of(stream_rows({10: {"car": 0.5, "bag": 0.1}, 20: {"car": 0.5}})),
            "tested on 1 of its 2 classes after 20 steps",
        ),
        (
            table_of(stream_rows({10: {"car": 0.5}}), stream_rows({10: {"car": 0.6}})),
            "two different values at trained_on 10, class car",
        ),
    ],
)
def test_impossible_tables_are_named(table: pd.DataFrame, message: str) -> None:
    with pytest.raises(DataError, match=message):
        class_ap(table)


def test_a_run_without_evaluations_on_the_stream_is_an_error() -> None:
    pretrained = stream_rows({0: {"car": 0.5}}, method="EWC")
    ap = class_ap(table_of(pretrained, stream_rows({0: {"car": 0.5}, 10: {"car": 0.5}})))
    for metric in (cap_curve, class_metrics, online_metrics):
        with pytest.raises(DataError, match="EWC, seed 0 has no evaluation after a step of the stream"):
            metric(ap)


def test_no_unknown_rows_are_an_error() -> None:
    with pytest.raises(DataError, match="no rows tested on 'idk'"):
        unknown_ap(table_of(stream_rows(VALUES)))
    with pytest.raises(DataError, match=r"tested on 'idk', value 2\.0"):
        unknown_ap(table_of(stream_rows({10: {"idk": 2.0}})))


def test_no_best_class_is_an_error(ap: pd.DataFrame) -> None:
    with pytest.raises(ParameterError, match="at least one, not 0"):
        online_metrics(ap, top=0)
