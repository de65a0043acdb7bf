"""Times of the replicated trainer, run by the engine and the sweep that notebooks use."""

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
    """The workload as the experiment's `TaskData`."""
    return TaskData(workload.coordinates(), workload.labels(), workload.BONES, workload.CLASSES)


def configuration(method: str, order: Order, seed: int, epochs: int) -> dict[str, Any]:
    """Configuration of a run with the paper's architecture."""
    return run_config(variant="bench", method=method_config(method), order=order, seed=seed, epochs=epochs)


class ReplicatedTrainer:
    """Workers that train replicas side by side; a context manager.

    Args:
        jobs: Number of workers, with one thread each.
        replicas: Runs side by side in each worker.
    """

    def __init__(self, jobs: int, replicas: int) -> None:
        self._engine = LocalEngine(jobs)
        self._replicas = replicas
        self.runs = jobs * replicas

    def __enter__(self) -> ReplicatedTrainer:
        self._engine.start(EXPERIMENT, task_data())
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._engine.stop()

    def warm_up(self) -> None:
        """Start the workers, and run every code path once."""
        self.epoch_seconds("BARE", 1)

    def epoch_seconds(self, method: str, epochs: int) -> list[float]:
        """Wall-clock seconds per epoch and replica, for each task of the runs.

        Each task is learnt with 1 and with 1 + `epochs` epochs; the difference in time, divided by `epochs`
        and the number of replicas of all workers, excludes the overhead of a stage.

        Args:
            method: Name of the method.
            epochs: Number of timed epochs per task.
        """
        orders = [_rotated(seed) for seed in range(self.runs)]
        chains = {
            count: [
                EXPERIMENT.chain(configuration(method, order, seed, count))
                for seed, order in enumerate(orders)
            ]
            for count in (1, 1 + epochs)
        }
        states: list[State | None] = [None] * self.runs
        seconds_by_task = []
        for depth in range(len(workload.TASKS)):
            seconds = []
            for chain in chains.values():
                start = time.perf_counter()
                results = self._train([stages[depth] for stages in chain], states)
                seconds.append(time.perf_counter() - start)
            states = [result.state for result in results]
            seconds_by_task.append((seconds[1] - seconds[0]) / (epochs * self.runs))
        return seconds_by_task

    def _train(self, stages: Sequence[Any], states: Sequence[State | None]) -> list[StageResult]:
        size = self._replicas
        futures: list[Future[list[StageResult]]] = [
            self._engine.submit(stages[first : first + size], states[first : first + size])
            for first in range(0, self.runs, size)
        ]
        return [result for future in futures for result in future.result()]


def _rotated(shift: int) -> Order:
    """Class order with the tasks rotated by `shift`, so that replicas train all tasks at every depth."""
    shift %= len(workload.TASKS)
    return tuple(c for task in workload.TASKS[shift:] + workload.TASKS[:shift] for c in task)


def sweep_all_orders(jobs: int, replicas: int, epochs: int) -> SweepResult:
    """Run the sweep over all 120 task orders with an empty store.

    It includes everything that a sweep does: start-up, tests, passing of states between tasks, files.

    Args:
        jobs: Number of workers.
        replicas: Runs side by side in each worker.
        epochs: Epochs per task.
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
