"""Training of single epochs in separate processes, with the same results as in one process."""

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
_MOMENTS = {"momentum": "momentum_buffer", "mean": "exp_avg", "square": "exp_avg_sq", "count": "step"}
"""Tensors that SGD and AdamW keep per parameter: name in a driftlab state, and PyTorch's name."""


@dataclass
class ResumedEpochs(Hook):  # type: ignore[misc]
    """MMEngine hook that trains some of the epochs, resumed from the state after the epochs before.

    The caller restores the detector's weights; this hook restores and keeps the rest of the state.

    Attributes:
        only: The epochs to train, counted from 0.
        resume: State after the epochs before; ignored if training begins with epoch 0.
        state: State from which the next epoch resumes: that of the optimiser and of the CPU's random number
            generator, with which MMDetection samples on any device. Empty until training has ended.
    """

    only: range
    resume: Mapping[str, Tensor]
    state: Tensors = field(default_factory=dict, init=False)

    def before_train(self, runner: Runner) -> None:
        """Restore optimiser, schedule, counters and random state."""
        first, loop = self.only.start, runner.train_loop
        if not first:
            return
        restore_optimiser(runner, self.resume)
        for step in range(first * len(loop.dataloader)):
            ParamSchedulerHook().after_train_iter(runner, step)
        loop._epoch, loop._iter = first, first * len(loop.dataloader)
        loop.dataloader.sampler.epoch = first
        torch.set_rng_state(self.resume[_RANDOM])

    def after_train_epoch(self, runner: Runner) -> None:
        """Stop after the last of the epochs to train."""
        if runner.epoch + 1 == self.only.stop:
            runner.train_loop.stop_training = True

    def after_train(self, runner: Runner) -> None:
        """Keep the state that the next epoch resumes from."""
        self.state = optimiser_state(runner) | {_RANDOM: torch.get_rng_state()}


def optimiser_state(runner: Runner) -> Tensors:
    """The optimiser's state as `momentum/PARAMETER` etc., and mixed precision's as `scaler/NAME`."""
    wrapper = runner.optim_wrapper
    scaler = wrapper.loss_scaler.state_dict() if hasattr(wrapper, "loss_scaler") else {}
    scales = {f"scaler/{name}": torch.tensor(value, dtype=torch.float64) for name, value in scaler.items()}
    moments = {
        f"{kind}/{name}": wrapper.optimizer.state[parameter][key].detach().clone()
        for name, parameter in trainable(_detector(runner)).items()
        for kind, key in _MOMENTS.items()
        if wrapper.optimizer.state.get(parameter, {}).get(key) is not None
    }
    return moments | scales


def restore_optimiser(runner: Runner, state: Mapping[str, Tensor]) -> None:
    """Restore the optimiser from the entries of `optimiser_state` in a state; others are ignored."""
    wrapper = runner.optim_wrapper
    for kind, key in _MOMENTS.items():
        moments = part(state, kind)
        for name, parameter in trainable(_detector(runner)).items():
            if name in moments:
                device = parameter.device if moments[name].ndim else torch.device("cpu")  # a step counter
                wrapper.optimizer.state[parameter][key] = moments[name].to(device).clone()
    if scales := part(state, "scaler"):
        kinds = wrapper.loss_scaler.state_dict()
        wrapper.loss_scaler.load_state_dict(
            {name: type(kinds[name])(value.item()) for name, value in scales.items()}
        )


def trainable(detector: StreamFasterRCNN) -> dict[str, Parameter]:
    """The parameters that are not frozen, by name."""
    return {name: p for name, p in detector.named_parameters() if p.requires_grad}


def _detector(runner: Runner) -> StreamFasterRCNN:
    """The detector without MMEngine's wrapper for several processes."""
    detector: StreamFasterRCNN = getattr(runner.model, "module", runner.model)
    return detector
