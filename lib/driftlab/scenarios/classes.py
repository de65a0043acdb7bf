"""From a labelled dataset to a sequence of tasks: train/validation/test splits, orders of classes, tasks."""

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
    """Record indices of the three parts, ascending."""

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
    """Every order of the tasks (0 … per_task−1), (per_task … ), …: 120 orders for ten classes in pairs.

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
    """Distinct random orders of the classes; a smaller count gives the beginning of a larger one.

    The paper draws 100 and does not say whether all methods, datasets and repetitions share them; here they
    do: the orders depend on these arguments only.

    Args:
        classes: Number of classes.
        count: Number of orders.
        seed: Seed of the draw.

    Raises:
        ParameterError: The count is not positive, or there are fewer orders than that.
    """
    rng = np.random.default_rng([seed, classes])
    possible = int(np.prod(np.arange(1, classes + 1, dtype=float)))
    if count < 1:
        raise ParameterError(f"At least one order is needed, not {count}.")
    if count > possible:
        raise ParameterError(f"{classes} classes have {possible} orders, fewer than {count}.")
    orders: dict[Order, None] = {}  # a set that keeps its order
    while len(orders) < count:
        orders.setdefault(tuple(int(c) for c in rng.permutation(classes)))
    return list(orders)


def balanced_task_orders(classes: int, per_task: int, count: int) -> list[Order]:
    """A part of the task orders in which each task stands first, last and at any other place equally often.

    The orders come in blocks: all rotations of one order, a Latin square, in which each task stands at each
    place once. The first block holds the default order; each further one is that which repeats the fewest
    pairs of successive tasks. With a count that is no multiple of the number of tasks, places differ by one
    at most. A smaller count gives the beginning of a larger one.

    Args:
        classes: How many classes there are.
        per_task: Consecutive classes form a task.
        count: How many orders; all of them where there are no more.

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
    cycles = [(0, *rest) for rest in itertools.permutations(range(1, tasks))]
    used = np.zeros((tasks, tasks), dtype=int)
    chosen: list[tuple[int, ...]] = []
    while cycles and len(chosen) < count:
        cycle = min(cycles, key=lambda cycle: sum(used[pair] for pair in _successive(cycle)))
        cycles.remove(cycle)
        for pair in _successive(cycle):
            used[pair] += 1
        chosen += [cycle[start:] + cycle[:start] for start in range(tasks)]
    return [tuple(t * per_task + c for t in order for c in range(per_task)) for order in chosen[:count]]


def _successive(cycle: tuple[int, ...]) -> list[tuple[int, int]]:
    return list(zip(cycle, cycle[1:] + cycle[:1], strict=True))


def tasks_of(order: Order, per_task: int) -> list[Order]:
    """An order of classes cut into tasks.

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
    return [tuple(order[i : i + per_task]) for i in range(0, len(order), per_task)]
