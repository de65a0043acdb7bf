"""Class-incremental scenarios: train/validation/test splits, orders of classes, division into tasks."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from driftlab.core.errors import DataError, ParameterError

Order = tuple[int, ...]
"""Class ids in the order in which they are learnt; consecutive groups form the tasks."""


@dataclass(frozen=True)
class Split:
    """Indices of the records for training, validation and testing, each ascending."""

    train: NDArray[np.intp]
    validation: NDArray[np.intp]
    test: NDArray[np.intp]


def split_by_class(
    labels: NDArray[np.int64], parts: Sequence[int] = (8, 1, 1), seed: int | None = None
) -> Split:
    """Split the records of each class into training, validation and test.

    Args:
        labels: (N,) class ids, in dataset order.
        parts: Relative sizes, training first. Validation and test are rounded down, but never empty.
        seed: None keeps the dataset's order (first records train, last ones test), as the CGL protocol does;
            a number shuffles each class first.

    Raises:
        DataError: A class has fewer than three records.
        ParameterError: The parts are not three positive whole numbers, or leave nothing to train on.
    """
    if len(parts) != 3 or min(parts) <= 0 or any(part != int(part) for part in parts):
        raise ParameterError(
            f"A split has three positive parts (training, validation, test), not {list(parts)}; "
            "whole numbers."
        )
    indices: tuple[list[NDArray[np.intp]], ...] = ([], [], [])
    for label in np.unique(labels):
        records = np.flatnonzero(labels == label)
        if len(records) < 3:
            raise DataError(
                f"Class {label} has {len(records)} record(s); three are needed: one each for "
                "training, validation and test."
            )
        if seed is not None:
            records = np.random.default_rng([seed, int(label)]).permutation(records)
        held_out = [max(1, len(records) * part // sum(parts)) for part in parts[1:]]
        train_size = len(records) - sum(held_out)
        if train_size < 1:
            raise ParameterError(
                f"The split {list(parts)} leaves class {label} no training record of {len(records)}."
            )
        for group, part in zip(
            indices, np.split(records, [train_size, train_size + held_out[0]]), strict=True
        ):
            group.append(part)
    return Split(*(np.sort(np.concatenate(group)) for group in indices))


def task_orders(classes: int, per_task: int) -> list[Order]:
    """All permutations of the tasks (0 … per_task−1), (per_task …), …: 120 orders for ten classes in pairs.

    Args:
        classes: Number of classes.
        per_task: Classes per task.

    Returns:
        Orders of all classes, in lexicographic order of their tasks.

    Raises:
        ParameterError: The classes cannot be divided into such tasks.
    """
    if per_task < 1 or classes % per_task:
        raise ParameterError(f"{classes} classes cannot be divided into tasks of {per_task}.")
    tasks = [tuple(range(first, first + per_task)) for first in range(0, classes, per_task)]
    return [tuple(itertools.chain.from_iterable(order)) for order in itertools.permutations(tasks)]


def class_orders(classes: int, count: int, seed: int) -> list[Order]:
    """Draw distinct random orders of the classes; a smaller count gives the first ones of a larger count.

    The paper draws 100 and does not say whether all methods, datasets and repetitions share them; here they
    do: the orders depend on these arguments only.

    Args:
        classes: Number of classes.
        count: Number of orders.
        seed: Seed of the draw.

    Raises:
        ParameterError: The count is not positive, or larger than the number of orders.
    """
    rng = np.random.default_rng([seed, classes])
    possible = int(np.prod(np.arange(1, classes + 1, dtype=float)))
    if count < 1:
        raise ParameterError(f"At least one order is needed, not {count}.")
    if count > possible:
        raise ParameterError(f"{classes} classes have {possible} orders, fewer than {count}.")
    orders: dict[Order, None] = {}  # an ordered set
    while len(orders) < count:
        orders.setdefault(tuple(int(c) for c in rng.permutation(classes)))
    return list(orders)


def balanced_task_orders(classes: int, per_task: int, count: int) -> list[Order]:
    """Choose task orders in which each task has each position equally often.

    The orders come in blocks of all rotations of one order, a Latin square in which each task has each
    position once. The first block contains the default order; each further block is the one that repeats the
    fewest pairs of successive tasks. If the count is no multiple of the number of tasks, frequencies differ
    by one at most. A smaller count gives the first orders of a larger count.

    Args:
        classes: Number of classes.
        per_task: Classes per task; consecutive classes form a task.
        count: Number of orders; if there are fewer, all are returned.

    Returns:
        The orders, the default order 0, 1, 2 … first.

    Raises:
        ParameterError: The count is not positive, or the classes cannot be divided into such tasks.
    """
    if count < 1:
        raise ParameterError(f"At least one order is needed, not {count}.")
    if per_task < 1 or classes % per_task:
        raise ParameterError(f"{classes} classes cannot be divided into tasks of {per_task}.")
    tasks = classes // per_task
    unused_cycles = [(0, *rest) for rest in itertools.permutations(range(1, tasks))]
    pair_counts = np.zeros((tasks, tasks), dtype=int)
    orders: list[tuple[int, ...]] = []
    while unused_cycles and len(orders) < count:
        cycle = min(unused_cycles, key=lambda cycle: sum(pair_counts[pair] for pair in _successive(cycle)))
        unused_cycles.remove(cycle)
        for pair in _successive(cycle):
            pair_counts[pair] += 1
        orders += [cycle[start:] + cycle[:start] for start in range(tasks)]
    return [
        tuple(task_index * per_task + offset for task_index in order for offset in range(per_task))
        for order in orders[:count]
    ]


def _successive(cycle: tuple[int, ...]) -> list[tuple[int, int]]:
    """Pairs of successive tasks in a cycle, the last and the first included."""
    return list(zip(cycle, cycle[1:] + cycle[:1], strict=True))


def tasks_of(order: Order, per_task: int) -> list[Order]:
    """Divide an order of classes into tasks.

    Args:
        order: Class ids in the order in which they are learnt.
        per_task: Classes per task.

    Raises:
        ParameterError: The order repeats a class or its length is not a multiple of `per_task`.
    """
    if len(set(order)) != len(order) or per_task < 1 or len(order) % per_task:
        raise ParameterError(
            f"The order {list(order)} cannot be cut into tasks of {per_task} distinct classes."
        )
    return [tuple(order[start : start + per_task]) for start in range(0, len(order), per_task)]
