"""Cost of a notebook's sweeps, estimated from its parameters before anything is read or computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

PROCESS_BYTES = 500 * 2**20
"""Main memory of a process that has loaded PyTorch and the library."""


@dataclass(frozen=True)
class SweepSize:
    """Size of one sweep.

    Attributes:
        runs: Number of runs.
        stages: Number of distinct stages that they consist of.
    """

    runs: int
    stages: int


@dataclass(frozen=True)
class Estimate:
    """Cost of a notebook, if nothing of it is in the store yet.

    Attributes:
        sweeps: Its sweeps, in the notebook's order.
        memory_bytes: Main memory at most (on a GPU most of it is the GPU's).
        disk_bytes: What stays on the disk: results, states, kept features.
        jobs: For how many jobs the memory is.
    """

    sweeps: Sequence[SweepSize]
    memory_bytes: int
    disk_bytes: int
    jobs: int

    @property
    def runs(self) -> int:
        """Number of runs of all sweeps."""
        return sum(sweep.runs for sweep in self.sweeps)

    @property
    def stages(self) -> int:
        """Number of stages of all sweeps; those that several sweeps share are computed once."""
        return sum(sweep.stages for sweep in self.sweeps)

    def __str__(self) -> str:
        jobs = f"{self.jobs} job{'s' if self.jobs > 1 else ''}"
        memory, disk = _gib(self.memory_bytes), _gib(self.disk_bytes)
        return (
            f"about {self.runs:,} runs in {self.stages:,} stages; memory about {memory} with {jobs}; "
            f"disk about {disk}"
        )


def _gib(count: int) -> str:
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{max(1, round(count / 2**20))} MiB"
