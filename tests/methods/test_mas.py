"""MAS on a linear model, whose importance is known in closed form."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from .single import LinearModel, method, task


def importance(model: LinearModel, records: list[int], seen: int, power: int) -> tuple[Tensor, Tensor]:
    """|d mean f² / dW| = |2/(NC) Σ f xᵀ| and |2/(NC) Σ f|, where f are the C outputs seen so far."""
    x = model.x[records]
    f = (x @ model.parameters["w"].T + model.parameters["b"]).detach()
    f[:, seen:] = 0
    w, b = 2 / len(records) / seen * f.T @ x, 2 / seen * f.mean(0)
    return w.abs() ** power, b.abs() ** power


@pytest.mark.parametrize("power", [1, 2])
def test_importance_is_measured_on_the_finished_task_and_adds_up(power: int) -> None:
    model = LinearModel()
    mas = method("MAS", strength=7.0, power=power)
    first, second, third = model.of(0, 1), model.of(2, 3), model.of(4, 5)
    batches = [model.batch((records,)) for records in (first, second, third)]
    tasks = [task(0, first), task(1, first, second), task(2, first, second, third)]
    ce = model.task_loss(batches[0], slice(0, 2))
    assert torch.equal(mas.loss(model, tasks[0], batches[0]), ce), "nothing is pulled yet"

    one_w, one_b = importance(model, first, 2, power)
    mas.end_task(model, tasks[0], batches[0])
    torch.testing.assert_close(mas.state()["importance/w"][0], one_w)
    torch.testing.assert_close(mas.state()["importance/b"][0], one_b)
    assert one_w[:2].all() and not one_w[2:].any(), "outputs that are not seen yet do not count"

    model.move(1)
    two_w, two_b = importance(model, second, 4, power)
    anchor = {name: p.detach().clone() for name, p in model.parameters.items()}
    mas.end_task(model, tasks[1], batches[1])
    assert mas.state()["importance/w"].shape == (1, 6, 3), "one anchor for all tasks"
    torch.testing.assert_close(mas.state()["importance/w"][0], one_w + two_w)
    assert all(torch.equal(mas.state()[f"anchor/{name}"][0], value) for name, value in anchor.items())

    model.move(2)
    pull = ((one_w + two_w) * (model.parameters["w"] - anchor["w"]) ** 2).sum() + (
        (one_b + two_b) * (model.parameters["b"] - anchor["b"]) ** 2
    ).sum()
    expected = model.task_loss(batches[2], slice(0, 6)) + 7.0 * pull
    loss = mas.loss(model, tasks[2], batches[2])
    torch.testing.assert_close(loss.squeeze(), expected)
    found, right = model.gradients(loss), model.gradients(expected)
    for name in found:
        torch.testing.assert_close(found[name], right[name])

    other = method("MAS", strength=7.0, power=power)
    other.load_state(mas.state())
    assert torch.equal(other.loss(model, tasks[2], batches[2]), mas.loss(model, tasks[2], batches[2]))
