"""Sweeps of CGL runs: shared, batched, interrupted or distributed, the numbers are those of single runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from driftlab.data.skeletons.nucla import load_nucla
from driftlab.methods import METHODS
from driftlab.metrics.accuracy_matrix import forgetting_table, task_accuracy
from driftlab.metrics.theorem import check_theorem
from driftlab.papers.cgl.experiment import TaskData, task_data
from driftlab.runs.engines import make_engine
from driftlab.runs.experiment import Config, StageId, stage_id
from driftlab.runs.store import Store
from driftlab.runs.sweep import SweepResult

from .small_world import EXPERIMENT, ORDERS, check_same, check_same_states, config, key, make_world, run

World = tuple[TaskData, str]
Swept = tuple[SweepResult, Store]
RUNS: list[Config] = [config(name, order) for name in METHODS for order in ORDERS]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("world") / "nucla")


@pytest.fixture(scope="module")
def swept(world: World, tmp_path_factory: pytest.TempPathFactory) -> Swept:
    """All methods in all orders, in one sweep that shares what can be shared; with its store."""
    store = Store(tmp_path_factory.mktemp("swept"))
    return run(world, store, RUNS, keep_states=True), store


def test_a_sweep_computes_each_distinct_stage_once(swept: Swept) -> None:
    result, _ = swept
    distinct = {key(stage) for made in RUNS for stage in EXPERIMENT.chain(made)}
    # Per method 2 orders share 2 stages; the first stages (2 distinct) are shared by all methods but TWP.
    assert len(distinct) == 8 * 13 - 7 * 2 + 2
    assert (result.runs, result.stages, result.computed) == (24, len(distinct), len(distinct))


def test_the_table_is_complete(swept: Swept) -> None:
    table = swept[0].table
    assert len(table) == 24 * 2 * (2 + 4 + 6 + 8 + 10)
    assert table["value"].between(0, 1).all()
    assert not table.duplicated([c for c in table if c != "value"]).any()
    for (method, order), rows in table.groupby(["method", "order"]):
        learnt = order.split("-")
        for stage, tested in rows[rows["metric"] == "test_accuracy"].groupby("trained_on")["tested_on"]:
            assert sorted(tested) == sorted(f"class:{c}" for c in learnt[: 2 * stage]), method
    assert len(table["value"].unique()) > 2


def test_methods_in_sweeps_of_their_own_share_the_first_task(
    world: World, swept: Swept, tmp_path: Path
) -> None:
    store, methods = Store(tmp_path), ("BARE", "EWC", "JOINT")
    results = [run(world, store, [config(method)]) for method in methods]
    assert [result.computed for result in results] == [5, 4, 4]
    whole = swept[0].table
    for result, method in zip(results, methods, strict=True):
        same = whole[(whole["method"] == method) & (whole["order"] == "-".join(map(str, ORDERS[0])))]
        assert sorted(result.table["value"]) == sorted(same["value"])


def test_numerics_are_told_apart_and_the_keys_of_stored_results_stay(world: World) -> None:
    stage = EXPERIMENT.chain(config("EWC"))[1]
    assert EXPERIMENT.numerics == ""
    assert replace(EXPERIMENT, strategy="batched").numerics == "cpu-batched"
    assert replace(EXPERIMENT, device="cuda").numerics == "cuda-batched"
    assert replace(EXPERIMENT, device="cuda:1", strategy="looped").numerics == "cuda-looped"
    stored_key = StageId("cgl", EXPERIMENT.version, world[1], stage).key
    assert stage_id(EXPERIMENT, world[1], stage).key == stored_key
    assert stage_id(replace(EXPERIMENT, strategy="batched"), world[1], stage).key != stored_key


def test_sharing_changes_nothing(world: World, swept: Swept, tmp_path: Path) -> None:
    """Each run alone, in a store of its own."""
    result, shared = swept
    for number, made in enumerate(RUNS):
        store = Store(tmp_path / str(number))
        alone = run(world, store, [made], batch=1, keep_states=True)
        assert (alone.runs, alone.computed) == (1, 5)
        own = (result.table["method"] == made["method"]["name"]) & (
            result.table["order"] == "-".join(map(str, made["order"]))
        )
        check_same(alone.table, result.table[own].reset_index(drop=True))
        assert check_same_states([made], world[1], store, shared) == 4


@pytest.mark.parametrize("batch", [1, 4])
def test_the_size_of_a_batch_changes_nothing(world: World, swept: Swept, tmp_path: Path, batch: int) -> None:
    store = Store(tmp_path)
    found = run(world, store, RUNS, batch=batch, keep_states=True)
    check_same(found.table, swept[0].table)
    assert check_same_states(RUNS, world[1], store, swept[1]) > 50


def test_hyper_parameters_and_seeds_side_by_side(world: World, tmp_path: Path) -> None:
    grids = {
        "EWC": [{"strength": 1.0}, {"strength": 1e4}],
        "TWP": [{"beta": 0.0}, {"beta": 0.1}, {"beta": 0.0, "lambda_l": 1.0}],
        "GEM": [{"strength": 0.05, "fraction": 0.1}, {"fraction": 0.5}],
        "REPLAY": [{"fraction": 0.1}, {"fraction": 0.5}],
    }
    runs = [
        config(name, order, seed, hyper=hyper)
        for name, grid in grids.items()
        for (order, seed), hyper in zip(itertools.cycle([(ORDERS[0], 0), (ORDERS[2], 1)]), grid, strict=False)
    ]
    together, apart = Store(tmp_path / "together"), Store(tmp_path / "apart")
    run(world, together, runs, keep_states=True)
    for made in runs:
        run(world, apart, [made], batch=1, keep_states=True)
    assert check_same_states(runs, world[1], together, apart) >= 30


def test_an_interrupted_sweep_goes_on_where_it_was(world: World, swept: Swept, tmp_path: Path) -> None:
    store = Store(tmp_path)
    run(world, store, RUNS, keep_states=True)
    stages = {key(stage): stage for made in RUNS for stage in EXPERIMENT.chain(made)}
    ids = {name: stage_id(EXPERIMENT, world[1], stage) for name, stage in stages.items()}
    # JOINT's stages leave nothing to continue from.
    with_state = sorted(name for name, one in ids.items() if store.state_path(one).exists())
    assert 25 < len(with_state) < len(stages)
    lost = np.random.default_rng([4]).choice(with_state, size=25, replace=False)
    for place, name in enumerate(lost):
        identity = ids[name]
        assert store.get(identity) is not None
        store.state_path(identity).unlink()
        if place % 3:  # of some only the state is gone
            store.entry_path(identity).unlink()
    again = run(world, store, RUNS, batch=3, keep_states=True)
    assert again.computed == 25 and again.reused == len(stages) - 25
    check_same(again.table, swept[0].table)
    assert check_same_states(RUNS, world[1], store, swept[1]) > 50
    assert run(world, store, RUNS).computed == 0


@pytest.fixture
def ray_at_the_end() -> Iterator[None]:
    yield
    import ray

    if ray.is_initialized():
        ray.shutdown()


@pytest.mark.usefixtures("ray_at_the_end")
def test_ray_gives_the_same_table(world: World, tmp_path: Path) -> None:
    """Slow (some 15 s): a Ray is started, and its worker imports PyTorch."""
    runs = [config(name, order, epochs=2) for name in ("EWC", "GEM") for order in ORDERS[:2]]
    local, distributed = Store(tmp_path / "local"), Store(tmp_path / "ray")
    expected = run(world, local, runs, keep_states=True)
    found = run(world, distributed, runs, engine=make_engine("ray", 1), batch=2, keep_states=True)
    assert found.computed == expected.computed > 0
    check_same(found.table, expected.table)
    check_same_states(runs, world[1], local, distributed)


def test_real_nucla(real_data: Path, tmp_path: Path) -> None:
    data, digest = task_data(load_nucla(real_data / "nucla"), 52, "resample")
    assert data.coordinates.shape == (1484, 52, 1, 20, 3)
    runs = [config(name, order, epochs=25) for name in ("BARE", "REPLAY") for order in (ORDERS[0], ORDERS[2])]
    table = run((data, digest), Store(tmp_path), runs).table
    assert len(table) == 4 * 2 * 30 and table["value"].between(0, 1).all()
    for order in ORDERS[0], ORDERS[2]:
        rows = table[table["order"] == "-".join(map(str, order))]
        for stage in range(1, 6):
            tested = set(rows.loc[rows["trained_on"] == stage, "tested_on"])
            assert tested == {f"class:{c}" for c in order[: 2 * stage]}
    accuracy = task_accuracy(table)
    checked = check_theorem(accuracy)
    assert checked.runs == 4 and len(checked.stages) == 4 * 4
    assert checked.violations.empty and checked.smallest_slack >= -1e-12
    newest = accuracy[accuracy["task"] == accuracy["trained_on"]]
    assert newest.groupby("method")["value"].mean()["BARE"] > 0.6, "the newest task is learnt"
    forgetting = forgetting_table(accuracy)
    final = forgetting[forgetting["trained_on"] == 5].groupby("method")["value"].mean()
    assert final["BARE"] > 0.3, "and older ones are forgotten"
