"""Engines, which execute batches of stages: the interface that a sweep uses, and the engines by name."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, Protocol

from driftlab.core.devices import cuda_devices, device_kind
from driftlab.core.errors import ParameterError
from driftlab.runs.capacity import limited_jobs
from driftlab.runs.experiment import Config, Experiment, StageResult, State
from driftlab.runs.local_engine import LocalEngine
from driftlab.runs.workers import usable_cores

__all__ = ["ENGINES", "Engine", "LocalEngine", "make_engine"]

ENGINES = ("local", "ray")


class Engine(Protocol):
    """Executes batches of stages; a sweep starts it, submits, and stops it."""

    @property
    def capacity(self) -> int:
        """Number of batches that are worked on at once."""
        ...

    @property
    def lost(self) -> tuple[type[BaseException], ...]:
        """Exceptions of a future whose worker died (as opposed to an error in the experiment)."""
        ...

    def start(self, experiment: Experiment, data: Any) -> None:
        """Prepare workers for an experiment and its data."""
        ...

    def submit(self, stages: Sequence[Config], states: Sequence[State | None]) -> Future[list[StageResult]]:
        """Start executing a batch."""
        ...

    def stop(self) -> None:
        """End every worker at once, also a busy one; does nothing if none was started."""
        ...


GPUS_PER_BATCH = 1.0
"""CUDA devices that a batch of runs has to itself, where sweeps compute on CUDA devices."""


def make_engine(name: str = "local", jobs: int | str = "auto", *, threads: int = 1) -> Engine:
    """The engine of a name.

    Where sweeps compute on CUDA devices (`driftlab.core.devices.device_kind`), one batch is worked on per
    device: a Ray task asks for a device, and each local worker is given its own. More jobs than devices share
    devices with the local engine; Ray does not start them.

    Args:
        name: `local` or `ray`.
        jobs: Number of batches that are worked on at once, at most what cores and free memory allow; `0` or
            `"auto"` is one per CUDA device, or one per usable core (per core of an existing Ray cluster)
            where there is none.
        threads: CPU threads per worker. Results on a CPU can depend on it in their last digits.

    Raises:
        ParameterError: There is no such engine, or no such number.
    """
    if name not in ENGINES:
        raise ParameterError(f"There is no engine {name!r}; the engines are {' and '.join(ENGINES)}.")
    if jobs == "auto":
        jobs = 0
    if not isinstance(jobs, int) or isinstance(jobs, bool) or jobs < 0:
        raise ParameterError(
            f"jobs is {jobs!r}; it must be a number from 1, or 0 or 'auto' for one per usable core."
        )
    on_cuda = device_kind() == "cuda"
    if name == "ray":
        from driftlab.runs.ray_engine import RayEngine

        return RayEngine(jobs, threads=threads, gpus_per_task=GPUS_PER_BATCH if on_cuda else 0.0)
    if threads < 1:
        raise ParameterError(f"threads is {threads}; it must be at least 1.")
    devices = cuda_devices() if on_cuda else ()
    automatic = max(1, len(devices)) if on_cuda else usable_cores()
    return LocalEngine(limited_jobs(jobs or automatic, threads), threads=threads, devices=devices)
