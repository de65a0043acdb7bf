"""The continual-learning methods by name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from driftlab.core.errors import ParameterError
from driftlab.core.suggestions import nearest
from driftlab.methods.bare import Bare
from driftlab.methods.base import Learner, Method, Task
from driftlab.methods.ewc import EWC
from driftlab.methods.gem import GEM
from driftlab.methods.joint import Joint
from driftlab.methods.lwf import LwF
from driftlab.methods.mas import MAS
from driftlab.methods.replay import Replay
from driftlab.methods.twp import TWP

__all__ = ["METHODS", "Learner", "Method", "Task", "make_method", "method_config"]

METHODS: dict[str, type[Method]] = {
    method.name: method for method in (Bare, EWC, MAS, TWP, LwF, GEM, Replay, Joint)
}
"""In the order in which the papers' tables list them."""


def method_config(name: str, **hyper: float) -> dict[str, Any]:
    """A method's part of a run's configuration: its name and all of its hyper-parameters.

    Raises:
        ParameterError: An unknown method or hyper-parameter (the text names the nearest), or an impossible
        value.
    """
    if name not in METHODS:
        raise ParameterError(f"There is no method '{name}'.{_nearest(name, METHODS)}")
    known = METHODS[name].hyper_parameters
    for key in hyper:
        if key not in known:
            raise ParameterError(f"{name} has no hyper-parameter '{key}'.{_nearest(key, known)}")
        limit = METHODS[name].limits.get(key, "zero or more")
        if not _within(float(hyper[key]), limit):
            raise ParameterError(f"{name}'s '{key}' has to be {limit}, not {hyper[key]}.")
    return {"name": name, **{key: float(hyper.get(key, default)) for key, default in known.items()}}


def make_method(configs: Sequence[Mapping[str, Any]], seeds: Sequence[int], device: torch.device) -> Method:
    """One method object for replicas whose hyper-parameters may differ.

    Args:
        configs: From `method_config`, one a replica, all of one method.
        seeds: One a replica.
        device: Where the hyper-parameters are computed with.
    """
    kind = METHODS[configs[0]["name"]]
    hyper = {
        key: torch.tensor([float(config[key]) for config in configs], device=device)
        for key in kind.hyper_parameters
    }
    return kind(seeds, hyper)


def _within(value: float, limit: str) -> bool:
    if not math.isfinite(value) or value < 0:
        return False
    if limit == "1 or 2":
        return value in (1, 2)
    return limit == "zero or more" or (value > 0 and (limit == "positive" or value <= 1))


def _nearest(name: str, known: Mapping[str, object]) -> str:
    close = nearest(name, known)
    return (f" Did you mean '{close}'?" if close else "") + f" Known: {', '.join(known) or 'none'}."
