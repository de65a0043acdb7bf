"""Adapter of a detector to the interface of continual-learning methods (`driftlab.methods.base.Learner`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from driftlab.core.errors import ParameterError
from driftlab.methods.base import Parameters, Records
from driftlab.models.detectors.stream_detector import StreamFasterRCNN
from driftlab.models.detectors.stream_loss import Rehearsal
from driftlab.models.graphs.norm import Statistics
from driftlab.training.detection.frames import Batch

REMEMBERED = "remembered"
"""Field of a sample that marks an image from the memory."""


class DetectorLearner:
    """A learner for one detector, whose task loss is the sum of the losses of RPN and RoI head.

    The parameters that methods regularise are those of the box classifier without the background's row, which
    stays free (Wanderlust, released code).

    Args:
        detector: A detector with a growing box head.
        batch: Returns the mini-batch of record numbers.
    """

    def __init__(self, detector: StreamFasterRCNN, batch: Callable[[Sequence[int]], Batch]) -> None:
        self.detector, self._batch = detector, batch

    @property
    def _classifier(self) -> dict[str, Tensor]:
        return dict(self.detector.roi_head.bbox_head.fc_cls.named_parameters())

    @property
    def parameters(self) -> Parameters:
        """The box classifier's rows of the classes: weight (classes, features), bias (classes,)."""
        return {name: value[:-1] for name, value in self._classifier.items()}

    def batch(self, records: Records) -> Batch:
        """The records' features and samples."""
        return self._batch(records[0].tolist())

    def task_loss(self, batch: Batch, classes: slice, statistics: Statistics = "batch") -> Tensor:
        """The sum of the losses of RPN and RoI head, a scalar.

        Args:
            batch: From `batch`.
            classes: Ignored: the head's vocabulary says which classes take part.
            statistics: Ignored: the trained part has no batch statistics.
        """
        return self.detector.detection_loss(batch.inputs, batch.samples)

    def rehearsal_loss(self, batch: Batch) -> Tensor:
        """Task loss, a scalar, in which remembered images count only at locations of their labelled object.

        Its losses are weighted by the number of current images divided by that of remembered ones.
        """
        remembered = [bool(sample.get(REMEMBERED)) for sample in batch.samples]
        count = sum(remembered)
        if not count:
            return self.detector.detection_loss(batch.inputs, batch.samples)
        weight = (len(remembered) - count) / count
        return self.detector.detection_loss(batch.inputs, batch.samples, Rehearsal(remembered, weight))

    def predicted_label_loss(self, batch: Batch) -> Tensor:
        """Cross-entropy of the classifier against its own predictions in evaluation mode, a scalar."""
        return self.detector.predicted_label_loss(batch.inputs, batch.samples)

    def gradients(self, value: Tensor, create_graph: bool = False) -> Parameters:
        """The gradient with respect to `parameters`."""
        classifier = self._classifier
        gradients = torch.autograd.grad(
            value.sum(), list(classifier.values()), create_graph=create_graph, materialize_grads=True
        )
        return {name: gradient[:-1] for name, gradient in zip(classifier, gradients, strict=True)}

    def sum_per_replica(self, value: Tensor) -> Tensor:
        """The sum, a scalar."""
        return value.sum()

    def broadcast_to_replicas(self, value: Tensor, like: Tensor) -> Tensor:
        """The value itself, as there is one detector."""
        return value

    def outputs(self, batch: Any, statistics: Statistics = "batch") -> Tensor:
        """Raise an error: a frame has no logits of its own.

        Raises:
            ParameterError: Always.
        """
        raise _without_outputs()

    def balanced(self, logits: Tensor, batch: Any, classes: slice) -> Tensor:
        """Raise the error of `outputs`."""
        raise _without_outputs()

    def mean(self, values: Tensor, batch: Any) -> Tensor:
        """Raise the error of `outputs`."""
        raise _without_outputs()

    def loss_and_gradient_size(
        self, batch: Any, classes: slice, statistics: Statistics = "batch"
    ) -> tuple[Tensor, Tensor]:
        """Raise the error of `outputs`."""
        raise _without_outputs()

    def topology(self, batch: Any) -> Tensor:
        """Raise the error of `outputs`."""
        raise _without_outputs()


def _without_outputs() -> ParameterError:
    return ParameterError(
        "This method needs the outputs of whole records, which a detector does not have. "
        "On a stream there are Incremental, EWC and iCaRL."
    )
