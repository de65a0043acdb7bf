"""Training on a whole set of frames, in shuffled batches: pretraining, and Wanderlust's offline training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, Sampler

from driftlab.models.detectors.stream_detector import StreamFasterRCNN
from driftlab.training.detection.checkpoint_state import Tensors
from driftlab.training.detection.epochs import Passes
from driftlab.training.detection.features import StreamFeatures
from driftlab.training.detection.frames import Frames
from driftlab.training.detection.runner import Optimisation, runner, share


class _Images(Dataset[Any]):
    """Batches of images."""

    def __init__(self, frames: Frames) -> None:
        self.frames = frames

    def __getitem__(self, images: list[int]) -> dict[str, Any]:
        return {
            "inputs": [self.frames.pixels(image) for image in images],
            "data_samples": [self.frames.sample(image) for image in images],
        }


class _Features(Dataset[Any]):
    """Batches of the frozen part's features."""

    def __init__(self, features: StreamFeatures) -> None:
        self.features = features

    def __getitem__(self, images: list[int]) -> dict[str, Any]:
        batch = self.features.batch(images)
        return {"inputs": batch.inputs, "data_samples": batch.samples}


class _Shuffled(Sampler[list[int]]):
    """Every epoch's batches, in an order that depends on seed and epoch only; each process takes its part."""

    def __init__(self, images: NDArray[np.int64], size: int, seed: int) -> None:
        self.images, self.size, self.seed, self.epoch = images, size, seed, 0

    def __len__(self) -> int:
        return -(-len(self.images) // self.size)

    def __iter__(self) -> Iterator[list[int]]:
        order = np.random.default_rng([self.seed, 4, self.epoch]).permutation(self.images)
        self.epoch += 1
        for start in range(0, len(order), self.size):
            yield share(order[start : start + self.size]).tolist()


def train_detector(
    detector: StreamFasterRCNN,
    source: Frames | StreamFeatures,
    images: NDArray[np.int64],
    optimisation: Optimisation,
    *,
    epochs: int,
    batch: int,
    seed: int,
    passes: range | None = None,
    before: Mapping[str, Tensor] | None = None,
) -> Tensors:
    """Passes over some images; the learning rate warms up over the first tenth and then falls along a cosine.

    Args:
        detector: Trained in place.
        source: Images (everything trains that is not frozen), or the features of the frozen part.
        images: Which ones.
        optimisation: Optimiser and precision.
        epochs: How many passes there are in all.
        batch: Images a batch.
        seed: Of order and sampling.
        passes: Which of them are made now, from 0; None for all. The detector is as the ones before left it.
        before: What this has returned for the passes before.

    Returns:
        What the next pass goes on from besides the detector.

    Raises:
        ValueError: Passes are wanted that are not there, or what those before have left is not given.
    """
    if passes is not None and (not passes or passes.stop > epochs or (passes.start and not before)):
        raise ValueError(f"Of {epochs} passes, {passes} cannot be made, or lack what the ones before left.")
    data: Dataset[Any] = _Features(source) if isinstance(source, StreamFeatures) else _Images(source)
    sampler = _Shuffled(images, batch, seed)
    loader = DataLoader(data, sampler=sampler, batch_size=None, collate_fn=lambda made: made)
    steps = epochs * len(sampler)
    warm = max(1, steps // 10)
    schedule: list[dict[str, Any]] = [
        {"type": "LinearLR", "start_factor": 0.01, "by_epoch": False, "begin": 0, "end": warm}
    ]
    if steps > warm:
        schedule.append(
            {"type": "CosineAnnealingLR", "T_max": steps, "by_epoch": False, "begin": warm, "end": steps}
        )
    detector.train()
    hook = Passes(range(epochs) if passes is None else passes, before or {})
    with runner(
        detector, loader, epochs, optimisation, seed=seed, hooks=[hook], schedule=schedule
    ) as training:
        training.train()
    detector.eval()
    return hook.left
