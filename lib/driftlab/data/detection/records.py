"""Records of images with boxes, and of a stream of frames. Pixels stay in their files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from driftlab.core.errors import DataError
from driftlab.core.provenance import Source
from driftlab.data.detection.images import read_image as read_image  # part of this record's interface
from driftlab.data.detection.oak_locations import ClipLocation
from driftlab.data.subsets import part


@dataclass(frozen=True)
class DetectionSet:
    """N pictures with B boxes in all, in an order that matters (a stream follows it).

    Attributes:
        images: The N files; read one with `read_image`.
        names: The pictures' names, unique, for messages: "0012/000345", step and frame.
        sizes: (N, 2) int32, width and height in pixels.
        starts: (N + 1,) int64; picture i has the boxes from starts[i] to starts[i + 1].
        boxes: (B, 4) float32, x1, y1, x2, y2 in pixels, inside the picture, of positive area.
        labels: (B,) int64, positions in `categories`.
        crowd: (B,) bool, boxes that are neither learnt nor counted as missed (COCO's iscrowd).
        categories: Human-readable names, by label.
        source: Where the data came from.
        notes: Counted repairs and known faults that were found, for the summary.

    Raises:
        DataError: The fields do not fit together, or a box is impossible.
    """

    images: tuple[Path, ...]
    names: tuple[str, ...]
    sizes: NDArray[np.int32]
    starts: NDArray[np.int64]
    boxes: NDArray[np.float32]
    labels: NDArray[np.int64]
    crowd: NDArray[np.bool_]
    categories: tuple[str, ...]
    source: Source
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _validate(self)
        # Read-only views: a record that is shared between runs must not change under any of them.
        for field in ("sizes", "starts", "boxes", "labels", "crowd"):
            view = getattr(self, field).view()
            view.flags.writeable = False
            object.__setattr__(self, field, view)

    def __len__(self) -> int:
        return len(self.images)

    @property
    def counts(self) -> NDArray[np.int64]:
        """(number of categories,) int64, how many boxes each category has, crowds left out."""
        return np.bincount(self.labels[~self.crowd], minlength=len(self.categories)).astype(np.int64)

    def boxes_of(self, index: int) -> NDArray[np.float32]:
        """(n, 4) float32, the boxes of picture `index`."""
        return self.boxes[self.starts[index] : self.starts[index + 1]]

    def labels_of(self, index: int) -> NDArray[np.int64]:
        """(n,) int64, the labels of picture `index`."""
        return self.labels[self.starts[index] : self.starts[index + 1]]

    def crowd_of(self, index: int) -> NDArray[np.bool_]:
        """(n,) bool, which boxes of picture `index` are crowds."""
        return self.crowd[self.starts[index] : self.starts[index + 1]]

    def subset(self, indices: Sequence[int] | NDArray[np.integer], why: str) -> DetectionSet:
        """The pictures at `indices`, in that order.

        A subset of real data is never called official; a subset of a synthetic world stays synthetic.

        Args:
            indices: 0-based positions, each at most once.
            why: A phrase for captions, such as "the first 32".
        """
        chosen, source = part(self.source, indices, len(self), why)
        lengths = np.diff(self.starts)[chosen]
        kept = np.concatenate([np.arange(self.starts[i], self.starts[i + 1]) for i in chosen])
        return DetectionSet(
            images=tuple(self.images[index] for index in chosen),
            names=tuple(self.names[index] for index in chosen),
            sizes=self.sizes[chosen],
            starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            boxes=self.boxes[kept],
            labels=self.labels[kept],
            crowd=self.crowd[kept],
            categories=self.categories,
            source=source,
            notes=(*self.notes, f"{len(self) - len(chosen)} of {len(self)} pictures left out: {why}"),
        )


@dataclass(frozen=True)
class FrameStream:
    """A video that is seen once, and the frames held out of it for testing.

    Attributes:
        train: Training frames in time order.
        steps: (N,) int64, the 0-based step of each training frame, non-decreasing, none missing; a step is
            one batch of the stream (officially 16 frames).
        test: Held-out frames in time order, of the same categories.
        test_after: (M,) int64, the last training frame that is not later than each test frame.
        evaluated: Labels that occur both in training and in testing; only these enter the averages.
        places: Where the clips were recorded, in time order; empty where the data do not say.

    Raises:
        DataError: The fields do not fit together.
    """

    train: DetectionSet
    steps: NDArray[np.int64]
    test: DetectionSet
    test_after: NDArray[np.int64]
    evaluated: tuple[int, ...]
    places: tuple[ClipLocation, ...] = ()

    def __post_init__(self) -> None:
        place = self.source.name
        if self.train.categories != self.test.categories:
            raise DataError("Training and test must have the same categories.", file=place)
        for field, count in (("steps", len(self.train)), ("test_after", len(self.test))):
            array = getattr(self, field)
            if array.dtype != np.int64 or array.shape != (count,):
                raise DataError(
                    f"This must be int64 ({count},), not {array.dtype} {array.shape}.",
                    file=place,
                    field=field,
                )
        if self.steps[0] != 0 or not np.isin(np.diff(self.steps), (0, 1)).all():
            raise DataError("Steps must begin at 0 and rise by 1.", file=place, field="steps")
        if not ((self.test_after >= 0) & (self.test_after < len(self.train))).all():
            raise DataError(
                "A test frame comes after a training frame that is not there.", file=place, field="test_after"
            )
        both = tuple(np.flatnonzero((self.train.counts > 0) & (self.test.counts > 0)).tolist())
        if self.evaluated != both:
            raise DataError(
                f"These must be the labels that occur in training and test, {both}; got {self.evaluated}.",
                file=place,
                field="evaluated",
            )
        for field in ("steps", "test_after"):
            view = getattr(self, field).view()
            view.flags.writeable = False
            object.__setattr__(self, field, view)

    @property
    def source(self) -> Source:
        """Where the data came from."""
        return self.train.source

    @property
    def categories(self) -> tuple[str, ...]:
        """Human-readable names, by label."""
        return self.train.categories

    @property
    def test_steps(self) -> NDArray[np.int64]:
        """(M,) the step to which each test frame belongs in time (officially one per step)."""
        return np.asarray(self.steps[self.test_after])

    @property
    def length(self) -> int:
        """How many steps the stream has."""
        return int(self.steps[-1]) + 1


def _validate(detections: DetectionSet) -> None:
    place = detections.source.name
    count, total = len(detections.images), len(detections.boxes)
    if count == 0:
        raise DataError("A detection set needs at least one picture.", file=place)
    if len(detections.names) != count or len(set(detections.names)) != count:
        raise DataError(
            f"{count} pictures need {count} different names; got {len(set(detections.names))}.",
            file=place,
            field="names",
        )
    shapes = {
        "sizes": ((count, 2), np.int32),
        "starts": ((count + 1,), np.int64),
        "boxes": ((total, 4), np.float32),
        "labels": ((total,), np.int64),
        "crowd": ((total,), np.bool_),
    }
    for field, (shape, dtype) in shapes.items():
        array = getattr(detections, field)
        if array.shape != shape or array.dtype != dtype:
            raise DataError(
                f"This must be {np.dtype(dtype)} {shape}, not {array.dtype} {array.shape}.",
                file=place,
                field=field,
            )
    if detections.starts[0] != 0 or detections.starts[-1] != total or (np.diff(detections.starts) < 0).any():
        raise DataError(f"This must rise from 0 to {total}, the number of boxes.", file=place, field="starts")
    if len(set(detections.categories)) != len(detections.categories):
        raise DataError("A category is named twice.", file=place, field="categories")
    owners = np.repeat(np.arange(count), np.diff(detections.starts))
    faults = {
        "sizes": ((detections.sizes < 1).any(axis=1), np.arange(count), "has no area"),
        "labels": (
            (detections.labels < 0) | (detections.labels >= len(detections.categories)),
            owners,
            f"has a label outside 0..{len(detections.categories) - 1}",
        ),
        "boxes": (
            ~_possible(detections, owners),
            owners,
            "has a box of no area, outside of it, or not finite",
        ),
    }
    for field, (wrong, picture, problem) in faults.items():
        if wrong.any():
            name = detections.names[int(picture[int(wrong.argmax())])]
            raise DataError(f"This picture {problem}.", file=place, record=name, field=field)


def _possible(detections: DetectionSet, owners: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(B,) whether each box is finite, of positive area, and inside its picture."""
    low, high = detections.boxes[:, :2], detections.boxes[:, 2:]
    # a comparison with NaN is false
    fits = (low >= 0) & (low < high) & (high <= detections.sizes[owners])
    return np.asarray(fits.all(axis=1))
