"""FWT and BWT on tables worked by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from driftlab.core.errors import DataError
from driftlab.metrics.transfer import (
    backward_transfer,
    forward_transfer,
    stretch_matrix,
    stretch_transfer,
    transfer,
)

from .streams import stretch_rows, table_of

# R_{i,j}: rows i = 0 (pretrained) to 3, columns j = 1 to 3; the stretches end after 4, 8 and 10 steps.
VALUES = {
    0: [0.10, 0.20, 0.05],
    4: [0.50, 0.30, 0.20],
    8: [0.40, 0.60, 0.35],
    10: [0.45, 0.30, 0.70],
}


def test_transfer() -> None:
    (row,) = transfer(stretch_matrix(table_of(stretch_rows(VALUES)))).to_dict("records")
    assert row["stretches"] == 3
    # R_{1,2} - b_2 = 0.30 - 0.20, R_{2,3} - b_3 = 0.35 - 0.05: (0.1 + 0.3) / 2
    assert row["fwt"] == pytest.approx(0.2)
    # R_{3,1} - R_{1,1} = 0.45 - 0.50, R_{3,2} - R_{2,2} = 0.30 - 0.60: (-0.05 - 0.30) / 2
    assert row["bwt"] == pytest.approx(-0.175)


def test_the_formulas_on_a_matrix() -> None:
    b, *learnt = (np.array(row) for row in VALUES.values())
    r = np.stack(learnt)
    assert forward_transfer(r, b) == pytest.approx(((r[0, 1] - b[1]) + (r[1, 2] - b[2])) / 2)
    assert backward_transfer(r) == pytest.approx(((r[2, 0] - r[0, 0]) + (r[2, 1] - r[1, 1])) / 2)


def test_a_detector_that_never_changes_transfers_nothing() -> None:
    b = np.array([0.1, 0.7, 0.3])
    assert forward_transfer(np.stack([b] * 3), b) == backward_transfer(np.stack([b] * 3)) == 0.0


def test_the_summands_have_the_transfer_as_mean() -> None:
    matrix = stretch_matrix(table_of(stretch_rows(VALUES)))
    terms, (row,) = stretch_transfer(matrix), transfer(matrix).to_dict("records")
    assert terms["fwt"].tolist() == pytest.approx([np.nan, 0.1, 0.3], nan_ok=True)
    assert terms["bwt"].tolist() == pytest.approx([-0.05, -0.3, np.nan], nan_ok=True)
    assert terms["fwt"].mean() == pytest.approx(row["fwt"])
    assert terms["bwt"].mean() == pytest.approx(row["bwt"])


def test_stretches_are_numbered_by_number() -> None:
    values = {end: [0.1 * (end == j) for j in range(1, 12)] for end in range(12)}
    matrix = stretch_matrix(table_of(stretch_rows(values)))
    diagonal = matrix[matrix["value"] > 0]
    assert diagonal["learnt"].tolist() == diagonal["tested"].tolist() == list(range(1, 12))
    (row,) = transfer(matrix).to_dict("records")
    assert (row["stretches"], row["fwt"], row["bwt"]) == (11, 0.0, pytest.approx(-0.1))


def test_runs_are_kept_apart() -> None:
    table = table_of(
        stretch_rows({0: [0.0, 0.0], 5: [0.4, 0.1], 9: [0.3, 0.5]}),
        stretch_rows({0: [0.0, 0.0], 3: [0.4, 0.2], 9: [0.4, 0.5]}, method="EWC"),
    )
    found = transfer(stretch_matrix(table)).set_index("method")
    assert found["fwt"].to_dict() == pytest.approx({"Incremental": 0.1, "EWC": 0.2})
    assert found["bwt"].to_dict() == pytest.approx({"Incremental": -0.1, "EWC": 0.0})


def without(steps: int) -> dict[int, list[float]]:
    return {key: value for key, value in VALUES.items() if key != steps}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            table_of(stretch_rows(VALUES, metric="ap50")),
            "no rows of the metric 'map50' tested on 'stretch:1'",
        ),
        (table_of(stretch_rows(without(0))), "lacks the pretrained detector on the stretches"),
        (table_of(stretch_rows(without(8))), "tested on 3 stretches at 2 times after learning"),
        (table_of(stretch_rows(VALUES | {8: [0.4, 0.6]})), "tested on 2 of 3 stretches after 8 steps"),
        (table_of(stretch_rows({0: [0.1], 4: [0.5]})), "one stretch only"),
        (table_of(stretch_rows({0: [0.1, 1.2], 4: [0.5, 0.5]})), "not average precisions .* value 1.2"),
        (table_of(stretch_rows(VALUES), stretch_rows({4: [0.6]})), "two different values at trained_on 4"),
        (table_of(stretch_rows(VALUES)[1:]), "tested on 2 of 3 stretches after 0 steps"),
        (
            table_of([row for row in stretch_rows(VALUES) if row["tested_on"] != "stretch:2"]),
            "stretches 1, 3; they are numbered 1, 2, … in time",
        ),
        (
            table_of([row | {"tested_on": "stretch:last"} for row in stretch_rows(VALUES)[:1]]),
            "'stretch:last' does not name a stretch",
        ),
    ],
)
def test_impossible_tables_are_named(table: pd.DataFrame, message: str) -> None:
    with pytest.raises(DataError, match=message):
        stretch_matrix(table)
