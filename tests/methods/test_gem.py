"""GEM's projection against a general-purpose solver, and its use of memories."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from driftlab.methods.gem import dual, project
from scipy.optimize import minimize
from torch import nn

from .single import LinearModel, method, task

CASES = [(tasks, size, seed) for tasks, size in [(1, 5), (2, 6), (4, 10), (4, 3)] for seed in range(8)]


def case(tasks: int, size: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """A gradient, and memory gradients of which it opposes at least one."""
    rng = np.random.default_rng([tasks, size, seed])
    memory, gradient = rng.normal(size=(tasks, size)), rng.normal(size=size)
    if (memory @ gradient >= 0).all():
        gradient = -gradient
    return torch.from_numpy(gradient), torch.from_numpy(memory)


@pytest.mark.parametrize(("tasks", "size", "seed"), CASES)
def test_the_projection_is_the_nearest_that_opposes_nothing(tasks: int, size: int, seed: int) -> None:
    gradient, memory = case(tasks, size, seed)
    found = project(gradient, memory, 0.0).numpy()
    g, rows = gradient.numpy(), memory.numpy()
    assert (rows @ found >= -1e-9 * np.linalg.norm(rows) * np.linalg.norm(g)).all()
    solved = minimize(
        lambda x: 0.5 * ((x - g) ** 2).sum(),
        np.zeros(size),
        jac=lambda x: x - g,
        constraints={"type": "ineq", "fun": lambda x: rows @ x, "jac": lambda x: rows},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    np.testing.assert_allclose(found, solved.x, atol=1e-5)
    assert ((found - g) ** 2).sum() <= ((solved.x - g) ** 2).sum() + 1e-6


@pytest.mark.parametrize("margin", [0.0, 0.05, 0.5, 5.0])
@pytest.mark.parametrize(("tasks", "size", "seed"), CASES[::3])
def test_a_margin_bounds_the_dual(tasks: int, size: int, seed: int, margin: float) -> None:
    gradient, memory = case(tasks, size, seed)
    gram, products = (memory @ memory.T).numpy(), (memory @ gradient).numpy()
    v = dual(gram, products, margin)
    assert (v >= margin).all()

    def cost(v: np.ndarray) -> float:
        return float(0.5 * v @ gram @ v + products @ v)

    solved = minimize(
        cost,
        np.full(tasks, margin + 1.0),
        jac=lambda v: gram @ v + products,
        bounds=[(margin, None)] * tasks,
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-10},
    )
    assert cost(v) <= solved.fun + 1e-8
    if size >= tasks:  # else many v are equally good
        np.testing.assert_allclose(v, solved.x, atol=1e-4)
    np.testing.assert_allclose(
        project(gradient, memory, margin).numpy(), gradient.numpy() + memory.numpy().T @ solved.x, atol=1e-4
    )


def test_by_hand() -> None:
    gradient = torch.tensor([1.0, -2.0])
    axes = torch.eye(2)
    assert project(gradient, axes, 0.0).tolist() == [1.0, 0.0]
    assert project(gradient, axes, 0.5).tolist() == [1.5, 0.0]
    assert project(gradient, axes[1:], 3.0).tolist() == [1.0, 1.0]


def test_what_opposes_nothing_stays_as_it_is() -> None:
    gradient, memory = case(3, 8, 0)
    memory = memory * torch.sign(memory @ gradient).unsqueeze(1)
    for margin in (0.0, 5.0):
        assert project(gradient, memory, margin) is gradient
    assert project(gradient, torch.zeros(2, 8, dtype=torch.float64), 5.0) is gradient


def test_degenerate_memories() -> None:
    gradient, memory = case(1, 6, 1)
    alone = project(gradient, memory, 0.0)
    for rows in (
        torch.cat([memory, memory]),
        torch.cat([memory, torch.zeros_like(memory)]),
        torch.cat([memory, 2 * memory, 1e-9 * memory]),
        torch.cat([memory, memory * (1 + 1e-15)]),
    ):
        torch.testing.assert_close(project(gradient, rows, 0.0), alone, rtol=1e-6, atol=1e-6)
    opposite = project(gradient, torch.cat([memory, -memory]), 0.0)
    torch.testing.assert_close(memory @ opposite, torch.zeros(1, dtype=torch.float64), rtol=0, atol=1e-9)


def test_single_precision() -> None:
    gradient, memory = (t.float() for t in case(4, 2000, 3))
    found = project(gradient, memory, 0.0)
    assert found.dtype == torch.float32
    cosines = (memory @ found) / (memory.norm(dim=1) * found.norm())
    assert (cosines >= -1e-6).all()
    torch.testing.assert_close(
        found.double(), project(gradient.double(), memory.double(), 0.0), atol=1e-5, rtol=0
    )


def test_gradients_are_projected_against_old_tasks() -> None:
    model, gem = LinearModel(), method("GEM", strength=0.0, fraction=0.5)
    parts = model.of(0, 1), model.of(2, 3), model.of(4, 5)
    third, batch = task(2, *parts), model.batch((parts[2],))
    gem.begin_task(model, third, batch)
    gradients = model.gradients(gem.loss(model, third, batch))
    found = gem.adjust_gradients(model, third, gradients)
    assert {name: g.shape for name, g in found.items()} == {"w": (6, 3), "b": (6,)}

    # Each memory's gradient over the outputs of all classes, softmax − one-hot; classes are in equal number
    # only by weight.
    rows = []
    for kept in gem.memories:
        x, labels = kept
        assert len(x) == 4
        logits = (x @ model.parameters["w"].T + model.parameters["b"]).detach()
        counts = labels.bincount(minlength=6)
        share = 1 / (counts[labels] * (counts > 0).sum())
        error = (torch.softmax(logits, 1) - nn.functional.one_hot(labels, 6)) * share.unsqueeze(1)
        rows.append(torch.cat([(error.T @ x).flatten(), error.sum(0)]))
    g = torch.cat([gradients["w"].flatten(), gradients["b"]])
    assert (torch.stack(rows) @ g < 0).any(), "there is something to project"
    after = torch.cat([found["w"].flatten(), found["b"]])
    assert (torch.stack(rows) @ after >= -1e-9).all()
    torch.testing.assert_close(after, project(g, torch.stack(rows), 0.0))


def test_the_first_task_has_no_memory() -> None:
    model, gem = LinearModel(), method("GEM")
    first = task(0, model.of(0, 1))
    batch = model.batch(first.records)
    gem.begin_task(model, first, batch)
    gradients = model.gradients(gem.loss(model, first, batch))
    assert gem.adjust_gradients(model, first, gradients) is gradients
