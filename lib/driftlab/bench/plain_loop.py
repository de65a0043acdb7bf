"""A continual run as a plain PyTorch Geometric script has it: one run at a time, PyTorch's own settings.

`python -m driftlab.bench.plain_loop` answers every line of standard input, a number of epochs per task, with
the seconds that a run of five such tasks took.
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
    """Each task's training graphs: a joint's features are its coordinates over all frames."""
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
        model: Is trained in place.
        optimiser: Over its parameters, kept from task to task.
        graphs: The task's training graphs.
        seen: The number of classes so far; their ids are 0 … seen - 1.
        epochs: How often the graphs are gone through.
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
    """Learn one task after the other, with one Adam for all of them."""
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
        began = time.perf_counter()
        continual_run(tasks, int(line))
        print(json.dumps({"seconds": time.perf_counter() - began}), flush=True)


if __name__ == "__main__":
    serve()
