"""The replicated trainer, timed through the engine and the sweep that notebooks use."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Any

from driftlab.bench import workload
from driftlab.methods import method_config
from driftlab.papers.cgl.experiment import ContinualSkeletons, TaskData, run_config
from driftlab.runs.engines import LocalEngine
from driftlab.runs.experiment import StageResult, State
from driftlab.runs.store import Store
from driftlab.runs.sweep import SweepResult, sweep
from driftlab.scenarios.classes import Order

EXPERIMENT = ContinualSkeletons(device="cpu")


def task_data() -> TaskData:
    """The workload, as the experiment wants it."""
    return TaskData(workload.coordinates(), workload.labels(), workload.BONES, workload.CLASSES)


def configuration(method: str, order: Order, seed: int, epochs: int) -> dict[str, Any]:
    """A run with the paper's architecture."""
    return run_config(variant="bench", method=method_config(method), order=order, seed=seed, epochs=epochs)


class ReplicatedTrainer:
    """Workers that train replicas side by side; they end with the block.

    Args:
        jobs: Workers, with one thread each.
        replicas: Runs side by side in each worker.
    """

    def __init__(self, jobs: int, replicas: int) -> None:
        self._engine = LocalEngine(jobs)
        self._replicas = replicas
        self.total = jobs * replicas

    def __enter__(self) -> ReplicatedTrainer:
        self._engine.start(EXPERIMENT, task_data())
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._engine.stop()

    def warm_up(self) -> None:
        """Bring the workers to life, and go once through every code path."""
        self.epoch_seconds("BARE", 1)

    def epoch_seconds(self, method: str, epochs: int) -> list[float]:
        """Wall-clock seconds per replica-epoch, for the first to the last task of the runs.

        That is: the time until all workers have trained all replicas for so many more epochs, divided by the
        number of epochs of all replicas. What a stage costs beside its epochs cancels out: each task is
        learnt with one epoch, and then with so many more.

        Args:
            method: Its name.
            epochs: How many of each task are timed.
        """
        orders = [_rotated(i) for i in range(self.total)]
        chains = {
            count: [EXPERIMENT.chain(configuration(method, o, i, count)) for i, o in enumerate(orders)]
            for count in (1, 1 + epochs)
        }
        states: list[State | None] = [None] * self.total
        found = []
        for depth in range(len(workload.TASKS)):
            seconds = []
            for chain in chains.values():
                began = time.perf_counter()
                results = self._train([stages[depth] for stages in chain], states)
                seconds.append(time.perf_counter() - began)
            states = [result.state for result in results]
            found.append((seconds[1] - seconds[0]) / (epochs * self.total))
        return found

    def _train(self, stages: Sequence[Any], states: Sequence[State | None]) -> list[StageResult]:
        size = self._replicas
        futures: list[Future[list[StageResult]]] = [
            self._engine.submit(stages[first : first + size], states[first : first + size])
            for first in range(0, self.total, size)
        ]
        return [result for future in futures for result in future.result()]


def _rotated(by: int) -> Order:
    """An order of the tasks for each replica: tasks differ in size, so all take part at every depth."""
    by %= len(workload.TASKS)
    return tuple(c for task in workload.TASKS[by:] + workload.TASKS[:by] for c in task)


def sweep_all_orders(jobs: int, replicas: int, epochs: int) -> SweepResult:
    """Run the sweep over all 120 task orders into an empty store.

    It includes everything that a sweep does: start-up, tests, hand-overs between tasks, files.

    Args:
        jobs: Workers.
        replicas: Runs side by side in each.
        epochs: Of a task.
    """
    with tempfile.TemporaryDirectory(prefix="driftlab-bench-", ignore_cleanup_errors=True) as folder:
        return sweep(
            EXPERIMENT,
            [configuration("BARE", order, 0, epochs) for order in workload.ORDERS],
            data=task_data(),
            digest="noise of N-UCLA's size",
            store=Store(Path(folder)),
            engine=LocalEngine(jobs),
            batch=replicas,
        )
