"""How many runs fit into memory side by side."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from driftlab.papers.cgl.experiment import TaskData
from driftlab.runs.experiment import Config
from driftlab.training.graphs.memory import replicas_that_fit


def replicas_in(available: int, jobs: int, data: TaskData, configs: Iterable[Config]) -> int:
    """How many runs each worker can train side by side, at least one.

    Args:
        available: Free bytes.
        jobs: Number of workers; each holds the data twice.
        data: What the runs are executed on.
        configs: The runs, from `driftlab.papers.cgl.experiment.run_config`.
    """
    free = available - 2 * jobs * data.coordinates.nbytes
    shape, counts = data.coordinates.shape[1:], np.bincount(data.labels, minlength=data.classes)
    kinds = {_demand(config, counts) for config in configs}
    return min(replicas_that_fit(free, jobs, shape, *kind) for kind in kinds) if kinds else 1


def _demand(config: Config, counts: np.ndarray[Any, Any]) -> tuple[int, int, int, str]:
    """Records, width, depth and backbone: the largest classes make a task, and rehearsal adds its share."""
    parts, method, backbone = config["split"]["parts"], config["method"], config["backbone"]
    task = np.sort(counts)[-config["classes_per_task"] :].sum()
    rehearsed = 1.0 if method["name"] == "JOINT" else method.get("fraction", 0.0)
    trained = (task + rehearsed * (counts.sum() - task)) * parts[0] / sum(parts)
    tested = counts.sum() * max(parts[1:]) / sum(parts) / 2  # without a backward computation
    return int(max(trained, tested)), backbone["width"], backbone["depth"], backbone["name"]
