"""OAK's methods for the notebooks' table: idea, equation and hyper-parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from driftlab.reporting.style import in_order

IDEAS = {
    "Non-adaptation": (
        "The detector as pretrained on static images; it never learns the stream.",
        "θ_t = θ_0",
    ),
    "Incremental": (
        "Fine-tunes region proposals, classifier and regressor on each batch once; the backbone is frozen.",
        "θ_{t+1} = θ_t − η ∇L(θ_t; batch_t), a few iterations per step",
    ),
    "EWC": (
        "The same with a pull of the classifier's weights towards those of the step before, strongest where "
        "the "
        "Fisher of remembered objects is large.",
        "L + λ Σ_i F_i (θ_i − θ*_i)²",
    ),
    "iCaRL": (
        "The same with one remembered object of each class in every batch. Neither distillation nor "
        "nearest-mean "
        "classification of the original iCaRL is part of it.",
        "L(batch_t) + L(memory sample, one per class)",
    ),
    "Incremental, shuffled stream": (
        "Ours: Incremental on the same frames in a random order, with the same number of iterations.",
        "as Incremental, batch_t drawn without order",
    ),
    "Offline training": (
        "Upper bound: at each of its evaluations a new training over all frames so far, in random order.",
        "min_θ Σ_{s ≤ t} L(θ; batch_s), from θ_0, several epochs",
    ),
}
"""Idea and equation of each method."""


def methods_table(methods: Iterable[str], hyper_parameters: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """Idea, equation and hyper-parameters of methods, one row per method in the paper's order.

    Args:
        methods: Their names.
        hyper_parameters: Of each method by name, from `hyper_parameters_of`.
    """
    rows = {}
    for name in in_order(methods):
        idea, equation = IDEAS.get(name, ("", ""))
        settings = ", ".join(f"{key} {value:g}" for key, value in hyper_parameters.get(name, {}).items())
        rows[name] = {"idea": idea, "equation": equation, "hyper-parameters": settings or "none"}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")


def hyper_parameters_of(protocol: Mapping[str, Any], methods: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The numbers of a notebook's parameters that change each method.

    Args:
        protocol: The notebook's parameters.
        methods: Names of the methods.
    """
    online = ("learning_rate", "iterations")
    own = {
        "Non-adaptation": (),
        "EWC": (*online, "strength"),
        "iCaRL": (*online, "slots"),
        "Offline training": ("offline_learning_rate", "offline_epochs", "offline_batch", "offline_interval"),
    }
    return {
        name: {key: protocol[key] for key in own.get(name, online) if key in protocol} for name in methods
    }
