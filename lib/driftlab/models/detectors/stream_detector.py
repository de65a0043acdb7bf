"""A Faster R-CNN whose frozen part need not be computed twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from mmdet.models import DetDataPreprocessor, FasterRCNN
from mmdet.registry import MODELS
from mmdet.structures import DetDataSample
from torch import Tensor

from driftlab.models.detectors.stream_loss import Features, Rehearsal, detection_loss, predicted_label_loss


@MODELS.register_module()
class StreamPreprocessor(DetDataPreprocessor):  # type: ignore[misc]
    """Normalises and pads images; features, which are on the detector's device already, pass."""

    def forward(self, data: dict[str, Any], training: bool = False) -> dict[str, Any]:
        """A batch whose `inputs` are a list of images (3, H, W), or features, ready for the detector."""
        if isinstance(data["inputs"], tuple):
            return data
        prepared: dict[str, Any] = super().forward(data, training)
        return prepared


@MODELS.register_module()
class StreamFasterRCNN(FasterRCNN):  # type: ignore[misc]
    """MMDetection's Faster R-CNN with a frozen part whose features may be given instead of images.

    Args:
        frozen: The modules that make the features and do not train.
        settings: For `mmdet.models.FasterRCNN`.

    Attributes:
        objective: What training minimises, computed from features or images and their samples; None for
            `detection_loss`.
        micro_batch: How many images the loss is computed on at once when the frozen part is frozen, with
            gradients accumulated over the batch; 0 for all.
    """

    def __init__(self, *, frozen: Sequence[str] = ("backbone",), **settings: Any) -> None:
        super().__init__(**settings)
        self.frozen: tuple[str, ...] = ()
        self._may_freeze = tuple(frozen)
        self.objective: Callable[[Features | Tensor, list[DetDataSample]], Tensor] | None = None
        self.micro_batch = 0

    def freeze(self) -> None:
        """From now on the frozen part neither trains nor updates its statistics."""
        self.frozen = self._may_freeze
        for name in self.frozen:
            getattr(self, name).requires_grad_(False)
        self.train(self.training)

    def train(self, mode: bool = True) -> StreamFasterRCNN:
        """As every module's, but for the frozen part, which always evaluates."""
        super().train(mode)
        for name in getattr(self, "frozen", ()):
            getattr(self, name).train(False)
        return self

    def extract_feat(self, batch_inputs: Tensor | Features) -> Features:
        """The features of images (N, 3, H, W), or the ones that were given."""
        if isinstance(batch_inputs, tuple):
            return batch_inputs
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.frozen):
            features: Features = super().extract_feat(batch_inputs)
        return features

    def detection_loss(
        self,
        inputs: Tensor | Features,
        samples: Sequence[DetDataSample],
        rehearsal: Rehearsal | None = None,
    ) -> Tensor:
        """The sum of the losses of RPN and RoI head, a scalar (`driftlab.models.detectors.stream_loss`)."""
        return detection_loss(self, inputs, samples, rehearsal)

    def predicted_label_loss(self, inputs: Tensor | Features, samples: Sequence[DetDataSample]) -> Tensor:
        """Cross-entropy against the classifier's own labels (`driftlab.models.detectors.stream_loss`)."""
        return predicted_label_loss(self, inputs, samples)

    def loss(
        self, batch_inputs: Tensor | Features, batch_data_samples: list[DetDataSample]
    ) -> dict[str, Any]:
        """The loss that training minimises, in the form that MMEngine's runner asks for."""
        objective = self.objective or self.detection_loss
        return {"loss": objective(batch_inputs, batch_data_samples)}
