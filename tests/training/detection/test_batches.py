"""Training on a whole set of frames in shuffled batches."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from driftlab.core.errors import ParameterError
from driftlab.data.detection.records import FrameStream
from driftlab.models.detectors.stream_detector import StreamFasterRCNN
from driftlab.training.detection.batches import _Shuffled, train_detector
from driftlab.training.detection.checkpoint_state import Tensors, arrays, tensors
from driftlab.training.detection.epochs import optimiser_state, restore_optimiser
from driftlab.training.detection.features import StreamFeatures
from driftlab.training.detection.frames import Frames
from driftlab.training.detection.runner import Optimisation
from driftlab.training.detection.stream import detector_state, restore
from torch.optim.optimizer import register_optimizer_step_pre_hook

Make = Callable[[], StreamFasterRCNN]


def test_every_epoch_has_each_image_once_in_another_order() -> None:
    images = np.arange(10, 31)
    sampler = _Shuffled(images, 4, seed=3)
    epochs = [list(sampler), list(sampler)]
    for epoch in epochs:
        assert [len(batch) for batch in epoch] == [4, 4, 4, 4, 4, 1] and len(sampler) == 6
        assert sorted(image for batch in epoch for image in batch) == images.tolist()
    assert epochs[0] != epochs[1]
    assert list(_Shuffled(images, 4, seed=3)) == epochs[0] != list(_Shuffled(images, 4, seed=4))


def learn(
    make: Make, stream: FrameStream, features: bool, *, epochs: int = 1, batch: int = 2, seed: int = 0
) -> dict[str, torch.Tensor]:
    detector, frames = make(), Frames(stream.train, (64, 64))
    detector.freeze()
    source = StreamFeatures(detector, frames, 2**30) if features else frames
    train_detector(detector, source, np.arange(4), Optimisation(0.01), epochs=epochs, batch=batch, seed=seed)
    assert not detector.training
    return dict(detector.state_dict())


def test_features_or_images_of_a_frozen_part_are_the_same(detector: Make, stream: FrameStream) -> None:
    before = detector().state_dict()
    images, features, other = (
        learn(detector, stream, kind, seed=seed) for kind, seed in ((False, 0), (True, 0), (True, 1))
    )
    for name, value in images.items():
        # One image or two at a time: the last bits of features differ.
        torch.testing.assert_close(features[name], value, rtol=1e-3, atol=1e-4)
    moved = {name.split(".")[0] for name in before if not torch.equal(before[name], images[name])}
    assert moved == {"rpn_head", "roi_head"}
    assert any(not torch.equal(other[name], features[name]) for name in features)


def test_epochs_one_by_one_are_all_at_once(detector: Make, stream: FrameStream) -> None:
    whole, settings = learn(detector, stream, True, epochs=3), {"epochs": 3, "batch": 2, "seed": 0}
    left: Tensors = {}
    state: Tensors = {}
    for number in range(3):
        torch.manual_seed(number)  # nothing depends on what another process has drawn
        made = detector()
        made.freeze()
        if number:
            restore(made, state)
        source = StreamFeatures(made, Frames(stream.train, (64, 64)), 2**30)
        some = range(number, number + 1)
        left = train_detector(
            made,
            source,
            np.arange(4),
            Optimisation(0.01),
            only=some,
            resume=tensors(arrays(left)),
            **settings,
        )
        state = tensors(arrays(detector_state(made)))
    for name, value in made.state_dict().items():
        assert torch.equal(value, whole[name]), name


class Counted(Frames):
    """Counts the images that are read."""

    def __init__(self, stream: FrameStream, side: int) -> None:
        super().__init__(stream.train, (side, side))
        self.read: list[int] = []

    def pixels(self, image: int) -> torch.Tensor:
        self.read.append(image)
        return super().pixels(image)


def test_each_batch_has_one_of_the_scales(detector: Make, stream: FrameStream) -> None:
    def read(epochs: range, seed: int) -> list[list[int]]:
        scales = [Counted(stream, 32), Counted(stream, 64)]
        made = detector()
        resume: Tensors = {}
        for epoch in epochs:
            only, moves = range(epoch, epoch + 1), Optimisation(0.001)
            settings: dict[str, Any] = {"epochs": 6, "batch": 2, "seed": seed, "only": only}
            resume = train_detector(made, scales, np.arange(4), moves, **settings, resume=resume)
        return [frames.read for frames in scales]

    small, large = read(range(6), 0)
    assert sorted(small + large) == sorted(6 * list(range(4)))
    assert small and large and len(small) % 2 == len(large) % 2 == 0
    assert read(range(6), 0) == [small, large] != read(range(6), 1)


def test_a_single_batch_is_enough(detector: Make, stream: FrameStream) -> None:
    before = detector().state_dict()
    after = learn(detector, stream, True, batch=4)
    assert any(not torch.equal(before[name], after[name]) for name in after)


def test_what_diverges_has_no_weights(detector: Make, stream: FrameStream) -> None:
    made, frames = detector(), Frames(stream.train, (64, 64))
    made.freeze()
    features = StreamFeatures(made, frames, 2**30)
    wild = Optimisation(1e30)
    with pytest.raises(ParameterError, match=r"The run diverged: the (loss|parameter) .*Lower"):
        train_detector(made, features, np.arange(4), wild, epochs=6, batch=2, seed=0)


def test_the_learning_rate_rises_and_falls(detector: Make, stream: FrameStream) -> None:
    rates: list[float] = []
    handle = register_optimizer_step_pre_hook(
        lambda optimiser, *_: rates.append(optimiser.param_groups[0]["lr"])
    )
    try:
        learn(detector, stream, True, epochs=20, batch=4)
    finally:
        handle.remove()
    assert len(rates) == 20 and rates[0] == pytest.approx(0.0001)
    highest = int(np.argmax(rates))
    assert highest in (1, 2) and rates[highest] > 0.009
    assert rates[highest:] == sorted(rates[highest:], reverse=True) and rates[-1] < 0.001


@pytest.mark.parametrize("only", [range(0), range(2, 4), range(1, 2)])
def test_epochs_that_cannot_be_trained(only: range, detector: Make, stream: FrameStream) -> None:
    frames, moves = Frames(stream.train, (64, 64)), Optimisation(0.01)
    with pytest.raises(
        ValueError,
        match=r"Of 3 epochs, range\(.*\) cannot be trained, or the state to resume",
    ):
        train_detector(detector(), frames, np.arange(2), moves, epochs=3, batch=2, seed=0, only=only)


def test_the_scale_of_mixed_precision_goes_on() -> None:
    """As far as that can be seen without a GPU: what is taken from one optimiser is given to another."""

    def runner(scale: float) -> Any:
        model = torch.nn.Linear(1, 1)
        wrapper = SimpleNamespace(
            optimizer=torch.optim.SGD(model.parameters(), 0.1),
            loss_scaler=torch.amp.GradScaler("cpu", init_scale=scale, growth_interval=7),
        )
        return SimpleNamespace(model=model, optim_wrapper=wrapper)

    one, other = runner(8.0), runner(65536.0)
    one.optim_wrapper.loss_scaler.scale(torch.ones(1))
    one.optim_wrapper.loss_scaler.update(4.0)
    restore_optimiser(other, tensors(arrays(optimiser_state(one))))
    state = other.optim_wrapper.loss_scaler.state_dict()
    assert state == one.optim_wrapper.loss_scaler.state_dict() and state["scale"] != 65536.0
    assert type(state["growth_interval"]) is int
