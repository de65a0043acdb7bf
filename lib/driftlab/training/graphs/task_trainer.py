"""Training of stacked replicas on one task after the other, and their state between tasks."""

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
    """Trainer of replicas with a method and one Adam optimiser for all tasks, as in the CGL protocol."""

    def __init__(self, replicas: Replicas, method: Method, learning_rate: float) -> None:
        self.replicas, self.method = replicas, method
        self.parameters = replicas.parameters
        self.flat = replicas.stack.flat
        # Not fused: fused Adam rounds differently at the end of each thread's part of a tensor.
        self.optimiser = torch.optim.Adam([self.flat], learning_rate, foreach=False, fused=False)

    def learn(self, task: Task, epochs: int) -> None:
        """Train on a task with full-batch steps."""
        batch = self.replicas.batch(self.method.training_records(task))
        self.method.begin_task(self.replicas, task, batch)
        self.flat.grad = torch.zeros_like(self.flat)
        for epoch in range(epochs):
            loss = self.method.loss(self.replicas, task, batch)
            require_finite(loss, f"the loss in epoch {epoch + 1} of task {task.index + 1}")
            gradients = self.replicas.gradients(loss)
            gradients = self.method.adjust_gradients(self.replicas, task, gradients)
            self.replicas.stack.gather(gradients, self.flat.grad)
            self.optimiser.step()
            self.method.after_step(self.replicas, task)
        for name, parameter in self.parameters.items():
            require_finite(parameter, f"the parameter {name} after task {task.index + 1}")

    def close(self, task: Task) -> None:
        """Let the method store what it needs of a learnt task for later tasks."""
        batch = self.replicas.batch(self.method.training_records(task))
        self.method.end_task(self.replicas, task, batch)

    @torch.no_grad()
    def class_accuracy(self, records: Records, classes: int) -> NDArray[np.float64]:
        """Accuracy per class, with predictions among the first `classes` outputs.

        Returns:
            (R, classes), by position in each replica's order of classes.
        """
        batch = self.replicas.batch(records)
        predicted = self.replicas.outputs(batch, "running")[..., :classes].argmax(-1)
        predictions, labels, not_padded = (
            t.cpu().numpy() for t in (predicted, batch.labels, batch.uniform > 0)
        )
        return np.array(
            [
                [(f[t & (y == c)] == c).mean() for c in range(classes)]
                for f, y, t in zip(predictions, labels, not_padded, strict=True)
            ]
        )

    def states(self) -> list[State]:
        """State from which the next task continues, one dictionary per replica."""
        named = {f"parameter/{n}": p.detach() for n, p in self.parameters.items()}
        named |= {f"buffer/{n}": b for n, b in self.replicas.buffers.items()}
        adam_state = self.optimiser.state[self.flat]
        for key in ("exp_avg", "exp_avg_sq"):
            named |= {f"{key}/{n}": part for n, part in self.replicas.stack.views(adam_state[key]).items()}
        steps = np.asarray([float(adam_state["step"])])
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
        """Continue from what `states` returned, one state per replica."""
        device = self.replicas.inputs.device

        def stacked(name: str, axis: int = 0) -> torch.Tensor:
            return torch.from_numpy(np.stack([state[name] for state in states], axis=axis)).to(device)

        for n, p in self.parameters.items():
            p.copy_(stacked(f"parameter/{n}"))
        moments = {key: torch.zeros_like(self.flat) for key in ("exp_avg", "exp_avg_sq")}
        for key, moment in moments.items():
            self.replicas.stack.gather({n: stacked(f"{key}/{n}") for n in self.parameters}, moment)
        step = torch.tensor(float(states[0]["steps"][0]))
        self.optimiser.state[self.flat] = {"step": step, **moments}
        for n, b in self.replicas.buffers.items():
            b.copy_(stacked(f"buffer/{n}"))
        prefix = "method/"
        self.method.load_state(
            {name.removeprefix(prefix): stacked(name, 1) for name in states[0] if name.startswith(prefix)}
        )
