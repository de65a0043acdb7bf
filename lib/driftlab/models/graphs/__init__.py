"""Graph networks for skeletons, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from driftlab.core.errors import ParameterError
from driftlab.core.suggestions import look_up
from driftlab.models.graphs.backbone import Backbone
from driftlab.models.graphs.gcn import GCN
from driftlab.models.graphs.stgcn import STGCN
from driftlab.models.registry import BACKBONES

__all__ = ["BACKBONES", "GCN", "STGCN", "make_backbone"]


def make_backbone(
    config: Mapping[str, Any], shape: Sequence[int], bones: Sequence[tuple[int, int]], classes: int
) -> Callable[[], Backbone]:
    """Return a function that builds a newly initialised network.

    Args:
        config: `{"name": "gcn", "width": 64, "depth": 2}`; for a GCN also `hidden`, the units of its
            classifier's hidden layer, by default `width`.
        shape: (T, M, V, 3) of one prepared sequence.
        bones: Pairs of joints.
        classes: Number of outputs.

    Raises:
        ParameterError: The backbone is unknown, or its width or depth is not positive.
    """
    name, width, depth = config["name"], config["width"], config["depth"]
    network = look_up(name, BACKBONES, "backbone")
    if width < 1 or depth < 1:
        raise ParameterError(f"A backbone's width and depth are at least 1, not {width} and {depth}.")
    options = {"hidden": config.get("hidden", width)} if network is GCN else {}
    return lambda: network(shape[2], bones, network.features(shape), classes, width, depth, **options)
