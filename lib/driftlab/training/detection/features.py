"""The frozen part's features of a stream's frames, computed once per frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor
from torch.nn.functional import pad

from driftlab.models.detectors.stream_detector import StreamFasterRCNN
from driftlab.models.detectors.stream_loss import Features
from driftlab.training.detection.frames import Batch, Frames
from driftlab.training.detection.tensor_pool import TensorPool


class StreamFeatures:
    """Makes batches of a stream; features are computed when a frame first comes and cached while needed.

    Args:
        detector: Its frozen part computes the features.
        frames: The stream's frames.
        memory: Limit of this cache in bytes; what exceeds it is computed again when needed.
        shared: A cache that is looked up first, and filled first.
    """

    def __init__(
        self, detector: StreamFasterRCNN, frames: Frames, memory: int, shared: TensorPool | None = None
    ) -> None:
        self.detector, self.frames = detector, frames
        self._own, self._shared = TensorPool(memory), shared or TensorPool(0)

    def batch(self, records: Sequence[int]) -> Batch:
        """The features and samples of some records, padded where frames differ in size."""
        features = [self._of(self.frames.image_of(int(record))) for record in records]
        device = self.detector.data_preprocessor.device
        samples = [self.frames.sample(int(record)).to(device) for record in records]
        return Batch(tuple(_stacked(level) for level in zip(*features, strict=True)), samples)

    def _of(self, image: int) -> Features:
        kept = self._shared.get(image) or self._own.get(image)
        if kept is None:
            kept = compute(self.detector, self.frames, image)
            if not self._shared.offer(image, kept):
                self._own.offer(image, kept)
        return kept

    def keep_only(self, records: Iterable[int]) -> None:
        """Drop the cached features of all frames but those of these records; the shared cache stays."""
        self._own.keep_only({self.frames.image_of(int(record)) for record in records})


def _stacked(levels: Sequence[Tensor]) -> Tensor:
    """One batch, padded with zeros at the right and at the bottom where frames differ in size.

    No anchor lies there: the samples' `pad_shape` is their own.
    """
    height, width = (max(level.shape[axis] for level in levels) for axis in (2, 3))
    return torch.cat([pad(one, (0, width - one.shape[3], 0, height - one.shape[2])) for one in levels])


@torch.no_grad()
def compute(detector: StreamFasterRCNN, frames: Frames, image: int) -> Features:
    """The features of one image, each (1, C, H, W).

    One at a time: in a larger batch the last bits depend on the batch's size, and a run that is resumed would
    differ from one that was not.
    """
    data = detector.data_preprocessor({"inputs": [frames.pixels(image)], "data_samples": None}, False)
    return tuple(level.detach() for level in detector.extract_feat(data["inputs"]))
