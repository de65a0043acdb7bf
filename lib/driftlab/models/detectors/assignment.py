"""Which labelled object a candidate box belongs to while training."""

from __future__ import annotations

from typing import Any

from mmdet.models.task_modules.assigners import AssignResult
from mmdet.structures import DetDataSample
from mmdet.structures.bbox import bbox_overlaps
from mmengine.structures import InstanceData
from torch import Tensor

IGNORED = -1


def assign(assigner: Any, boxes: Tensor, sample: DetDataSample) -> AssignResult:
    """MMDetection's assignment of boxes to objects, with crowds ignored in images without objects too.

    MMDetection looks at ignored regions only where an image has an object; elsewhere a crowd would be taught
    as background.

    Args:
        assigner: MMDetection's, with `ignore_iof_thr` above 0.
        boxes: (P, 4) anchors or proposals.
        sample: What is labelled in the image.

    Returns:
        Per box the object's number from 1, 0 for background, -1 for neither (`gt_inds`).
    """
    crowds = sample.get("ignored_instances")
    result: AssignResult = assigner.assign(InstanceData(priors=boxes), sample.gt_instances, crowds)
    if crowds is not None and len(crowds) and not len(sample.gt_instances) and len(boxes):
        share = bbox_overlaps(boxes, crowds.bboxes, mode="iof").amax(1)
        result.gt_inds[share > assigner.ignore_iof_thr] = IGNORED
    return result
