"""The continual-learning methods by name, and their part of a run's configuration.

Names are listed without importing PyTorch; a method is imported when it is looked up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from driftlab.core.errors import ParameterError
from driftlab.core.registry import Registry
from driftlab.core.suggestions import look_up

if TYPE_CHECKING:
    import torch

    from driftlab.methods.base import Method

__all__ = ["METHODS", "make_method", "method_config"]

METHODS: Registry[type[Method]] = Registry(
    {
        "BARE": "driftlab.methods.bare:Bare",
        "EWC": "driftlab.methods.ewc:EWC",
        "MAS": "driftlab.methods.mas:MAS",
        "TWP": "driftlab.methods.twp:TWP",
        "LwF": "driftlab.methods.lwf:LwF",
        "GEM": "driftlab.methods.gem:GEM",
        "REPLAY": "driftlab.methods.replay:Replay",
        "JOINT": "driftlab.methods.joint:Joint",
    }
)
"""In the order of the CGL paper's tables; the name is the class's `name`."""


def method_config(name: str, **hyper: float) -> dict[str, Any]:
    """A method's part of a run's configuration: its name and all of its hyper-parameters.

    Args:
        name: From `METHODS`.
        hyper: Hyper-parameters that differ from the method's defaults.

    Raises:
        ParameterError: An unknown method or hyper-parameter (the text names the nearest), or an impossible
            value.
    """
    declared = look_up(name, METHODS, "method").hyper_parameters
    for key, value in hyper.items():
        if problem := look_up(key, declared, f"hyper-parameter of {name}").limit.problem(float(value)):
            raise ParameterError(f"{name}'s '{key}' {problem}.")
    return {"name": name, **{key: float(hyper.get(key, one.default)) for key, one in declared.items()}}


def make_method(configs: Sequence[Mapping[str, Any]], seeds: Sequence[int], device: torch.device) -> Method:
    """One method object for replicas whose hyper-parameters may differ.

    Args:
        configs: From `method_config`, one per replica, all of one method.
        seeds: One per replica.
        device: The device of the hyper-parameters' tensors.
    """
    import torch  # not at the top: listing names has to stay quick

    method = METHODS[configs[0]["name"]]
    hyper = {
        key: torch.tensor([float(config[key]) for config in configs], device=device)
        for key in method.hyper_parameters
    }
    return method(seeds, hyper)
