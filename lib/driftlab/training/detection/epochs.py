"""Passes over a set of frames of which each can be made in another process, to the same numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from mmengine.hooks import Hook, ParamSchedulerHook
from mmengine.runner import Runner
from torch import Tensor
from torch.nn import Parameter

from driftlab.models.detectors.stream_detector import StreamFasterRCNN
from driftlab.training.detection.checkpoint_state import Tensors, part

_RANDOM = "random"


@dataclass
class Passes(Hook):  # type: ignore[misc]
    """Makes some of the passes of a training, and goes on from what the ones before have left.

    The detector itself is the caller's: what is kept here is what a training has besides it.

    Attributes:
        made: Which passes, counted from 0.
        before: What the passes before have left; not looked at for the first one.
        left: What the next pass goes on from: the optimiser's state and that of the CPU's random numbers,
            with which MMDetection samples on any device. Empty until training has ended.
    """

    made: range
    before: Mapping[str, Tensor]
    left: Tensors = field(default_factory=dict, init=False)

    def before_train(self, runner: Runner) -> None:
        """Be where the passes before have ended."""
        first, loop = self.made.start, runner.train_loop
        if not first:
            return
        give_optimiser(runner, self.before)
        for step in range(first * len(loop.dataloader)):
            ParamSchedulerHook().after_train_iter(runner, step)
        loop._epoch, loop._iter = first, first * len(loop.dataloader)
        loop.dataloader.sampler.epoch = first
        torch.set_rng_state(self.before[_RANDOM])

    def after_train_epoch(self, runner: Runner) -> None:
        """Stop after the last pass that is wanted."""
        if runner.epoch + 1 == self.made.stop:
            runner.train_loop.stop_training = True

    def after_train(self, runner: Runner) -> None:
        """Keep what the next pass needs."""
        self.left = take_optimiser(runner) | {_RANDOM: torch.get_rng_state()}


def take_optimiser(runner: Runner) -> Tensors:
    """The momenta, as `momentum/PARAMETER`, and the scale of mixed precision's losses, as `scaler/NAME`."""
    wrapper = runner.optim_wrapper
    scaler = wrapper.loss_scaler.state_dict() if hasattr(wrapper, "loss_scaler") else {}
    scales = {f"scaler/{name}": torch.tensor(value, dtype=torch.float64) for name, value in scaler.items()}
    momenta = {
        f"momentum/{name}": wrapper.optimizer.state[parameter]["momentum_buffer"].detach().clone()
        for name, parameter in trainable(_detector(runner)).items()
        if wrapper.optimizer.state.get(parameter, {}).get("momentum_buffer") is not None
    }
    return momenta | scales


def give_optimiser(runner: Runner, state: Mapping[str, Tensor]) -> None:
    """Let the optimiser go on from what `take_optimiser` took, in a state that may hold more."""
    wrapper, momenta = runner.optim_wrapper, part(state, "momentum")
    for name, parameter in trainable(_detector(runner)).items():
        if name in momenta:
            momentum = momenta[name].to(parameter.device).clone()
            wrapper.optimizer.state[parameter]["momentum_buffer"] = momentum
    if scales := part(state, "scaler"):
        kinds = wrapper.loss_scaler.state_dict()
        wrapper.loss_scaler.load_state_dict(
            {name: type(kinds[name])(value.item()) for name, value in scales.items()}
        )


def trainable(detector: StreamFasterRCNN) -> dict[str, Parameter]:
    """The parameters that are not frozen, by name."""
    return {name: p for name, p in detector.named_parameters() if p.requires_grad}


def _detector(runner: Runner) -> StreamFasterRCNN:
    """Without what averages gradients of several processes."""
    detector: StreamFasterRCNN = getattr(runner.model, "module", runner.model)
    return detector
