"""What a parameter has to be beyond its kind. A name means the same in every notebook."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

CGL_METHODS = ("BARE", "EWC", "MAS", "TWP", "LwF", "GEM", "REPLAY")
OAK_ONLINE = ("Incremental", "EWC", "iCaRL")
OAK_METHODS = ("Non-adaptation", *OAK_ONLINE, "Offline training")
OAK_DETECTORS = ("small", "faster-rcnn-r50-c4")
TASK_ORDERS = 120  # of five tasks

Limit = tuple[Callable[[Any], bool], str]


def _between(low: int, high: int | None = None) -> Limit:
    words = f"at least {low}" if high is None else f"from {low} to {high}"
    return lambda value: value is None or (value >= low and (high is None or value <= high)), words


def _each(low: int, high: int | None = None) -> Limit:
    least, words = _between(low, high)

    def holds(values: Sequence[int]) -> bool:
        return bool(values) and len(set(values)) == len(values) and all(map(least, values))

    return holds, f"a list of different numbers, each {words}"


def _some_of(names: Sequence[str], with_one_of: Sequence[str] = ()) -> Limit:
    wanted = with_one_of or names

    def holds(values: Sequence[str]) -> bool:
        different = len(set(values)) == len(values)
        return different and set(values) <= set(names) and not set(values).isdisjoint(wanted)

    words = f"a list of different names out of {', '.join(names)}"
    return holds, f"{words}, at least one of {', '.join(with_one_of)} among them" if with_one_of else words


OAK_DATA: Limit = (lambda value: value in ("world", "oak"), "world or oak")

LIMITS: dict[str, Limit] = {
    "methods": _some_of(CGL_METHODS),
    "seeds": _each(0, 2**32 - 1),
    "widths": _each(1),
    "depths": _each(1),
    "engine": (lambda value: value in ("local", "ray"), "local or ray"),
    "world_sequences": _between(10),  # fewer leave a class without a test sequence
    "jobs": _between(0),
    "replicas": _between(1),
    "epochs": _between(1),
    "width": _between(1),
    "depth": _between(1),
    "orders": _between(1),
    "joint_orders": _between(1),
    "with_task_orders": _between(2, TASK_ORDERS),
    "stgcn_orders": _between(0),
    "stgcn_width": _between(1),
    "stgcn_epochs": _between(1),
    "split_seed": _between(0),
    "order_seed": _between(0),
    "grid": (lambda value: all(value.values()), "a mapping without empty entries"),
    "world_steps": _between(12),  # fewer than two stretches with objects otherwise
    "detector": (lambda value: value in OAK_DETECTORS, " or ".join(OAK_DETECTORS)),
    "learning_rate": (lambda value: 0 < value < inf, "above 0 and finite"),
    "offline_learning_rate": (lambda value: 0 < value < inf, "above 0 and finite"),
    "strength": (lambda value: 0 <= value < inf, "at least 0 and finite"),
    "static_images": _between(8),
    "pretraining_epochs": _between(1),
    "batch": _between(0),
    "iterations": _between(1),
    "interval": _between(1),
    "stretch": _between(1),
    "slots": _between(1, 10_000),
    "offline_interval": _between(1),
    "offline_epochs": _between(1),
    "offline_batch": _between(1),
    "bins": (lambda value: value == 0 or value >= 2, "0 or at least 2"),
    "average": (lambda value: value in ("all", "seen"), "all or seen"),
    "weights": (lambda value: value in ("excess", "gap"), "excess or gap"),
    **dict.fromkeys(("20.data", "21.data", "22.data", "23.data", "24.data"), OAK_DATA),
    "21.methods": _some_of(OAK_METHODS, with_one_of=OAK_ONLINE),
    "22.methods": _some_of(OAK_METHODS),
    "23.methods": _some_of(OAK_ONLINE),
    "24.methods": _some_of(OAK_ONLINE),
    "00.methods": _some_of((*CGL_METHODS, "JOINT")),
    # An order's sensitivity is a range over orders.
    "41.orders": _between(2, TASK_ORDERS),
    "43.orders": _between(1, TASK_ORDERS),
    "44.orders": _between(1, TASK_ORDERS),
}
"""By name, or by a notebook's number and name where only that notebook has the limit."""


def broken_limit(notebook: str, name: str, value: Any) -> str:
    """What the value would have to be, or an empty text where it is possible.

    Args:
        notebook: Its name, which begins with its number.
        name: The parameter.
        value: Of the right kind.
    """
    holds, words = LIMITS.get(f"{notebook[:2]}.{name}") or LIMITS.get(name) or (lambda _: True, "")
    try:
        return "" if holds(value) else words
    except TypeError:  # text or a fraction where only whole numbers make sense
        return words
