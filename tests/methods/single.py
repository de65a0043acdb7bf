"""Single models as learners: no replica axis anywhere, nothing shared with `driftlab.training`."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from driftlab.methods import make_method, method_config
from driftlab.methods.base import Method, Parameters, Records, Task
from driftlab.models.graphs import GCN
from torch import Tensor, nn

Batch = tuple[Tensor, Tensor]
CPU = torch.device("cpu")


def method(name: str, seed: int = 0, **hyper: float) -> Method:
    """A method for a single model."""
    return make_method([method_config(name, **hyper)], [seed], CPU)


def task(index: int, *records: list[int], per_task: int = 2) -> Task:
    """The task of that index; records of each task up to it."""
    arrays = [(np.array(part, dtype=np.intp),) for part in records]
    assert len(arrays) == index + 1
    heads = tuple(slice(t * per_task, (t + 1) * per_task) for t in range(index))
    new = slice(index * per_task, (index + 1) * per_task)
    return Task(index, heads, new, slice(0, new.stop), arrays[-1], tuple(arrays[:-1]))


class Single:
    """What every single model has in common; the others say what parameters and outputs are."""

    parameters: Parameters
    x: Tensor
    labels: Tensor

    def batch(self, records: Records) -> Batch:
        (index,) = records
        return self.x[index], self.labels[index]

    def outputs(self, batch: Batch, statistics: str = "batch") -> Tensor:
        raise NotImplementedError

    def task_loss(self, batch: Batch, classes: slice, statistics: str = "batch") -> Tensor:
        return self.balanced(self.outputs(batch, statistics), batch, classes)

    def balanced(self, logits: Tensor, batch: Batch, classes: slice) -> Tensor:
        targets = batch[1] - classes.start
        counts = targets.bincount(minlength=classes.stop - classes.start)
        return nn.functional.cross_entropy(logits[:, classes], targets, 1 / counts.clamp(min=1).to(logits))

    def loss_and_gradient_size(
        self, batch: Batch, classes: slice, statistics: str = "batch"
    ) -> tuple[Tensor, Tensor]:
        loss = self.task_loss(batch, classes, statistics)
        gradients = self.gradients(loss, create_graph=True).values()
        return loss, torch.stack([g.abs().sum() for g in gradients]).sum()

    def mean(self, values: Tensor, batch: Batch) -> Tensor:
        return values.mean()

    def topology(self, batch: Batch) -> Tensor:
        raise NotImplementedError

    def gradients(self, value: Tensor, create_graph: bool = False) -> Parameters:
        found = torch.autograd.grad(
            value.sum(), list(self.parameters.values()), create_graph=create_graph, materialize_grads=True
        )
        return dict(zip(self.parameters, found, strict=True))

    def sum_per_replica(self, value: Tensor) -> Tensor:
        return value.sum()

    def broadcast_to_replicas(self, value: Tensor, like: Tensor) -> Tensor:
        return value


class LinearModel(Single):
    """f(x) = W x + b, with ‖W x‖² for a topology."""

    def __init__(self, classes: int = 6, features: int = 3, records: int = 24) -> None:
        rng = np.random.default_rng([1, classes])
        self.x = torch.from_numpy(rng.normal(size=(records, features)))
        self.labels = torch.arange(records) % classes
        self.parameters = {
            "w": torch.from_numpy(rng.normal(size=(classes, features))).requires_grad_(),
            "b": torch.from_numpy(rng.normal(size=classes)).requires_grad_(),
        }

    def outputs(self, batch: Batch, statistics: str = "batch") -> Tensor:
        return batch[0] @ self.parameters["w"].T + self.parameters["b"]

    def topology(self, batch: Batch) -> Tensor:
        return (batch[0] @ self.parameters["w"].T).square().sum(1).mean()

    def of(self, *classes: int) -> list[int]:
        """The records of some classes."""
        return torch.isin(self.labels, torch.tensor(classes)).nonzero().flatten().tolist()

    @torch.no_grad()
    def move(self, seed: int) -> None:
        """To other parameters."""
        rng = np.random.default_rng([2, seed])
        for p in self.parameters.values():
            p += torch.from_numpy(rng.normal(size=tuple(p.shape)))


class Quadratic(Single):
    """The loss of a record is ½ Σ c (θ − t)², with c and t its own; a batch is one record."""

    def __init__(self, curvatures: list[list[float]], targets: list[list[float]], theta: list[float]) -> None:
        self.c, self.t = (torch.tensor(rows, dtype=torch.float64) for rows in (curvatures, targets))
        self.theta = torch.tensor(theta, dtype=torch.float64)
        self.parameters = {
            "first": self.theta[:1].clone().requires_grad_(),
            "rest": self.theta[1:].reshape(1, -1).clone().requires_grad_(),
        }
        self.second_order_asked = False

    @property
    def vector(self) -> Tensor:
        return torch.cat([p.flatten() for p in self.parameters.values()])

    @torch.no_grad()
    def put(self, theta: Any) -> None:
        values = torch.as_tensor(theta, dtype=torch.float64)
        self.parameters["first"].copy_(values[:1])
        self.parameters["rest"].copy_(values[1:].reshape(1, -1))

    def batch(self, records: Records) -> Any:
        return int(records[0][0])

    def task_loss(self, batch: Any, classes: slice, statistics: str = "batch") -> Tensor:
        return 0.5 * (self.c[batch] * (self.vector - self.t[batch]).square()).sum()

    def topology(self, batch: Any) -> Tensor:
        return self.vector.pow(3).sum()

    def gradients(self, value: Tensor, create_graph: bool = False) -> Parameters:
        self.second_order_asked |= create_graph
        return super().gradients(value, create_graph)

    def gradient(self, value: Tensor) -> list[float]:
        return torch.cat([g.flatten() for g in self.gradients(value).values()]).tolist()


class SingleGCN(Single):
    """One GCN, trained as anyone would write it."""

    def __init__(self, network: GCN, x: Tensor, labels: Tensor, learning_rate: float) -> None:
        self.network, self.x, self.labels = network, x, labels
        self.parameters = dict(network.named_parameters())
        self.optimiser = torch.optim.Adam(network.parameters(), learning_rate, foreach=False, fused=False)

    def outputs(self, batch: Batch, statistics: Any = "batch") -> Tensor:
        x = batch[0]
        logits: Tensor = self.network(x, **self.network.constants(x), statistics=statistics)[0]
        return logits

    def topology(self, batch: Batch) -> Tensor:
        x = batch[0]
        energy: Tensor = self.network(x, **self.network.constants(x), statistics="batch", topology=True)[1]
        return energy.mean()

    def learn(self, method: Method, task: Task, epochs: int) -> None:
        batch = self.batch(method.training_records(task))
        method.begin_task(self, task, batch)
        for _ in range(epochs):
            self.optimiser.zero_grad()
            method.loss(self, task, batch).backward()
            found = {name: p.grad for name, p in self.parameters.items() if p.grad is not None}
            for name, gradient in method.adjust_gradients(self, task, found).items():
                self.parameters[name].grad = gradient
            self.optimiser.step()
            method.after_step(self, task)
        method.end_task(self, task, batch)
