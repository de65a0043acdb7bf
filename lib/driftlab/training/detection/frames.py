"""Frames of a detection set, decoded and scaled as a detector's input."""

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
from driftlab.models.detectors.stream_loss import Features
from driftlab.training.detection.tensor_pool import TensorPool


@dataclass(frozen=True)
class Batch:
    """A mini-batch for a detector.

    Attributes:
        inputs: Features, one (N, C, H, W) per level, or images (N, 3, H, W).
        samples: Ground truth and scale factor of each image.
    """

    inputs: Features | Tensor
    samples: list[DetDataSample]

    def __len__(self) -> int:
        return len(self.samples)


class Frames:
    """Images by record number: record i < N is image i, record N + b the image of box b with only that box.

    Args:
        records: Images and boxes.
        size: Limits to which images are scaled in proportion: longest and shortest side, in pixels.
        decoded: A cache of decoded and scaled images, useful if they are read more than once.
    """

    def __init__(
        self, records: DetectionSet, size: tuple[int, int], decoded: TensorPool | None = None
    ) -> None:
        self.records, self.size, self._decoded = records, size, decoded or TensorPool(0)
        self._images = np.repeat(np.arange(len(records)), np.diff(records.starts))

    def image_of(self, record: int) -> int:
        """The image of a record."""
        images = len(self.records)
        return record if record < images else int(self._images[record - images])

    def objects_of(self, image: int) -> NDArray[np.int64]:
        """Record numbers of an image's single boxes."""
        starts = self.records.starts
        return np.arange(starts[image], starts[image + 1]) + len(self.records)

    def pixels(self, image: int) -> Tensor:
        """Read and scale an image, (3, h, w) uint8 in MMDetection's BGR order.

        Raises:
            DataError: The image cannot be read, or a side would be scaled to 0 pixels.
        """
        if cached := self._decoded.get(image):
            return cached[0]
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
        pixels = torch.from_numpy(np.ascontiguousarray(array.transpose(2, 0, 1)))
        self._decoded.offer(image, (pixels,))
        return pixels

    def sample(self, record: int) -> DetDataSample:
        """Ground truth of a record, in pixels of the scaled image; crowds are `ignored_instances`."""
        image = self.image_of(record)
        width, height = (int(side) for side in self.records.sizes[image])
        new_width, new_height = mmcv.image.geometric.rescale_size((width, height), self.size)
        scale = (new_width / width, new_height / height)
        objects = self.objects_of(image) if record < len(self.records) else np.array([record])
        rows = objects - len(self.records)
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
        labelled = InstanceData(
            bboxes=torch.from_numpy(boxes), labels=torch.from_numpy(self.records.labels[rows])
        )
        sample.gt_instances, sample.ignored_instances = labelled[~crowd], labelled[crowd]
        return sample
