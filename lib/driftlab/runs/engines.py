"""Where stages are executed: what a sweep asks of an engine, and the engines by name."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, Protocol

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
        """How many batches it works on at once."""
        ...

    @property
    def lost(self) -> tuple[type[BaseException], ...]:
        """What a future raises if the worker died (as opposed to an error of the experiment's)."""
        ...

    def start(self, experiment: Experiment, data: Any) -> None:
        """Make workers ready for one experiment and its data."""
        ...

    def submit(self, stages: Sequence[Config], states: Sequence[State | None]) -> Future[list[StageResult]]:
        """Begin to execute a batch."""
        ...

    def stop(self) -> None:
        """End every worker at once, whatever it is doing; harmless if nothing was started."""
        ...


def make_engine(name: str = "local", jobs: int | str = "auto", *, threads: int = 1) -> Engine:
    """The engine of a name.

    Args:
        name: `local` or `ray`.
        jobs: How many batches are worked on at once, capped by cores and free memory; `0` or `"auto"` stands
            for one per usable core (for the whole of an existing Ray cluster), or for one if there is a CUDA
            device.
        threads: How many threads a worker computes with. Results on a CPU can depend on it in their last
            digits.

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
    if name == "ray":
        from driftlab.runs.ray_engine import RayEngine

        return RayEngine(jobs, threads=threads)
    if threads < 1:
        raise ParameterError(f"threads is {threads}; it must be at least 1.")
    return LocalEngine(limited_jobs(jobs or _automatic_jobs(), threads), threads=threads)


def _automatic_jobs() -> int:
    import torch

    return 1 if torch.cuda.is_available() else usable_cores()
