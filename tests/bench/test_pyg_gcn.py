"""Two implementations of the GCN that share no code give the same numbers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from driftlab.bench.pyg_gcn import PyGGCN, edges, from_gcn
from driftlab.models.graphs import GCN
from driftlab.training.graphs.replicas import Replicas, Strategy
from torch import Tensor
from torch_geometric.data import Batch, Data

JOINTS, BONES = 7, ((0, 1), (1, 2), (2, 3), (1, 4), (4, 5))  # joint 6 has no bone
GRAPHS, FEATURES, CLASSES, SEEN = 23, 12, 6, 4


@pytest.fixture(autouse=True)
def _double() -> Iterator[None]:
    """Double precision, so that a small difference cannot hide behind rounding."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def drawn(seed: int, *shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def labels() -> Tensor:
    return torch.arange(GRAPHS) ** 2 % SEEN  # classes of different sizes, two of them absent


def stack(strategy: Strategy, depth: int) -> Replicas:
    def build() -> GCN:
        network = GCN(JOINTS, BONES, FEATURES, CLASSES, width=9, depth=depth)
        for place, parameter in enumerate(network.parameters()):
            # Scales of either sign: below zero, the joints that ReLU cut tie for the maximum.
            parameter.data += drawn(place, *parameter.shape)
        return network

    inputs = drawn(99, GRAPHS, JOINTS, FEATURES)
    return Replicas(build, [0], inputs, labels().unsqueeze(0), strategy)


def twin(replicas: Replicas, depth: int) -> PyGGCN:
    """The PyG model with the weights of the first replica; every one of its parameters is filled."""
    model = PyGGCN(FEATURES, CLASSES, width=9, depth=depth)
    values = {name: p[0].detach().clone() for name, p in replicas.parameters.items()}
    missing, unexpected = model.load_state_dict(from_gcn(values, depth), strict=False)
    assert not unexpected
    assert {name.rpartition(".")[2] for name in missing} <= {
        "running_mean",
        "running_var",
        "num_batches_tracked",
    }
    return model


def graphs(replicas: Replicas) -> Batch:
    edge_index = edges(BONES, JOINTS)
    return Batch.from_data_list([Data(x=x, edge_index=edge_index) for x in replicas.inputs])


@pytest.mark.parametrize("depth", [1, 2, 4])
@pytest.mark.parametrize("strategy", ["looped", "batched"])
def test_logits_and_gradients_are_equal(strategy: Strategy, depth: int) -> None:
    replicas = stack(strategy, depth)
    model, data = twin(replicas, depth), graphs(replicas)
    batch = replicas.batch((torch.arange(GRAPHS).numpy(),))

    ours = replicas.outputs(batch)[0]
    theirs = model(data.x, data.edge_index, data.batch)
    torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)

    gradients = replicas.gradients(replicas.task_loss(batch, slice(0, SEEN)))
    counts = labels().bincount(minlength=SEEN)
    weight = torch.where(counts > 0, 1 / counts, 0)
    torch.nn.functional.cross_entropy(theirs[:, :SEEN], labels(), weight).backward()
    expected = {name: p.grad for name, p in model.named_parameters()}
    actual = from_gcn({name: g[0].detach() for name, g in gradients.items()}, depth)
    assert set(actual) == set(expected)
    for name, gradient in expected.items():
        assert gradient is not None
        torch.testing.assert_close(actual[name], gradient, rtol=1e-7, atol=1e-10, msg=name)


def test_running_statistics_and_outputs_at_test_time_are_equal() -> None:
    replicas = stack("looped", 2)
    model, data = twin(replicas, 2), graphs(replicas)
    batch = replicas.batch((torch.arange(GRAPHS).numpy(),))

    replicas.outputs(batch, "update")
    model.train()(data.x, data.edge_index, data.batch)
    kept = dict(model.named_buffers())
    moved = from_gcn({name: value[0] for name, value in replicas.buffers.items()})
    assert len(moved) == 6
    for name, value in moved.items():
        torch.testing.assert_close(value, kept[name], rtol=1e-9, atol=1e-9, msg=name)

    ours = replicas.outputs(batch, "running")[0]
    torch.testing.assert_close(ours, model.eval()(data.x, data.edge_index, data.batch), rtol=1e-9, atol=1e-9)


def test_the_scales_of_the_test_make_joints_tie_for_the_maximum() -> None:
    model, data = twin(replicas := stack("looped", 1), 1), graphs(replicas)
    with torch.no_grad():
        h = torch.relu(model.convolutions[0](data.x, data.edge_index)) + torch.relu(
            model.residuals[0](data.x)
        )
        h = model.norms[0](h).view(GRAPHS, JOINTS, -1)
    assert ((h == h.amax(1, keepdim=True)).sum(1) > 1).any()
