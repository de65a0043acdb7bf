"""A small separable problem on graphs of five joints, and replicas that differ in everything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from driftlab.methods import make_method, method_config
from driftlab.methods.base import Task
from driftlab.models.graphs import GCN
from driftlab.training.graphs.replicas import Replicas, Strategy
from driftlab.training.graphs.task_trainer import Continual
from torch import Tensor

CLASSES, TASKS, PER_CLASS = 6, 3, 9
JOINTS, FEATURES = 5, 6
BONES = ((0, 1), (1, 2), (1, 3), (3, 4))
LABELS = np.repeat(np.arange(CLASSES), PER_CLASS)


def inputs(dtype: torch.dtype = torch.float32) -> Tensor:
    """(N, V, F) node features: a pattern a class, and noise."""
    rng = np.random.default_rng([5, 1])
    patterns = rng.normal(size=(CLASSES, JOINTS, FEATURES))
    noise = rng.normal(size=(len(LABELS), JOINTS, FEATURES))
    return torch.from_numpy(patterns[LABELS] + 0.5 * noise).to(dtype)


def small_gcn(width: int = 8) -> Callable[[], GCN]:
    return lambda: GCN(JOINTS, BONES, FEATURES, CLASSES, width, 2)


@dataclass(frozen=True)
class Run:
    """What one replica is."""

    seed: int
    order: tuple[int, ...] = tuple(range(CLASSES))
    per_class: int = 6
    hyper: dict[str, float] = field(default_factory=dict)


MIXED = (
    Run(0, (0, 1, 2, 3, 4, 5), 6),
    Run(3, (4, 2, 5, 0, 1, 3), 4),
    Run(1, (3, 5, 0, 1, 2, 4), 9),
    Run(3, (1, 0, 3, 2, 5, 4), 5),
    Run(2, (5, 4, 3, 2, 1, 0), 8),
)
"""Different seeds, orders and numbers of records."""

GRIDS: dict[str, list[dict[str, float]]] = {
    "EWC": [{}, {"strength": 1.0}, {"strength": 100.0}, {"strength": 1e4}, {"strength": 3.0}],
    "MAS": [{}, {"power": 1.0}, {"strength": 1e4}, {"strength": 10.0, "power": 1.0}, {"strength": 3.0}],
    "TWP": [{}, {"beta": 0.1}, {"power": 1.0}, {"lambda_t": 100.0}, {"lambda_l": 1.0, "lambda_t": 1.0}],
    "LwF": [{}, {"T": 20.0}, {"lambda_dist": 10.0}, {"T": 0.2}, {"lambda_dist": 0.1}],
    "GEM": [{}, {"strength": 0.05}, {"fraction": 0.5}, {"strength": 0.5}, {"strength": 0.0, "fraction": 1.0}],
    "REPLAY": [{}, {"fraction": 0.5}, {"fraction": 0.05}, {"fraction": 1.0}, {"fraction": 0.3}],
}


def mixed(method: str) -> list[Run]:
    """Runs that differ in seed, order, number of records and hyper-parameters."""
    return [replace(run, hyper=hyper) for run, hyper in zip(MIXED, GRIDS.get(method, [{}] * 5), strict=True)]


def task(runs: Sequence[Run], index: int) -> Task:
    """The task of that index of every run: two classes, the first `per_class` records of each."""

    def records(run: Run, t: int) -> np.ndarray:
        classes = run.order[2 * t : 2 * t + 2]
        return np.sort(np.concatenate([np.flatnonzero(c == LABELS)[: run.per_class] for c in classes]))

    return Task(
        index=index,
        heads=tuple(slice(2 * t, 2 * t + 2) for t in range(index)),
        new=slice(2 * index, 2 * index + 2),
        seen=slice(0, 2 * index + 2),
        records=tuple(records(run, index) for run in runs),
        past=tuple(tuple(records(run, t) for run in runs) for t in range(index)),
    )


def stack(
    method: str,
    runs: Sequence[Run],
    strategy: Strategy = "looped",
    dtype: torch.dtype = torch.float32,
    build: Callable[[], Any] | None = None,
    features: Tensor | None = None,
    learning_rate: float = 1e-2,
) -> Continual:
    """Replicas that have learnt nothing yet."""
    seeds = [run.seed for run in runs]
    configs = [method_config(method, **run.hyper) for run in runs]
    made = make_method(configs, seeds, torch.device("cpu"))
    labels = torch.tensor([[run.order.index(int(c)) for c in LABELS] for run in runs])
    x = inputs(dtype) if features is None else features
    replicas = Replicas(build or small_gcn(), seeds, x, labels, strategy)
    return Continual(replicas, made, learning_rate)


def learn(learner: Continual, runs: Sequence[Run], tasks: Sequence[int], epochs: int = 4) -> Continual:
    """Learn some tasks in turn; a task that is not the first closes the one before it."""
    for index in tasks:
        if index:
            learner.close(task(runs, index - 1))
        learner.learn(task(runs, index), epochs)
    return learner
