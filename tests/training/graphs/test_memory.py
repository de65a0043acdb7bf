"""The estimate of memory against what a process really takes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from driftlab.training.graphs.memory import replica_bytes, replicas_that_fit

SHAPE, RECORDS = (60, 2, 25, 3), 400
SCRIPT = """
import json, sys
import numpy as np, torch
from driftlab.methods import make_method, method_config
from driftlab.methods.base import Task
from driftlab.models.graphs import make_backbone
from driftlab.training.graphs.replicas import Replicas
from driftlab.training.graphs.task_trainer import Continual

replicas, name, backbone = int(sys.argv[1]), sys.argv[2], sys.argv[3]
torch.set_num_threads(1)
shape, records = (60, 2, 25, 3), 400
bones = tuple((v, v // 2) for v in range(1, 25))
config = {"name": backbone, "width": 64, "depth": 2}
data = torch.rand(4 * records, *shape)
build = make_backbone(config, shape, bones, 4)
inputs = type(build()).inputs(data)
labels = torch.arange(4 * records).remainder(4).repeat(replicas, 1)
seeds = list(range(replicas))
device = torch.device("cpu")
method = make_method([method_config(name)] * replicas, seeds, device)
learner = Continual(Replicas(build, seeds, inputs, labels, "looped"), method, 1e-3)
own = tuple(np.arange(r * records, (r + 1) * records) for r in range(replicas))


def status(name):
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1024


few = tuple(part[:8] for part in own)  # the kernels are compiled here, which takes memory of its own
learner.learn(Task(0, (), slice(0, 4), slice(0, 4), few, ()), 1)
open("/proc/self/clear_refs", "w").write("5")  # the peak begins anew
begun = status("VmRSS")
learner.learn(Task(0, (), slice(0, 4), slice(0, 4), own, ()), 2)
print(json.dumps(status("VmHWM") - begun))
"""


def peak(replicas: int, method: str, backbone: str) -> int:
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, str(replicas), method, backbone]
    return int(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
@pytest.mark.parametrize(("method", "backbone"), [("LwF", "gcn"), ("BARE", "gcn")])
def test_another_replica_takes_no_more_than_estimated(method: str, backbone: str) -> None:
    found = (peak(4, method, backbone) - peak(1, method, backbone)) / 3
    estimate = replica_bytes(SHAPE, RECORDS, 64, 2, backbone)
    assert 0.2 * estimate < found < estimate


def test_inputs_are_kept_twice() -> None:
    # NTU at paper scale: a task of 1,066 sequences of 300 frames and two bodies is 0.18 GiB.
    copy = 1066 * 300 * 2 * 25 * 3 * 4
    assert copy / 2**30 == pytest.approx(0.18, abs=0.005)
    assert 2 * copy < replica_bytes((300, 2, 25, 3), 1066, 64, 2) < 3.1 * copy


def test_how_many_fit() -> None:
    one = replica_bytes(SHAPE, RECORDS, 64, 2)
    arguments = (SHAPE, RECORDS, 64, 2)
    assert replicas_that_fit(10 * one, 2, *arguments) == 5
    assert replicas_that_fit(10 * one - 1, 2, *arguments) == 4
    assert replicas_that_fit(0, 2, *arguments) == replicas_that_fit(-5, 1, *arguments) == 1
    assert replica_bytes(SHAPE, RECORDS, 64, 2, "stgcn") > one
