"""Learning one task with a stack of replicas, and carrying the stack's state between tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from driftlab.methods.base import Method, Records, Task
from driftlab.training.finite_check import require_finite
from driftlab.training.graphs.replicas import Replicas

State = dict[str, NDArray[Any]]


class Continual:
    """Replicas, their method and their optimiser: one Adam for all tasks, as the CGL protocol has it."""

    def __init__(self, replicas: Replicas, method: Method, learning_rate: float) -> None:
        self.replicas, self.method = replicas, method
        self.parameters = replicas.parameters
        # Not fused: that form rounds differently at the end of a tensor, which would make a replica's result
        # depend on its place in the stack.
        self.optimiser = torch.optim.Adam(list(self.parameters.values()), learning_rate, foreach=True)

    def learn(self, task: Task, epochs: int) -> None:
        """Train on a task, full batch."""
        batch = self.replicas.batch(self.method.training_records(task))
        self.method.begin_task(self.replicas, task, batch)
        for epoch in range(epochs):
            loss = self.method.loss(self.replicas, task, batch)
            require_finite(loss, f"the loss in epoch {epoch + 1} of task {task.index + 1}")
            gradients = self.replicas.gradients(loss)
            gradients = self.method.adjust_gradients(self.replicas, task, gradients)
            for name, parameter in self.parameters.items():
                parameter.grad = gradients[name].contiguous()
            self.optimiser.step()
            self.method.after_step(self.replicas, task)
        for name, parameter in self.parameters.items():
            require_finite(parameter, f"the parameter {name} after task {task.index + 1}")

    def close(self, task: Task) -> None:
        """Let the method keep what later tasks need of a task that has been learnt."""
        batch = self.replicas.batch(self.method.training_records(task))
        self.method.end_task(self.replicas, task, batch)

    @torch.no_grad()
    def class_accuracy(self, records: Records, classes: int) -> NDArray[np.float64]:
        """How many of each class's records are recognised among the first `classes` outputs.

        Returns:
            (R, classes), fractions, by position in each replica's order.
        """
        batch = self.replicas.batch(records)
        predicted = self.replicas.outputs(batch, "running")[..., :classes].argmax(-1)
        found, labels, true = (t.cpu().numpy() for t in (predicted, batch.labels, batch.uniform > 0))
        return np.array(
            [
                [(f[t & (y == c)] == c).mean() for c in range(classes)]
                for f, y, t in zip(found, labels, true, strict=True)
            ]
        )

    def states(self) -> list[State]:
        """Everything that the next task continues from, one dictionary a replica."""
        named = {f"parameter/{n}": p.detach() for n, p in self.parameters.items()}
        named |= {f"buffer/{n}": b for n, b in self.replicas.buffers.items()}
        for n, p in self.parameters.items():
            kept = self.optimiser.state[p]
            named |= {f"{key}/{n}": kept[key] for key in ("exp_avg", "exp_avg_sq")}
        steps = np.asarray([float(self.optimiser.state[next(iter(self.parameters.values()))]["step"])])
        arrays = {name: value.cpu().numpy() for name, value in named.items()}
        methods = {f"method/{n}": t.cpu().numpy() for n, t in self.method.state().items()}
        return [
            {name: np.array(value[r], order="C") for name, value in arrays.items()}
            | {name: np.array(value[:, r], order="C") for name, value in methods.items()}
            | {"steps": steps}
            for r in range(len(self.replicas))
        ]

    @torch.no_grad()
    def load_states(self, states: Sequence[State]) -> None:
        """Continue from what `states` gave, one state a replica."""
        device = self.replicas.inputs.device

        def stacked(name: str, axis: int = 0) -> torch.Tensor:
            return torch.from_numpy(np.stack([state[name] for state in states], axis=axis)).to(device)

        for n, p in self.parameters.items():
            p.copy_(stacked(f"parameter/{n}"))
            moments = {key: stacked(f"{key}/{n}") for key in ("exp_avg", "exp_avg_sq")}
            step = torch.tensor(float(states[0]["steps"][0]))
            self.optimiser.state[p] = {"step": step, **moments}
        for n, b in self.replicas.buffers.items():
            b.copy_(stacked(f"buffer/{n}"))
        prefix = "method/"
        self.method.load_state(
            {name.removeprefix(prefix): stacked(name, 1) for name in states[0] if name.startswith(prefix)}
        )
