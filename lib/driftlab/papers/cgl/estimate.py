"""Runs, stages, memory and disk of the CGL notebooks, from their parameters alone."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Any

from driftlab.data import catalog
from driftlab.papers.estimate import PROCESS_BYTES, Estimate, SweepSize
from driftlab.scenarios.classes import Order, balanced_task_orders, class_orders
from driftlab.training.graphs.memory import replica_bytes

CLASSES, PER_TASK = 10, 2
BODIES_AND_JOINTS = {"nucla": (1, 20), "ntu": (2, 25)}
NUMBER = 4
"""Bytes of a float32."""
ROW_BYTES = 85
"""Bytes of one measurement in the store."""
ENTRY_BYTES = 700
"""Of a result beside its measurements."""

OWN_FIRST_STAGE = ("TWP",)
"""Methods whose first task differs from BARE's, with the paper's hyper-parameters."""

Values = Mapping[str, Any]


def estimate(notebook: str, values: Values, jobs: int) -> Estimate | None:
    """The cost of a notebook; None where it trains nothing, or on data of unknown shape.

    Args:
        notebook: Its name.
        values: Every parameter's value.
        jobs: Number of batches of runs that are worked on at once.
    """
    count = SWEEPS.get(notebook[:2])
    if count is None or data_entry(values["data"]).name not in BODIES_AND_JOINTS:
        return None
    sweeps = count(values)
    width = max(values.get("widths", [values.get("width", 64)]))
    depth = max(values.get("depths", [values.get("depth", 2)]))
    shape, records = data_shape(values), data_records(values)
    data_bytes = NUMBER * records * prod(shape)
    # JOINT's last task is the largest: the training part of all classes.
    joint = notebook[:2] == "41" or values.get("joint", False)
    trained = records * 8 // 10 if joint else records * 8 // 10 * PER_TASK // CLASSES
    batch = values.get("replicas", 1) * replica_bytes(shape, trained, width, depth)
    stages = sum(sweep.stages for sweep in sweeps)
    mean_rows = 2 * (CLASSES + PER_TASK) // 2
    return Estimate(
        sweeps,
        # A worker has the prepared sequences and the network's inputs; this process has them as well.
        memory_bytes=(jobs + 1) * (PROCESS_BYTES + 2 * data_bytes) + jobs * batch,
        disk_bytes=stages * (ENTRY_BYTES + mean_rows * ROW_BYTES),
        jobs=jobs,
    )


def data_entry(data: str) -> catalog.Dataset[Any]:
    """The catalog's entry of a dataset, or of the dataset that a world stands in for."""
    skeletons = [entry for entry in catalog.DATASETS.values() if entry.preparation is not None]
    worlds = {entry.world.name: entry for entry in skeletons if entry.world}
    return worlds.get(data) or catalog.dataset(data)


def data_shape(values: Values) -> tuple[int, int, int, int]:
    """(T, M, V, 3) of a prepared sequence of the notebook's dataset or world."""
    entry = data_entry(values["data"])
    assert entry.preparation is not None
    frames = values.get("frames") or entry.preparation.frames
    return (frames, *BODIES_AND_JOINTS[entry.name], 3)


def data_records(values: Values) -> int:
    """Number of sequences."""
    if values["data"].startswith("world"):
        return int(values["world_sequences"]) * CLASSES
    return catalog.dataset(values["data"]).totals["records"]


def sweep_size(
    methods: Iterable[str], orders: Sequence[Order], seeds: Sequence[int], own_first: Iterable[str] = ()
) -> SweepSize:
    """Runs and distinct stages of every method in every order and repetition.

    Args:
        methods: Names; a setting of a method's hyper-parameters counts as a method of its own.
        orders: Orders of all classes.
        seeds: Repetitions.
        own_first: Methods that learn the first task otherwise than BARE.
    """
    names, own = list(methods), set(own_first)
    prefixes = [order[:length] for order in orders for length in range(PER_TASK, CLASSES + 1, PER_TASK)]
    stages = {
        (name if len(prefix) > PER_TASK or name in own else "BARE", prefix)
        for name in names
        for prefix in prefixes
    }
    return SweepSize(len(names) * len(orders) * len(seeds), len(stages) * len(seeds))


def _task_orders(count: int) -> list[Order]:
    return balanced_task_orders(CLASSES, PER_TASK, count)


def _of_methods(values: Values, orders: Sequence[Order]) -> SweepSize:
    hyper = values["hyper"]
    own = [name for name in OWN_FIRST_STAGE if hyper.get(name, {}).get("beta", 1)]
    return sweep_size(values["methods"], orders, values["seeds"], own)


def _task_order(values: Values) -> list[SweepSize]:
    orders = _task_orders(values["orders"])
    joint = sweep_size(["JOINT"], orders[: values["joint_orders"]], values["seeds"])
    return [_of_methods(values, orders), joint]


def _class_order(values: Values) -> list[SweepSize]:
    random_orders = class_orders(CLASSES, values["orders"], values["order_seed"])
    regular_orders = _task_orders(values["with_task_orders"])
    return [_of_methods(values, random_orders), _of_methods(values, regular_orders)]


def _architecture(values: Values) -> list[SweepSize]:
    methods = [*values["methods"], "JOINT"] if values["joint"] else values["methods"]
    sweep = _of_methods({**values, "methods": methods}, _task_orders(values["orders"]))
    return [sweep] * (len(values["widths"]) + len(values["depths"]))


def _search(values: Values) -> list[SweepSize]:
    settings, own = [], []
    for method, choices in values["grid"].items():
        for combination in itertools.product(*choices.values()):
            chosen = dict(zip(choices, combination, strict=True))
            settings.append(f"{method}{chosen}")
            if method in OWN_FIRST_STAGE and chosen.get("beta", 1):
                own.append(settings[-1])
    return [sweep_size(settings, _task_orders(1), values["seeds"], own)]


def _plain_run(values: Values) -> list[SweepSize]:
    return [sweep_size(["EWC"], _task_orders(1), [0])]


def _other_network(values: Values) -> list[SweepSize]:
    task_orders = _task_orders(values["orders"])
    random_orders = class_orders(CLASSES, values["class_orders"], values["order_seed"])
    return [_of_methods(values, orders) for orders in (task_orders, random_orders, task_orders)]


SWEEPS: dict[str, Callable[[Values], list[SweepSize]]] = {
    "40": _plain_run,
    "41": _task_order,
    "42": _class_order,
    "43": _architecture,
    "44": _search,
    "45": _other_network,
}
"""The sweeps of each notebook, in its order, by the notebook's number."""
