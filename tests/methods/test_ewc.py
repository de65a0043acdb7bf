"""EWC on losses whose minimum is known."""

from __future__ import annotations

import pytest
import torch
from driftlab.methods.ewc import OnlineEWC

from .single import LinearModel, Quadratic, method, task

C = [[1.0, 2.0, 0.5], [3.0, 1.0, 1.0], [0.5, 0.5, 4.0]]
T = [[1.0, -1.0, 0.0], [0.0, 2.0, 1.0], [-1.0, 0.0, 3.0]]
FIRST, SECOND = [0.5, 0.5, -1.0], [1.5, -0.5, 2.0]


def fisher(record: int, theta: list[float]) -> list[float]:
    return [(c * (x - t)) ** 2 for c, t, x in zip(C[record], T[record], theta, strict=True)]


def test_the_first_tasks_loss_is_the_tasks() -> None:
    learner = Quadratic(C, T, FIRST)
    ewc = method("EWC", strength=3.0)
    first = task(0, [0])
    expected = 0.5 * sum(c * (x - t) ** 2 for c, t, x in zip(C[0], T[0], FIRST, strict=True))
    assert ewc.loss(learner, first, 0).item() == pytest.approx(expected)


def test_the_minimum_is_where_algebra_says() -> None:
    learner = Quadratic(C, T, FIRST)
    ewc = method("EWC", strength=3.0)
    ewc.end_task(learner, task(0, [0]), 0)
    # Stationary where c (θ − t) + s F (θ − θ*) = 0.
    pull = [3.0 * f for f in fisher(0, FIRST)]
    minimum = [(c * t + p * a) / (c + p) for c, t, p, a in zip(C[1], T[1], pull, FIRST, strict=True)]
    optimiser = torch.optim.SGD(learner.parameters.values(), lr=0.05)
    for _ in range(2000):
        optimiser.zero_grad()
        ewc.loss(learner, task(1, [0], [1]), 1).backward()
        optimiser.step()
    assert learner.vector.tolist() == pytest.approx(minimum, rel=1e-9)


def test_each_task_keeps_its_own_anchor() -> None:
    learner = Quadratic(C, T, FIRST)
    ewc = method("EWC", strength=3.0)
    ewc.end_task(learner, task(0, [0]), 0)
    learner.put(SECOND)
    ewc.end_task(learner, task(1, [0], [1]), 1)
    theta = [0.25, -2.0, 1.25]
    learner.put(theta)
    f0, f1 = fisher(0, FIRST), fisher(1, SECOND)
    value = 0.5 * sum(c * (x - t) ** 2 for c, t, x in zip(C[2], T[2], theta, strict=True)) + 1.5 * sum(
        f0[i] * (theta[i] - FIRST[i]) ** 2 + f1[i] * (theta[i] - SECOND[i]) ** 2 for i in range(3)
    )
    loss = ewc.loss(learner, task(2, [0], [1], [2]), 2)
    assert loss.item() == pytest.approx(value)
    gradient = [
        C[2][i] * (theta[i] - T[2][i])
        + 3.0 * (f0[i] * (theta[i] - FIRST[i]) + f1[i] * (theta[i] - SECOND[i]))
        for i in range(3)
    ]
    assert learner.gradient(loss) == pytest.approx(gradient)


def test_the_fisher_is_the_squared_gradient_of_the_whole_batch() -> None:
    model = LinearModel()
    ewc = method("EWC")
    records = model.of(0, 1)
    ewc.end_task(model, task(0, records), model.batch((records,)))
    # Balanced classes: the gradient of the mean cross-entropy over outputs 0 and 1, softmax − one-hot.
    x, labels = model.x[records], model.labels[records]
    logits = (x @ model.parameters["w"].T + model.parameters["b"]).detach()[:, :2]
    error = torch.softmax(logits, 1) - torch.nn.functional.one_hot(labels, 2)
    expected_w, expected_b = torch.zeros(6, 3).double(), torch.zeros(6).double()
    expected_w[:2] = (error.T @ x / len(records)) ** 2
    expected_b[:2] = error.mean(0) ** 2
    state = ewc.state()
    torch.testing.assert_close(state["importance/w"][0], expected_w)
    torch.testing.assert_close(state["importance/b"][0], expected_b)
    assert torch.equal(state["anchor/w"][0], model.parameters["w"])
    assert sorted(state) == ["anchor/b", "anchor/w", "importance/b", "importance/w"]


def test_the_state_comes_back() -> None:
    learner = Quadratic(C, T, FIRST)
    ewc, other = method("EWC", strength=3.0), method("EWC", strength=3.0)
    ewc.end_task(learner, task(0, [0]), 0)
    learner.put(SECOND)
    ewc.end_task(learner, task(1, [0], [1]), 1)
    other.load_state(ewc.state())
    learner.put([0.0, 1.0, 2.0])
    third = task(2, [0], [1], [2])
    assert torch.equal(other.loss(learner, third, 2), ewc.loss(learner, third, 2))


def online_ewc(strength: float = 3.0) -> OnlineEWC:
    return OnlineEWC([0], {"strength": torch.tensor([strength])}, fisher="labels", half_penalty=True)


def test_online_only_the_newest_task_pulls() -> None:
    learner = Quadratic(C, T, FIRST)
    ewc = online_ewc()
    ewc.end_task(learner, task(0, [0]), 0)
    learner.put(SECOND)
    ewc.end_task(learner, task(1, [0], [1]), 1)
    theta = [0.25, -2.0, 1.25]
    learner.put(theta)
    newest = fisher(1, SECOND)
    value = sum(0.5 * C[2][i] * (theta[i] - T[2][i]) ** 2 for i in range(3)) + 1.5 * sum(
        newest[i] * (theta[i] - SECOND[i]) ** 2 for i in range(3)
    )
    assert ewc.loss(learner, task(2, [0], [1], [2]), 2).item() == pytest.approx(value)


def test_online_the_state_comes_back() -> None:
    learner = Quadratic(C, T, FIRST)
    ewc, other = online_ewc(), online_ewc()
    ewc.end_task(learner, task(0, [0]), 0)
    other.load_state(ewc.state())
    learner.put(SECOND)
    second = task(1, [0], [1])
    assert torch.equal(other.loss(learner, second, 1), ewc.loss(learner, second, 1))
    assert not torch.equal(ewc.loss(learner, second, 1), online_ewc().loss(learner, second, 1))
    other.end_task(learner, second, 1)
    assert all(len(value) == 1 for value in other.state().values())
