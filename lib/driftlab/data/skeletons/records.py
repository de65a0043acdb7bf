"""Moving skeletons as plain records, and their preparation for a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from driftlab.core.errors import DataError, ParameterError
from driftlab.core.provenance import Source
from driftlab.data.subsets import part

Fit = Literal["resample", "pad"]
FARTHEST = 1e6  # metres; a sensor sees a few, so whatever lies beyond is damage
CENTRE_JOINT = 1  # 0-based: the middle of the spine, for Kinect v1 and v2 alike


@dataclass(frozen=True)
class SkeletonSet:
    """A dataset of labelled skeleton sequences, in an order that matters (splits follow it).

    Attributes:
        sequences: One float32 array (T, M, V, 3) per record: frames, bodies, joints, xyz in metres. T differs
            between records; M is 1 (N-UCLA) or 2 (NTU). A body that is absent from a frame is all zeros.
        labels: (N,) int64, 0-based class ids.
        names: The records' names, unique.
        classes: Human-readable class names, by class id.
        bones: Pairs of 0-based joints.
        source: Where the data came from.
        notes: Counted repairs and known faults that were found, for the summary.

    Raises:
        DataError: The fields do not fit together, or a sequence is empty or holds a NaN or an infinity.
    """

    sequences: tuple[NDArray[np.float32], ...]
    labels: NDArray[np.int64]
    names: tuple[str, ...]
    classes: tuple[str, ...]
    bones: tuple[tuple[int, int], ...]
    source: Source
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _validate(self)
        # Read-only views: a record that is shared between runs must not change under any of them.
        object.__setattr__(self, "sequences", tuple(_read_only(sequence) for sequence in self.sequences))
        object.__setattr__(self, "labels", _read_only(self.labels))

    def __len__(self) -> int:
        return len(self.sequences)

    @property
    def joints(self) -> int:
        """V, the number of joints of a body."""
        return int(self.sequences[0].shape[2])

    @property
    def bodies(self) -> int:
        """M, the number of bodies of a frame."""
        return int(self.sequences[0].shape[1])

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(N,) int64, the number of frames of each sequence."""
        return np.array([len(sequence) for sequence in self.sequences], dtype=np.int64)

    @property
    def counts(self) -> NDArray[np.int64]:
        """(number of classes,) int64, how many sequences each class has."""
        return np.bincount(self.labels, minlength=len(self.classes)).astype(np.int64)

    def subset(self, indices: Sequence[int] | NDArray[np.integer], why: str) -> SkeletonSet:
        """Select the records at `indices`, in that order.

        A subset of real data is never called official; a subset of a synthetic world stays synthetic.

        Args:
            indices: 0-based positions, each at most once.
            why: A phrase for captions, such as "without the duplicates".
        """
        chosen, source = part(self.source, indices, len(self), why)
        return SkeletonSet(
            sequences=tuple(self.sequences[index] for index in chosen),
            labels=self.labels[chosen],
            names=tuple(self.names[index] for index in chosen),
            classes=self.classes,
            bones=self.bones,
            source=source,
            notes=(*self.notes, f"{len(self) - len(chosen)} of {len(self)} sequences left out: {why}"),
        )


def prepare(skeletons: SkeletonSet, frames: int = 52, *, fit: Fit = "resample") -> NDArray[np.float32]:
    """Centre every sequence, scale it to [-1, 1] and bring it to one length.

    As in the N-UCLA feeder of CTR-GCN (Chen et al., ICCV 2021), test mode: joint 1 of body 0 in frame 0
    becomes the origin, then each axis is min-max scaled over the whole sequence. With two bodies both move
    and scale together, so that their distance is kept; where a body is absent it stays zero and does not take
    part. If body 0 is absent at first, its first appearance gives the origin. An axis along which nothing
    varies becomes 0, the middle of the range.

    Args:
        skeletons: N sequences of T frames, M bodies and V joints.
        frames: The common number of frames.
        fit: `resample` takes the frames floor(linspace(0, T - 1, frames)), N-UCLA's way; `pad` keeps the
            frames and appends zeros, NTU's way (arrays in circulation are padded with zeros to 300 frames).

    Returns:
        float32 (N, frames, M, V, 3).

    Raises:
        ParameterError: `frames` is below 1, `fit` is unknown, or `pad` meets a sequence that is longer.
    """
    if frames < 1:
        raise ParameterError(f"frames must be at least 1, not {frames}.")
    if fit not in ("resample", "pad"):
        raise ParameterError(f"fit must be 'resample' or 'pad', not {fit!r}.")
    longest = int(skeletons.lengths.max())
    if fit == "pad" and longest > frames:
        name = skeletons.names[int(skeletons.lengths.argmax())]
        raise ParameterError(
            f"{name} has {longest} frames, which padding cannot bring to {frames}. "
            "Raise frames, or use fit='resample'."
        )
    prepared = np.zeros((len(skeletons), frames, skeletons.bodies, skeletons.joints, 3), dtype=np.float32)
    for target, sequence in zip(prepared, skeletons.sequences, strict=True):
        normal = normalise(sequence)
        if fit == "pad":
            target[: len(normal)] = normal
        else:
            target[:] = normal[np.linspace(0, len(normal) - 1, frames).astype(np.int64)]
    return prepared


def normalise(sequence: NDArray[np.float32]) -> NDArray[np.float64]:
    """Centre one sequence (T, M, V, 3) and scale it per axis by min and max; see `prepare`."""
    present = (sequence != 0).any(axis=(2, 3))  # (T, M)
    if not present.any():
        return np.zeros(sequence.shape)
    joints = sequence[present].astype(np.float64) - origin(sequence)
    low, high = joints.min(axis=(0, 1)), joints.max(axis=(0, 1))
    extent = high - low
    scaled = 2 * (joints - low) / np.where(extent > 0, extent, 1) - 1
    result = np.zeros(sequence.shape)
    result[present] = np.where(extent > 0, scaled, 0)
    return result


def origin(sequence: NDArray[np.float32]) -> NDArray[np.float32]:
    """(3,) where joint 1 of body 0 first appears; of the first body that appears, if body 0 never does."""
    present = (sequence != 0).any(axis=(2, 3))  # (T, M)
    body = int(present.any(axis=0).argmax())
    return np.asarray(sequence[int(present[:, body].argmax()), body, CENTRE_JOINT])


def _read_only(array: NDArray[np.generic]) -> NDArray[np.generic]:
    view = array.view()
    view.flags.writeable = False
    return view


def _validate(skeletons: SkeletonSet) -> None:
    place = skeletons.source.name
    count = len(skeletons.sequences)
    if count == 0:
        raise DataError("A skeleton set needs at least one sequence.", file=place)
    if skeletons.labels.shape != (count,) or skeletons.labels.dtype != np.int64:
        raise DataError(
            f"labels must be int64 ({count},), not {skeletons.labels.dtype} {skeletons.labels.shape}.",
            file=place,
            field="labels",
        )
    if len(skeletons.names) != count or len(set(skeletons.names)) != count:
        raise DataError(
            f"{count} sequences need {count} different names; got {len(set(skeletons.names))}.",
            file=place,
            field="names",
        )
    bodies, joints = skeletons.sequences[0].shape[1:3] if skeletons.sequences[0].ndim == 4 else (0, 0)
    for name, label, sequence in zip(skeletons.names, skeletons.labels, skeletons.sequences, strict=True):
        if not 0 <= label < len(skeletons.classes):
            raise DataError(
                f"label {label} is outside 0..{len(skeletons.classes) - 1}.",
                file=place,
                record=name,
                field="labels",
            )
        if sequence.dtype != np.float32 or sequence.ndim != 4 or sequence.shape[1:] != (bodies, joints, 3):
            raise DataError(
                f"a sequence must be float32 (T, M, V, 3) with the same M and V throughout; this one is "
                f"{sequence.dtype} {sequence.shape}.",
                file=place,
                record=name,
                field="sequences",
            )
        if len(sequence) == 0:
            raise DataError("the sequence is empty.", file=place, record=name, field="sequences")
        if not np.isfinite(sequence).all():
            frame = int(np.argwhere(~np.isfinite(sequence))[0][0])
            raise DataError(
                f"frame {frame} holds a number that is not finite.",
                file=place,
                record=name,
                field="sequences",
            )
    if joints <= CENTRE_JOINT or bodies < 1:
        raise DataError(
            f"{bodies} bodies of {joints} joints are not a skeleton.", file=place, field="sequences"
        )
    if any(not 0 <= joint < joints for bone in skeletons.bones for joint in bone):
        raise DataError(f"a bone names a joint outside 0..{joints - 1}.", file=place, field="bones")
