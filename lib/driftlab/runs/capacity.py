"""How many workers this machine has room for."""

from __future__ import annotations

import warnings
from pathlib import Path

import psutil

from driftlab.runs.failures import SweepWarning
from driftlab.runs.workers import usable_cores

WORKER_BYTES = 2**30
"""Memory of one worker process, measured at smoke scale: PyTorch's libraries, the data and a small model."""
CGROUPS = Path("/sys/fs/cgroup")
GIB = 2**30


def limited_jobs(jobs: int, threads: int = 1) -> int:
    """Cap a number of workers at what the machine's cores and free memory allow; says so if it does.

    Args:
        jobs: How many workers are wanted.
        threads: How many threads each computes with.

    Returns:
        At least 1.
    """
    cores, memory = usable_cores(), available_memory()
    by_cores, by_memory = max(1, cores // threads), max(1, memory // WORKER_BYTES)
    capped = min(jobs, by_cores, by_memory)
    if capped < jobs:
        reason = (
            f"{cores} cores" + (f", {threads} threads per worker" if threads > 1 else "")
            if by_cores <= by_memory
            else f"{memory / GIB:.1f} GiB of free memory, about {WORKER_BYTES / GIB:g} GiB per worker"
        )
        warnings.warn(
            f"{jobs} jobs are more than this machine has room for ({reason}): {capped} are used.",
            SweepWarning,
            stacklevel=2,
        )
    return capped


def available_memory(cgroups: Path = CGROUPS) -> int:
    """Bytes that can still be allocated, within the limit of a container where there is one.

    Args:
        cgroups: Where the system tells of limits (control groups, version 2).
    """
    free = int(psutil.virtual_memory().available)
    try:
        limit = int((cgroups / "memory.max").read_text(encoding="ascii"))
        used = int((cgroups / "memory.current").read_text(encoding="ascii"))
        cached = _inactive_file(cgroups / "memory.stat")
    except (OSError, ValueError):  # no limit ("max"), or a system without control groups
        return free
    return max(0, min(free, limit - used + cached))


def _inactive_file(statistics: Path) -> int:
    """Bytes of the file cache, which the system gives back when they are needed."""
    lines = (line.split() for line in statistics.read_text(encoding="ascii").splitlines())
    return next((int(fields[1]) for fields in lines if fields[0] == "inactive_file"), 0)
