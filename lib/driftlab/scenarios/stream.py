"""Online scenarios: a stream of frames divided into steps, and its steps into stretches of equal length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from driftlab.core.errors import ParameterError
from driftlab.data.detection.records import FrameStream


@dataclass(frozen=True)
class Timeline:
    """The step to which each frame belongs.

    Attributes:
        train: Indices of each step's training frames, in time order.
        test: (M,) the step to which each test frame belongs in time.
    """

    train: tuple[NDArray[np.int64], ...]
    test: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.train)


def timeline(stream: FrameStream, batch: int = 0) -> Timeline:
    """Divide a stream into steps.

    Args:
        stream: Frames in time order.
        batch: Training frames per step; 0 keeps the stream's own steps.

    Raises:
        ParameterError: The batch is negative.
    """
    if batch < 0:
        raise ParameterError(f"A step needs at least one frame; batch is {batch}.")
    frames = np.arange(len(stream.train))
    starts = frames[::batch] if batch else np.unique(stream.steps, return_index=True)[1]
    return Timeline(
        tuple(np.split(frames, starts[1:])), np.searchsorted(starts, stream.test_after, "right") - 1
    )


def shuffled(timeline: Timeline, seed: int) -> Timeline:
    """Shuffle a stream's training frames; the number of steps and of frames per step stays the same.

    Args:
        timeline: The stream's steps.
        seed: Seed of the order.
    """
    order = np.random.default_rng([seed, 6]).permutation(np.concatenate(timeline.train))
    ends = np.cumsum([len(step) for step in timeline.train])
    return Timeline(tuple(np.split(order, ends[:-1])), timeline.test)


def stretches(timeline: Timeline, length: int) -> list[range]:
    """Divide a stream into stretches of `length` steps, between which transfer is measured (Wanderlust).

    The remainder at the end is a stretch if it is longer than half of `length`, else part of the last one.

    Args:
        timeline: The stream's steps.
        length: Steps per stretch.

    Raises:
        ParameterError: There would be fewer than two stretches.
    """
    count = len(timeline) // length if length > 0 else 0
    if count < 2:
        raise ParameterError(
            f"Transfer needs at least two stretches; {len(timeline)} steps make {count} of {length}."
        )
    ends = [length * (i + 1) for i in range(count)]
    if 2 * (len(timeline) - ends[-1]) > length:
        ends.append(len(timeline))
    ends[-1] = len(timeline)
    return [range(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def frames_of(timeline: Timeline, stretch: range) -> NDArray[np.int64]:
    """Indices of the test frames that belong to the steps of a stretch."""
    return np.flatnonzero((timeline.test >= stretch.start) & (timeline.test < stretch.stop))


def evaluations(steps: int, interval: int) -> list[int]:
    """Numbers of steps after which a learner is evaluated: every `interval` steps, and at the end."""
    return [*range(interval, steps, interval), steps]


def begun(end: int, interval: int) -> int:
    """The first step learnt since the previous evaluation, for the evaluation after `end` steps."""
    return (end - 1) // interval * interval
