"""TWP on losses whose gradients are known."""

from __future__ import annotations

import pytest
import torch
from driftlab.methods.bare import Bare
from driftlab.methods.twp import TWP

from .single import LinearModel, Quadratic, method, task

C = [[1.0, 2.0, 0.5], [3.0, 1.0, 1.0], [0.5, 0.5, 4.0]]
T = [[1.0, -1.0, 0.0], [0.0, 2.0, 1.0], [-1.0, 0.0, 3.0]]
FIRST, SECOND, THETA = [0.5, 0.5, -1.0], [1.5, -0.5, 2.0], [0.25, -2.0, 1.25]


def importance(record: int, theta: list[float], power: int) -> list[float]:
    """With λ_l 2 and λ_t 0.1: 2 |c (θ − t)|ᵖ + 0.1 |3 θ²|ᵖ."""
    return [
        2 * abs(c * (x - t)) ** power + 0.1 * (3 * x**2) ** power
        for c, t, x in zip(C[record], T[record], theta, strict=True)
    ]


def two_tasks(beta: float, power: int) -> tuple[Quadratic, TWP]:
    learner = Quadratic(C, T, FIRST)
    twp = method("TWP", lambda_l=2.0, lambda_t=0.1, beta=beta, power=power)
    assert isinstance(twp, TWP)
    twp.end_task(learner, task(0, [0]), 0)
    learner.put(SECOND)
    twp.end_task(learner, task(1, [0], [1]), 1)
    learner.put(THETA)
    return learner, twp


@pytest.mark.parametrize("power", [1, 2])
def test_importances(power: int) -> None:
    _, twp = two_tasks(0.3, power)
    state = twp.state()
    for place, (record, theta) in enumerate([(0, FIRST), (1, SECOND)]):
        found = torch.cat([state[f"importance/{name}"][place].flatten() for name in ("first", "rest")])
        assert found.tolist() == pytest.approx(importance(record, theta, power))
        kept = torch.cat([state[f"anchor/{name}"][place].flatten() for name in ("first", "rest")])
        assert kept.tolist() == theta


@pytest.mark.parametrize(("beta", "power"), [(0.0, 2), (0.3, 2), (0.3, 1)])
def test_the_loss_and_its_gradient(beta: float, power: int) -> None:
    learner, twp = two_tasks(beta, power)
    loss = twp.loss(learner, task(2, [0], [1], [2]), 2)
    gradient = learner.gradient(loss)
    i0, i1 = importance(0, FIRST, power), importance(1, SECOND, power)
    own = [C[2][i] * (THETA[i] - T[2][i]) for i in range(3)]
    assert all(own), "the price has a gradient everywhere"
    value = sum(
        0.5 * C[2][i] * (THETA[i] - T[2][i]) ** 2
        + i0[i] * (THETA[i] - FIRST[i]) ** 2
        + i1[i] * (THETA[i] - SECOND[i]) ** 2
        + beta * abs(own[i])
        for i in range(3)
    )
    assert loss.item() == pytest.approx(value)
    expected = [
        own[i]
        + 2 * i0[i] * (THETA[i] - FIRST[i])
        + 2 * i1[i] * (THETA[i] - SECOND[i])
        + beta * C[2][i] * (1 if own[i] > 0 else -1)
        for i in range(3)
    ]
    assert gradient == pytest.approx(expected)
    assert learner.second_order_asked == twp.second_order == bool(beta)


def test_the_price_of_importance_counts_from_the_first_task() -> None:
    learner, twp = Quadratic(C, T, FIRST), method("TWP", beta=0.5)
    first = task(0, [0])
    bare = Bare([0], {}).loss(learner, first, 0)
    own = sum(abs(C[0][i] * (FIRST[i] - T[0][i])) for i in range(3))
    assert twp.loss(learner, first, 0).item() == pytest.approx(bare.item() + 0.5 * own)
    assert torch.equal(method("TWP", beta=0.0).loss(learner, first, 0), bare)
    assert not TWP.starts_bare({"beta": 0.5}) and TWP.starts_bare({"beta": 0.0})


def test_a_double_backward_on_a_model() -> None:
    model = LinearModel()
    records = model.of(0, 1)
    first, batch = task(0, records), model.batch((records,))
    found = model.gradients(method("TWP", beta=0.25).loss(model, first, batch))
    # By central differences of L + β Σ |∂L/∂W|, with ∂L/∂W = (softmax − one-hot)ᵀ x / N in closed form.
    x, labels = batch

    def value(w: torch.Tensor, b: torch.Tensor) -> float:
        logits = (x @ w.T + b)[:, :2]
        error = torch.softmax(logits, 1) - torch.nn.functional.one_hot(labels, 2)
        loss = -torch.log_softmax(logits, 1)[torch.arange(len(x)), labels].mean()
        return float(loss + 0.25 * ((error.T @ x / len(x)).abs().sum() + error.mean(0).abs().sum()))

    w, b = (model.parameters[name].detach() for name in ("w", "b"))
    for row in range(3):
        for column in range(3):
            step = torch.zeros_like(w)
            step[row, column] = 1e-6
            slope = (value(w + step, b) - value(w - step, b)) / 2e-6
            assert found["w"][row, column].item() == pytest.approx(slope, abs=1e-7)
