"""Graph networks for skeletons, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from driftlab.core.errors import ParameterError
from driftlab.models.graphs.backbone import Backbone
from driftlab.models.graphs.gcn import GCN
from driftlab.models.graphs.stgcn import STGCN

__all__ = ["BACKBONES", "GCN", "STGCN", "make_backbone"]

BACKBONES: dict[str, type[GCN | STGCN]] = {"gcn": GCN, "stgcn": STGCN}


def make_backbone(
    config: Mapping[str, Any], shape: Sequence[int], bones: Sequence[tuple[int, int]], classes: int
) -> Callable[[], Backbone]:
    """What makes a freshly initialised network.

    Args:
        config: `{"name": "gcn", "width": 64, "depth": 2}`. A GCN's may have `hidden`, the units of its
            classifier's hidden layer, by default `width`.
        shape: (T, M, V, 3) of one prepared sequence.
        bones: Pairs of joints.
        classes: Number of outputs.

    Raises:
        ParameterError: The backbone is unknown, or its width or depth is not positive.
    """
    name, width, depth = config["name"], config["width"], config["depth"]
    if name not in BACKBONES:
        raise ParameterError(f"There is no backbone '{name}'. Known: {', '.join(BACKBONES)}.")
    if width < 1 or depth < 1:
        raise ParameterError(f"A backbone's width and depth are at least 1, not {width} and {depth}.")
    kind = BACKBONES[name]
    options = {"hidden": config.get("hidden", width)} if kind is GCN else {}
    return lambda: kind(shape[2], bones, kind.features(shape), classes, width, depth, **options)
