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
    """Builds batches of a stream; a frame's features are computed at its first use and cached while needed.

    Args:
        detector: Its frozen part computes the features.
        frames: The stream's frames.
        memory: Limit of this cache in bytes; features beyond it are computed again at each use.
        shared: A cache shared by several runs, which is read and filled before this one.
    """

    def __init__(
        self, detector: StreamFasterRCNN, frames: Frames, memory: int, shared: TensorPool | None = None
    ) -> None:
        self.detector, self.frames = detector, frames
        self._cache, self._shared = TensorPool(memory), shared or TensorPool(0)

    def batch(self, records: Sequence[int]) -> Batch:
        """The features and samples of some records, padded where frames differ in size."""
        features = [self._features_of(self.frames.image_of(int(record))) for record in records]
        device = self.detector.data_preprocessor.device
        samples = [self.frames.sample(int(record)).to(device) for record in records]
        return Batch(tuple(_stacked(level) for level in zip(*features, strict=True)), samples)

    def _features_of(self, image: int) -> Features:
        features = self._shared.get(image) or self._cache.get(image)
        if features is None:
            features = compute(self.detector, self.frames, image)
            if not self._shared.offer(image, features):
                self._cache.offer(image, features)
        return features

    def keep_only(self, records: Iterable[int]) -> None:
        """Drop the cached features of all frames but those of these records; the shared cache stays."""
        self._cache.keep_only({self.frames.image_of(int(record)) for record in records})


def _stacked(levels: Sequence[Tensor]) -> Tensor:
    """Concatenate one level's features, padded with zeros at the right and bottom if frames differ in size.

    No anchor is in the padding, as each sample's `pad_shape` is its own size.
    """
    height, width = (max(level.shape[axis] for level in levels) for axis in (2, 3))
    return torch.cat(
        [pad(level, (0, width - level.shape[3], 0, height - level.shape[2])) for level in levels]
    )


@torch.no_grad()
def compute(detector: StreamFasterRCNN, frames: Frames, image: int) -> Features:
    """Compute the features of one image, each (1, C, H, W).

    Images are not batched: the last bits would depend on the batch size, and a resumed run would differ from
    an uninterrupted one.
    """
    data = detector.data_preprocessor({"inputs": [frames.pixels(image)], "data_samples": None}, False)
    return tuple(level.detach() for level in detector.extract_feat(data["inputs"]))
