"""Faster R-CNN's training loss: draw the locations that count, then compute their loss, whole or in parts.

Both stages divide their losses by the number of drawn locations of the whole batch. Drawing first therefore
allows micro-batches whose gradients add up to those of the batch (gradient accumulation).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from mmdet.models import FasterRCNN
from mmdet.models.task_modules.samplers import SamplingResult
from mmdet.structures import DetDataSample
from mmdet.structures.bbox import bbox2roi
from mmengine.structures import InstanceData
from torch import Tensor
from torch.autograd.function import once_differentiable

from driftlab.models.detectors.assignment import assign
from driftlab.models.detectors.rpn_head import AnchorOutputs

Features = tuple[Tensor, ...]
"""Feature maps of a batch, one (N, C, H, W) per level."""


@dataclass(frozen=True)
class Rehearsal:
    """How the remembered images of a batch count.

    Attributes:
        remembered: For each image, whether it is a remembered one: of it only positive locations count, as
            only one of its objects is labelled and the rest is not background.
        weight: Of the remembered images' losses; 1 for the others.
    """

    remembered: Sequence[bool]
    weight: float


@dataclass(frozen=True)
class Drawn:
    """The locations of a batch on which its loss is computed, one result per image.

    Attributes:
        anchors: Of the region proposal network.
        regions: Of the RoI head.
        weights: Of each image.
    """

    anchors: list[SamplingResult]
    regions: list[SamplingResult]
    weights: list[float]

    def __getitem__(self, images: slice) -> Drawn:
        return Drawn(self.anchors[images], self.regions[images], self.weights[images])

    @property
    def counts(self) -> tuple[int, int]:
        """How many anchors and how many regions there are."""
        return _count(self.anchors), _count(self.regions)


def detection_loss(
    detector: FasterRCNN,
    inputs: Features | Tensor,
    samples: Sequence[DetDataSample],
    rehearsal: Rehearsal | None = None,
) -> Tensor:
    """The sum of the losses of RPN and RoI head, a scalar.

    Args:
        detector: In training mode. With `micro_batch` above 0 and a frozen part, so many images at most are
            computed at once; the value and its gradients are those of the whole batch.
        inputs: Images (N, 3, H, W), or the frozen part's features.
        samples: What is labelled in each.
        rehearsal: Which images are remembered ones, if they count differently.
    """
    parts = _parts(len(samples), detector.micro_batch if detector.frozen else 0)
    whole = len(parts) == 1
    with torch.set_grad_enabled(whole and torch.is_grad_enabled()):
        computed = [_rpn(detector, _of(inputs, part)) for part in parts]
        drawn = _draw(detector, [outputs for _, outputs in computed], parts, samples, rehearsal)
    totals = drawn.counts
    if whole:
        return _part_loss(detector, *computed[0], drawn, totals)
    del computed

    def part_losses() -> Iterator[Callable[[], Tensor]]:
        for part in parts:
            yield lambda part=part: _part_loss(  # type: ignore[misc]
                detector, *_rpn(detector, _of(inputs, part)), drawn[part], totals
            )

    return accumulated(part_losses(), [p for p in detector.parameters() if p.requires_grad])


def predicted_label_loss(
    detector: FasterRCNN, inputs: Features | Tensor, samples: Sequence[DetDataSample]
) -> Tensor:
    """Cross-entropy of the classifier against its own most probable labels, in evaluation mode, a scalar.

    The mean over all proposals of all images; no label of the images is looked at. Gradients reach the box
    classifier alone.

    Args:
        detector: Its mode is left as it was.
        inputs: As for `detection_loss`.
        samples: Of the images, for their sizes.
    """
    training, head = detector.training, detector.roi_head
    parts = _parts(len(samples), detector.micro_batch)
    detector.eval()
    try:
        with torch.no_grad():
            computed = [_rpn(detector, _of(inputs, part)) for part in parts]
            boxes = [
                detector.rpn_head.propose(outputs, samples[part], detector.test_cfg.rpn)
                for part, (_, outputs) in zip(parts, computed, strict=True)
            ]
        total = max(1, sum(len(own) for part in boxes for own in part))

        def part_losses() -> Iterator[Callable[[], Tensor]]:
            for (features, _), own in zip(computed, boxes, strict=True):

                def loss(features: Features = features, own: list[Tensor] = own) -> Tensor:
                    logits = head._bbox_forward(features, bbox2roi(own))["cls_score"]
                    return (
                        torch.nn.functional.cross_entropy(logits, logits.argmax(1), reduction="sum") / total
                    )

                yield loss

        losses = list(part_losses())
        return (
            losses[0]() if len(losses) == 1 else accumulated(losses, list(head.bbox_head.fc_cls.parameters()))
        )
    finally:
        detector.train(training)


def accumulated(losses: Iterable[Callable[[], Tensor]], parameters: list[Tensor]) -> Tensor:
    """The sum of some losses, of which each is differentiated before the next one is computed.

    Args:
        losses: Each computes a scalar; together they would not fit into memory.
        parameters: What the result can be differentiated by, once.
    """
    value: Tensor | None = None
    gradients: list[Tensor | None] = [None] * len(parameters)
    for compute in losses:
        loss = compute()
        value = loss.detach() if value is None else value + loss.detach()
        if torch.is_grad_enabled() and loss.requires_grad:
            own = torch.autograd.grad(loss, parameters, allow_unused=True)
            gradients = [
                new if old is None else old if new is None else old + new
                for old, new in zip(gradients, own, strict=True)
            ]
    assert value is not None
    total: Tensor = _Accumulated.apply(value, gradients, *parameters)
    return total


class _Accumulated(torch.autograd.Function):
    """A value whose gradient is known already."""

    @staticmethod
    def forward(ctx: Any, value: Tensor, gradients: list[Tensor | None], *parameters: Tensor) -> Tensor:
        ctx.gradients = gradients
        return value.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        return None, None, *(None if own is None else own * grad for own in ctx.gradients)


def _parts(count: int, size: int) -> list[slice]:
    size = size or max(count, 1)
    return [slice(start, start + size) for start in range(0, max(count, 1), size)]


def _of(inputs: Features | Tensor, part: slice) -> Features | Tensor:
    return tuple(level[part] for level in inputs) if isinstance(inputs, tuple) else inputs[part]


def _rpn(detector: FasterRCNN, inputs: Features | Tensor) -> tuple[Features, AnchorOutputs]:
    features = detector.extract_feat(inputs)
    return features, detector.rpn_head.anchor_outputs(features)


@torch.no_grad()
def _draw(
    detector: FasterRCNN,
    outputs: Sequence[AnchorOutputs],
    parts: Sequence[slice],
    samples: Sequence[DetDataSample],
    rehearsal: Rehearsal | None,
) -> Drawn:
    """Draw first all anchors, then all regions: the draws do not depend on how the batch is divided."""
    rpn, head = detector.rpn_head, detector.roi_head
    anchors = [rpn.sample_anchors(outputs[0].sizes, sample) for sample in samples]
    proposals = [
        boxes
        for own, part in zip(outputs, parts, strict=True)
        for boxes in rpn.propose(own, samples[part], detector.train_cfg.rpn_proposal)
    ]
    regions = []
    for boxes, sample in zip(proposals, samples, strict=True):
        assigned = assign(head.bbox_assigner, boxes, sample)
        regions.append(head.bbox_sampler.sample(assigned, InstanceData(priors=boxes), sample.gt_instances))
    weights = [1.0] * len(samples)
    for image, remembered in enumerate(rehearsal.remembered if rehearsal else ()):
        if remembered:
            assert rehearsal is not None
            weights[image] = rehearsal.weight
            for result in (anchors[image], regions[image]):
                result.neg_inds, result.neg_priors = result.neg_inds[:0], result.neg_priors[:0]
    return Drawn(anchors, regions, weights)


def _part_loss(
    detector: FasterRCNN,
    features: Features,
    outputs: AnchorOutputs,
    drawn: Drawn,
    totals: tuple[int, int],
) -> Tensor:
    """The share of some images in the loss of their batch, which has `totals` anchors and regions."""
    head = detector.roi_head
    loss: Tensor = detector.rpn_head.sampled_loss(outputs, drawn.anchors, drawn.weights, totals[0])
    count = _count(drawn.regions)
    if not count:
        return loss
    rois = bbox2roi([result.priors for result in drawn.regions])
    results = head._bbox_forward(features, rois)
    labels, label_weights, targets, box_weights = head.bbox_head.get_targets(drawn.regions, head.train_cfg)
    if any(weight != 1 for weight in drawn.weights):
        lengths = torch.tensor([len(result.priors) for result in drawn.regions])
        each = torch.tensor(drawn.weights).repeat_interleave(lengths).to(label_weights)
        label_weights, box_weights = label_weights * each, box_weights * each[:, None]
    losses = head.bbox_head.loss(
        results["cls_score"], results["bbox_pred"], rois, labels, label_weights, targets, box_weights
    )
    regions: Tensor = losses["loss_cls"] + losses["loss_bbox"]
    return loss + (regions if count == totals[1] else regions * (count / totals[1]))


def _count(results: Sequence[SamplingResult]) -> int:
    return sum(len(result.pos_inds) + len(result.neg_inds) for result in results)
