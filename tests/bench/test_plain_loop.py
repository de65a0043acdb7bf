"""The plain loop computes what the replicated trainer computes."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import numpy as np
import psutil
import pytest
import torch
from driftlab.bench import plain_loop, workload
from driftlab.bench.plain import BenchmarkError, PlainLoop
from driftlab.bench.pyg_gcn import PyGGCN, from_gcn
from driftlab.bench.replicated import task_data
from driftlab.methods import make_method, method_config
from driftlab.methods.base import Task
from driftlab.models.graphs import GCN
from driftlab.training.graphs.replicas import Replicas
from driftlab.training.graphs.task_trainer import Continual

EPOCHS, TASKS = 3, 2


@pytest.fixture
def double() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)
    torch.set_num_threads(threads)


def test_the_workload_has_the_size_of_nucla() -> None:
    assert workload.coordinates().shape == (1484, 52, 1, 20, 3)
    assert np.bincount(workload.labels()).tolist() == [150, 152, 141, 173, 148, 149, 142, 142, 145, 142]
    assert sum(len(workload.training_records(task)) for task in workload.TASKS) == 1484 - 2 * 145
    assert workload.stages_by_depth() == [5, 20, 60, 120, 120]


def test_every_training_record_is_a_graph_with_its_features() -> None:
    tasks = plain_loop.task_graphs()
    assert [len(graphs) for graphs in tasks] == [len(workload.training_records(t)) for t in workload.TASKS]
    features = GCN.inputs(torch.from_numpy(workload.coordinates()))
    for task, graphs in zip(workload.TASKS, tasks, strict=True):
        record = workload.training_records(task)[-1]
        assert torch.equal(graphs[-1].x, features[record])
        assert int(graphs[-1].y) == workload.labels()[record] == task[-1]
        assert graphs[-1].edge_index.shape == (2, 2 * 19 + 20)


def test_learning_two_tasks_gives_the_trainers_parameters(double: None) -> None:
    data = task_data()
    inputs = GCN.inputs(torch.from_numpy(data.coordinates)).double()
    replicas = Replicas(
        lambda: GCN(workload.JOINTS, workload.BONES, inputs.shape[2], workload.CLASSES),
        [7],
        inputs,
        torch.from_numpy(data.labels).unsqueeze(0),
        "looped",
    )
    model = PyGGCN(inputs.shape[2], workload.CLASSES)
    start = {name: p[0].detach().clone() for name, p in replicas.parameters.items()}
    model.load_state_dict(from_gcn(start), strict=False)
    learner = Continual(replicas, make_method([method_config("BARE")], [7], inputs.device), 1e-3)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    records = [(workload.training_records(task),) for task in workload.TASKS[:TASKS]]

    for k, graphs in enumerate(plain_loop.task_graphs()[:TASKS]):
        seen = 2 * k + 2
        heads = tuple(slice(2 * t, 2 * t + 2) for t in range(k))
        task = Task(k, heads, slice(seen - 2, seen), slice(0, seen), records[k], tuple(records[:k]))
        learner.learn(task, EPOCHS)
        for graph in graphs:
            graph.x = graph.x.double()
        plain_loop.learn(model, optimiser, graphs, seen, EPOCHS)

    values = from_gcn(
        {name: value[0].detach() for name, value in (replicas.parameters | replicas.buffers).items()}
    )
    expected = {n: v for n, v in model.state_dict().items() if not n.endswith("num_batches_tracked")}
    assert set(values) == set(expected)
    for name, value in expected.items():
        torch.testing.assert_close(values[name], value, rtol=1e-6, atol=1e-8, msg=name)
    moved = from_gcn(start)["classifier.0.weight"] - expected["classifier.0.weight"]
    assert moved.abs().max() > 5e-3, "six steps of Adam at 1e-3"


def test_a_process_that_was_killed_is_reported() -> None:
    with PlainLoop() as loop:
        os.kill(loop.pid, signal.SIGKILL)
        with pytest.raises(BenchmarkError, match=r"exit code -9.*memory ran out"):
            loop.warm_up()
        with pytest.raises(BenchmarkError, match="exit code -9"):
            loop.epoch_seconds(1)
    assert not psutil.pid_exists(loop.pid)
