"""Known faults of skeleton datasets: detected and counted, never repaired silently."""

from __future__ import annotations

import hashlib

import numpy as np

from driftlab.data.skeletons.records import SkeletonSet


def duplicate_pairs(skeletons: SkeletonSet) -> list[tuple[int, int]]:
    """Pairs (first, later) of indices whose sequences and labels are exactly equal, in dataset order.

    Of three equal sequences a, b, c the pairs are (a, b) and (a, c).
    """
    first: dict[bytes, int] = {}
    pairs = []
    for index, (label, sequence) in enumerate(zip(skeletons.labels, skeletons.sequences, strict=True)):
        content = hashlib.sha256(f"{label} {sequence.shape}".encode())
        content.update(np.ascontiguousarray(sequence).data)
        key = content.digest()
        if key in first:
            pairs.append((first[key], index))
        else:
            first[key] = index
    return pairs


def without_duplicates(skeletons: SkeletonSet) -> SkeletonSet:
    """Remove the later one of each pair of equal sequences."""
    later = {second for _, second in duplicate_pairs(skeletons)}
    if not later:
        return skeletons
    kept = [index for index in range(len(skeletons)) if index not in later]
    return skeletons.subset(kept, "without the duplicated sequences")


def one_frame(skeletons: SkeletonSet) -> list[int]:
    """Indices of the sequences that have a single frame, and so show no motion."""
    return [int(index) for index in np.flatnonzero(skeletons.lengths == 1)]


def flat(skeletons: SkeletonSet) -> list[int]:
    """Indices of the sequences with an axis along which no joint ever differs (`prepare` puts it at 0)."""
    extents = [
        np.ptp(sequence[(sequence != 0).any(axis=(2, 3))].reshape(-1, 3), axis=0).min()
        if sequence.any()
        else 0
        for sequence in skeletons.sequences
    ]
    return [index for index, extent in enumerate(extents) if extent == 0]


def fault_notes(skeletons: SkeletonSet) -> tuple[str, ...]:
    """One line per kind of fault that occurs, with its count and examples."""
    notes = []
    pairs = duplicate_pairs(skeletons)
    if pairs:
        classes = sorted({skeletons.classes[skeletons.labels[first]] for first, _ in pairs})
        example = " = ".join(skeletons.names[index] for index in pairs[0])
        notes.append(f"{len(pairs)} pairs of equal sequences ({example}, …), of: {', '.join(classes)}")
    singles = one_frame(skeletons)
    if singles:
        notes.append(f"{len(singles)} sequences of one frame: {_names(skeletons, singles)}")
    flats = flat(skeletons)
    if flats:
        notes.append(f"{len(flats)} sequences that do not vary along an axis: {_names(skeletons, flats)}")
    return tuple(notes)


def _names(skeletons: SkeletonSet, indices: list[int]) -> str:
    shown = ", ".join(skeletons.names[index] for index in indices[:5])
    return shown + (", …" if len(indices) > 5 else "")
