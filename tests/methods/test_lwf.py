"""LwF: its distillation against PyTorch's divergence, its loss by hand."""

from __future__ import annotations

import pytest
import torch
from driftlab.methods.base import Method, Task
from driftlab.methods.lwf import distillation
from torch import nn

from .single import Batch, LinearModel, method, task


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("temperature", [0.2, 1.0, 2.0, 20.0])
def test_distillation_is_the_divergence(temperature: float) -> None:
    logits, target = normal(5, 3), normal(5, 3, seed=1)
    t = torch.tensor([temperature], dtype=torch.float64)
    found = distillation(logits, target, t)
    expected = nn.functional.kl_div(
        torch.log_softmax(logits / temperature, 1),
        torch.softmax(target / temperature, 1),
        reduction="none",
    ).sum(1)
    torch.testing.assert_close(found, expected)
    assert (found > 0).all()
    assert torch.equal(distillation(target, target, t), torch.zeros(5, dtype=torch.float64))


def test_a_temperature_a_replica() -> None:
    logits, target = normal(2, 5, 3), normal(2, 5, 3, seed=1)
    t = torch.tensor([0.5, 2.0], dtype=torch.float64)
    found = distillation(logits, target, t.view(2, 1, 1))
    for r in range(2):
        torch.testing.assert_close(found[r], distillation(logits[r], target[r], t[r]))


def test_the_first_task_is_plain_cross_entropy() -> None:
    model, lwf = LinearModel(), method("LwF")
    records = model.of(0, 1)
    first, batch = task(0, records), model.batch((records,))
    lwf.begin_task(model, first, batch)
    expected = nn.functional.cross_entropy(model.outputs(batch)[:, :2], batch[1])
    torch.testing.assert_close(lwf.loss(model, first, batch), expected)


def third_task(**hyper: float) -> tuple[LinearModel, Method, Task, Batch]:
    model, lwf = LinearModel(), method("LwF", **hyper)
    old = model.of(0, 1), model.of(2, 3)
    records = model.of(4, 5)
    third, batch = task(2, *old, records), model.batch((records,))
    lwf.begin_task(model, third, batch)
    return model, lwf, third, batch


def test_the_loss_by_hand() -> None:
    model, lwf, third, batch = third_task(lambda_dist=0.5, T=2.0)
    before = model.outputs(batch).detach()
    model.move(1)  # the targets stay those of the model before the task
    after = model.outputs(batch)
    expected = nn.functional.cross_entropy(after[:, 4:6], batch[1] - 4)
    for head in (slice(0, 2), slice(2, 4)):  # one softmax an old task
        p, log_q = torch.softmax(before[:, head] / 2, 1), torch.log_softmax(after[:, head] / 2, 1)
        expected = expected + 0.5 * nn.functional.kl_div(log_q, p, reduction="batchmean")
    torch.testing.assert_close(lwf.loss(model, third, batch).squeeze(), expected)


def test_an_unchanged_model_has_nothing_to_distil() -> None:
    model, lwf, third, batch = third_task(lambda_dist=1000.0)
    loss = lwf.loss(model, third, batch)
    expected = nn.functional.cross_entropy(model.outputs(batch)[:, 4:6], batch[1] - 4)
    torch.testing.assert_close(loss.squeeze(), expected)
    assert not model.gradients(loss)["w"][:4].abs().gt(1e-12).any()


def test_the_cross_entropy_does_not_push_old_outputs() -> None:
    model, lwf, third, batch = third_task(lambda_dist=0.0)
    model.move(1)
    gradients = model.gradients(lwf.loss(model, third, batch))
    assert not gradients["w"][:4].any() and not gradients["b"][:4].any()
    assert gradients["w"][4:].all()
    other, lwf, third, batch = third_task(lambda_dist=1.0)
    other.move(1)
    assert other.gradients(lwf.loss(other, third, batch))["w"][:4].all(), "distillation does"
