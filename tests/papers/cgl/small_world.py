"""A tiny synthetic N-UCLA and sweeps over it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from driftlab.data.skeletons.nucla import load_nucla
from driftlab.methods import method_config
from driftlab.papers.cgl.experiment import ContinualSkeletons, TaskData, run_config, task_data
from driftlab.runs.engines import Engine, LocalEngine
from driftlab.runs.experiment import Config, stage_id
from driftlab.runs.store import Store
from driftlab.runs.sweep import SweepResult, sweep
from driftlab.worlds.skeletons.nucla_layout import nucla_world

FRAMES = 4
SMALL: dict[str, Any] = {"width": 8, "depth": 1, "epochs": 3, "learning_rate": 1e-2}
ORDERS = (
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9),
    (0, 1, 2, 3, 8, 9, 4, 5, 6, 7),  # begins as the one above
    (7, 3, 9, 0, 1, 8, 2, 6, 5, 4),
)
EXPERIMENT = ContinualSkeletons(device="cpu")


def make_world(folder: Path, sequences_per_class: int = 20) -> tuple[TaskData, str]:
    skeletons = load_nucla(nucla_world(folder, sequences_per_class=sequences_per_class))
    return task_data(skeletons, FRAMES, "resample")


def config(method: str, order: tuple[int, ...] = ORDERS[0], seed: int = 0, **settings: Any) -> Config:
    hyper = settings.pop("hyper", {})
    return run_config(
        variant="nucla/tiny",
        method=method_config(method, **hyper),
        order=order,
        seed=seed,
        **(SMALL | settings),
    )


def run(
    world: tuple[TaskData, str],
    store: Store,
    configs: list[Config],
    *,
    engine: Engine | None = None,
    **options: Any,
) -> SweepResult:
    data, digest = world
    options = {"batch": 8, "progress": False, **options}
    return sweep(
        EXPERIMENT, configs, data=data, digest=digest, store=store, engine=engine or LocalEngine(1), **options
    )


def key(stage: Config) -> str:
    return stage_id(EXPERIMENT, "digest", stage).key


def keys(config: Config) -> list[str]:
    return [key(stage) for stage in EXPERIMENT.chain(config)]


def check_same(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(found, expected, check_exact=True)


def check_same_states(configs: list[Config], digest: str, *stores: Store) -> int:
    """Every stage's state, number for number; how many there are."""
    stages = {key(stage): stage for config in configs for stage in EXPERIMENT.chain(config)}
    count = 0
    for stage in stages.values():
        identity = stage_id(EXPERIMENT, digest, stage)
        states = []
        for store in stores:
            entry = store.get(identity)
            assert entry is not None
            states.append(store.load_state(entry))
        for state in states[1:]:
            assert state is not None and states[0] is not None and set(state) == set(states[0])
            assert all(np.array_equal(state[name], states[0][name]) for name in state)
        count += bool(states[0])
    return count
