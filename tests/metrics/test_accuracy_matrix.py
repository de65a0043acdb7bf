"""Accuracy and forgetting on tables worked by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from driftlab.core.errors import DataError, ParameterError
from driftlab.core.evaluation_table import evaluation_table
from driftlab.metrics.accuracy_matrix import (
    accuracy_matrix,
    average_accuracy,
    average_accuracy_table,
    final_metrics,
    forgetting,
    forgetting_table,
    released_forgetting,
    task_accuracy,
)
from sklearn.metrics import balanced_accuracy_score

from .tables import matrix_rows, run_rows, table_of

# Order 5-2 | 0-3 | 1-4. Per class:      task {2,5}            task {0,3}            task {1,4}
STAGES = [
    {5: 1.0, 2: 0.6},  #                    0.8
    {5: 0.9, 2: 0.9, 0: 0.8, 3: 0.6},  #    0.9                   0.7
    {5: 0.2, 2: 0.4, 0: 0.0, 3: 0.6, 1: 1.0, 4: 0.9},  # 0.3      0.3                   0.95
]


@pytest.fixture
def accuracy() -> pd.DataFrame:
    return task_accuracy(table_of(run_rows("5-2-0-3-1-4", STAGES)))


def values(frame: pd.DataFrame) -> dict[int, float]:
    return dict(zip(frame["trained_on"], frame["value"], strict=True))


def test_task_accuracy_is_the_mean_over_the_classes_that_the_order_puts_into_a_task(
    accuracy: pd.DataFrame,
) -> None:
    found = {(row.trained_on, row.task): row.value for row in accuracy.itertuples()}
    assert found == pytest.approx(
        {(1, 1): 0.8, (2, 1): 0.9, (2, 2): 0.7, (3, 1): 0.3, (3, 2): 0.3, (3, 3): 0.95}
    )
    assert accuracy.set_index("task")["classes"].to_dict() == {1: "2-5", 2: "0-3", 3: "1-4"}


def test_average_accuracy(accuracy: pd.DataFrame) -> None:
    # AA_2 = (0.9 + 0.7) / 2 = 0.8, AA_3 = (0.3 + 0.3 + 0.95) / 3 = 1.55 / 3
    assert values(average_accuracy_table(accuracy)) == pytest.approx({1: 0.8, 2: 0.8, 3: 1.55 / 3})


def test_forgetting_takes_the_best_earlier_accuracy(accuracy: pd.DataFrame) -> None:
    # k=2: max_{l<2} a_{l,1} = 0.8, f = 0.8 - 0.9 = -0.1 (it improved).
    # k=3: f_1 = max(0.8, 0.9) - 0.3 = 0.6, f_2 = 0.7 - 0.3 = 0.4, AF_3 = 0.5
    assert values(forgetting_table(accuracy)) == pytest.approx({2: -0.1, 3: 0.5})


def test_the_best_earlier_accuracy_need_not_be_the_last() -> None:
    # a_{k,1} = 0.8, 0.9, 0.5, 0.3 and the later tasks stay at 1: AF_4 = ((0.9 - 0.3) + 0 + 0) / 3 = 0.2
    matrix = [[0.8], [0.9, 1.0], [0.5, 1.0, 1.0], [0.3, 1.0, 1.0, 1.0]]
    accuracy = task_accuracy(table_of(matrix_rows("0-1-2-3-4-5-6-7", matrix)))
    # AF_2 = 0.8 - 0.9; AF_3 = ((0.9 - 0.5) + 0) / 2
    assert values(forgetting_table(accuracy)) == pytest.approx({2: -0.1, 3: 0.2, 4: 0.2})


def test_forgetting_from_the_diagonal_has_the_released_sign(accuracy: pd.DataFrame) -> None:
    # k=2: 0.9 - 0.8 = 0.1; k=3: ((0.3 - 0.8) + (0.3 - 0.7)) / 2 = -0.45, not -0.5: the rise to 0.9 is missed
    assert values(forgetting_table(accuracy, definition="diagonal")) == pytest.approx({2: 0.1, 3: -0.45})


def test_the_formulas_on_one_matrix(accuracy: pd.DataFrame) -> None:
    a = accuracy_matrix(accuracy)
    assert a[1:, :2].ravel().tolist() == pytest.approx([0.9, 0.7, 0.3, 0.3])
    assert np.isnan(a[0, 1])
    assert average_accuracy(a) == pytest.approx(1.55 / 3)
    assert forgetting(a) == pytest.approx(0.5)
    assert released_forgetting(a) == pytest.approx(-0.45)
    assert np.isnan(forgetting(a[:1, :1])) and np.isnan(released_forgetting(a[:1, :1]))


def test_the_tables_apply_the_formulas_to_every_run() -> None:
    rng = np.random.default_rng([3, 2])
    runs = []
    for seed in range(4):
        a = np.tril(rng.integers(0, 15, (5, 5)) / 14)
        rows = [a[k, : k + 1].tolist() for k in range(5)]
        runs.append((a, matrix_rows("0-1-2-3-4-5-6-7-8-9", rows, seed=seed)))
    accuracy = task_accuracy(table_of(*(rows for _, rows in runs)))
    tables = {
        average_accuracy: average_accuracy_table(accuracy),
        forgetting: forgetting_table(accuracy),
        released_forgetting: forgetting_table(accuracy, definition="diagonal"),
    }
    for formula, table in tables.items():
        cells = table.set_index(["seed", "trained_on"])["value"]
        for seed, (a, _) in enumerate(runs):
            for k in range(2, 6):
                assert cells[seed, k] == pytest.approx(formula(a[:k, :k])), (formula.__name__, seed, k)


def test_a_matrix_is_of_one_run(accuracy: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="of one run; these rows are of 2"):
        accuracy_matrix(pd.concat([accuracy, accuracy.assign(seed=1)]))


def test_final_metrics_in_one_row(accuracy: pd.DataFrame) -> None:
    (row,) = final_metrics(accuracy).to_dict("records")
    assert row["trained_on"] == 3
    assert row["average_accuracy"] == pytest.approx(1.55 / 3)
    assert row["average_forgetting"] == pytest.approx(0.5)
    assert row["last_task_accuracy"] == pytest.approx(0.95)


def test_final_metrics_of_a_single_task_has_no_forgetting() -> None:
    (row,) = final_metrics(task_accuracy(table_of(run_rows("0-1", [{0: 0.5, 1: 1.0}])))).to_dict("records")
    assert row["average_accuracy"] == 0.75
    assert np.isnan(row["average_forgetting"])


def test_runs_are_kept_apart() -> None:
    table = table_of(
        matrix_rows("0-1-2-3", [[1.0], [0.2, 0.9]], seed=0),
        matrix_rows("0-1-2-3", [[0.8], [0.7, 0.6]], seed=1),
        matrix_rows("2-3-0-1", [[0.5], [0.5, 0.1]], method="EWC"),
    )
    found = forgetting_table(task_accuracy(table)).set_index(["method", "seed"])["value"].to_dict()
    assert found == pytest.approx({("BARE", 0): 0.8, ("BARE", 1): 0.1, ("EWC", 0): 0.0})


def test_macro_average_agrees_with_scikit_learn() -> None:
    rng = np.random.default_rng([3, 1])
    truth = np.repeat([0, 1, 2, 3], [3, 17, 8, 30])
    predicted = np.where(rng.random(truth.size) < 0.7, truth, rng.integers(0, 4, truth.size))
    stage = {label: float((predicted[truth == label] == label).mean()) for label in range(4)}
    table = table_of(run_rows("0-1-2-3", [{0: 1.0, 1: 1.0}, stage]))
    accuracy = task_accuracy(table)
    final = accuracy[accuracy["trained_on"] == 2]
    for task, classes in ((1, (0, 1)), (2, (2, 3))):
        of_task = np.isin(truth, classes)
        (ours,) = final.loc[final["task"] == task, "value"]
        # Predictions of other tasks' classes count as wrong, as they do in balanced accuracy.
        with pytest.warns(UserWarning, match="y_pred contains classes not in y_true"):
            theirs = balanced_accuracy_score(truth[of_task], predicted[of_task])
        assert ours == pytest.approx(theirs)
    assert average_accuracy_table(accuracy)["value"].iloc[-1] == pytest.approx(
        balanced_accuracy_score(truth, predicted)
    )


def test_more_classes_a_task() -> None:
    accuracy = task_accuracy(table_of(run_rows("2-0-1", [{0: 0.0, 1: 0.5, 2: 1.0}])), classes_per_task=3)
    assert accuracy["value"].tolist() == [0.5]


def test_the_size_of_the_real_sweep_takes_seconds() -> None:
    rng = np.random.default_rng(0)
    orders = ["-".join(map(str, rng.permutation(10))) for _ in range(220)]
    base = pd.DataFrame(
        [(k, c) for k in range(1, 6) for c in range(2 * k)], columns=["trained_on", "position"]
    )
    runs = pd.MultiIndex.from_product([list("ABCDEFG"), [0, 1], orders], names=["method", "seed", "order"])
    table = runs.to_frame(index=False).merge(base, how="cross")
    table["tested_on"] = [
        f"class:{order.split('-')[position]}"
        for order, position in zip(table["order"], table.pop("position"), strict=True)
    ]
    table["value"] = rng.random(len(table))
    table = evaluation_table(table.assign(paper="cgl", variant="nucla/gcn", metric="test_accuracy"))
    final = final_metrics(task_accuracy(table))
    assert len(table) == 92_400
    assert len(final) == 7 * 2 * 220


def test_repeated_runs_count_once() -> None:
    run = matrix_rows("0-1-2-3", [[1.0], [0.2, 0.9]])
    assert len(average_accuracy_table(task_accuracy(table_of(run, run)))) == 2


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (table_of(run_rows("0-1", [{0: 0.5, 1: 1.5}])), "1 rows are not accuracies .*'class:1', value 1.5"),
        (table_of(run_rows("0-1", [{0: 0.5, 1: float("nan")}])), "not accuracies .* value nan"),
        (table_of(run_rows("0-1", [{0: 0.5}])), "not all classes of task 1 at stage 1"),
        (table_of(run_rows("0-1-2-3", [{0: 1, 1: 1}, {2: 1, 3: 1}])), "only 1 of the tasks .* stage 2"),
        (table_of(run_rows("0-1", [{0: 1, 1: 1}, {0: 1, 1: 1}])), "only 1 of the tasks .* stage 2"),
        (table_of(run_rows("0-1", [{0: 1, 7: 1}])), "tested on class 7, which its order does not have"),
        (table_of(run_rows("0-1-1-2", [{0: 1, 1: 1}])), "'0-1-1-2' does not divide into tasks of 2 distinct"),
        (table_of(run_rows("0-1-2", [{0: 1, 1: 1}])), "'0-1-2' does not divide"),
        (table_of(run_rows("a-b", [{0: 1, 1: 1}])), "'a-b' is not a list of class ids"),
        (table_of(run_rows("0-1", [{0: 1, 1: 1}], metric="AP")), "no class rows .* its metrics: AP"),
        (
            table_of(run_rows("0-1", [{0: 1, 1: 1}]), run_rows("0-1", [{0: 0.5, 1: 1}])),
            "two different values for class 0 at stage 1",
        ),
    ],
)
def test_impossible_tables_are_named(table: pd.DataFrame, message: str) -> None:
    with pytest.raises(DataError, match=message):
        task_accuracy(table)


def test_forgetting_without_a_stage_is_an_error(accuracy: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="lacks a stage before stage 3"):
        forgetting_table(accuracy[accuracy["trained_on"] != 2])


def test_an_unknown_definition_is_an_error(accuracy: pd.DataFrame) -> None:
    with pytest.raises(ParameterError, match="'max' or 'diagonal', not by 'mean'"):
        forgetting_table(accuracy, definition="mean")  # type: ignore[arg-type]
