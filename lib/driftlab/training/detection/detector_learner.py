"""A detector as the continual-learning methods see it: contract 3."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from driftlab.core.errors import ParameterError
from driftlab.methods.base import Parameters, Records
from driftlab.models.detectors.stream_detector import StreamFasterRCNN
from driftlab.models.graphs.norm import Statistics
from driftlab.training.detection.frames import Batch


class DetectorLearner:
    """One detector (`driftlab.methods.base.Learner`); its loss is the sum of RPN's and RoI head's.

    What methods hold on to is the box classifier without the background's row, which stays free (Wanderlust).

    Args:
        detector: With a growing box head.
        batch: Makes records into a batch.
    """

    def __init__(self, detector: StreamFasterRCNN, batch: Callable[[Sequence[int]], Batch]) -> None:
        self.detector, self._batch = detector, batch

    @property
    def _classifier(self) -> dict[str, Tensor]:
        return dict(self.detector.roi_head.bbox_head.fc_cls.named_parameters())

    @property
    def parameters(self) -> Parameters:
        """The classifier's rows of the classes: weight (classes, features), bias (classes,)."""
        return {name: value[:-1] for name, value in self._classifier.items()}

    def batch(self, records: Records) -> Batch:
        """The records' features and samples."""
        return self._batch(records[0].tolist())

    def cross_entropy(self, batch: Batch, classes: slice, statistics: Statistics = "batch") -> Tensor:
        """The detector's loss, a scalar; which classes take part is the head's vocabulary."""
        return self.detector.own_loss(batch.inputs, batch.samples)

    def gradients(self, value: Tensor, create_graph: bool = False) -> Parameters:
        """The gradient with respect to `parameters`."""
        classifier = self._classifier
        found = torch.autograd.grad(
            value.sum(), list(classifier.values()), create_graph=create_graph, materialize_grads=True
        )
        return {name: gradient[:-1] for name, gradient in zip(classifier, found, strict=True)}

    def sum_per_replica(self, value: Tensor) -> Tensor:
        """The sum, a scalar."""
        return value.sum()

    def broadcast_to_replicas(self, value: Tensor, like: Tensor) -> Tensor:
        """As it is."""
        return value

    def outputs(self, batch: Any, statistics: Statistics = "batch") -> Tensor:
        """A frame has no logits of its own.

        Raises:
            ParameterError: Always.
        """
        raise _without_outputs()

    def balanced(self, logits: Tensor, batch: Any, classes: slice) -> Tensor:
        """As `outputs`."""
        raise _without_outputs()

    def mean(self, values: Tensor, batch: Any) -> Tensor:
        """As `outputs`."""
        raise _without_outputs()

    def loss_and_gradient_size(
        self, batch: Any, classes: slice, statistics: Statistics = "batch"
    ) -> tuple[Tensor, Tensor]:
        """As `outputs`."""
        raise _without_outputs()

    def topology(self, batch: Any) -> Tensor:
        """As `outputs`."""
        raise _without_outputs()


def _without_outputs() -> ParameterError:
    return ParameterError(
        "This method needs the outputs of whole records, which a detector does not have. "
        "On a stream there are Incremental, EWC and iCaRL."
    )
