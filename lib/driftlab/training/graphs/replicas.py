"""Simultaneous training of many replicas of one network, whose parameters are stacked.

A replica is one run with its own seed, records and hyper-parameters. All parameters are tensors (R, …); one
backward pass and one optimiser step serve all replicas.

Two strategies give the same results. `batched` pads the replicas' records to one length and maps the network
over the replica axis (`torch.func.vmap`): one kernel for all, which is fast on an accelerator. `looped`
applies the network to one replica after the other: on a CPU a small network's activations then stay in the
core's cache, which is faster than one large batch, needs no padding, and makes a replica's result
independent, to the bit, of the replicas that are trained beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from driftlab.core.errors import ParameterError
from driftlab.methods.base import Parameters, Records
from driftlab.models.graphs.backbone import Backbone
from driftlab.models.graphs.kernels import NodeFeatures, aligned
from driftlab.models.graphs.norm import Statistics
from driftlab.training.graphs.fused_stack import FusedStack
from driftlab.training.graphs.parameter_stack import ParameterStack

Strategy = Literal["looped", "batched"]


@dataclass(frozen=True)
class Batch:
    """A mini-batch of records for every replica.

    Attributes:
        inputs: Arguments of the network by name: one dictionary per replica (looped), or stacked and padded
            tensors (batched).
        mask: (R, N), 1 for records and 0 for padding; None for looped inputs, which are not padded.
        labels: (R, N), positions in the replica's order; 0 where padded.
        uniform: (R, N), 1 / number of records; 0 where padded.
        weights: (R, N), class-balanced weights that sum to 1: each class present has the same share.
        features: Inputs of the fused kernels, if they are used; replicas with equal records share theirs.
    """

    inputs: list[dict[str, Tensor]] | dict[str, Tensor]
    mask: Tensor | None
    labels: Tensor
    uniform: Tensor
    weights: Tensor
    features: list[NodeFeatures] | None = None


class Replicas:
    """The stacked replicas, as a `driftlab.methods.base.Learner` for the methods.

    Args:
        build: Returns a newly initialised network.
        seeds: One per replica; its initialisation depends on the seed only.
        inputs: (N, …) node features of the whole dataset, on the device.
        labels: (R, N) positions of the records' classes in each replica's order.
        strategy: `looped` or `batched`; see the module.
    """

    def __init__(
        self,
        build: Callable[[], Backbone],
        seeds: Sequence[int],
        inputs: Tensor,
        labels: Tensor,
        strategy: Strategy,
    ) -> None:
        if strategy not in get_args(Strategy):
            raise ParameterError(
                f"The strategy is {strategy!r}; it can be {' or '.join(get_args(Strategy))}."
            )
        self.inputs, self.labels, self.strategy = inputs, labels, strategy
        device = inputs.device
        with torch.random.fork_rng(devices=[]):
            networks = []
            for seed in seeds:
                torch.manual_seed(seed)
                networks.append(build())
        self.stack = ParameterStack([dict(network.named_parameters()) for network in networks], device)
        states = [network.state_dict() for network in networks]
        self.network = networks[0].to(device)  # moved last, since `to` also moves the parameters read above
        self.constants = {
            name: value
            for name, value in self.network.named_buffers()
            if name not in self.network.state_dict()
        }
        self.buffers = {
            name: torch.stack([state[name] for state in states]).to(device)
            for name, _ in self.network.named_buffers()
            if name not in self.constants
        }
        written_out = self.network.fused() if strategy == "looped" and device.type == "cpu" else None
        self.fused = written_out and FusedStack(written_out, self.stack, self.buffers)

    @property
    def parameters(self) -> Parameters:
        """The stacked parameters (R, …) by name, leaves of the autograd graph."""
        return self.stack.named

    def __len__(self) -> int:
        return len(self.labels)

    def batch(self, records: Records) -> Batch:
        """Build the mini-batch of every replica's records."""
        device, sizes = self.inputs.device, [len(replica_records) for replica_records in records]
        longest = max(sizes)
        labels = torch.zeros(len(records), longest, dtype=torch.long)
        uniform, weights = torch.zeros(2, len(records), longest)
        inputs_of_replicas: list[dict[str, Tensor]] = []
        inputs_by_records: dict[bytes, dict[str, Tensor]] = {}
        for r, replica_records in enumerate(records):
            index = torch.from_numpy(replica_records)
            record_labels = self.labels[r, index.to(self.labels.device)].cpu()
            counts = record_labels.bincount()
            labels[r, : len(replica_records)] = record_labels
            uniform[r, : len(replica_records)] = 1 / len(replica_records)
            weights[r, : len(replica_records)] = 1 / (counts[record_labels] * (counts > 0).sum())
            if replica_records.tobytes() not in inputs_by_records:
                x = self.inputs[index.to(device)]
                constants = {} if self.fused else self.network.constants(x)
                inputs_by_records[replica_records.tobytes()] = {"x": x} | constants
            inputs_of_replicas.append(inputs_by_records[replica_records.tobytes()])
        labels, uniform, weights = (t.to(device) for t in (labels, uniform, weights))
        if self.strategy == "looped":
            features_by_inputs = {
                id(inputs): NodeFeatures(inputs["x"]) for inputs in inputs_by_records.values()
            }
            features = (
                [features_by_inputs[id(inputs)] for inputs in inputs_of_replicas] if self.fused else None
            )
            return Batch(inputs_of_replicas, None, labels, uniform, weights, features)
        padded = {
            name: nn.utils.rnn.pad_sequence([inputs[name] for inputs in inputs_of_replicas], batch_first=True)
            for name in inputs_of_replicas[0]
        }
        return Batch(padded, (uniform > 0).to(self.inputs.dtype), labels, uniform, weights)

    def outputs(self, batch: Batch, statistics: Statistics = "batch") -> Tensor:
        """Logits (R, N, classes), zero where padded (looped)."""
        if self.fused and batch.features:
            return self.fused.logits(batch.features, statistics)
        return self._apply(batch, statistics, topology=False)[0]

    def topology(self, batch: Batch) -> Tensor:
        """The mean over the records of ‖E‖², (R,)."""
        return self.mean(self._apply(batch, "batch", topology=True)[1], batch)

    def balanced(self, logits: Tensor, batch: Batch, classes: slice) -> Tensor:
        """Class-balanced cross-entropy (R,) over some of the outputs."""
        chosen = logits[..., classes]
        targets = (batch.labels - (classes.start or 0)).clamp(min=0).unsqueeze(-1)
        log_p = torch.log_softmax(chosen, -1).gather(-1, targets).squeeze(-1)
        return -(batch.weights * log_p).sum(-1)

    def task_loss(self, batch: Batch, classes: slice, statistics: Statistics = "batch") -> Tensor:
        """Class-balanced cross-entropy (R,) of `outputs`."""
        if self.fused and batch.features:
            parts = batch.features, batch.labels, batch.weights, classes, statistics
            return self.fused.loss(*parts)[0]
        return self.balanced(self.outputs(batch, statistics), batch, classes)

    def loss_and_gradient_size(
        self, batch: Batch, classes: slice, statistics: Statistics = "batch"
    ) -> tuple[Tensor, Tensor]:
        """`task_loss`, and the L1 norm (R,) of its gradient; both are differentiable."""
        if self.fused and batch.features:
            parts = batch.features, batch.labels, batch.weights, classes, statistics
            return self.fused.loss(*parts, with_gradient_norm=True)
        loss = self.task_loss(batch, classes, statistics)
        gradients = self.gradients(loss, create_graph=True)
        return loss, torch.stack([self.sum_per_replica(g.abs()) for g in gradients.values()]).sum(0)

    def mean(self, values: Tensor, batch: Batch) -> Tensor:
        """Mean (R,) of values (R, N) over the records, without padding."""
        return (values * batch.uniform).sum(-1)

    def gradients(self, value: Tensor, create_graph: bool = False) -> Parameters:
        """Gradient (R, …) of each replica's value (R,): that of their sum, as replicas are independent."""
        gradients = torch.autograd.grad(
            value.sum(),
            list(self.stack.named.values()),
            create_graph=create_graph,
            allow_unused=True,
            retain_graph=create_graph or None,
        )
        named = zip(self.stack.named.items(), gradients, strict=True)
        return {name: torch.zeros_like(p) if g is None else g for (name, p), g in named}

    def sum_per_replica(self, value: Tensor) -> Tensor:
        """The sum over all axes but the first."""
        return value.reshape(len(value), -1).sum(1)

    def broadcast_to_replicas(self, value: Tensor, like: Tensor) -> Tensor:
        """Reshape a value (R,) to (R, 1, …) with as many axes as `like`."""
        return value.view(-1, *[1] * (like.dim() - 1))

    def _apply(self, batch: Batch, statistics: Statistics, topology: bool) -> tuple[Tensor, Any]:
        if isinstance(batch.inputs, dict):

            def apply_to_replica(
                parameters: Parameters, buffers: Parameters, x: dict[str, Tensor], mask: Tensor
            ) -> Any:
                logits, energy = self._call(parameters, buffers, x, statistics, topology, mask)
                return (logits, energy) if topology else (logits,)

            assert batch.mask is not None
            stacked = vmap(apply_to_replica, randomness="error")(
                self.stack.named, self.buffers, batch.inputs, batch.mask
            )
            return stacked[0], stacked[1] if topology else None
        inputs = batch.inputs
        if self.fused:  # the fused network computes everything but topology scores, so constants are missing
            inputs = [part | self.network.constants(part["x"]) for part in inputs]
        rows = [
            {name: aligned(value) for name, value in zip(self.stack.named, values, strict=True)}
            for values in zip(
                *(parameters.unbind(0) for parameters in self.stack.named.values()), strict=True
            )
        ]
        results = [
            self._call(
                parameters,
                {n: buffers[r] for n, buffers in self.buffers.items()},
                x,
                statistics,
                topology,
                None,
            )
            for r, (parameters, x) in enumerate(zip(rows, inputs, strict=True))
        ]
        logits = nn.utils.rnn.pad_sequence([r[0] for r in results], batch_first=True)
        energies = nn.utils.rnn.pad_sequence([r[1] for r in results], batch_first=True) if topology else None
        return logits, energies

    def _call(
        self,
        parameters: Parameters,
        buffers: Parameters,
        inputs: dict[str, Tensor],
        statistics: Statistics,
        topology: bool,
        mask: Tensor | None,
    ) -> Any:
        options = {"statistics": statistics, "topology": topology, "mask": mask}
        return functional_call(
            self.network, (parameters, buffers, self.constants), kwargs=inputs | options, args=()
        )
