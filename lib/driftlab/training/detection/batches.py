"""Training on a set of frames in shuffled mini-batches: pretraining, and Wanderlust's offline training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, Sampler

from driftlab.models.detectors.stream_detector import StreamFasterRCNN
from driftlab.training.detection.checkpoint_state import Tensors
from driftlab.training.detection.epochs import ResumedEpochs
from driftlab.training.detection.features import StreamFeatures
from driftlab.training.detection.frames import Frames
from driftlab.training.detection.runner import Optimisation, runner, share


class _Images(Dataset[Any]):
    """Batches of images, each batch at one of several scales."""

    def __init__(self, scales: Sequence[Frames], seed: int) -> None:
        self.scales, self.seed = scales, seed

    def __getitem__(self, images: list[int]) -> dict[str, Any]:
        # Seeded by the batch itself, so that a resumed training draws the same without a saved state.
        scale = np.random.default_rng([self.seed, 5, *images]).integers(len(self.scales))
        frames = self.scales[int(scale)]
        return {
            "inputs": [frames.pixels(image) for image in images],
            "data_samples": [frames.sample(image) for image in images],
        }


class _Features(Dataset[Any]):
    """Batches of features computed by the frozen part."""

    def __init__(self, features: StreamFeatures) -> None:
        self.features = features

    def __getitem__(self, images: list[int]) -> dict[str, Any]:
        batch = self.features.batch(images)
        return {"inputs": batch.inputs, "data_samples": batch.samples}


class _Shuffled(Sampler[list[int]]):
    """Yields this process's share of an epoch's batches; the order depends on seed and epoch only."""

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
    source: Frames | Sequence[Frames] | StreamFeatures,
    images: NDArray[np.int64],
    optimisation: Optimisation,
    *,
    epochs: int,
    batch: int,
    seed: int,
    only: range | None = None,
    resume: Mapping[str, Tensor] | None = None,
) -> Tensors:
    """Train on a set of images in shuffled batches, for all epochs or for some of them.

    The learning rate warms up linearly over the first tenth of the steps and then falls along a cosine.

    Args:
        detector: Trained in place.
        source: Images (all parts train that are not frozen); the same images at several scales, of which each
            batch draws one; or features of the frozen part.
        images: Indices of the images to train on.
        optimisation: Optimiser and precision.
        epochs: Total number of epochs, on which the learning-rate schedule depends.
        batch: Images per batch.
        seed: Seed of order and sampling.
        only: The epochs to train in this call, counted from 0; None for all. The detector must have the
            weights after the epochs before these.
        resume: The result of this function for the epochs before; not needed from epoch 0 on.

    Returns:
        The state, apart from the detector, from which the next epoch resumes.

    Raises:
        ValueError: `only` is not within the epochs, or the state to resume from is missing.
    """
    if only is not None and (not only or only.stop > epochs or (only.start and not resume)):
        raise ValueError(
            f"Of {epochs} epochs, {only} cannot be trained, or the state to resume from is missing."
        )
    data: Dataset[Any]
    if isinstance(source, StreamFeatures):
        data = _Features(source)
    else:
        data = _Images([source] if isinstance(source, Frames) else source, seed)
    sampler = _Shuffled(images, batch, seed)
    loader = DataLoader(data, sampler=sampler, batch_size=None, collate_fn=lambda item: item)
    steps = epochs * len(sampler)
    warmup_steps = max(1, steps // 10)
    schedule: list[dict[str, Any]] = [
        {"type": "LinearLR", "start_factor": 0.01, "by_epoch": False, "begin": 0, "end": warmup_steps}
    ]
    if steps > warmup_steps:
        schedule.append(
            {
                "type": "CosineAnnealingLR",
                "T_max": steps,
                "by_epoch": False,
                "begin": warmup_steps,
                "end": steps,
            }
        )
    detector.train()
    hook = ResumedEpochs(range(epochs) if only is None else only, resume or {})
    with runner(
        detector, loader, epochs, optimisation, seed=seed, hooks=[hook], schedule=schedule
    ) as training:
        training.train()
    detector.eval()
    return hook.state
