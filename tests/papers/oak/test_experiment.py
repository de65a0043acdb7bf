"""What a run on a stream is."""

from __future__ import annotations

import math
from typing import Any

import pytest
from driftlab.core.errors import ParameterError
from driftlab.papers.oak.experiment import OnlineDetection, run_config
from driftlab.papers.oak.methods import METHODS
from driftlab.runs.canonical import canonical_json

EXPERIMENT = OnlineDetection()
SETTINGS: dict[str, Any] = {
    "detector": "small",
    "vocabulary": "known",
    "steps": 12,
    "interval": 2,
    "offline_interval": 2,
    "stretch": 4,
}


def config(method: str, **settings: Any) -> dict[str, Any]:
    return run_config(method=method, **(SETTINGS | settings))


def chain(method: str, **settings: Any) -> list[str]:
    """A run's stages, as the store tells them apart."""
    return [
        canonical_json(stage, "a stage").decode() for stage in EXPERIMENT.chain(config(method, **settings))
    ]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"method": "LwF"},
            "An OAK run's parameter 'method' has to be Non-adaptation, Incremental, EWC, iCaRL or Offline",
        ),
        ({"vocabulary": "open"}, "'vocabulary' has to be known or unknown, not 'open'"),
        ({"detector": "smal"}, "'detector' has to be small or faster-rcnn-r50-c4, not 'smal'"),
        ({"iterations": 0}, "'iterations' has to be at least 1, not 0"),
        ({"interval": 0}, "'interval' has to be at least 1, not 0"),
        ({"slots": 0}, "'slots' has to be from 1 to 10000, not 0"),
        ({"offline_epochs": 0}, "'offline_epochs' has to be at least 1, not 0"),
        ({"offline_batch": 0}, "'offline_batch' has to be at least 1, not 0"),
        ({"seed": -1}, "'seed' has to be at least 0, not -1"),
        ({"interval": 13, "stretch": 13}, "An OAK run: with 12 steps there is no evaluation every 13"),
        (
            {"stretch": 3},
            r"a stretch has to be a multiple of the interval \(2 steps\), not 3",
        ),
        ({"stretch": 8}, r"fit twice into the stream \(12 steps\), not 8"),
        ({"stretch": 0}, "'stretch' has to be at least 1, not 0"),
        ({"stretch": -2}, "'stretch' has to be at least 1, not -2"),
        ({"learning_rate": 0.0}, "'learning_rate' has to be above 0, not 0.0"),
        ({"offline_learning_rate": math.nan}, "has to be finite and above 0, not nan"),
        ({"strength": -1.0}, "'strength' has to be at least 0, not -1.0"),
        ({"strength": math.inf}, "'strength' has to be finite and at least 0, not inf"),
        ({"replace": 1.5}, "'replace' has to be from 0 to 1, not 1.5"),
    ],
)
def test_impossible_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        config(**({"method": "EWC"} | settings))


def test_a_run_is_the_pretrained_detector_and_one_stage_an_evaluation() -> None:
    for method in METHODS:
        stages = EXPERIMENT.chain(config(method, steps=11, offline_epochs=1))
        steps = [stage["stream"]["steps"] for stage in stages]
        assert steps == ([0, 11] if method == "Non-adaptation" else [0, 2, 4, 6, 8, 10, 11])
        assert [stage["method"] for stage in stages[1:]] == [method] * (len(stages) - 1)


def test_all_methods_begin_with_the_same_stage() -> None:
    assert len({chain(method, seed=seed)[0] for method in METHODS for seed in (0, 1)}) == 1
    others = {chain("EWC", **one)[0] for one in ({"vocabulary": "unknown"}, {"batch": 3}, {"stretch": 2})}
    assert len(others | {chain("EWC")[0]}) == 4


def test_a_longer_stream_goes_on_from_the_shorter_one() -> None:
    assert chain("iCaRL", steps=12)[:5] == chain("iCaRL", steps=9)[:5]


ALL = {
    "seed": 1,
    "iterations": 3,
    "learning_rate": 0.1,
    "strength": 7.0,
    "slots": 2,
    "replace": 0.5,
    "offline_interval": 3,
    "offline_epochs": 3,
    "offline_learning_rate": 0.1,
    "offline_batch": 3,
    "mixed_precision": True,
}
LEARNING = {"seed", "iterations", "learning_rate", "mixed_precision"}


@pytest.mark.parametrize(
    ("method", "matter"),
    [
        ("Non-adaptation", set()),
        ("Incremental", LEARNING),
        ("EWC", LEARNING | {"strength", "slots", "replace"}),
        ("iCaRL", LEARNING | {"slots", "replace"}),
        (
            "Offline training",
            {
                "seed",
                "mixed_precision",
                "offline_interval",
                "offline_epochs",
                "offline_learning_rate",
                "offline_batch",
            },
        ),
    ],
)
def test_a_stage_holds_what_influences_it_and_nothing_else(method: str, matter: set[str]) -> None:
    plain = chain(method)[1]
    found = {name for name, value in ALL.items() if chain(method, **{name: value})[1] != plain}
    assert found == matter


def test_offline_training_is_evaluated_at_its_own_times() -> None:
    stages = EXPERIMENT.chain(config("Offline training", offline_interval=5, offline_epochs=2))
    passes = [(stage["stream"]["steps"], stage["pass"]) for stage in stages[1:]]
    assert passes == [(end, number) for end in (5, 10, 12) for number in (0, 1)]
    assert chain("Offline training", offline_interval=5)[0] == chain("Incremental")[0]
    assert chain("Incremental", offline_interval=5) == chain("Incremental")


def test_every_stage_stands_alone() -> None:
    stages = [stage for method in METHODS for stage in EXPERIMENT.chain(config(method, offline_epochs=3))]
    assert len({EXPERIMENT.batch_key(stage) for stage in stages}) == 1 + 1 + 3 * 6 + 6 * 3


def test_what_the_rows_of_a_run_say() -> None:
    assert EXPERIMENT.describe(config("iCaRL", vocabulary="unknown", seed=2)) == {
        "paper": "oak",
        "variant": "oak/small/unknown",
        "method": "iCaRL",
        "seed": 2,
        "order": "",
    }
