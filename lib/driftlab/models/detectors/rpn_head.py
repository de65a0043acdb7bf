"""A region proposal network that treats all images of a batch at once.

MMDetection's `RPNHead` decodes proposals, assigns anchors and builds full-size targets image by image; on
small images that overhead costs more than the convolutions. `BatchedRPNHead` has the same weights, and
computes the same proposals and the same loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from mmdet.models.dense_heads import RPNHead
from mmdet.models.task_modules.prior_generators import anchor_inside_flags
from mmdet.models.task_modules.samplers import SamplingResult
from mmdet.registry import MODELS
from mmdet.structures import DetDataSample
from mmengine.structures import InstanceData
from torch import Tensor
from torchvision.ops import batched_nms

from driftlab.models.detectors.assignment import assign

_ASSIGNMENT = "anchor_assignment"


@dataclass(frozen=True)
class AnchorOutputs:
    """The network's outputs for the A anchors of each of N images, levels one after the other.

    Attributes:
        logits: (N, A) objectness.
        offsets: (N, A, 4) encoded boxes.
        sizes: Height and width of each level's feature map.
    """

    logits: Tensor
    offsets: Tensor
    sizes: tuple[tuple[int, int], ...]


@MODELS.register_module()
class BatchedRPNHead(RPNHead):  # type: ignore[misc]
    """MMDetection's `RPNHead`, whose proposals and loss are computed for all images of a batch at once.

    Args:
        first_level: The first of the feature levels that it uses; finer ones are for the RoIs alone.
        settings: For `mmdet.models.dense_heads.RPNHead`.
    """

    def __init__(self, *, first_level: int = 0, **settings: Any) -> None:
        super().__init__(**settings)
        self.first_level = first_level

    def forward(self, x: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        """Objectness logits (N, A, H, W) and encoded boxes (N, 4A, H, W) for each level that is used.

        Args:
            x: One tensor (N, C, H, W) per feature level.
        """
        outputs: tuple[list[Tensor], list[Tensor]] = super().forward(tuple(x)[self.first_level :])
        return outputs

    def anchor_outputs(self, features: Sequence[Tensor]) -> AnchorOutputs:
        """The outputs for every anchor.

        Args:
            features: One tensor (N, C, H, W) per level.
        """
        logits, offsets = self(tuple(features))
        return AnchorOutputs(
            torch.cat([_by_anchor(level, 1) for level in logits], 1)[..., 0],
            torch.cat([_by_anchor(level, 4) for level in offsets], 1),
            tuple((level.shape[2], level.shape[3]) for level in logits),
        )

    def propose(
        self, outputs: AnchorOutputs, samples: Sequence[DetDataSample], settings: Any
    ) -> list[Tensor]:
        """The proposals of each image, (P, 4) boxes in pixels of the scaled image, best first.

        Args:
            outputs: Of the images.
            samples: Of the same images; their `img_shape` clips the boxes.
            settings: MMDetection's `nms_pre`, `nms`, `max_per_img` and `min_bbox_size`.
        """
        shapes = [sample.img_shape for sample in samples]
        return [boxes for boxes, _ in self._proposals(outputs, shapes, settings)]

    @torch.no_grad()
    def _proposals(
        self, outputs: AnchorOutputs, shapes: Sequence[tuple[int, int]], settings: Any
    ) -> list[tuple[Tensor, Tensor]]:
        scores, levels, columns, start = outputs.logits.sigmoid(), [], [], 0
        for number, count in enumerate(self._counts(outputs.sizes)):
            of_level = scores[:, start : start + count]
            best = of_level.sort(1, descending=True).indices[:, : settings.nms_pre]
            columns.append(best + start)
            levels.append(best.new_full((best.shape[1],), number))
            start += count
        chosen, level = torch.cat(columns, 1), torch.cat(levels)
        offsets = outputs.offsets.gather(1, chosen[..., None].expand(-1, -1, 4))
        anchors = self._anchors(outputs.sizes, scores.device)[chosen]
        decoded = self.bbox_coder.decode(anchors.flatten(0, 1), offsets.flatten(0, 1)).view_as(anchors)
        limits = decoded.new_tensor([[width, height, width, height] for height, width in shapes])
        decoded = torch.minimum(decoded.clamp(min=0), limits[:, None])
        scores = scores.gather(1, chosen)
        wide_enough = (decoded[..., 2:] - decoded[..., :2] > settings.get("min_bbox_size", 0)).all(-1)
        found = []
        for boxes, score, valid in zip(decoded, scores, wide_enough, strict=True):
            boxes, score, of_level = boxes[valid], score[valid], level[valid]
            kept = batched_nms(boxes.float(), score.float(), of_level, settings.nms.iou_threshold)
            kept = kept[: settings.max_per_img]
            found.append((boxes[kept], score[kept]))
        return found

    def predict(
        self, x: tuple[Tensor, ...], batch_data_samples: list[DetDataSample], rescale: bool = False
    ) -> list[InstanceData]:
        """The proposals of each image as MMDetection's detectors ask for them; `rescale` has to be False."""
        assert not rescale
        outputs = self.anchor_outputs(x)
        shapes = [sample.img_shape for sample in batch_data_samples]
        return [
            InstanceData(bboxes=boxes, scores=scores, labels=scores.new_zeros(len(scores), dtype=torch.long))
            for boxes, scores in self._proposals(outputs, shapes, self.test_cfg)
        ]

    @torch.no_grad()
    def sample_anchors(self, sizes: tuple[tuple[int, int], ...], sample: DetDataSample) -> SamplingResult:
        """Draw the anchors of an image on which the loss is computed.

        Which object an anchor belongs to does not change while a batch is iterated on: it is worked out once
        and kept with the sample.

        Args:
            sizes: Of the feature maps.
            sample: What is labelled in the image.

        Returns:
            MMDetection's result; its indices are those of all anchors.
        """
        anchors = self._anchors(sizes, sample.gt_instances.bboxes.device)
        if _ASSIGNMENT not in sample:
            inside = self._inside(anchors, sizes, sample)
            assigned = assign(self.assigner, anchors if inside is None else anchors[inside], sample)
            sample.set_field((assigned, inside), _ASSIGNMENT, field_type="metainfo")
        assigned, inside = sample.get(_ASSIGNMENT)
        priors = InstanceData(priors=anchors if inside is None else anchors[inside])
        drawn: SamplingResult = self.sampler.sample(assigned, priors, sample.gt_instances)
        if inside is not None:
            drawn.pos_inds, drawn.neg_inds = inside[drawn.pos_inds], inside[drawn.neg_inds]
        return drawn

    def sampled_loss(
        self, outputs: AnchorOutputs, drawn: Sequence[SamplingResult], weights: Sequence[float], total: int
    ) -> Tensor:
        """Objectness and box loss over the drawn anchors, a scalar.

        Args:
            outputs: Of the images.
            drawn: Of each image.
            weights: Of each image.
            total: By how many anchors the sum is divided.
        """
        count, device = outputs.logits.shape[1], outputs.logits.device
        positive = [result.pos_inds + image * count for image, result in enumerate(drawn)]
        negative = [result.neg_inds + image * count for image, result in enumerate(drawn)]
        places = torch.cat([*positive, *negative])
        lengths = torch.tensor([len(part) for part in (*positive, *negative)])
        each = torch.tensor([*weights, *weights], dtype=torch.float32).repeat_interleave(lengths).to(device)
        objects = sum(map(len, positive))
        labels = torch.arange(len(places), device=device).ge(objects).long()  # 0 is an object for MMDetection
        logits = outputs.logits.reshape(-1)[places][:, None]
        loss: Tensor = self.loss_cls(logits, labels, each, avg_factor=max(total, 1))
        targets = self.bbox_coder.encode(
            torch.cat([result.pos_priors for result in drawn]),
            torch.cat([result.pos_gt_bboxes for result in drawn]),
        )
        offsets = outputs.offsets.reshape(-1, 4)[places[:objects]]
        box_weights = each[:objects, None].expand_as(targets)
        box_loss: Tensor = self.loss_bbox(offsets, targets, box_weights, avg_factor=max(total, 1))
        return loss + box_loss

    def _counts(self, sizes: tuple[tuple[int, int], ...]) -> list[int]:
        """How many anchors each level has."""
        each = self.prior_generator.num_base_priors
        return [height * width * base for (height, width), base in zip(sizes, each, strict=True)]

    def _anchors(self, sizes: tuple[tuple[int, int], ...], device: torch.device) -> Tensor:
        """(A, 4) all anchors; kept, as they depend on the feature maps' sizes only."""
        kept = self.__dict__.setdefault("_kept_anchors", {})
        if (sizes, device) not in kept:
            kept[sizes, device] = torch.cat(self.prior_generator.grid_priors(sizes, device=device))
        anchors: Tensor = kept[sizes, device]
        return anchors

    def _inside(
        self, anchors: Tensor, sizes: tuple[tuple[int, int], ...], sample: DetDataSample
    ) -> Tensor | None:
        """The anchors that belong to the image and not to its padding; None if all do."""
        valid = torch.cat(self.prior_generator.valid_flags(sizes, sample.pad_shape, anchors.device))
        inside = anchor_inside_flags(anchors, valid, sample.img_shape, self.train_cfg["allowed_border"])
        return None if inside.all() else inside.nonzero()[:, 0]


def _by_anchor(level: Tensor, values: int) -> Tensor:
    """(N, base · values, H, W) as (N, H · W · base, values), the order of the anchors."""
    return level.permute(0, 2, 3, 1).reshape(len(level), -1, values)
