"""Executing a batch in a worker, and the resources of its process; the same for all engines."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from driftlab.runs.experiment import Config, Experiment, StageResult, State
from driftlab.runs.failures import StageError


def run_stages(
    experiment: Experiment, data: Any, stages: Sequence[Config], states: Sequence[State | None]
) -> list[StageResult]:
    """Execute a batch of stages and check its results.

    Raises:
        StageError: The experiment failed, or did not return one result per stage.
    """
    try:
        results = experiment.execute(data, stages, states)
    except Exception as error:
        raise StageError.of(error) from error
    if len(results) != len(stages) or not all(isinstance(result, StageResult) for result in results):
        raise StageError(
            f"{experiment.name}.execute must return one StageResult for each of {len(stages)} stages."
        )
    return results


def limit_threads(threads: int) -> None:
    """Set the number of threads that this process computes with, before or after PyTorch is imported."""
    os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = str(threads)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(threads)


def usable_cores() -> int:
    """Number of CPU cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
