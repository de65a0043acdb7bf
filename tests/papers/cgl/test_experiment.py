"""What a CGL run is: its configuration, its chain of stages, what a stage measures."""

from __future__ import annotations

import inspect
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from driftlab.core.errors import ParameterError
from driftlab.data.skeletons.nucla import load_nucla
from driftlab.data.skeletons.records import prepare
from driftlab.methods import METHODS, method_config
from driftlab.models.graphs import GCN
from driftlab.papers.cgl.experiment import TaskData, _positions, _task, run_config, task_data
from driftlab.scenarios.classes import class_orders, split_by_class, task_orders, tasks_of
from driftlab.worlds.skeletons.nucla_layout import nucla_world

from .small_world import EXPERIMENT, FRAMES, ORDERS, SMALL, config, key, keys, make_world

DIFFERENT = [name for name in METHODS if name != "TWP"]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[TaskData, str]:
    return make_world(tmp_path_factory.mktemp("world") / "nucla")


def test_the_defaults_are_the_papers() -> None:
    made = run_config(variant="s", method={"name": "BARE"}, order=(1, 0), seed=3)
    assert made == {
        "variant": "s",
        "backbone": {"name": "gcn", "width": 64, "depth": 2},
        "method": {"name": "BARE"},
        "training": {"epochs": 100, "learning_rate": 1e-3},
        "split": {"parts": [8, 1, 1], "seed": None},
        "classes_per_task": 2,
        "seed": 3,
        "order": [1, 0],
    }
    assert json.loads(json.dumps(made)) == made


def test_the_width_sweep_keeps_the_classifier() -> None:
    def backbone(**settings: Any) -> dict[str, Any]:
        made = run_config(variant="s", method={"name": "BARE"}, order=(0, 1), seed=0, **settings)
        return dict(made["backbone"])

    assert backbone(width=512) == {"name": "gcn", "width": 512, "depth": 2, "hidden": 64}
    # At width 64, and with ST-GCN, the configuration is what it was: stored results stay valid.
    assert "hidden" not in backbone(depth=16)
    assert "hidden" not in backbone(backbone="stgcn", width=16)
    assert "hidden" not in backbone(width=32, hidden=32)


def test_an_order_of_numpy_numbers_is_the_same_run() -> None:
    order = np.array(ORDERS[2])
    made = config("BARE", tuple(order))
    assert made == config("BARE", ORDERS[2]) and json.dumps(made)


def test_task_orders_share_their_prefixes() -> None:
    for name, first in (("REPLAY", 5), ("TWP", 5)):
        chains = [keys(config(name, order)) for order in task_orders(10, 2)]
        assert all(len(chain) == len(set(chain)) == 5 for chain in chains)
        assert len({stage for chain in chains for stage in chain}) == 325
        # 5 first tasks, 5·4 second ones …; the last two tasks of an order are fixed by the first four.
        assert [len({chain[k] for chain in chains}) for k in range(5)] == [first, 20, 60, 120, 120]


def test_a_stage_depends_on_the_classes_learnt_and_not_on_those_to_come() -> None:
    one, other = keys(config("EWC", ORDERS[0])), keys(config("EWC", ORDERS[1]))
    assert [a == b for a, b in zip(one, other, strict=True)] == [True, True, False, False, False]
    stages = EXPERIMENT.chain(config("EWC", ORDERS[2]))
    assert [stage["order"] for stage in stages] == [list(ORDERS[2][: 2 * k]) for k in range(1, 6)]
    swapped = (1, 0, *ORDERS[0][2:])
    assert not set(one) & set(keys(config("EWC", swapped))), "a class's place decides its output"


def test_a_stage_does_not_depend_on_the_scenarios_name() -> None:
    made = config("GEM")
    assert keys(made) == keys({**made, "variant": "another"})


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"width": 9},
        {"depth": 3},
        {"hidden": 8},
        {"backbone": "stgcn"},
        {"epochs": 4},
        {"learning_rate": 2e-2},
        {"classes_per_task": 5},
        {"split": (6, 2, 2)},
        {"split_seed": 0},
        {"hyper": {"strength": 1.0}},
    ],
)
def test_a_stage_depends_on_everything_else(change: dict[str, object]) -> None:
    one, other = keys(config("EWC")), keys(config("EWC", **change))  # type: ignore[arg-type]
    assert not set(one[1:]) & set(other[1:])
    # A hyper-parameter of EWC acts from the second task on.
    assert (one[0] == other[0]) == ("hyper" in change)


def test_the_first_stage_is_bares_for_every_method_that_acts_later() -> None:
    bare = keys(config("BARE"))
    for name in DIFFERENT:
        chain = keys(config(name))
        assert chain[0] == bare[0]
        assert name == "BARE" or not set(chain[1:]) & set(bare)
    assert keys(config("TWP", hyper={"beta": 0.01}))[0] != bare[0]
    assert keys(config("TWP", hyper={"beta": 0.0}))[0] == bare[0]
    stages = EXPERIMENT.chain(config("MAS"))
    assert [stage["method"]["name"] for stage in stages] == ["BARE"] + ["MAS"] * 4


def test_results_that_depend_on_their_neighbours_are_kept_apart() -> None:
    assert EXPERIMENT.numerics == ""
    assert replace(EXPERIMENT, strategy="looped").numerics == ""
    assert replace(EXPERIMENT, strategy="batched").numerics == "cpu-batched"


def test_what_describes_a_run() -> None:
    described = EXPERIMENT.describe(config("LwF", ORDERS[2], seed=4))
    assert described == {
        "paper": "cgl",
        "variant": "nucla/tiny",
        "method": "LwF",
        "seed": 4,
        "order": "7-3-9-0-1-8-2-6-5-4",
    }


def test_what_may_be_executed_together() -> None:
    def buckets(**settings: object) -> list[str]:
        return [EXPERIMENT.batch_key(stage) for stage in EXPERIMENT.chain(config(**settings))]  # type: ignore[arg-type]

    base = buckets(method="GEM")
    assert len(set(base)) == 5, "stages with one number of tasks"
    alike = buckets(method="GEM", order=ORDERS[2], seed=7, hyper={"strength": 1.0, "fraction": 0.1})
    assert base == alike
    for settings in (
        {"method": "REPLAY"},
        {"method": "GEM", "width": 9},
        {"method": "GEM", "epochs": 4},
        {"method": "GEM", "learning_rate": 2.0},
        {"method": "GEM", "split_seed": 0},
        {"method": "GEM", "classes_per_task": 1},
    ):
        assert not set(buckets(**settings)[1:]) & set(base[1:])
    # Only one of them differentiates gradients, and takes other layers for it.
    assert buckets(method="TWP", hyper={"beta": 0.1}) == buckets(method="TWP", hyper={"beta": 0.2})
    assert not set(buckets(method="TWP", hyper={"beta": 0.0})) & set(buckets(method="TWP"))


def test_relabelling_by_a_table() -> None:
    # In place (labels == c → i, one after the other) 2 → 0 and then 0 → 1 would collide.
    data = TaskData(np.zeros((6, 1, 1, 2, 3), np.float32), np.array([0, 1, 2, 3, 2, 0]), ((0, 1),), 4)
    found = _positions(data, [(2, 0, 3, 1), (0, 1, 2, 3), (3, 2)])
    assert found[0].tolist() == [1, 3, 0, 2, 0, 1]
    assert found[1].tolist() == [0, 1, 2, 3, 2, 0]
    assert found[2][[2, 3, 4]].tolist() == [1, 0, 1]
    for order in class_orders(4, 24, 0):
        (positions,) = _positions(data, [order]).tolist()
        assert [order[p] for p in positions] == data.labels.tolist()


def test_the_newest_task_of_every_replica() -> None:
    labels = np.array([0, 1, 2, 3, 0, 1, 2, 3])
    train = np.array([0, 1, 2, 3, 5, 6])
    task = _task(labels, train, [tasks_of((2, 0, 3, 1), 2), tasks_of((1, 3, 0, 2), 2)])
    assert task.index == 1 and task.heads == (slice(0, 2),)
    assert (task.new, task.seen) == (slice(2, 4), slice(0, 4))
    assert [part.tolist() for part in task.records] == [[1, 3, 5], [0, 2, 6]]
    assert [[part.tolist() for part in past] for past in task.past] == [[[0, 2, 6], [1, 3, 5]]]


def test_the_digest_stands_for_data_and_preparation(tmp_path: Path) -> None:
    skeletons = load_nucla(nucla_world(tmp_path / "world", sequences_per_class=3))
    data, digest = task_data(skeletons, 5, "resample")
    assert np.array_equal(data.coordinates, prepare(skeletons, 5, fit="resample"))
    assert data.labels.tolist() == skeletons.labels.tolist() and data.classes == 10
    assert task_data(skeletons, 5, "resample")[1] == digest
    fewer = skeletons.subset(range(20), "fewer")
    padded = int(skeletons.lengths.max())
    others = [
        task_data(skeletons, 6, "resample")[1],
        task_data(skeletons, padded, "pad")[1],
        task_data(skeletons, padded, "resample")[1],
        task_data(fewer, 5, "resample")[1],
    ]
    assert len({digest, *others}) == 5


def test_a_chain_executed_by_hand(world: tuple[TaskData, str]) -> None:
    data, _ = world
    state = None
    stages = EXPERIMENT.chain(config("EWC", ORDERS[2]))
    for place, stage in enumerate(stages, start=1):
        (result,) = EXPERIMENT.execute(data, [stage], [state])
        rows, state = result.rows, result.state
        seen = ORDERS[2][: 2 * place]
        assert [row["trained_on"] for row in rows] == [place] * 4 * place
        for metric in ("validation_accuracy", "test_accuracy"):
            assert [row["tested_on"] for row in rows if row["metric"] == metric] == [
                f"class:{c}" for c in seen
            ]
        assert all(0 <= row["value"] <= 1 and type(row["value"]) is float for row in rows)
        assert json.dumps(rows)
        assert bool(state) == (place < 5), "the last stage leaves nothing behind"
        if 1 < place < 5:
            assert state["method/importance/output.weight"].shape[0] == place - 1


def test_a_task_is_closed_on_its_own_records(world: tuple[TaskData, str]) -> None:
    """MAS's importance in the second stage's state: first stage's parameters and the first task's data."""
    data, _ = world
    stages = EXPERIMENT.chain(config("MAS", ORDERS[2]))[:3]
    state, states = None, []
    for stage in stages:
        (result,) = EXPERIMENT.execute(data, [stage], [state])
        state = result.state
        states.append(state)
    split = split_by_class(data.labels)
    total: dict[str, np.ndarray] = {}
    for place in (0, 1):
        seen = ORDERS[2][: 2 * place + 2]
        records = split.train[np.isin(data.labels[split.train], seen[-2:])]
        network = GCN(20, data.bones, 3 * FRAMES, 10, SMALL["width"], SMALL["depth"])
        weights = {
            name.removeprefix("parameter/").removeprefix("buffer/"): torch.from_numpy(value)
            for name, value in states[place].items()
            if name.startswith(("parameter/", "buffer/"))
        }
        network.load_state_dict(weights)
        x = GCN.inputs(torch.from_numpy(data.coordinates[records]))
        logits, _ = network(x, **network.constants(x), statistics="batch")
        logits[:, : len(seen)].square().mean().backward()
        for name, parameter in network.named_parameters():
            assert parameter.grad is not None
            total[name] = total.get(name, 0) + parameter.grad.square().numpy()
            found = states[place + 1]
            np.testing.assert_allclose(
                found[f"method/importance/{name}"][0], total[name], rtol=1e-3, atol=1e-6, err_msg=name
            )
            assert np.array_equal(found[f"method/anchor/{name}"][0], states[place][f"parameter/{name}"])


def test_what_a_stage_measures(world: tuple[TaskData, str]) -> None:
    """With coordinates that give the class away, and a class that cannot be told from another."""
    data, _ = world
    split = split_by_class(data.labels)
    told = np.zeros_like(data.coordinates)
    for label in range(10):
        told[data.labels == label, label % 4, :, :, label // 4] = 1.0
    # Class 1 looks like class 0 where it is tested, and like itself where it is trained on and validated.
    odd = split.test[data.labels[split.test] == 1]
    told[odd] = told[np.flatnonzero(data.labels == 0)[0]]
    stage = EXPERIMENT.chain(config("BARE", epochs=30))[0]
    (result,) = EXPERIMENT.execute(replace(data, coordinates=told), [stage], [None])
    found = {(row["metric"], row["tested_on"]): row["value"] for row in result.rows}
    assert found == {
        ("validation_accuracy", "class:0"): 1.0,
        ("validation_accuracy", "class:1"): 1.0,
        ("test_accuracy", "class:0"): 1.0,
        ("test_accuracy", "class:1"): 0.0,
    }


@pytest.mark.parametrize("name", list(METHODS))
def test_no_test_record_is_trained_on(name: str, world: tuple[TaskData, str]) -> None:
    """Whatever touches a poisoned record makes the run diverge or leaves a trace in the method's memory."""
    data, _ = world
    split = split_by_class(data.labels)
    poisoned = data.coordinates.copy()
    poisoned[np.concatenate([split.validation, split.test])] = np.nan
    hyper = {"fraction": 1.0} if name in ("GEM", "REPLAY") else {}
    stages = EXPERIMENT.chain(config(name, ORDERS[2], hyper=hyper))[:4]
    clean = replace(data, coordinates=poisoned)
    state = None
    for stage in stages:
        (result,) = EXPERIMENT.execute(clean, [stage], [state])
        state = result.state
        assert state and all(np.isfinite(value).all() for value in state.values())
    poisoned[split.train[np.isin(data.labels[split.train], ORDERS[2][:2])][0]] = np.nan
    with pytest.raises(
        ParameterError, match=r"The run diverged: the .* task 1 is nan\. Lower the learning rate"
    ):
        EXPERIMENT.execute(clean, stages[:1], [None])


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("EWC", {"hyper": {"strength": 1e39}}),
        ("LwF", {"hyper": {"T": 1e-50}}),
        ("BARE", {"learning_rate": 1e30}),
    ],
)
def test_a_run_that_diverges_has_no_accuracy(
    method: str, settings: dict[str, Any], world: tuple[TaskData, str]
) -> None:
    state = None
    with pytest.raises(ParameterError, match=r"The run diverged: .*Lower the learning rate or the method's"):
        for stage in EXPERIMENT.chain(config(method, **settings)):
            (result,) = EXPERIMENT.execute(world[0], [stage], [state])
            state = result.state


def test_a_task_of_one_record_is_refused(world: tuple[TaskData, str]) -> None:
    data, _ = world
    few = np.concatenate([np.flatnonzero(data.labels == c)[: 3 if c == 7 else 20] for c in range(10)])
    small = replace(data, coordinates=data.coordinates[few], labels=data.labels[few])
    stages = EXPERIMENT.chain(config("BARE", (7, 0, 1, 2, 3, 4, 5, 6, 8, 9), classes_per_task=1))
    with pytest.raises(ParameterError, match="The task of the classes 7 has 1 training records"):
        EXPERIMENT.execute(small, stages[:1], [None])


def test_the_global_generators_are_left_alone(world: tuple[TaskData, str]) -> None:
    torch.manual_seed(5)
    np.random.seed(5)
    expected = torch.rand(2), np.random.rand(2)
    torch.manual_seed(5)
    np.random.seed(5)
    EXPERIMENT.execute(world[0], [EXPERIMENT.chain(config("REPLAY"))[0]], [None])
    assert torch.equal(torch.rand(2), expected[0]) and np.array_equal(np.random.rand(2), expected[1])


def test_a_version_is_declared() -> None:
    assert EXPERIMENT.name == "cgl" and EXPERIMENT.version >= 1
    assert key({"order": [0]}) != ""
    assert "version" in inspect.signature(type(EXPERIMENT)).parameters


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epochs": 0}, "A CGL run's parameter 'epochs' has to be at least 1, not 0"),
        ({"epochs": 1.5}, "'epochs' cannot be 1.5: it should be a whole number"),
        ({"learning_rate": 0.0}, "'learning_rate' has to be above 0, not 0.0"),
        ({"seed": -1}, "'seed' has to be at least 0, not -1"),
        ({"width": 0}, "'width' has to be at least 1, not 0"),
        ({"hidden": 0}, "'hidden' has to be at least 1, not 0"),
        ({"backbone": "gcm"}, r"'backbone' has to be gcn or stgcn, not 'gcm'\. Did you mean 'gcn'\?"),
    ],
)
def test_impossible_settings(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        run_config(variant="s", method=method_config("BARE"), order=(0, 1), **({"seed": 0} | change))


def test_an_order_with_a_class_that_is_not_there(world: tuple[TaskData, str]) -> None:
    stage = EXPERIMENT.chain(config("BARE", (0, 99)))[0]
    with pytest.raises(ParameterError, match=r"The order \[0, 99\] has a class that the data do not have"):
        EXPERIMENT.execute(world[0], [stage], [None])


def test_an_unknown_strategy(world: tuple[TaskData, str]) -> None:
    stage = EXPERIMENT.chain(config("BARE", ORDERS[0]))[0]
    with pytest.raises(ParameterError, match="The strategy is 'loopd'; it can be looped or batched"):
        replace(EXPERIMENT, strategy="loopd").execute(world[0], [stage], [None])
