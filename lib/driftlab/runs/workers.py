"""What every worker does, whichever engine it belongs to."""

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
    """What every worker of every engine does with a batch.

    Raises:
        StageError: The experiment failed, or did not give one result a stage.
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
    """Let this process compute with so many threads, whether PyTorch has been imported yet or comes later."""
    os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = str(threads)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(threads)


def usable_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
