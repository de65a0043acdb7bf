"""Estimates of the memory that training a replica needs, from the shape of its data."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

FLOAT_BYTES = 4
"""Bytes of a float32."""
INPUT_COPIES = 2
"""Copies of a replica's inputs in memory: the records as rows and, for the GCN, also as columns."""
ALLOCATOR_FACTOR = 1.25
"""Memory held by the allocator, as a multiple of the memory in use."""


def replica_bytes(shape: Sequence[int], records: int, width: int, depth: int, backbone: str = "gcn") -> int:
    """Upper estimate of the bytes for training one more replica that shares no records with others.

    Counted are the inputs and the activations of a forward and backward pass over all records at once; the
    parameters are small in comparison and are not counted.

    Args:
        shape: (T, M, V, 3) of one prepared sequence.
        records: Largest number of records that a replica processes at once.
        width: Units per layer.
        depth: Number of layers.
        backbone: `gcn` or `stgcn`.
    """
    frames, bodies, joints, _ = shape
    inputs = INPUT_COPIES * records * prod(shape)
    rows = records * joints if backbone == "gcn" else records * frames * bodies * joints
    # Arrays of shape (rows, width). Per layer of a GCN: s (1), the gradient with respect to the matrix
    # products (2), ReLU's mask (1/2); temporary arrays of both passes (4). Per layer of an ST-GCN: about 14.
    activations = rows * width * ((3.5 * depth + 4) if backbone == "gcn" else 14 * depth)
    return int(ALLOCATOR_FACTOR * FLOAT_BYTES * (inputs + activations))


def replicas_that_fit(
    available: int,
    jobs: int,
    shape: Sequence[int],
    records: int,
    width: int,
    depth: int,
    backbone: str = "gcn",
) -> int:
    """Number of replicas that each worker can train side by side, at least one.

    Args:
        available: Bytes that all workers may use together.
        jobs: Number of workers.
        shape: See `replica_bytes`.
        records: See `replica_bytes`.
        width: See `replica_bytes`.
        depth: See `replica_bytes`.
        backbone: See `replica_bytes`.
    """
    return max(1, available // jobs // replica_bytes(shape, records, width, depth, backbone))
