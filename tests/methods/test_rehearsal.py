"""What REPLAY, GEM and JOINT train on."""

from __future__ import annotations

import numpy as np
import pytest
from driftlab.methods.base import Method, Task

from .single import LinearModel, method, task

SIZES = (122, 113, 121, 7)
PARTS = [
    list(range(start, start + size))
    for start, size in zip(np.cumsum((0, *SIZES[:-1])).tolist(), SIZES, strict=True)
]


def nth(index: int) -> Task:
    return task(index, *PARTS[: index + 1])


def memory(replay: Method, index: int) -> list[list[int]]:
    """What REPLAY adds to a task, by the task that it comes from."""
    (records,) = replay.training_records(nth(index))
    assert len(set(records.tolist())) == len(records)
    assert records[: SIZES[index]].tolist() == PARTS[index], "the whole task itself"
    kept = set(records[SIZES[index] :].tolist())
    parts = [sorted(kept & set(PARTS[t])) for t in range(index)]
    assert sum(map(len, parts)) == len(kept)
    return parts


@pytest.mark.parametrize(
    ("fraction", "sizes"),
    [
        (0.05, [6, 6, 6]),
        (0.1, [12, 11, 12]),
        (0.2, [24, 23, 24]),
        (0.5001, [61, 57, 61]),
        (1.0, [122, 113, 121]),
    ],
)
def test_how_many_are_kept(fraction: float, sizes: list[int]) -> None:
    assert [round(fraction * n) for n in SIZES[:3]] == sizes
    assert [len(part) for part in memory(method("REPLAY", fraction=fraction), 3)] == sizes


def test_at_least_one_is_kept() -> None:
    assert [len(part) for part in memory(method("REPLAY", fraction=0.001), 3)] == [1, 1, 1]


def test_they_are_drawn_once() -> None:
    replay = method("REPLAY", seed=4)
    second, third, fourth = (memory(replay, index) for index in (1, 2, 3))
    assert fourth[:2] == third and third[:1] == second
    assert memory(method("REPLAY", seed=4), 3) == fourth, "another object draws the same"
    assert memory(method("REPLAY", seed=5), 1) != second
    assert memory(method("REPLAY", seed=4, fraction=0.1), 1) != second


def test_tasks_are_drawn_apart() -> None:
    # Two tasks of one size: the same places in both would be one draw used twice.
    parts = [list(range(100)), list(range(100, 200)), [200, 201]]
    (records,) = method("REPLAY").training_records(task(2, *parts))
    places = [{r - first for r in records.tolist() if first <= r < first + 100} for first in (0, 100)]
    assert len(places[0]) == len(places[1]) == 20 and places[0] != places[1]


def test_they_are_spread_over_the_task() -> None:
    kept = [r for seed in range(20) for r in memory(method("REPLAY", seed=seed), 1)[0]]
    assert len(set(kept)) > 110, "not the first ones only"


def test_gem_keeps_the_same_number() -> None:
    model, gem = LinearModel(), method("GEM", fraction=0.25)
    old, new = model.of(0, 1), model.of(2, 3)
    assert len(old) == 8
    second = task(1, old, new)
    gem.begin_task(model, second, model.batch(second.records))
    (x, labels), *others = gem.memories
    assert not others and len(x) == 2 and set(labels.tolist()) <= {0, 1}


def test_joint_is_everything_so_far() -> None:
    (records,) = method("JOINT").training_records(nth(3))
    assert sorted(records.tolist()) == list(range(sum(SIZES))), "each record once, and no other"
    (first,) = method("JOINT").training_records(nth(0))
    assert first.tolist() == PARTS[0]


@pytest.mark.parametrize("name", ["BARE", "EWC", "MAS", "TWP", "LwF", "GEM"])
def test_the_others_train_on_the_task_alone(name: str) -> None:
    (records,) = method(name).training_records(nth(2))
    assert records.tolist() == PARTS[2]
