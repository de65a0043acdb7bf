"""A continual-learning run as a plain PyTorch Geometric script: one run at a time, default settings.

`python -m driftlab.bench.plain_loop` reads numbers of epochs per task from standard input, one per line, and
answers each with the seconds of a run of five tasks.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence

import torch
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

from driftlab.bench import workload
from driftlab.bench.pyg_gcn import PyGGCN, edges

BATCH_SIZE = 10_000  # the paper's: every task is one batch


def task_graphs() -> list[list[Data]]:
    """Training graphs of each task; a joint's features are its coordinates over all frames."""
    edge_index = edges(workload.BONES, workload.JOINTS)
    features = torch.from_numpy(workload.coordinates()).permute(0, 3, 1, 2, 4).flatten(2)
    labels = torch.from_numpy(workload.labels())
    return [
        [Data(x=features[i], edge_index=edge_index, y=labels[i]) for i in workload.training_records(task)]
        for task in workload.TASKS
    ]


def learn(
    model: PyGGCN, optimiser: torch.optim.Optimizer, graphs: Sequence[Data], seen: int, epochs: int
) -> None:
    """Learn one task: cross-entropy over the classes seen so far, each class weighted by 1 / its size.

    Args:
        model: Trained in place.
        optimiser: Optimiser of its parameters, shared by all tasks.
        graphs: Training graphs of the task.
        seen: Number of classes seen so far; their ids are 0 … seen - 1.
        epochs: Number of epochs.
    """
    counts = torch.stack([graph.y for graph in graphs]).bincount(minlength=seen)
    weight = torch.where(counts > 0, 1 / counts, 0)
    loader = DataLoader(list(graphs), batch_size=BATCH_SIZE, shuffle=True)
    model.train()
    for _ in range(epochs):
        for batch in loader:
            optimiser.zero_grad()
            logits = model(batch.x, batch.edge_index, batch.batch)[:, :seen]
            loss = torch.nn.functional.cross_entropy(logits, batch.y, weight)
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()


def continual_run(tasks: Sequence[Sequence[Data]], epochs: int) -> PyGGCN:
    """Learn the tasks one after the other, with one Adam optimiser for all of them."""
    model = PyGGCN(workload.FRAMES * 3, workload.CLASSES)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    for index, graphs in enumerate(tasks):
        learn(model, optimiser, graphs, workload.CLASSES_PER_TASK * (index + 1), epochs)
    return model


def serve() -> None:
    """Answer requests until standard input is closed."""
    tasks = task_graphs()
    print(json.dumps({"threads": torch.get_num_threads()}), flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        continual_run(tasks, int(line))
        print(json.dumps({"seconds": time.perf_counter() - start}), flush=True)


if __name__ == "__main__":
    serve()
