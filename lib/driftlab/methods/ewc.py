"""Elastic weight consolidation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol, cast, get_args

from torch import Tensor

from driftlab.core.errors import ParameterError
from driftlab.methods.anchors import Anchors
from driftlab.methods.base import Learner, Method, Task
from driftlab.methods.hyper_parameters import HyperParameter

FisherLabels = Literal["predicted", "labels"]


class EWC(Method):
    """L = L_task + (strength / 2) Σ_t Σ_i F_{t,i} (θ_i − θ*_{t,i})² (Kirkpatrick et al. 2017, eq. 3).

    One anchor and one diagonal Fisher F_t for each finished task. F is the square of the gradient of the
    full-batch loss at the task's end, as the CGL paper has it, not the mean of squared per-record gradients.
    The CGL paper's released code leaves out the factor ½, which amounts to twice the strength.
    """

    name = "EWC"
    hyper_parameters: ClassVar[Mapping[str, HyperParameter]] = {
        "strength": HyperParameter(1e6, "weight of the quadratic penalty on the finished tasks' parameters")
    }

    factor = 0.5
    """Factor of the penalty, beside the strength."""

    def __init__(self, seeds: Sequence[int], hyper: Mapping[str, Tensor]) -> None:
        super().__init__(seeds, hyper)
        self.anchors = Anchors()

    def loss(self, learner: Learner, task: Task, batch: Any) -> Tensor:
        """The task's loss and the pull."""
        value = super().loss(learner, task, batch)
        if not self.anchors:
            return value
        return value + self.factor * self.hyper["strength"] * self.anchors.penalty(learner)

    def end_task(self, learner: Learner, task: Task, batch: Any) -> None:
        """Measure the Fisher and set the anchor."""
        gradients = learner.gradients(self.fisher_loss(learner, task, batch))
        self.anchors.add({name: g.square() for name, g in gradients.items()}, learner.parameters)

    def fisher_loss(self, learner: Learner, task: Task, batch: Any) -> Tensor:
        """The loss whose squared gradient is the Fisher, (R,)."""
        return learner.task_loss(batch, task.seen)

    def state(self) -> dict[str, Tensor]:
        """Fishers and anchors."""
        return self.anchors.state()

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Take them back."""
        self.anchors.load_state(state)


class PredictingLearner(Learner, Protocol):
    """A learner that can be asked how sure it is of its own predictions: a detector."""

    def predicted_label_loss(self, batch: Any) -> Tensor:
        """Cross-entropy against its own most probable labels, in evaluation mode, a scalar."""


class OnlineEWC(EWC):
    """EWC on a stream, where every step is a task: only the newest Fisher and anchor are kept (Wanderlust).

    The Fisher is measured after every step on one remembered record of each class.

    Args:
        seeds: One.
        hyper: `strength`.
        fisher: `predicted` as in the released code: the gradient of the classifier's cross-entropy against
            its own most probable labels in evaluation mode, which needs no labels of the memory (section
            5.1). `labels`: that of the training loss on the remembered records' labels.
        half_penalty: Whether the penalty has the factor ½; the released code leaves it out.

    Raises:
        ParameterError: `fisher` is something else.
    """

    def __init__(
        self,
        seeds: Sequence[int],
        hyper: Mapping[str, Tensor],
        *,
        fisher: FisherLabels = "predicted",
        half_penalty: bool = False,
    ) -> None:
        super().__init__(seeds, hyper)
        if fisher not in get_args(FisherLabels):
            raise ParameterError(f"fisher is {fisher!r}; it can be predicted or labels.")
        self.fisher, self.factor = fisher, 0.5 if half_penalty else 1.0

    def fisher_loss(self, learner: Learner, task: Task, batch: Any) -> Tensor:
        """The loss whose squared gradient is the Fisher, a scalar.

        Raises:
            ParameterError: The learner cannot say what it predicts.
        """
        if self.fisher == "labels":
            return super().fisher_loss(learner, task, batch)
        if not hasattr(learner, "predicted_label_loss"):
            raise ParameterError('EWC with fisher="predicted" needs a detector; use fisher="labels" here.')
        return cast(PredictingLearner, learner).predicted_label_loss(batch)

    def end_task(self, learner: Learner, task: Task, batch: Any) -> None:
        """Measure the Fisher anew and move the anchor."""
        self.anchors = Anchors()
        super().end_task(learner, task, batch)
