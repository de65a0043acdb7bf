"""Theorem 1 by hand and by random search."""

from __future__ import annotations

import numpy as np
import pytest
from driftlab.core.errors import ParameterError
from driftlab.metrics.accuracy_matrix import task_accuracy
from driftlab.metrics.theorem import check_theorem, theorem_bound
from hypothesis import given, settings
from hypothesis import strategies as st

from .tables import matrix_rows, table_of

ORDER = "0-1-2-3-4-5-6-7-8-9"


def test_bound_by_hand() -> None:
    # k = 5, AA = 0.4, a_55 = 0.9: 1 - 5/4 * 0.4 + 0.9/4 = 0.725; with a_55 = 1: 0.75
    assert theorem_bound(0.4, 5, 0.9) == pytest.approx(0.725)
    assert theorem_bound(np.array([0.4, 1.0]), 5) == pytest.approx([0.75, 0.0])


def test_bound_needs_two_tasks() -> None:
    with pytest.raises(ParameterError, match="needs k ≥ 2"):
        theorem_bound(0.5, 1)


def test_check_reports_slack_and_runs() -> None:
    table = table_of(
        # Task 1 once reached 1: AF_2 = 1 - 0.2 = 0.8; bound 1 - 2 * (0.2 + 0.9)/2 + 0.9 = 0.8, slack 0
        matrix_rows("0-1-2-3", [[1.0], [0.2, 0.9]]),
        # AF_2 = 0.5 - 0.2 = 0.3 against 0.8, slack 0.5
        matrix_rows("0-1-2-3", [[0.5], [0.2, 0.9]], seed=1),
    )
    check = check_theorem(task_accuracy(table))
    assert check.runs == 2
    assert check.stages.set_index("seed")["slack"].to_dict() == pytest.approx({0: 0.0, 1: 0.5})
    assert check.stages["drawn_bound"].tolist() == pytest.approx([0.9, 0.9])
    assert check.smallest_slack == pytest.approx(0.0)
    # Eq. 10 is looser by (1 - a_22) / (2 - 1) = 0.1
    assert check.stages.set_index("seed")["drawn_slack"].to_dict() == pytest.approx({0: 0.1, 1: 0.6})
    assert check.smallest_drawn_slack == pytest.approx(0.1)
    assert check.violations.empty


def test_a_violation_is_found_where_accuracies_are_none() -> None:
    # task_accuracy refuses such a table; a frame made by other hands may still hold an "accuracy" of 1.2.
    accuracy = task_accuracy(table_of(matrix_rows("0-1-2-3", [[1.0], [0.2, 0.9]])))
    accuracy.loc[(accuracy["trained_on"] == 1), "value"] = 1.2
    check = check_theorem(accuracy)
    assert check.smallest_slack == pytest.approx(-0.2)
    assert check.violations["trained_on"].tolist() == [2]


unit = st.floats(0.0, 1.0, allow_subnormal=False)
triangles = st.integers(2, 5).flatmap(
    lambda size: st.tuples(*(st.lists(unit, min_size=k, max_size=k) for k in range(1, size + 1)))
)


@settings(max_examples=60, deadline=None)
@given(triangles)
def test_no_accuracy_matrix_violates_it(matrix: tuple[list[float], ...]) -> None:
    order = "-".join(map(str, range(2 * len(matrix))))
    check = check_theorem(task_accuracy(table_of(matrix_rows(order, matrix))))
    assert len(check.stages) == len(matrix) - 1
    assert check.violations.empty, check.stages
    assert (check.stages["drawn_bound"] >= check.stages["bound"] - 1e-12).all()
