"""The frozen part's features, computed once a frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor
from torch.nn.functional import pad

from driftlab.models.detectors.stream_detector import Features, StreamFasterRCNN
from driftlab.training.detection.frames import Batch, Frames


class StreamFeatures:
    """Batches of a stream: a frame's features are computed when it first comes and kept while needed.

    Args:
        detector: Whose frozen part computes them.
        frames: The stream's.
        memory: How many bytes of features are kept at most; beyond that they are computed again when needed.
    """

    def __init__(self, detector: StreamFasterRCNN, frames: Frames, memory: int) -> None:
        self.detector, self.frames, self.memory = detector, frames, memory
        self._kept: dict[int, Features] = {}
        self._taken = 0

    def batch(self, records: Sequence[int]) -> Batch:
        """The records' features and samples."""
        features = [self._of(self.frames.image_of(int(record))) for record in records]
        device = self.detector.data_preprocessor.device
        samples = [self.frames.sample(int(record)).to(device) for record in records]
        return Batch(tuple(_stacked(level) for level in zip(*features, strict=True)), samples)

    def _of(self, image: int) -> Features:
        if image not in self._kept:
            fresh = compute(self.detector, self.frames, image)
            if _bytes(fresh) + self._taken > self.memory:
                return fresh
            self._kept[image] = fresh
            self._taken += _bytes(fresh)
        return self._kept[image]

    def keep_only(self, records: Iterable[int]) -> None:
        """Forget the features of all frames but those of these records."""
        wanted = {self.frames.image_of(int(record)) for record in records}
        self._kept = {image: kept for image, kept in self._kept.items() if image in wanted}
        self._taken = sum(map(_bytes, self._kept.values()))


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
