"""The models by name; listing the names imports neither PyTorch nor MMDetection."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from driftlab.core.registry import Registry

if TYPE_CHECKING:
    from mmengine.config import ConfigDict

    from driftlab.models.graphs.gcn import GCN
    from driftlab.models.graphs.stgcn import STGCN

BACKBONES: Registry[type[GCN | STGCN]] = Registry(
    {"gcn": "driftlab.models.graphs.gcn:GCN", "stgcn": "driftlab.models.graphs.stgcn:STGCN"}
)
"""Graph networks for skeletons."""

DETECTORS: Registry[Callable[[int], ConfigDict]] = Registry(
    {
        "small": "driftlab.models.detectors.configs:small",
        "faster-rcnn-r50-c4": "driftlab.models.detectors.configs:paper",
    }
)
"""Functions from a number of classes to a detector's configuration; `configs.INPUT` has their image sizes."""
