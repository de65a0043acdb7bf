"""A stream as steps and stretches."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from driftlab.core.errors import ParameterError
from driftlab.core.provenance import Source
from driftlab.data.detection.records import DetectionSet, FrameStream
from driftlab.scenarios.stream import Timeline, begun, evaluations, frames_of, stretches, timeline


def frames(count: int, name: str) -> DetectionSet:
    """Pictures (never opened) with one box each."""
    return DetectionSet(
        images=tuple(Path(f"{name}{i}.jpg") for i in range(count)),
        names=tuple(f"{name}{i}" for i in range(count)),
        sizes=np.full((count, 2), 32, dtype=np.int32),
        starts=np.arange(count + 1),
        boxes=np.tile(np.array([1, 1, 9, 9], dtype=np.float32), (count, 1)),
        labels=np.zeros(count, dtype=np.int64),
        crowd=np.zeros(count, dtype=np.bool_),
        categories=("one",),
        source=Source("synthetic", "toy", "pictures", "digest"),
    )


def stream(steps: list[int], test_after: list[int]) -> FrameStream:
    return FrameStream(
        frames(len(steps), "train"),
        np.array(steps),
        frames(len(test_after), "test"),
        np.array(test_after),
        (0,),
    )


STREAM = stream([0, 0, 0, 1, 1, 2, 2, 2, 2, 3], [2, 4, 4, 8, 9])


def of(time: Timeline) -> list[list[int]]:
    return [step.tolist() for step in time.train]


def test_steps_as_they_come() -> None:
    time = timeline(STREAM)
    assert of(time) == [[0, 1, 2], [3, 4], [5, 6, 7, 8], [9]]
    assert time.test.tolist() == [0, 1, 1, 2, 3] and len(time) == 4


def test_steps_of_equal_size() -> None:
    time = timeline(STREAM, batch=4)
    assert of(time) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    # The test frames come after the frames 2, 4, 4, 8 and 9.
    assert time.test.tolist() == [0, 1, 1, 2, 2]
    assert of(timeline(STREAM, batch=5)) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    assert of(timeline(STREAM, batch=99)) == [list(range(10))]
    assert timeline(STREAM, batch=1).test.tolist() == [2, 4, 4, 8, 9]


def test_a_test_frame_comes_after_the_last_training_frame_that_is_not_later() -> None:
    placed = replace(STREAM, test_after=np.array([1, 3, 4, 6, 9]))
    assert timeline(placed).test.tolist() == [0, 1, 1, 2, 3]
    assert timeline(placed, batch=1).test.tolist() == [1, 3, 4, 6, 9]
    assert timeline(placed, batch=4).test.tolist() == [0, 0, 1, 1, 2]


def test_no_frame_is_lost_or_moved() -> None:
    for batch in range(12):
        assert np.concatenate(timeline(STREAM, batch).train).tolist() == list(range(10))


def test_a_batch_cannot_be_negative() -> None:
    with pytest.raises(ParameterError, match="A step needs at least one frame; batch is -1"):
        timeline(STREAM, batch=-1)


def steps(count: int) -> Timeline:
    return Timeline(tuple(np.array([i]) for i in range(count)), np.arange(count))


def test_stretches_are_equal() -> None:
    assert stretches(steps(9), 3) == [range(3), range(3, 6), range(6, 9)]


@pytest.mark.parametrize(
    ("total", "length", "count", "last"),
    [(1996, 100, 20, 96), (1996, 40, 50, 36), (150, 30, 5, 30), (5, 2, 2, 3), (7, 3, 2, 4), (8, 3, 3, 2)],
)
def test_what_is_left_is_a_stretch_of_its_own_if_it_is_long(
    total: int, length: int, count: int, last: int
) -> None:
    actual = stretches(steps(total), length)
    assert len(actual) == count and len(actual[-1]) == last
    assert {len(part) for part in actual[:-1]} == {length}
    assert [step for part in actual for step in part] == list(range(total))


@pytest.mark.parametrize(
    ("count", "length", "message"),
    [(9, 5, "9 steps make 1 of 5"), (9, 10, "make 0 of 10"), (9, 0, "make 0 of 0"), (9, -3, "make 0 of -3")],
)
def test_transfer_needs_two_stretches(count: int, length: int, message: str) -> None:
    with pytest.raises(ParameterError, match=f"Transfer needs at least two stretches; .*{message}"):
        stretches(steps(count), length)


def test_every_test_frame_is_in_one_stretch() -> None:
    time = timeline(STREAM)
    parts = [frames_of(time, part).tolist() for part in stretches(time, 2)]
    assert parts == [[0, 1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("count", "interval", "expected"),
    [(6, 2, [2, 4, 6]), (7, 2, [2, 4, 6, 7]), (2, 2, [2]), (1996, 10, [*range(10, 1991, 10), 1996])],
)
def test_every_step_leads_to_one_evaluation(count: int, interval: int, expected: list[int]) -> None:
    ends = evaluations(count, interval)
    assert ends == expected
    steps = [step for end in ends for step in range(begun(end, interval), end)]
    assert steps == list(range(count))
