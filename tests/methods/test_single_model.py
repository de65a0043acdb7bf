"""The interface knows no replicas: a plain loop over one model gives what a stack of one replica gives."""

from __future__ import annotations

import pytest
import torch
from driftlab.methods import METHODS, make_method, method_config
from training.graphs.small_task import CLASSES, LABELS, Run, inputs, small_gcn, stack
from training.graphs.small_task import task as task_of

from .single import CPU, SingleGCN

RUN = Run(3, (4, 2, 5, 0, 1, 3), 6)
TASKS, EPOCHS, RATE = 3, 4, 1e-2


@pytest.mark.parametrize("strategy", ["looped", "batched"])
@pytest.mark.parametrize("name", list(METHODS))
def test_a_plain_loop_gives_the_same(name: str, strategy: str) -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(RUN.seed)
        network = small_gcn()()
    x = inputs(torch.float64)
    labels = torch.tensor([RUN.order.index(int(c)) for c in LABELS])
    single = SingleGCN(network, x, labels, RATE)
    method = make_method([method_config(name)], [RUN.seed], CPU)
    learner = stack(name, [RUN], strategy, torch.float64, learning_rate=RATE)
    begun = {name_: p.detach().clone() for name_, p in single.parameters.items()}
    assert all(torch.equal(learner.parameters[name_][0], p) for name_, p in begun.items())
    for index in range(TASKS):
        single.learn(method, task_of([RUN], index), EPOCHS)
        learner.learn(task_of([RUN], index), EPOCHS)
        learner.close(task_of([RUN], index))
        for name_, p in single.parameters.items():
            torch.testing.assert_close(learner.parameters[name_][0], p, rtol=0, atol=1e-9)
        for name_, b in network.named_buffers():
            if name_ in learner.replicas.buffers:
                torch.testing.assert_close(learner.replicas.buffers[name_][0], b, rtol=0, atol=1e-9)
        assert not any(torch.equal(p, begun[name_]) for name_, p in single.parameters.items())
    with torch.no_grad():
        chosen = single.outputs((x, labels), "running").argmax(1)
    accuracy = [(chosen[labels == c] == c).double().mean().item() for c in range(CLASSES)]
    found = learner.class_accuracy((torch.arange(len(x)).numpy(),), CLASSES)
    assert found[0].tolist() == pytest.approx(accuracy)
