"""The frozen part's features, computed once a frame."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from driftlab.models.detectors.stream_detector import Features, StreamFasterRCNN
from driftlab.training.detection.frames import Batch, Frames


class FeaturePool:
    """Features of a stream's frames that the runs of one process share: they have the same frozen part.

    Args:
        memory: How many bytes are kept at most; the first frames that come stay.
    """

    def __init__(self, memory: int) -> None:
        self.memory, self._taken = memory, 0
        self._kept: dict[int, Features] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Another process begins with an empty one."""
        return {"memory": self.memory, "_taken": 0, "_kept": {}}

    def get(self, image: int) -> Features | None:
        """The features of a frame, if they are kept."""
        return self._kept.get(image)

    def offer(self, image: int, features: Features) -> bool:
        """Keep the features of one more frame, if there is room; whether they are kept."""
        if self._taken + _bytes(features) > self.memory:
            return False
        self._kept[image] = features
        self._taken += _bytes(features)
        return True

    def keep_only(self, images: Container[int]) -> None:
        """Forget all others."""
        self._kept = {image: kept for image, kept in self._kept.items() if image in images}
        self._taken = sum(map(_bytes, self._kept.values()))


class StreamFeatures:
    """Batches of a stream: a frame's features are computed when it first comes and kept while needed.

    Args:
        detector: Whose frozen part computes them.
        frames: The stream's.
        memory: How many bytes of features are kept at most; beyond that they are computed again when needed.
        shared: Looked at first, and filled first.
    """

    def __init__(
        self, detector: StreamFasterRCNN, frames: Frames, memory: int, shared: FeaturePool | None = None
    ) -> None:
        self.detector, self.frames = detector, frames
        self._own, self._shared = FeaturePool(memory), shared or FeaturePool(0)

    def batch(self, records: Sequence[int]) -> Batch:
        """The records' features and samples."""
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
        """Forget the features of all frames but those of these records; what is shared stays."""
        self._own.keep_only({self.frames.image_of(int(record)) for record in records})


def _bytes(features: Features) -> int:
    return sum(level.nbytes for level in features)


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
