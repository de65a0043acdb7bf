"""What is handed to the engine while it is timed."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest
from driftlab.bench import workload
from driftlab.bench.replicated import EXPERIMENT, ReplicatedTrainer, sweep_all_orders
from driftlab.runs.experiment import StageResult
from driftlab.runs.local_engine import LocalEngine


class Recorder:
    """An engine that computes nothing: a stage's state is how many tasks and epochs it stood for."""

    def __init__(self) -> None:
        self.calls: list[tuple[list[Any], list[Any]]] = []

    def submit(self, stages: Sequence[Any], states: Sequence[Any]) -> Future[list[StageResult]]:
        self.calls.append((list(stages), list(states)))
        future: Future[list[StageResult]] = Future()
        future.set_result(
            [StageResult([], {"made": np.array([len(s["order"]), s["training"]["epochs"]])}) for s in stages]
        )
        return future


@pytest.mark.parametrize("method", ["BARE", "EWC", "JOINT"])
def test_all_workers_get_all_replicas_of_every_task(method: str) -> None:
    trainer, engine = ReplicatedTrainer(jobs=2, replicas=5), Recorder()
    trainer._engine = engine  # type: ignore[assignment]

    assert len(trainer.epoch_seconds(method, 4)) == 5

    assert [len(stages) for stages, _ in engine.calls] == [5] * 20, (
        "5 tasks × (1 or 1 + 4 epochs) × 2 workers"
    )
    epochs = [stages[0]["training"]["epochs"] for stages, _ in engine.calls]
    assert epochs == [1, 1, 5, 5] * 5
    for depth in range(5):
        calls = engine.calls[4 * depth : 4 * depth + 4]
        for stages, states in calls:
            assert len({EXPERIMENT.batch_key(stage) for stage in stages}) == 1
            newest = [tuple(stage["order"][-2:]) for stage in stages]
            assert sorted(newest) == workload.TASKS, "every task as often as any other"
            if depth == 0:
                assert states == [None] * 5
            else:
                assert [list(state["made"]) for state in states] == [[2 * depth, 5]] * 5
        assert calls[0][0][0]["method"]["name"] == (method if depth else "BARE")


def test_it_trains_on_an_engine_of_this_process() -> None:
    with ReplicatedTrainer(jobs=1, replicas=1) as trainer:
        trainer.warm_up()
        assert len(trainer.epoch_seconds("EWC", 1)) == 5


def test_the_sweep_computes_every_distinct_stage_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workload, "ORDERS", workload.ORDERS[:3])
    batches: list[int] = []
    submit = LocalEngine.submit

    def counted(self: LocalEngine, stages: Sequence[Any], states: Sequence[Any]) -> Future[list[StageResult]]:
        batches.append(len(stages))
        return submit(self, stages, states)

    monkeypatch.setattr(LocalEngine, "submit", counted)
    result = sweep_all_orders(jobs=1, replicas=2, epochs=1)
    assert (result.runs, result.stages, result.computed) == (3, sum(workload.stages_by_depth()), sum(batches))
    assert max(batches) == 2
