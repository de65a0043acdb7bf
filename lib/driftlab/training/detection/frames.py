"""Frames as a detector takes them."""

from __future__ import annotations

from dataclasses import dataclass

import mmcv
import numpy as np
import torch
from mmdet.structures import DetDataSample
from mmengine.structures import InstanceData
from numpy.typing import NDArray
from torch import Tensor

from driftlab.core.errors import DataError
from driftlab.data.detection.records import DetectionSet, read_image
from driftlab.models.detectors.stream_detector import Features


@dataclass(frozen=True)
class Batch:
    """What a detector computes on.

    Attributes:
        inputs: Features, or images (N, 3, H, W).
        samples: What is to be found in each, and how it was scaled.
    """

    inputs: Features | Tensor
    samples: list[DetDataSample]

    def __len__(self) -> int:
        return len(self.samples)


class Frames:
    """Images by record: record i < N is image i; record N + b is the image of box b with that box alone.

    Args:
        records: Images and boxes.
        size: To what images are scaled, in proportion: longest and shortest side at most, in pixels.
    """

    def __init__(self, records: DetectionSet, size: tuple[int, int]) -> None:
        self.records, self.size = records, size
        self._images = np.repeat(np.arange(len(records)), np.diff(records.starts))

    def image_of(self, record: int) -> int:
        """The image of a record."""
        n = len(self.records)
        return record if record < n else int(self._images[record - n])

    def objects_of(self, image: int) -> NDArray[np.int64]:
        """The records of the single boxes of an image."""
        starts = self.records.starts
        return np.arange(starts[image], starts[image + 1]) + len(self.records)

    def pixels(self, image: int) -> Tensor:
        """An image (3, h, w) uint8, BGR as MMDetection has it, scaled."""
        file = self.records.images[image]
        width, height = (int(side) for side in self.records.sizes[image])
        if min(mmcv.image.geometric.rescale_size((width, height), self.size)) < 1:
            raise DataError(
                f"This frame of {width} x {height} pixels is too narrow: scaled to {self.size[0]} at most, "
                "nothing is left of it.",
                file=file,
                hint="Take the frame and its labels out.",
            )
        array = mmcv.imrescale(read_image(file)[..., ::-1], self.size)
        return torch.from_numpy(np.ascontiguousarray(array.transpose(2, 0, 1)))

    def sample(self, record: int) -> DetDataSample:
        """What is to be found in a record, in pixels of the scaled image."""
        image = self.image_of(record)
        width, height = (int(side) for side in self.records.sizes[image])
        new_width, new_height = mmcv.image.geometric.rescale_size((width, height), self.size)
        scale = (new_width / width, new_height / height)
        own = self.objects_of(image) if record < len(self.records) else np.array([record])
        rows = own - len(self.records)
        boxes = self.records.boxes[rows] * np.array([*scale, *scale], dtype=np.float32)
        shape = (new_height, new_width)
        sample = DetDataSample(
            metainfo={
                "img_shape": shape,
                "ori_shape": (height, width),
                "scale_factor": scale,
                "batch_input_shape": shape,
                "pad_shape": shape,
            }
        )
        crowd = torch.from_numpy(self.records.crowd[rows])
        found = InstanceData(
            bboxes=torch.from_numpy(boxes), labels=torch.from_numpy(self.records.labels[rows])
        )
        sample.gt_instances, sample.ignored_instances = found[~crowd], found[crowd]
        return sample
