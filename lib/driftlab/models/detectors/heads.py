"""Box heads whose vocabulary grows, and which can predict that an object is of an unknown class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from mmcv.ops import nms
from mmdet.models.roi_heads.bbox_heads import BBoxHead, Shared2FCBBoxHead
from mmdet.registry import MODELS
from mmengine.structures import InstanceData
from torch import Tensor


@dataclass(frozen=True)
class Doubt:
    """Thresholds at which a proposal is predicted as an object of an unknown class (Wanderlust's IDK).

    Attributes:
        classes: The probability of every class is below this.
        background: The probability of the background is below this.
        score: The score of such a detection.
        regressed: Whether its box is the one that is regressed for the likeliest class, as in the released
            code, or the proposal itself.
    """

    classes: float
    background: float = 0.6
    score: float = 0.5
    regressed: bool = True


class Growing:
    """A box head that has an output only for the classes it knows.

    An output that does not exist yet is masked: its probability is zero and the loss does not touch its
    weights, so that masking equals adding a row to the matrices when the class first appears.
    """

    known: Tensor
    doubt: Doubt | None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.doubt = None
        self.register_buffer("known", torch.ones(self.num_classes + 1, dtype=torch.bool))  # type: ignore[attr-defined]

    def know(self, classes: Iterable[int]) -> None:
        """Set the vocabulary to these classes and the background."""
        self.known.fill_(False)
        self.known[[*classes, -1]] = True

    def admit(self, classes: Iterable[int]) -> None:
        """Add these classes to the vocabulary."""
        self.known[list(classes)] = True

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (n, classes + 1), minus infinity for unknown classes, and box offsets (n, 4 · classes)."""
        logits, offsets = super().forward(x)  # type: ignore[misc]
        return logits.masked_fill(~self.known, -torch.inf), offsets

    def _predict_by_feat_single(
        self, roi: Tensor, cls_score: Tensor, bbox_pred: Tensor, img_meta: dict[str, Any], **kwargs: Any
    ) -> InstanceData:
        found = super()._predict_by_feat_single(roi, cls_score, bbox_pred, img_meta, **kwargs)  # type: ignore[misc]
        if self.doubt is None or not len(roi):
            return found
        unknown = self._unknown(roi, cls_score, bbox_pred, img_meta, self.doubt)
        if kwargs.get("rescale"):
            unknown.bboxes = unknown.bboxes / unknown.bboxes.new_tensor(img_meta["scale_factor"]).repeat(2)
        return InstanceData.cat([found, unknown])

    def _unknown(
        self, roi: Tensor, cls_score: Tensor, bbox_pred: Tensor, img_meta: dict[str, Any], doubt: Doubt
    ) -> InstanceData:
        """Detections of objects of unknown classes, labelled with the number of classes."""
        probability = cls_score.softmax(-1)
        background, (best, likeliest) = probability[:, -1], probability[:, :-1].max(1)
        chosen = (best < doubt.classes) & (background < doubt.background)
        boxes, objectness = roi[chosen, 1:], 1 - background[chosen]
        if doubt.regressed:
            offsets = bbox_pred.view(len(roi), -1, 4)[chosen, likeliest[chosen]]
            boxes = self.bbox_coder.decode(boxes, offsets, max_shape=img_meta["img_shape"])  # type: ignore[attr-defined]
        kept = nms(boxes, objectness, 0.5)[1] if len(boxes) else chosen.new_empty(0, dtype=torch.long)
        return InstanceData(
            bboxes=boxes[kept],
            scores=objectness.new_full((len(kept),), doubt.score),
            labels=kept.new_full((len(kept),), self.num_classes),  # type: ignore[attr-defined]
        )


@MODELS.register_module()
class GrowingBBoxHead(Growing, BBoxHead):  # type: ignore[misc]
    """MMDetection's `BBoxHead` with a vocabulary."""


@MODELS.register_module()
class GrowingShared2FCBBoxHead(Growing, Shared2FCBBoxHead):  # type: ignore[misc]
    """MMDetection's `Shared2FCBBoxHead` with a vocabulary."""
