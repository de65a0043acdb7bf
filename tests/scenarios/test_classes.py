"""Splits, orders and tasks, worked by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from driftlab.core.errors import DataError, ParameterError
from driftlab.scenarios.classes import (
    balanced_task_orders,
    class_orders,
    split_by_class,
    task_orders,
    tasks_of,
)


def interleaved(*counts: int) -> np.ndarray:
    """Labels with so many records a class, in turn, so that a class's records do not lie together."""
    remaining, labels = list(counts), []
    while any(remaining):
        for label, count in enumerate(remaining):
            if count:
                labels.append(label)
                remaining[label] -= 1
    return np.array(labels)


@pytest.mark.parametrize(
    ("count", "train", "held_out"),
    [(150, 120, 15), (152, 122, 15), (141, 113, 14), (173, 139, 17), (10, 8, 1), (9, 7, 1), (3, 1, 1)],
)
def test_sizes_of_a_class(count: int, train: int, held_out: int) -> None:
    split = split_by_class(np.zeros(count, dtype=np.int64))
    assert [len(part) for part in (split.train, split.validation, split.test)] == [train, held_out, held_out]
    assert split.train.tolist() == list(range(train))
    assert split.validation.tolist() == list(range(train, train + held_out))
    assert split.test.tolist() == list(range(train + held_out, count)), "the last records are tested"


def test_a_split_is_by_class_and_in_dataset_order() -> None:
    # 0 at 0, 2, 4, 6, 8, 9, 10 and 1 at 1, 3, 5, 7: of 7 records 5, 1, 1; of 4 records 2, 1, 1.
    labels = np.array([0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0])
    split = split_by_class(labels)
    assert split.train.tolist() == [0, 1, 2, 3, 4, 6, 8]
    assert split.validation.tolist() == [5, 9]
    assert split.test.tolist() == [7, 10]


def test_a_split_is_disjoint_and_complete() -> None:
    labels = interleaved(150, 152, 141, 173, 3, 4, 29)
    for seed in (None, 0, 1):
        split = split_by_class(labels, seed=seed)
        everything = np.concatenate([split.train, split.validation, split.test])
        assert sorted(everything.tolist()) == list(range(len(labels)))
        for part in (split.train, split.validation, split.test):
            assert (np.diff(part) > 0).all() and set(labels[part]) == set(range(7))


def test_the_split_seed_changes_the_records_and_not_their_numbers() -> None:
    labels = interleaved(50, 60, 70)
    splits = [split_by_class(labels, seed=seed) for seed in (None, 0, 0, 1)]
    tests = [split.test.tolist() for split in splits]
    assert tests[1] == tests[2]
    assert len({tuple(test) for test in tests}) == 3
    assert {tuple(np.bincount(labels[test])) for test in tests} == {(5, 6, 7)}


def test_other_parts() -> None:
    split = split_by_class(np.zeros(20, dtype=np.int64), (2, 1, 1))
    assert [len(split.train), len(split.validation), len(split.test)] == [10, 5, 5]


def test_too_few_records() -> None:
    with pytest.raises(DataError, match=r"Class 1 has 2 record\(s\); three are needed: .* training, valid"):
        split_by_class(np.array([0, 0, 0, 1, 1]))


@pytest.mark.parametrize("parts", [(8, 1), (8, 1, 0), (8, 1, -1), (7, 1, 1, 1)])
def test_parts_that_are_none(parts: tuple[int, ...]) -> None:
    with pytest.raises(ParameterError, match=r"three positive parts \(training, validation, test\), not \["):
        split_by_class(np.zeros(10, dtype=np.int64), parts)


def test_all_task_orders() -> None:
    orders = task_orders(10, 2)
    assert len(orders) == len(set(orders)) == 120
    assert orders[0] == tuple(range(10))
    pairs = {(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)}
    for order in orders:
        assert set(zip(order[::2], order[1::2], strict=True)) == pairs


def test_small_task_orders() -> None:
    assert task_orders(4, 2) == [(0, 1, 2, 3), (2, 3, 0, 1)]
    assert task_orders(3, 1) == list(itertools.permutations(range(3)))
    assert task_orders(3, 3) == [(0, 1, 2)]


@pytest.mark.parametrize(("classes", "per_task"), [(10, 3), (10, 0), (10, -2)])
def test_tasks_that_do_not_divide(classes: int, per_task: int) -> None:
    with pytest.raises(ParameterError, match=f"10 classes cannot be divided into tasks of {per_task}"):
        task_orders(classes, per_task)


def test_class_orders_are_distinct_and_drawn_by_seed() -> None:
    orders = class_orders(10, 100, 0)
    assert len(set(orders)) == 100
    assert all(sorted(order) == list(range(10)) for order in orders)
    assert orders == class_orders(10, 100, 0)
    assert orders[:30] == class_orders(10, 30, 0), "more orders begin with the same ones"
    assert not set(orders) & set(class_orders(10, 100, 1))
    assert {type(c) for order in orders for c in order} == {int}, "they are written into JSON"
    first = np.array([order[0] for order in orders])
    assert len(set(first)) == 10 and np.bincount(first).max() < 30


def test_all_orders_can_be_drawn_and_no_more() -> None:
    assert sorted(class_orders(4, 24, 5)) == list(itertools.permutations(range(4)))
    with pytest.raises(ParameterError, match="4 classes have 24 orders, fewer than 25"):
        class_orders(4, 25, 5)


def test_tasks_of_an_order() -> None:
    assert tasks_of((4, 1, 0, 5, 3, 2), 2) == [(4, 1), (0, 5), (3, 2)]
    assert tasks_of((4, 1, 0, 5, 3, 2), 3) == [(4, 1, 0), (5, 3, 2)]
    assert tasks_of((7,), 1) == [(7,)]


@pytest.mark.parametrize(("order", "per_task"), [((0, 1, 1, 2), 2), ((0, 1, 2), 2), ((0, 1), 0)])
def test_orders_that_cannot_be_cut(order: tuple[int, ...], per_task: int) -> None:
    with pytest.raises(ParameterError, match=rf"The order \[0, 1.*tasks of {per_task} distinct classes"):
        tasks_of(order, per_task)


@pytest.mark.parametrize("count", [1, 3, 5, 7, 10, 12, 20, 60, 119, 120])
def test_a_part_of_the_task_orders_is_balanced(count: int) -> None:
    chosen = [tuple(c // 2 for c in order[::2]) for order in balanced_task_orders(10, 2, count)]
    assert len(set(chosen)) == count
    assert set(balanced_task_orders(10, 2, count)) <= set(task_orders(10, 2))
    assert chosen[0] == (0, 1, 2, 3, 4)
    for place in range(5):  # first and last among them
        times = [sum(order[place] == task for order in chosen) for task in range(5)]
        assert max(times) - min(times) <= (0 if count % 5 == 0 else 1), place


def test_balanced_orders_are_nested_and_end_with_all() -> None:
    assert balanced_task_orders(10, 2, 20)[:7] == balanced_task_orders(10, 2, 7)
    assert sorted(balanced_task_orders(10, 2, 500)) == sorted(task_orders(10, 2))
    assert balanced_task_orders(4, 2, 2) == [(0, 1, 2, 3), (2, 3, 0, 1)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((10, 2, 0), "At least one order is needed, not 0"), ((10, 3, 2), "cannot be divided into tasks of 3")],
)
def test_impossible_parts_of_the_task_orders(arguments: tuple[int, int, int], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        balanced_task_orders(*arguments)


def test_class_orders_are_one_sequence_of_distinct_orders() -> None:
    many = class_orders(10, 100, 0)
    assert len(set(many)) == 100 and class_orders(10, 10, 0) == many[:10]
    assert class_orders(10, 10, 1) != many[:10]


def test_fractions_are_no_parts() -> None:
    with pytest.raises(ParameterError, match=r"not \[0\.8, 0\.1, 0\.1\]; whole numbers"):
        split_by_class(np.zeros(10, dtype=np.int64), (0.8, 0.1, 0.1))  # type: ignore[arg-type]


def test_a_split_that_leaves_nothing_to_train_on() -> None:
    with pytest.raises(ParameterError, match="leaves class 0 no training record of 10"):
        split_by_class(np.zeros(10, dtype=np.int64), (1, 1, 98))


@pytest.mark.parametrize("count", [0, -3])
def test_no_class_orders(count: int) -> None:
    with pytest.raises(ParameterError, match=f"At least one order is needed, not {count}"):
        class_orders(10, count, 0)
