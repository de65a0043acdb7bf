"""The stack of replicas as the methods see it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from driftlab.methods.base import Records
from driftlab.training.graphs.replicas import Replicas, Strategy
from torch import Tensor, nn

from .small_task import CLASSES, FEATURES, JOINTS, LABELS, inputs, small_gcn

ORDERS = ((0, 1, 2, 3, 4, 5), (4, 2, 5, 0, 1, 3))
# Classes of both replicas in unequal numbers; positions in the second order: 4 → 0, 2 → 1, 5 → 2.
RECORDS: Records = (np.array([0, 1, 2, 3, 9, 10, 18]), np.array([36, 18, 19, 20, 45]))
POSITIONS = ([0, 0, 0, 0, 1, 1, 2], [0, 1, 1, 1, 2])
STRATEGIES: tuple[Strategy, ...] = ("looped", "batched")


def replicas(strategy: Strategy, seeds: tuple[int, ...] = (0, 1)) -> Replicas:
    labels = torch.tensor([[order.index(int(c)) for c in LABELS] for order in ORDERS])
    return Replicas(small_gcn(), seeds, inputs(), labels[: len(seeds)], strategy)


def test_a_replicas_initialisation_depends_on_its_seed_alone() -> None:
    torch.manual_seed(99)
    expected = torch.rand(3)
    torch.manual_seed(99)
    a, b = replicas("looped", (3, 4)), replicas("batched", (4, 3))
    assert torch.equal(torch.rand(3), expected), "the global generator is left alone"
    torch.manual_seed(3)
    network = small_gcn()()
    for name, p in network.named_parameters():
        assert a.parameters[name].shape == (2, *p.shape)
        assert torch.equal(a.parameters[name][0], p) and torch.equal(b.parameters[name][1], p)
        assert torch.equal(a.parameters[name][1], b.parameters[name][0])
    assert not torch.equal(a.parameters["output.weight"][0], a.parameters["output.weight"][1])
    assert len(a) == 2
    assert set(a.buffers) == {name for name in network.state_dict() if name not in a.parameters}
    assert set(a.constants) == {"adjacency"}


def test_all_replicas_go_to_the_inputs_device() -> None:
    """The first network is kept and moves; the stack must not be built from networks on two devices."""
    labels = torch.zeros(3, len(LABELS), dtype=torch.long)
    stack = Replicas(small_gcn(), (0, 1, 2), inputs().to("meta"), labels, "batched")
    held = [*stack.parameters.values(), *stack.buffers.values(), *stack.constants.values()]
    assert {value.device.type for value in held} == {"meta"}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_batch_by_hand(strategy: Strategy) -> None:
    batch = replicas(strategy).batch(RECORDS)
    assert batch.labels.tolist() == [POSITIONS[0], POSITIONS[1] + [0, 0]]
    assert batch.uniform[0].tolist() == pytest.approx([1 / 7] * 7)
    assert batch.uniform[1].tolist() == pytest.approx([1 / 5] * 5 + [0, 0])
    assert batch.weights[0].tolist() == pytest.approx([1 / 12] * 4 + [1 / 6] * 2 + [1 / 3])
    assert batch.weights[1].tolist() == pytest.approx([1 / 3] + [1 / 9] * 3 + [1 / 3] + [0, 0])
    if strategy == "looped":
        assert isinstance(batch.inputs, list) and batch.mask is None
        assert [len(part["x"]) for part in batch.inputs] == [7, 5], "nothing is padded"
    else:
        assert isinstance(batch.inputs, dict) and batch.mask is not None
        assert batch.inputs["x"].shape == (2, 7, JOINTS, FEATURES)
        assert batch.mask.tolist() == [[1] * 7, [1] * 5 + [0] * 2]
        assert torch.equal(batch.inputs["x"][1, :5], inputs()[RECORDS[1]])


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("classes", [slice(0, 3), slice(0, 6)])
def test_the_balanced_loss_is_torchs_weighted_cross_entropy(strategy: Strategy, classes: slice) -> None:
    stack = replicas(strategy)
    batch = stack.batch(RECORDS)
    logits = stack.outputs(batch)
    loss = stack.task_loss(batch, classes)
    assert loss.shape == (2,)
    torch.testing.assert_close(stack.balanced(logits, batch, classes), loss)
    for r, positions in enumerate(POSITIONS):
        labels = torch.tensor(positions)
        counts = labels.bincount(minlength=classes.stop)
        weight = torch.where(counts > 0, 1 / counts, 0.0)
        own = logits[r, : len(labels), classes]
        expected = nn.functional.cross_entropy(own, labels, weight=weight)
        torch.testing.assert_close(loss[r], expected)


def test_the_balanced_loss_of_the_newest_classes_alone() -> None:
    stack = replicas("looped")
    records = (np.array([18, 19, 27]), np.array([45, 0, 1, 2]))  # positions 2, 2, 3 and 2, 3, 3, 3
    batch = stack.batch(records)
    logits = stack.outputs(batch)
    loss = stack.balanced(logits, batch, slice(2, 4))
    for r, (labels, weight) in enumerate([([0, 0, 1], [1 / 2, 1.0]), ([0, 1, 1, 1], [1.0, 1 / 3])]):
        expected = nn.functional.cross_entropy(
            logits[r, : len(labels), 2:4], torch.tensor(labels), weight=torch.tensor(weight)
        )
        torch.testing.assert_close(loss[r], expected)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("statistics", ["update", "batch", "running"])
def test_outputs_and_topology_are_the_networks(strategy: Strategy, statistics: str) -> None:
    stack = replicas(strategy)
    batch = stack.batch(RECORDS)
    before = {name: value.clone() for name, value in stack.buffers.items()}
    for r in range(2):
        network = small_gcn()()
        state = {name: p[r].detach() for name, p in stack.parameters.items()}
        network.load_state_dict(state | {name: b[r] for name, b in stack.buffers.items()})
        x = inputs()[RECORDS[r]]
        expected, _ = network(x, **network.constants(x), statistics=statistics)
        _, energy = network(x, **network.constants(x), statistics="batch", topology=True)
        torch.testing.assert_close(
            stack.outputs(batch, "batch" if statistics != "running" else "running")[r, : len(x)], expected
        )
        torch.testing.assert_close(stack.topology(batch)[r], energy.mean())
        before |= {f"{name}/{r}": b.clone() for name, b in network.named_buffers()}
    assert all(torch.equal(before[name], value) for name, value in stack.buffers.items()), (
        "looking moves nothing"
    )
    stack.outputs(batch, statistics)  # type: ignore[arg-type]
    for name, value in stack.buffers.items():
        for r in range(2):
            torch.testing.assert_close(value[r], before[f"{name}/{r}"])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_means_run_over_true_records(strategy: Strategy) -> None:
    stack = replicas(strategy)
    batch = stack.batch(RECORDS)
    values = torch.arange(14, dtype=torch.float32).view(2, 7)
    assert stack.mean(values, batch).tolist() == pytest.approx([3.0, 9.0])


def test_sums_and_shapes_keep_the_replicas_apart() -> None:
    stack = replicas("looped")
    value = torch.arange(12, dtype=torch.float32).view(2, 3, 2)
    assert stack.sum_per_replica(value).tolist() == [15.0, 51.0]
    assert stack.sum_per_replica(value[:, 0, 0]).tolist() == [0.0, 6.0]
    factor = torch.tensor([10.0, -1.0])
    assert torch.equal(
        stack.broadcast_to_replicas(factor, value) * value, torch.stack([10 * value[0], -value[1]])
    )
    assert torch.equal(stack.broadcast_to_replicas(factor, factor) * factor, torch.tensor([100.0, 1.0]))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_replicas_do_not_reach_each_others_parameters(strategy: Strategy) -> None:
    stack = replicas(strategy)
    batch = stack.batch(RECORDS)

    def of_first(loss: Tensor) -> Tensor:
        return loss * torch.tensor([1.0, 0.0])

    gradients = stack.gradients(of_first(stack.task_loss(batch, slice(0, 3))))
    assert set(gradients) == set(stack.parameters)
    for name, gradient in gradients.items():
        assert gradient.shape == stack.parameters[name].shape
        assert gradient[0].any() and not gradient[1].any(), name
    # The outputs of classes that the loss leaves out.
    assert not gradients["output.bias"][0, 3:].any() and gradients["output.bias"][0, :3].all()


def test_what_a_value_does_not_depend_on_has_gradient_zero() -> None:
    stack = replicas("looped")
    gradients = stack.gradients(stack.topology(stack.batch(RECORDS)))
    assert not gradients["output.weight"].any() and not gradients["attention.bias"].any()
    assert gradients["layers.1.convolution.nn.weight"].any()
    assert gradients["output.weight"].shape == (2, CLASSES, 8)
