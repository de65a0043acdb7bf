"""The compiled operators that detectors need, where `onedl-mmcv` was installed without its own.

Detectors need two: non-maximum suppression and RoIAlign. torchvision has both, compiled for CPU and CUDA. Any
other operator raises an error that names it.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from types import ModuleType
from typing import Any

import torch
import torchvision
from torch import Tensor

from driftlab.core.errors import DriftlabError

EXTENSION = "mmcv._ext"


class OperatorError(DriftlabError):
    """An operator of mmcv that is not there."""


def install() -> bool:
    """Back `mmcv.ops` by torchvision, if it has no operators of its own.

    Has to be called before anything imports `mmcv.ops`; calling it again does nothing.

    Returns:
        Whether torchvision stands in.
    """
    if EXTENSION in sys.modules:
        return isinstance(sys.modules[EXTENSION], _Operators)
    if importlib.util.find_spec(EXTENSION) is not None:
        return False
    operators = _Operators(EXTENSION)
    operators.__spec__ = importlib.machinery.ModuleSpec(EXTENSION, None)
    sys.modules[EXTENSION] = operators
    return True


class _Operators(ModuleType):
    """Stands where mmcv looks for its compiled module; mmcv asks for many operators that it never calls."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def missing(*_: Any, **__: Any) -> Any:
            raise OperatorError(
                f"mmcv's operator '{name}' is not available: onedl-mmcv was installed without compiled "
                "operators, and torchvision stands in for nms and roi_align only. Build onedl-mmcv with "
                "MMCV_WITH_OPS=1 to have all of them."
            )

        return missing

    @staticmethod
    def nms(boxes: Tensor, scores: Tensor, *, iou_threshold: float, offset: int) -> Tensor:
        """Indices of the kept boxes, best first; with offset 1 a box includes its last pixel."""
        if offset:
            boxes = boxes + boxes.new_tensor([0, 0, offset, offset])
        kept: Tensor = torchvision.ops.nms(boxes, scores, iou_threshold)
        return kept

    @staticmethod
    def roi_align_forward(
        features: Tensor, rois: Tensor, output: Tensor, argmax_y: Tensor, argmax_x: Tensor, **how: Any
    ) -> None:
        """Pool every RoI (n, 5) of batch index and box into `output` (n, C, height, width)."""
        output.copy_(_pooled(features, rois, **how))

    @staticmethod
    def roi_align_backward(
        gradient: Tensor, rois: Tensor, argmax_y: Tensor, argmax_x: Tensor, grad_input: Tensor, **how: Any
    ) -> None:
        """The gradient with respect to the features, into `grad_input` (N, C, H, W)."""
        with torch.enable_grad():
            # RoIAlign is linear in the features: its gradient does not depend on where it is taken.
            features = torch.zeros_like(grad_input, requires_grad=True)
            pooled = _pooled(features, rois, **how)
            grad_input.copy_(torch.autograd.grad(pooled, features, gradient)[0])


def _pooled(
    features: Tensor,
    rois: Tensor,
    *,
    aligned_height: int,
    aligned_width: int,
    spatial_scale: float,
    sampling_ratio: int,
    pool_mode: int,
    aligned: bool,
) -> Tensor:
    if pool_mode != 1:
        raise OperatorError("torchvision's RoIAlign averages; pool_mode 'max' needs mmcv's own operators.")
    size = (aligned_height, aligned_width)
    pooled: Tensor = torchvision.ops.roi_align(
        features, rois, size, spatial_scale, sampling_ratio, aligned=aligned
    )
    return pooled
