"""Replicas side by side against the same runs alone, and interrupted runs against uninterrupted ones."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
import safetensors.numpy
import torch
from driftlab.methods import METHODS
from driftlab.methods.bare import Bare
from driftlab.methods.base import Learner, Parameters, Task
from driftlab.models.graphs import STGCN
from driftlab.training.graphs.replicas import Strategy
from driftlab.training.graphs.task_trainer import Continual

from .small_task import (
    BONES,
    CLASSES,
    JOINTS,
    LABELS,
    MIXED,
    PER_CLASS,
    TASKS,
    Run,
    learn,
    mixed,
    small_gcn,
    stack,
    task,
)

EVERY = list(METHODS)


@pytest.fixture
def double() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def check_equal(together: Continual, place: int, alone: Continual) -> None:
    """To the bit: parameters, running statistics, and all else that a task leaves to the next."""
    ours, theirs = together.states()[place], alone.states()[0]
    assert set(ours) == set(theirs) and any(name.startswith("exp_avg_sq/") for name in ours)
    different = [name for name in ours if not np.array_equal(ours[name], theirs[name])]
    assert not different


@pytest.mark.parametrize("width", [7, 8, 10])
@pytest.mark.parametrize("name", EVERY)
def test_side_by_side_is_alone_to_the_bit(name: str, width: int) -> None:
    runs = mixed(name)
    together = learn(stack(name, runs, build=small_gcn(width)), runs, range(TASKS))
    assert len({len(part) for part in task(runs, 1).records}) == 5, "no two have as many records"
    for place, run in enumerate(runs):
        check_equal(together, place, learn(stack(name, [run], build=small_gcn(width)), [run], range(TASKS)))


@pytest.mark.parametrize("name", ["BARE", "TWP", "GEM"])
def test_st_gcn_side_by_side_is_alone_to_the_bit(name: str) -> None:
    rng = np.random.default_rng([3, 1])
    features = torch.from_numpy(rng.normal(size=(len(LABELS), 2, 6, JOINTS, 3)).astype(np.float32))
    options = {"build": lambda: STGCN(JOINTS, BONES, 3, CLASSES, 7, 2), "features": features}
    runs = mixed(name)[:3]
    together = learn(stack(name, runs, **options), runs, range(TASKS), 2)
    for place, run in enumerate(runs):
        check_equal(together, place, learn(stack(name, [run], **options), [run], range(TASKS), 2))


@pytest.mark.parametrize("strategy", ["looped", "batched"])
@pytest.mark.parametrize("name", ["BARE", "TWP", "GEM"])
def test_two_groupings_in_single_precision(name: str, strategy: Strategy) -> None:
    """Looped over, a replica's neighbours change nothing; batched, they may change its rounding, not more."""
    runs = mixed(name)
    groupings = ([[0, 1, 2, 3, 4]], [[4, 1], [0], [3, 2]])
    states = []
    for groups in groupings:
        by_run = {}
        for group in groups:
            chosen = [runs[place] for place in group]
            # Few steps: longer training amplifies differences in rounding to any size.
            actual = learn(stack(name, chosen, strategy), chosen, range(2), 2).states()
            by_run |= dict(zip(group, actual, strict=True))
        states.append(by_run)
    for place in range(len(runs)):
        for key, value in states[0][place].items():
            other = states[1][place][key]
            if strategy == "looped":
                assert np.array_equal(value, other), key
            else:
                scale = max(1.0, float(np.abs(value).max()))
                np.testing.assert_allclose(value / scale, other / scale, rtol=0, atol=2e-2, err_msg=key)


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("name", EVERY)
def test_the_strategies_agree(name: str) -> None:
    runs = mixed(name)
    looped, batched = (
        learn(stack(name, runs, strategy, torch.float64), runs, range(TASKS))
        for strategy in ("looped", "batched")
    )
    for own, other in zip(looped.states(), batched.states(), strict=True):
        assert set(own) == set(other)
        for key in own:
            scale = max(1.0, float(np.abs(own[key]).max()))
            np.testing.assert_allclose(own[key] / scale, other[key] / scale, rtol=0, atol=1e-9, err_msg=key)
    everything = (np.arange(len(LABELS)),) * len(runs)
    accuracies = [learner.class_accuracy(everything, CLASSES) for learner in (looped, batched)]
    np.testing.assert_array_equal(*accuracies)
    assert len(np.unique(accuracies[0])) > 3


@pytest.mark.parametrize("strategy", ["looped", "batched"])
@pytest.mark.parametrize("name", EVERY)
def test_an_interrupted_run_goes_on_as_if_it_were_not(name: str, strategy: Strategy) -> None:
    runs = mixed(name)[:3]
    uninterrupted = stack(name, runs, strategy)
    kept = []
    for index in range(TASKS):
        learn(uninterrupted, runs, [index], 3)
        kept.append(uninterrupted.states())
    for done in range(1, TASKS):
        # As the store keeps them; where replicas are looped over, in another order than before.
        order = [2, 0, 1] if strategy == "looped" else [0, 1, 2]
        states = [safetensors.numpy.load(safetensors.numpy.save(kept[done - 1][place])) for place in order]
        chosen = [runs[place] for place in order]
        resumed = stack(name, chosen, strategy)
        resumed.load_states(states)
        for place, state in zip(order, resumed.states(), strict=True):
            assert all(np.array_equal(state[key], kept[done - 1][place][key]) for key in state)
        learn(resumed, chosen, range(done, TASKS), 3)
        for place, state in zip(order, resumed.states(), strict=True):
            expected = kept[-1][place]
            assert set(state) == set(expected)
            assert all(np.array_equal(state[key], expected[key]) for key in state)


def test_states_are_copies() -> None:
    runs = list(MIXED[:2])
    learner = learn(stack("EWC", runs), runs, range(2), 1)
    before = learner.states()
    kept = [{key: value.copy() for key, value in state.items()} for state in before]
    learn(learner, runs, [2], 2)
    for state, copy in zip(before, kept, strict=True):
        assert all(isinstance(value, np.ndarray) for value in state.values())
        assert all(np.array_equal(state[key], copy[key]) for key in state)
    assert not np.array_equal(learner.states()[0]["parameter/output.bias"], kept[0]["parameter/output.bias"])


class Rearranged(Bare):
    """Hands the gradients on as GEM does: as parts of one wide tensor, or with other strides."""

    def adjust_gradients(self, learner: Learner, task: Task, gradients: Parameters) -> Parameters:
        whole = torch.cat([g.flatten(1) for g in gradients.values()], dim=1)
        actual: Parameters = {}
        start = 0
        for place, (name, g) in enumerate(gradients.items()):
            size = g[0].numel()
            part = whole[:, start : start + size].view(g.shape)
            actual[name] = part if place % 2 else g.transpose(0, -1).contiguous().transpose(0, -1)
            start += size
        assert sum(not g.is_contiguous() for g in actual.values()) >= 19
        return actual


def test_the_optimiser_reads_gradients_by_their_strides() -> None:
    runs = list(MIXED)
    plain = learn(stack("BARE", runs), runs, range(TASKS))
    other = stack("BARE", runs)
    other.method = Rearranged([run.seed for run in runs], {})
    learn(other, runs, range(TASKS))
    for own, expected in zip(other.states(), plain.states(), strict=True):
        assert all(np.array_equal(own[key], expected[key]) for key in own)


def test_the_optimiser_is_adam() -> None:
    """One Adam for all tasks, by its formula."""
    rate, seen = 1e-2, []

    class Watched(Bare):
        def adjust_gradients(self, learner: Learner, task: Task, gradients: Parameters) -> Parameters:
            seen.append({name: g.double().clone() for name, g in gradients.items()})
            return gradients

    runs = list(MIXED[:2])
    learner = stack("BARE", runs, learning_rate=rate)
    learner.method = Watched([run.seed for run in runs], {})
    expected = {name: p.detach().double().clone() for name, p in learner.parameters.items()}
    learn(learner, runs, range(2), 3)
    assert len(seen) == 6
    for name, p in expected.items():
        m, v = torch.zeros_like(p), torch.zeros_like(p)
        for t, gradients in enumerate(seen, start=1):
            m = 0.9 * m + 0.1 * gradients[name]
            v = 0.999 * v + 0.001 * gradients[name] ** 2
            p -= rate * (m / (1 - 0.9**t)) / ((v / (1 - 0.999**t)).sqrt() + 1e-8)
        torch.testing.assert_close(learner.parameters[name].double(), p, rtol=1e-4, atol=1e-5)


def loss(learner: Continual, of: Task) -> np.ndarray:
    batch = learner.replicas.batch(of.records)
    return learner.replicas.task_loss(batch, of.seen).detach().numpy()


@pytest.mark.parametrize("name", EVERY)
def test_the_loss_falls(name: str) -> None:
    runs = list(MIXED[:2])
    learner, first = stack(name, runs), task(runs, 0)
    losses = [loss(learner, first)]
    for _ in range(3):
        learner.learn(first, 8)
        losses.append(loss(learner, first))
    assert all((later < earlier).all() for earlier, later in pairwise(losses))
    assert (losses[-1] < 0.5 * losses[0]).all()


def test_separable_classes_are_learnt_and_forgotten() -> None:
    runs = [Run(0, per_class=6), Run(1, (4, 2, 5, 0, 1, 3), per_class=6)]
    # The last three records of each class are trained on by nobody.
    test = np.flatnonzero(np.arange(len(LABELS)) % PER_CLASS >= 6)
    accuracy = {
        name: learn(stack(name, runs), runs, range(TASKS), 25).class_accuracy((test,) * 2, CLASSES)
        for name in ("BARE", "JOINT", "REPLAY")
    }
    assert accuracy["JOINT"].mean() > 0.9 and accuracy["REPLAY"].mean() > 0.6
    assert accuracy["BARE"][:, 4:].mean() > 0.8, "the last task"
    assert accuracy["BARE"][:, :4].mean() < 0.4, "and nothing else"


def test_class_accuracy_by_hand() -> None:
    runs = [Run(0), Run(1, (4, 2, 5, 0, 1, 3))]
    learner = learn(stack("JOINT", runs), runs, range(TASKS), 3)
    records = (np.array([0, 1, 2, 9, 10, 20]), np.array([36, 40, 18, 45, 46, 47, 48]))
    batch = learner.replicas.batch(records)
    logits = learner.replicas.outputs(batch, "running").detach().numpy()
    actual = learner.class_accuracy(records, 3)
    for r, order in enumerate(((0, 1, 2), (4, 2, 5))):
        for position, label in enumerate(order):
            own = [n for n, record in enumerate(records[r]) if LABELS[record] == label]
            # Among the first three outputs only, whatever the others say.
            right = [int(max(range(3), key=lambda c, n=n, r=r: logits[r, n, c]) == position) for n in own]
            assert actual[r, position] == pytest.approx(sum(right) / len(right))
    assert actual.shape == (2, 3) and not learner.replicas.buffers["norm.running_mean"].isnan().any()
