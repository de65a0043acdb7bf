"""The one interface of the continual-learning methods: contract 3.

A method sees named parameters, a loss and a task's records, never the kind of model. Parameters may carry a
leading replica axis; whatever is summed over parameters is summed per replica, by `Learner.total`. The same
object serves a single model: there the axis is absent and a loss has no axis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from driftlab.methods.hyper_parameters import HyperParameter

if TYPE_CHECKING:
    from driftlab.models.graphs.norm import Statistics

Parameters = dict[str, Tensor]
Records = tuple[NDArray[np.intp], ...]
"""Record indices, one array per replica (one array for a single model)."""


@dataclass(frozen=True)
class Task:
    """The task that is being learnt, as a method sees it.

    Attributes:
        index: 0 for the first.
        heads: The outputs of the classes of each earlier task, first task first.
        new: The outputs of its own classes.
        seen: The outputs of the classes of all tasks so far.
        records: The task's training records.
        past: The training records of each earlier task, first task first.
        remembered: What a stream, whose past is gone, has drawn from its memory: one record per class.
    """

    index: int
    heads: tuple[slice, ...]
    new: slice
    seen: slice
    records: Records
    past: tuple[Records, ...]
    remembered: Records = ()


class Learner(Protocol):
    """A model, or a stack of replicas of one, as the methods see it."""

    @property
    def parameters(self) -> Parameters:
        """The trainable parameters by name, (R, …) or (…)."""

    def batch(self, records: Records) -> Any:
        """The records, ready to be computed on."""

    def outputs(self, batch: Any, statistics: Statistics = "batch") -> Tensor:
        """Logits (R, N, classes), padded where replicas have fewer than N records."""

    def task_loss(self, batch: Any, classes: slice, statistics: Statistics = "batch") -> Tensor:
        """Class-balanced cross-entropy over some of the outputs, (R,)."""

    def balanced(self, logits: Tensor, batch: Any, classes: slice) -> Tensor:
        """The same from logits (R, N, classes) that are known already."""

    def loss_and_gradient_size(
        self, batch: Any, classes: slice, statistics: Statistics = "batch"
    ) -> tuple[Tensor, Tensor]:
        """`task_loss` and the L1 norm (R,) of its gradient, which can be differentiated as well."""

    def mean(self, values: Tensor, batch: Any) -> Tensor:
        """The mean (R,) over the true records of values (R, N)."""

    def topology(self, batch: Any) -> Tensor:
        """The mean over the records of TWP's ‖E‖², (R,)."""

    def gradients(self, value: Tensor, create_graph: bool = False) -> Parameters:
        """The gradient of a loss (R,) with respect to every parameter."""

    def sum_per_replica(self, value: Tensor) -> Tensor:
        """The sum over everything but the replica axis, (R,)."""

    def broadcast_to_replicas(self, value: Tensor, like: Tensor) -> Tensor:
        """One number per replica (R,), shaped so that it multiplies `like`."""


class Method:
    """Learns one task after another; this base class adds nothing (see BARE).

    Args:
        seeds: The replicas' seeds.
        hyper: Each hyper-parameter as (R,), in the class's `hyper_parameters`.
    """

    name: ClassVar[str]
    hyper_parameters: ClassVar[Mapping[str, HyperParameter]] = {}
    """By name; the defaults are the CGL paper's best on N-UCLA (its Table 3)."""
    second_order: ClassVar[bool] = False
    """Whether the loss differentiates a gradient."""

    def __init__(self, seeds: Sequence[int], hyper: Mapping[str, Tensor]) -> None:
        self.seeds = tuple(seeds)
        self.hyper = dict(hyper)

    @classmethod
    def starts_bare(cls, config: Mapping[str, Any]) -> bool:
        """Whether the first task is learnt exactly as BARE learns it, with these hyper-parameters."""
        return True

    def training_records(self, task: Task) -> Records:
        """The records that the task is trained on: its own, and those that a method rehearses."""
        return task.records

    def begin_task(self, learner: Learner, task: Task, batch: Any) -> None:
        """Prepare for a task, before its first step."""

    def loss(self, learner: Learner, task: Task, batch: Any) -> Tensor:
        """The loss of each replica, (R,)."""
        return learner.task_loss(batch, task.seen, "update")

    def adjust_gradients(self, learner: Learner, task: Task, gradients: Parameters) -> Parameters:
        """Look at the gradients, and change them, before the optimiser uses them."""
        return gradients

    def after_step(self, learner: Learner, task: Task) -> None:
        """Look at the parameters after a step."""

    def end_task(self, learner: Learner, task: Task, batch: Any) -> None:
        """Keep what later tasks need, after the task's last step; called before the next task begins."""

    def state(self) -> dict[str, Tensor]:
        """The tensors that later tasks need, each of shape (tasks, replicas, …)."""
        return {}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Take back what `state` gave."""


def sample_records(records: Records, fractions: Tensor, seeds: Sequence[int], salt: int) -> Records:
    """A part of each replica's records, at least one, drawn once and for all by seed.

    Args:
        records: The records of one finished task.
        fractions: (R,), in (0, 1].
        seeds: One per replica.
        salt: Tells the tasks' draws apart; with the records it fixes the draw.
    """
    drawn = []
    for part, fraction, seed in zip(records, fractions.tolist(), seeds, strict=True):
        count = max(1, round(len(part) * fraction))
        drawn.append(np.sort(np.random.default_rng([seed, salt]).choice(part, size=count, replace=False)))
    return tuple(drawn)
