"""Online training on a stream of frames, step by step; each frame is seen once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from mmengine.hooks import Hook
from mmengine.runner import Runner
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset

from driftlab.methods.base import Method, Task
from driftlab.methods.exemplars import Exemplars
from driftlab.models.detectors.stream_detector import StreamFasterRCNN
from driftlab.training.detection.checkpoint_state import Tensors, part
from driftlab.training.detection.detector_learner import REMEMBERED, DetectorLearner
from driftlab.training.detection.epochs import optimiser_state, restore_optimiser, trainable
from driftlab.training.detection.features import StreamFeatures
from driftlab.training.detection.frames import Batch
from driftlab.training.detection.runner import Optimisation, runner, share


@dataclass
class _CurrentBatch(Dataset[Any]):
    """The batch of the current step, repeated for each iteration."""

    iterations: int
    batch: Batch | None = None

    def __len__(self) -> int:
        return self.iterations

    def __getitem__(self, index: int) -> dict[str, Any]:
        if index >= self.iterations or self.batch is None:
            raise IndexError(index)
        return {"inputs": self.batch.inputs, "data_samples": self.batch.samples}


class OnlineDetector:
    """Trains a detector on a stream step by step, with a continual-learning method and a memory.

    Args:
        detector: Pretrained; its frozen part is frozen here.
        method: The continual-learning method.
        features: Builds the stream's batches.
        memory: The remembered objects.
        optimisation: Optimiser and precision.
        iterations: Optimiser steps per step of the stream.
        seed: Seed of the detector's sampling.
        open_vocabulary: Whether an output is added when its class is first seen; else all outputs exist.
    """

    def __init__(
        self,
        detector: StreamFasterRCNN,
        method: Method,
        features: StreamFeatures,
        memory: Exemplars,
        optimisation: Optimisation,
        *,
        iterations: int,
        seed: int,
        open_vocabulary: bool,
    ) -> None:
        detector.freeze()
        self.detector, self.method, self.features, self.memory = detector, method, features, memory
        self.optimisation, self.iterations, self.seed = optimisation, iterations, seed
        self.open_vocabulary = open_vocabulary
        self.learner = DetectorLearner(detector, features.batch)
        self.last_seen = np.full(len(memory.records), -1, dtype=np.int64)
        self._optimiser: Tensors = {}

    def learn(self, steps: Sequence[tuple[int, NDArray[np.int64]]]) -> None:
        """Train on consecutive steps.

        Args:
            steps: Pairs of a step's number and the indices of its frames.
        """
        current = _CurrentBatch(self.iterations)
        hook = MethodHook(self, steps, current)
        self.detector.train()
        self.detector.objective = hook.objective
        try:
            with runner(
                self.detector, current, len(steps), self.optimisation, seed=self.seed, hooks=[hook]
            ) as training:
                training.train()
        finally:
            self.detector.objective = None

    def state(self) -> Tensors:
        """State from which a run resumes: parameters, optimiser, vocabulary, method, memory."""
        parts = {"optimiser": self._optimiser, "method": self.method.state(), "memory": self.memory.state()}
        named = {f"{kind}/{name}": value for kind, values in parts.items() for name, value in values.items()}
        last_seen = torch.from_numpy(self.last_seen.copy())
        return named | detector_state(self.detector) | {"last_seen": last_seen}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Restore from `state`."""
        restore(self.detector, state)
        self._optimiser = part(state, "optimiser")
        device = self.detector.data_preprocessor.device
        self.method.load_state({name: value.to(device) for name, value in part(state, "method").items()})
        self.memory.load_state(part(state, "memory"))
        self.last_seen = state["last_seen"].numpy().copy()


@dataclass
class MethodHook(Hook):  # type: ignore[misc]
    """Hook that runs a continual-learning method in MMEngine's runner: one epoch is one step of the stream.

    Before a step: build the batch, including the records that the method rehearses. In each iteration:
    minimise the method's loss, let it adjust the gradients, and call its `after_step`. After the step:
    remember its objects and let the method end the task.
    """

    online: OnlineDetector
    steps: Sequence[tuple[int, NDArray[np.int64]]]
    current: _CurrentBatch
    task: Task | None = field(default=None, init=False)

    def objective(self, inputs: Any, samples: list[Any]) -> Tensor:
        """The method's loss on a batch, a scalar."""
        assert self.task is not None
        return self.online.method.loss(self.online.learner, self.task, Batch(inputs, samples)).sum()

    def before_train(self, runner: Runner) -> None:
        """Restore the optimiser, and let the method adjust gradients before each optimiser step."""
        restore_optimiser(runner, self.online._optimiser)
        runner.optim_wrapper.optimizer.register_step_pre_hook(self._adjust)

    def before_train_epoch(self, runner: Runner) -> None:
        """Seed the sampling, extend the vocabulary, and build the step's task and batch."""
        online = self.online
        number, frames = self.steps[runner.epoch]
        torch.manual_seed(int(np.random.default_rng([online.seed, 3, number]).integers(2**31)))
        if online.open_vocabulary:
            online.detector.roi_head.bbox_head.admit(self._labels(frames))
        all_classes = slice(0, len(online.last_seen))
        self.task = Task(number, (), all_classes, all_classes, (frames,), (), (online.memory.draw(number),))
        records = online.method.training_records(self.task)[0]
        batch = online.learner.batch((share(records),))
        for sample, position in zip(batch.samples, share(np.arange(len(records))), strict=True):
            sample.set_field(bool(position >= len(frames)), REMEMBERED, field_type="metainfo")
        self.current.batch = batch
        online.method.begin_task(online.learner, self.task, self.current.batch)

    def after_train_iter(self, runner: Runner, *_: Any, **__: Any) -> None:
        """Call the method's `after_step`."""
        assert self.task is not None
        self.online.method.after_step(self.online.learner, self.task)

    def after_train_epoch(self, runner: Runner) -> None:
        """Remember the step's objects and end its task."""
        online, (number, frames) = self.online, self.steps[runner.epoch]
        objects = np.concatenate([online.features.frames.objects_of(int(frame)) for frame in frames])
        labels = self._labels(frames)
        online.memory.remember(number, objects.tolist(), labels.tolist())
        online.last_seen[labels] = number
        assert self.task is not None
        remembered = online.memory.draw(number)
        if len(remembered):
            closing = Task(number, (), self.task.new, self.task.seen, (frames,), (), (remembered,))
            online.method.end_task(online.learner, closing, online.learner.batch((remembered,)))
        online.features.keep_only(online.memory.records[online.memory.records >= 0].tolist())

    def after_train(self, runner: Runner) -> None:
        """Keep the optimiser's state."""
        self.online._optimiser = optimiser_state(runner)

    def _labels(self, frames: NDArray[np.int64]) -> NDArray[np.int64]:
        records = self.online.features.frames.records
        return np.concatenate([records.labels_of(int(frame)) for frame in frames])

    def _adjust(self, optimiser: Any, *_: Any) -> None:
        online = self.online
        assert self.task is not None
        classifier = dict(online.detector.roi_head.bbox_head.fc_cls.named_parameters())
        gradients = {name: p.grad[:-1] for name, p in classifier.items() if p.grad is not None}
        for name, gradient in online.method.adjust_gradients(online.learner, self.task, gradients).items():
            if gradient is not gradients[name]:
                classifier[name].grad[:-1] = gradient


def detector_state(detector: StreamFasterRCNN) -> Tensors:
    """Trainable parameters and vocabulary of a detector whose frozen part is frozen."""
    parameters = {f"parameter/{name}": p.detach().clone() for name, p in trainable(detector).items()}
    return parameters | {"known": detector.roi_head.bbox_head.known.clone()}


@torch.no_grad()
def restore(detector: StreamFasterRCNN, state: Mapping[str, Tensor]) -> None:
    """Restore parameters and vocabulary of a detector from the entries of `detector_state` in a state."""
    parameters = part(state, "parameter")
    for name, parameter in trainable(detector).items():
        parameter.copy_(parameters[name])
    detector.roi_head.bbox_head.known.copy_(state["known"])
