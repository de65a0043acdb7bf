"""How much memory a batch of replicas needs, from the shape of its data."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

NUMBER = 4
"""Bytes of a float32."""
INPUT_COPIES = 2
"""Copies of a replica's inputs in memory: the records as rows and, for the GCN, also as columns."""
STEP = 1.25
"""Memory that the allocator holds, as a multiple of the memory in use."""


def replica_bytes(shape: Sequence[int], records: int, width: int, depth: int, backbone: str = "gcn") -> int:
    """An upper estimate of the bytes that training one more replica takes, when it shares no records.

    Counts the inputs, the activations of a forward and a backward computation over all records at once, and
    nothing that does not grow with the records (the parameters are small beside them).

    Args:
        shape: (T, M, V, 3) of one prepared sequence.
        records: The largest number of records that a replica computes on at once.
        width: Units of a layer.
        depth: Number of layers.
        backbone: `gcn` or `stgcn`.
    """
    frames, bodies, joints, _ = shape
    inputs = INPUT_COPIES * records * prod(shape)
    rows = records * joints if backbone == "gcn" else records * frames * bodies * joints
    # In units of (rows, width): per layer of a GCN s (1), the gradient with respect to the products (2) and
    # ReLU's bytes (1/2); what both directions hold in between (4). A layer of an ST-GCN keeps about 14.
    activations = rows * width * ((3.5 * depth + 4) if backbone == "gcn" else 14 * depth)
    return int(STEP * NUMBER * (inputs + activations))


def replicas_that_fit(
    available: int,
    jobs: int,
    shape: Sequence[int],
    records: int,
    width: int,
    depth: int,
    backbone: str = "gcn",
) -> int:
    """How many replicas each of some workers can train side by side, at least one.

    Args:
        available: Bytes that all workers may take together.
        jobs: How many workers there are.
        shape: See `replica_bytes`.
        records: See `replica_bytes`.
        width: See `replica_bytes`.
        depth: See `replica_bytes`.
        backbone: See `replica_bytes`.
    """
    return max(1, available // jobs // replica_bytes(shape, records, width, depth, backbone))
