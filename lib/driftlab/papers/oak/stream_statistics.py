"""Counts over a labelled stream, for Wanderlust's Figure 3 and its claims about the data.

Crowd boxes are left out. Labelled frames are 2 seconds of video apart (0.5 frames per second).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from driftlab.data.detection.oak_locations import ClipLocation
from driftlab.data.detection.records import DetectionSet, FrameStream
from driftlab.scenarios.stream import Timeline

SECONDS_PER_FRAME = 2.0
SMALL, MEDIUM = 32.0, 96.0
"""Sides in pixels: COCO's small boxes have an area below SMALL², medium ones below MEDIUM²."""
HEIGHT = 720
"""Pixels: the height of OAK's frames. Sizes are converted to it, so that other frames can be compared."""
METRES_PER_DEGREE = 111_320.0

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


def hours(frames: float) -> float:
    """The hours of video that so many labelled frames stand for."""
    return frames * SECONDS_PER_FRAME / 3600


def frame_presence(records: DetectionSet) -> NDArray[np.bool_]:
    """(N, C) whether each frame shows each category."""
    shown = np.zeros((len(records), len(records.categories)), dtype=np.bool_)
    shown[frame_of_box(records), records.labels[~records.crowd]] = True
    return shown


def frame_of_box(records: DetectionSet) -> Integers:
    """(B,) the frame of each box that is no crowd."""
    return np.repeat(np.arange(len(records)), np.diff(records.starts))[~records.crowd]


def step_presence(stream: FrameStream) -> NDArray[np.bool_]:
    """(steps, C) whether a step's training frames show each category."""
    shown = np.zeros((stream.length, len(stream.categories)), dtype=np.bool_)
    np.logical_or.at(shown, stream.steps, frame_presence(stream.train))
    return shown


def presence_in_time(stream: FrameStream) -> NDArray[np.bool_]:
    """(F, C) whether each labelled frame, of training and test in time order, shows each category."""
    times = np.concatenate([np.arange(len(stream.train)), stream.test_after + 0.5])
    shown = np.concatenate([frame_presence(stream.train), frame_presence(stream.test)])
    return shown[np.argsort(times, kind="stable")]


def boxes_per_step(stream: FrameStream, timeline: Timeline) -> Integers:
    """(steps, C) training boxes of each category in each step of a timeline."""
    per_frame = np.zeros((len(stream.train), len(stream.categories)), dtype=np.int64)
    np.add.at(per_frame, (frame_of_box(stream.train), stream.train.labels[~stream.train.crowd]), 1)
    return np.stack([per_frame[frames].sum(axis=0) for frames in timeline.train])


def first_steps(stream: FrameStream) -> Integers:
    """(K,) the steps at which the K categories of the training frames first appear, ascending."""
    shown = step_presence(stream)
    return np.sort(shown.argmax(axis=0)[shown.any(axis=0)])


def reappearance_gaps(presence: NDArray[np.bool_]) -> list[Integers]:
    """How long each category stays away: frames from one that shows it to the next, where that is above 1.

    Args:
        presence: (F, C) from `presence_in_time`.

    Returns:
        One array per category.
    """
    gaps = [np.diff(np.flatnonzero(column)) for column in presence.T]
    return [gap[gap > 1] for gap in gaps]


def box_sides(records: DetectionSet) -> Floats:
    """(B,) √area of each box in pixels of a frame that is 720 pixels high."""
    boxes = records.boxes[~records.crowd].astype(np.float64)
    areas = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    heights = records.sizes[frame_of_box(records), 1].astype(np.float64)
    return np.asarray(np.sqrt(areas) * HEIGHT / heights)


def cells(places: Sequence[ClipLocation], side: float = 500.0) -> Integers:
    """(clips, 2) the cell of each clip in a grid of `side` metres, counted east and north."""
    degrees = np.array([(place.longitude, place.latitude) for place in places], dtype=np.float64)
    shrinkage = np.cos(np.deg2rad(degrees[:, 1].mean()))  # of a degree of longitude, away from the equator
    scaled = degrees * METRES_PER_DEGREE * [shrinkage, 1.0] / side
    return np.asarray(np.round(scaled), dtype=np.int64)


def clips_per_cell(places: Sequence[ClipLocation], side: float = 500.0) -> Integers:
    """How many clips were recorded in each cell of a grid of `side` metres, the most frequent cell first."""
    counts = np.unique(cells(places, side), axis=0, return_counts=True)[1]
    return np.sort(counts)[::-1].astype(np.int64)


def gini(counts: NDArray[np.integer]) -> float:
    """Gini coefficient of counts: 0 if all are equal, towards 1 if one has everything."""
    ordered = np.sort(counts).astype(np.float64)
    ranks = np.arange(1, len(ordered) + 1)
    return float((2 * ranks - len(ordered) - 1) @ ordered / (len(ordered) * ordered.sum()))
