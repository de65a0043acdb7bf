"""Continual graph learning on skeletons: what a run is, and how many of them are executed side by side.

Wei, De Schepper, Mets: Benchmarking Sensitivity of Continual Graph Learning for Skeleton-Based Action
Recognition, VISAPP 2024.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from driftlab.core.devices import device_kind
from driftlab.core.errors import ParameterError
from driftlab.data.skeletons.records import Fit, SkeletonSet, prepare
from driftlab.methods import METHODS, make_method, method_config
from driftlab.methods.base import Task
from driftlab.models.graphs import BACKBONES, make_backbone
from driftlab.notebooks.parameters import check_values
from driftlab.papers.cgl.parameters import RunSettings
from driftlab.runs.experiment import Config, Row, StageResult
from driftlab.scenarios.classes import Order, split_by_class, tasks_of
from driftlab.training.cpu_settings import keep_freed_memory, resolve_device
from driftlab.training.graphs.replicas import Replicas, Strategy
from driftlab.training.graphs.task_trainer import Continual, State


@dataclass(frozen=True)
class TaskData:
    """What the runs are executed on.

    Attributes:
        coordinates: float32 (N, T, M, V, 3), prepared.
        labels: (N,) class ids.
        bones: Pairs of joints.
        classes: How many classes there are.
    """

    coordinates: NDArray[np.float32]
    labels: NDArray[np.int64]
    bones: tuple[tuple[int, int], ...]
    classes: int


def task_data(skeletons: SkeletonSet, frames: int, fit: Fit) -> tuple[TaskData, str]:
    """Prepare a dataset for the runs.

    Args:
        skeletons: As loaded.
        frames: The common number of frames: 52 for N-UCLA, 300 for NTU.
        fit: See `driftlab.data.skeletons.records.prepare`.

    Returns:
        The data, and the digest that stands for it and its preparation in the store.
    """
    made_with = json.dumps([skeletons.source.digest, frames, fit])
    data = TaskData(
        prepare(skeletons, frames, fit=fit), skeletons.labels, skeletons.bones, len(skeletons.classes)
    )
    return data, hashlib.sha256(made_with.encode()).hexdigest()


def run_config(
    *,
    variant: str,
    method: Mapping[str, Any],
    order: Order,
    seed: int,
    backbone: str = "gcn",
    width: int = 64,
    depth: int = 2,
    hidden: int = 64,
    epochs: int = 100,
    learning_rate: float = 1e-3,
    classes_per_task: int = 2,
    split: Sequence[int] = (8, 1, 1),
    split_seed: int | None = None,
) -> dict[str, Any]:
    """The configuration of one continual run; the defaults are the paper's.

    Args:
        variant: Names data and variant in the evaluation table; does not influence the run.
        method: From `driftlab.methods.method_config`.
        order: All classes in order of learning.
        seed: Initialisation and memories.
        backbone: `gcn` or `stgcn`.
        width: Units per layer.
        depth: Number of layers.
        hidden: Units of GCN's classifier, which has one hidden layer; the width sweep leaves it at 64.
        epochs: Full-batch steps per task.
        learning_rate: Of Adam.
        classes_per_task: Consecutive classes of the order form a task.
        split: Relative sizes of training, validation and test.
        split_seed: See `split_by_class`.

    Raises:
        ParameterError: A setting is of another type or impossible.
    """
    settings = {
        "backbone": backbone,
        "width": width,
        "depth": depth,
        "hidden": hidden,
        "epochs": epochs,
        "learning_rate": learning_rate,
        "classes_per_task": classes_per_task,
        "split_seed": split_seed,
        "seed": seed,
    }
    check_values(RunSettings, settings, "A CGL run")
    network = {"name": backbone, "width": width, "depth": depth}
    if backbone == "gcn" and hidden != width:
        # Only then: configurations (and so stored results) from before `hidden` had classifiers of `width`.
        network["hidden"] = hidden
    return {
        "variant": variant,
        "backbone": network,
        "method": dict(method),
        "training": {"epochs": epochs, "learning_rate": learning_rate},
        "split": {"parts": list(split), "seed": split_seed},
        "classes_per_task": classes_per_task,
        "seed": seed,
        "order": [int(c) for c in order],
    }


@dataclass(frozen=True)
class ContinualSkeletons:
    """The experiment (`driftlab.runs.experiment.Experiment`): a run is a chain of tasks.

    Raise `version` when a change to training, methods or models changes results.

    Looped over on a CPU, a run gives the same bits whatever is trained beside it. Everything else promises
    less: batched replicas share kernels whose float32 rounding depends on the batch's size and on the longest
    replica in it, and where training amplifies rounding, so do accuracies. `numerics` tells them apart.

    Attributes:
        device: `cpu`, `cuda` …; `auto` is decided once, where the experiment is created.
        strategy: How replicas are computed; `auto` loops on a CPU and batches elsewhere.
    """

    device: str = "auto"
    strategy: Strategy | Literal["auto"] = "auto"
    name: str = "cgl"
    version: int = 3

    def __post_init__(self) -> None:
        if self.device == "auto":
            object.__setattr__(self, "device", device_kind())

    @property
    def numerics(self) -> str:
        """Empty for replicas that are looped over on a CPU, each computed as if it were alone."""
        kind, strategy = self.device.split(":")[0], self._strategy
        return "" if (kind, strategy) == ("cpu", "looped") else f"{kind}-{strategy}"

    @property
    def _strategy(self) -> Strategy:
        if self.strategy == "auto":
            return "looped" if self.device == "cpu" else "batched"
        return self.strategy

    def shared(self, stage: Config) -> bool:
        """The first task: every method that acts from the second task on continues from it."""
        return bool(len(stage["order"]) == stage["classes_per_task"])

    def chain(self, config: Config) -> Sequence[Config]:
        """One stage per task; a stage depends on the classes learnt so far, not on those to come.

        A method closes a task (measures importances, say) at the beginning of the next stage. That makes the
        first stage the same for every method that only acts from the second task on, and it is then kept as
        BARE's.
        """
        shared = {key: value for key, value in config.items() if key != "variant"}
        tasks = tasks_of(tuple(config["order"]), config["classes_per_task"])
        stages = [shared | {"order": [c for task in tasks[: k + 1] for c in task]} for k in range(len(tasks))]
        if METHODS[config["method"]["name"]].starts_bare(config["method"]):
            stages[0] = stages[0] | {"method": method_config("BARE")}
        return stages

    def describe(self, config: Config) -> Row:
        """What all rows of a run have in common."""
        return {
            "paper": "cgl",
            "variant": config["variant"],
            "method": config["method"]["name"],
            "seed": config["seed"],
            "order": "-".join(str(c) for c in config["order"]),
        }

    def batch_key(self, stage: Config) -> str:
        """One architecture, method, length of training and number of tasks."""
        name, parts = stage["method"]["name"], [stage["backbone"], stage["training"], stage["split"]]
        # TWP's runs without a price of importance need no curvature.
        parts += [name, METHODS[name].starts_bare(stage["method"])]
        return json.dumps([*parts, stage["classes_per_task"], len(stage["order"])], sort_keys=True)

    def execute(
        self, data: TaskData, stages: Sequence[Config], states: Sequence[State | None]
    ) -> list[StageResult]:
        """Learn the newest task of every stage, side by side, and test on all classes seen so far."""
        keep_freed_memory()
        device = resolve_device(self.device)
        first, orders = stages[0], [tuple(stage["order"]) for stage in stages]
        seeds = [stage["seed"] for stage in stages]
        method = make_method([stage["method"] for stage in stages], seeds, device)
        learner = Continual(
            Replicas(
                make_backbone(first["backbone"], data.coordinates.shape[1:], data.bones, data.classes),
                seeds,
                _node_features(data, first["backbone"]["name"], device),
                _positions(data, orders),
                self._strategy,
            ),
            method,
            first["training"]["learning_rate"],
        )
        split = split_by_class(data.labels, first["split"]["parts"], first["split"]["seed"])
        tasks = [tasks_of(order, first["classes_per_task"]) for order in orders]
        seen, last = len(orders[0]), len(orders[0]) == data.classes
        continued = [state for state in states if state is not None]
        if continued:
            learner.load_states(continued)
            learner.close(_task(data.labels, split.train, [replica[:-1] for replica in tasks]))
        learner.learn(_task(data.labels, split.train, tasks), first["training"]["epochs"])
        accuracy = {
            name: learner.class_accuracy(tuple(_of(data.labels, part, order) for order in orders), seen)
            for name, part in (("validation_accuracy", split.validation), ("test_accuracy", split.test))
        }
        next_states = [{} for _ in stages] if last else learner.states()
        return [
            StageResult(
                [
                    {
                        "trained_on": len(tasks[r]),
                        "tested_on": f"class:{c}",
                        "metric": name,
                        "value": float(v),
                    }
                    for name, values in accuracy.items()
                    for c, v in zip(orders[r], values[r], strict=True)
                ],
                next_states[r],
            )
            for r in range(len(stages))
        ]


def _node_features(data: TaskData, backbone: str, device: torch.device) -> torch.Tensor:
    return BACKBONES[backbone].inputs(torch.from_numpy(data.coordinates).to(device))


def _positions(data: TaskData, orders: Sequence[Order]) -> torch.Tensor:
    # A look-up table: relabelling in place, as the released code does, collides for orders that are not
    # ascending.
    positions = np.zeros((len(orders), data.classes), dtype=np.int64)
    for row, order in zip(positions, orders, strict=True):
        if not set(order) <= set(range(data.classes)):
            raise ParameterError(
                f"The order {list(order)} has a class that the data do not have; "
                f"theirs are 0 to {data.classes - 1}."
            )
        row[list(order)] = np.arange(len(order))
    return torch.from_numpy(positions[:, data.labels])


def _of(labels: NDArray[np.int64], records: NDArray[np.intp], classes: Sequence[int]) -> NDArray[np.intp]:
    return records[np.isin(labels[records], list(classes))]


def _task(labels: NDArray[np.int64], train: NDArray[np.intp], tasks: Sequence[Sequence[Order]]) -> Task:
    """The newest task of every replica."""
    per_task, count = len(tasks[0][0]), len(tasks[0])
    records = [tuple(_of(labels, train, replica[t]) for replica in tasks) for t in range(count)]
    for replica, own in zip(tasks, records[-1], strict=True):
        if len(own) < 2:
            raise ParameterError(
                f"The task of the classes {', '.join(map(str, replica[-1]))} has {len(own)} training "
                "records; batch normalisation needs two."
            )
    heads = tuple(slice(t * per_task, (t + 1) * per_task) for t in range(count))
    return Task(
        count - 1, heads[:-1], heads[-1], slice(0, count * per_task), records[-1], tuple(records[:-1])
    )
