"""How many runs are put into a batch."""

from __future__ import annotations

import numpy as np
from driftlab.methods import method_config
from driftlab.papers.cgl.batch_size import replicas_in
from driftlab.papers.cgl.experiment import TaskData, run_config
from driftlab.training.graphs.memory import replica_bytes

LABELS = np.repeat(np.arange(4), [10, 20, 30, 40])
DATA = TaskData(np.zeros((100, 5, 1, 20, 3), np.float32), LABELS, ((0, 1),), 4)
HELD = 2 * DATA.coordinates.nbytes


def run(name: str, **settings: object) -> dict[str, object]:
    return run_config(variant="v", method=method_config(name), order=(0, 1, 2, 3), seed=0, **settings)  # type: ignore[arg-type]


def one(records: int, width: int = 64) -> int:
    return replica_bytes((5, 1, 20, 3), records, width, 2)


def test_the_largest_task_counts_and_what_is_rehearsed_with_it() -> None:
    # The largest two classes have 70 records, 56 of them for training.
    assert replicas_in(HELD + 7 * one(56), 1, DATA, [run("BARE")]) == 7
    assert replicas_in(HELD + 7 * one(56) - 1, 1, DATA, [run("BARE")]) == 6
    assert replicas_in(HELD + 7 * one(80), 1, DATA, [run("JOINT")]) == 7
    assert replicas_in(HELD + 7 * one(60), 1, DATA, [run("REPLAY")]) == 7, "a fifth of 24"


def test_the_most_demanding_run_decides_and_all_workers_share() -> None:
    runs = [run("BARE"), run("BARE", width=128)]
    assert replicas_in(3 * (HELD + 4 * one(56, 128)), 3, DATA, runs) == 4
    assert replicas_in(0, 3, DATA, runs) == 1
