"""MMEngine's runner, configured for detectors."""

from __future__ import annotations

import itertools
import logging
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import mmdet.utils
import numpy as np
import torch
from mmengine.dist import get_rank, get_world_size
from mmengine.hooks import Hook
from mmengine.logging import MMLogger
from mmengine.model import MMDistributedDataParallel
from mmengine.runner import Runner
from numpy.typing import NDArray
from torch import nn
from torch.utils.data import DataLoader, Dataset

from driftlab.core.errors import ParameterError
from driftlab.training.finite_check import require_finite

_RUNNER_NUMBERS = itertools.count()


@dataclass(frozen=True)
class Optimisation:
    """The optimiser and its settings.

    Attributes:
        learning_rate: Peak learning rate where there is a schedule, else the constant one.
        momentum: Momentum of SGD.
        weight_decay: Weight decay.
        mixed_precision: Whether to use automatic mixed precision.
        clip: Norm to which gradients are clipped; 0 for no clipping.
        launcher: MMEngine's launcher: `none`, or `pytorch` if torchrun has started one process per GPU.
        optimiser: `SGD`, or `AdamW`.
    """

    learning_rate: float = 0.005
    momentum: float = 0.9
    weight_decay: float = 1e-4
    mixed_precision: bool = False
    clip: float = 0.0
    launcher: str = "none"
    optimiser: str = "SGD"

    def wrapper(self) -> dict[str, Any]:
        """MMEngine's configuration of the optimiser and its wrapper."""
        optimiser: dict[str, Any] = {
            "type": self.optimiser,
            "lr": self.learning_rate,
            "weight_decay": self.weight_decay,
        }
        if self.optimiser == "SGD":
            optimiser["momentum"] = self.momentum
        clip = {"max_norm": self.clip} if self.clip else None
        return {
            "type": "AmpOptimWrapper" if self.mixed_precision else "OptimWrapper",
            "optimizer": optimiser,
            "clip_grad": clip,
        }


class RequireFinite(Hook):  # type: ignore[misc]
    """Hook that stops a training whose loss or parameters are NaN or infinite."""

    def after_train_iter(
        self, runner: Runner, batch_idx: int, data_batch: Any = None, outputs: Any = None
    ) -> None:
        """Check the loss of the iteration."""
        loss = torch.as_tensor(outputs["loss"])
        require_finite(loss, f"the loss of iteration {batch_idx + 1} in epoch {runner.epoch + 1}")

    def after_train(self, runner: Runner) -> None:
        """Check the trained parameters."""
        for name, parameter in runner.model.named_parameters():
            require_finite(parameter, f"the parameter {name}")


class QuietRunner(Runner):  # type: ignore[misc]
    """MMEngine's runner that does not log the environment, writes no log file, and keeps the model's device.

    The log file would stay open until the process ends, and a sweep has many runners. MMEngine's runner would
    move the model to the best device of the machine.
    """

    def wrap_model(self, model_wrapper_cfg: dict[str, Any] | None, model: nn.Module) -> nn.Module:
        """Return the model, wrapped to average gradients if there are several processes."""
        if not self.distributed:
            return model
        device = next(model.parameters()).device
        wrapped: nn.Module = MMDistributedDataParallel(
            module=model,
            device_ids=None if device.type == "cpu" else [device],
            broadcast_buffers=False,
            find_unused_parameters=True,
        )
        return wrapped

    def _log_env(self, env_cfg: dict[str, Any]) -> None:
        pass

    def build_logger(self, log_level: int | str = "ERROR", log_file: str | None = None, **_: Any) -> MMLogger:
        """Return a logger without a file."""
        return MMLogger.get_instance(self._experiment_name, log_level=log_level)


def _unchanged(batch: Any) -> Any:
    return batch


def share(batch: NDArray[np.int64]) -> NDArray[np.int64]:
    """The part of a batch that this process trains on, among those started by MMEngine's launcher.

    Every process must take part in a step: with more processes than records, several train on the same one.
    """
    return np.resize(batch, max(len(batch), get_world_size()))[get_rank() :: get_world_size()]


@contextmanager
def runner(
    detector: nn.Module,
    batches: Dataset[Any] | DataLoader[Any],
    epochs: int,
    optimisation: Optimisation,
    *,
    seed: int,
    hooks: Sequence[Hook] = (),
    schedule: Sequence[dict[str, Any]] = (),
) -> Iterator[Runner]:
    """Provide a runner for a number of epochs; its working folder is temporary, as results go to the store.

    Args:
        detector: The detector to train.
        batches: A data loader, or a dataset whose items are batches.
        epochs: Number of epochs.
        optimisation: Optimiser and precision.
        seed: Seed of Python, NumPy and PyTorch.
        hooks: MMEngine hooks.
        schedule: MMEngine's parameter schedulers.

    Raises:
        ParameterError: Mixed precision is requested on a device without it.
    """
    device = next(detector.parameters()).device
    if optimisation.mixed_precision and device.type != "cuda":
        raise ParameterError(
            f"mixed_precision needs a CUDA device, and this detector computes on {device}. Leave it off here."
        )
    if optimisation.launcher != "none" and device.type == "cpu" and not torch.distributed.is_initialized():
        torch.distributed.init_process_group("gloo")  # MMEngine would look for a GPU
    mmdet.utils.register_all_modules(init_default_scope=True)
    loader = (
        batches
        if isinstance(batches, DataLoader)
        else DataLoader(batches, batch_size=None, collate_fn=_unchanged)
    )
    with tempfile.TemporaryDirectory(prefix="driftlab-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quiet_runner = QuietRunner(
            model=detector,
            work_dir=folder,
            train_dataloader=loader,
            train_cfg={"by_epoch": True, "max_epochs": epochs},
            optim_wrapper=optimisation.wrapper(),
            param_scheduler=list(schedule) or None,
            custom_hooks=[RequireFinite(), *hooks],
            default_hooks={"logger": None, "checkpoint": None, "sampler_seed": None, "timer": None},
            launcher=optimisation.launcher,
            randomness={"seed": seed},
            default_scope="mmdet",
            log_level=logging.ERROR,
            experiment_name=f"driftlab-{next(_RUNNER_NUMBERS)}",
        )
        yield quiet_runner
