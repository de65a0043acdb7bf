"""Passes over a set of frames of which each can be made in another process, to the same numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from mmengine.hooks import Hook, ParamSchedulerHook
from mmengine.runner import Runner
from torch import Tensor

from driftlab.models.detectors.stream_detector import StreamFasterRCNN
from driftlab.training.detection.states import State, part

_RANDOM = "random"


@dataclass
class Passes(Hook):  # type: ignore[misc]
    """Makes some of the passes of a training, and goes on from what the ones before have left.

    The detector itself is the caller's: what is kept here is what a training has besides it.

    Attributes:
        made: Which passes, counted from 0.
        before: What the passes before have left; not looked at for the first one.
        left: What the next pass goes on from: momenta and random numbers. Empty until training has ended.
    """

    made: range
    before: Mapping[str, Tensor]
    left: State = field(default_factory=dict, init=False)

    def before_train(self, runner: Runner) -> None:
        """Be where the passes before have ended."""
        first, loop = self.made.start, runner.train_loop
        if not first:
            return
        give_momenta(runner, part(self.before, "momentum"))
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
        momenta = {f"momentum/{name}": value for name, value in take_momenta(runner).items()}
        self.left = momenta | {_RANDOM: torch.get_rng_state()}


def take_momenta(runner: Runner) -> State:
    """The momenta of what trains, by parameter, as far as it has moved."""
    states = runner.optim_wrapper.optimizer.state
    return {
        name: states[parameter]["momentum_buffer"].detach().clone()
        for name, parameter in trainable(_detector(runner)).items()
        if states.get(parameter, {}).get("momentum_buffer") is not None
    }


def give_momenta(runner: Runner, momenta: Mapping[str, Tensor]) -> None:
    """Let the optimiser go on with these."""
    for name, parameter in trainable(_detector(runner)).items():
        if name in momenta:
            state = runner.optim_wrapper.optimizer.state[parameter]
            state["momentum_buffer"] = momenta[name].to(parameter.device).clone()


def trainable(detector: StreamFasterRCNN) -> State:
    """The parameters that are not frozen, by name."""
    return {name: p for name, p in detector.named_parameters() if p.requires_grad}


def _detector(runner: Runner) -> StreamFasterRCNN:
    """Without what averages gradients of several processes."""
    detector: StreamFasterRCNN = getattr(runner.model, "module", runner.model)
    return detector
