"""What a notebook asks of its session."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from driftlab.core.errors import ParameterError
from driftlab.methods import METHODS, method_config
from driftlab.papers.cgl.session import CglSession, best_hyper

ORDERS = ((0, 1, 2, 3, 4, 5, 6, 7, 8, 9), (8, 9, 0, 1, 2, 3, 4, 5, 6, 7))
SETTINGS = {"width": 8, "depth": 1, "epochs": 3, "learning_rate": 1e-2}


def session(**settings: Any) -> CglSession:
    return CglSession(
        "41_cgl_task_order", scale="smoke", data="world", world_sequences=10, jobs=1, **settings
    )


def test_hyper_parameters_differ_from_table_3_where_it_is_asked_for() -> None:
    changed = session(methods=["MAS", "TWP"], hyper={"MAS": {"power": 1.0}})
    assert changed.method("MAS") == {"name": "MAS", "strength": 100.0, "power": 1.0}
    assert changed.method("MAS", strength=3.0) == {"name": "MAS", "strength": 3.0, "power": 1.0}
    assert changed.method("TWP") == session().method("TWP")


def test_a_changed_hyper_parameter_changes_the_runs() -> None:
    tables = [
        session(methods=["MAS"], hyper={"MAS": {"strength": strength}}).runs(["MAS"], ORDERS, [0], **SETTINGS)
        for strength in (0.0, 1e9)
    ]
    free, held = (
        table.set_index(["order", "trained_on", "tested_on", "metric"])["value"] for table in tables
    )
    changed = held != free.reindex(held.index)
    assert changed.any()
    assert not changed.xs(1, level="trained_on").any(), "MAS acts from the second task on"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hyper": {"MAZ": {}}}, r"There is no method 'MAZ'\. Did you mean 'MAS'\?"),
        (
            {"hyper": {"MAS": {"powr": 1.0}}},
            r"There is no hyper-parameter of MAS 'powr'\. Did you mean 'power'\?",
        ),
        ({"hyper": {"MAS": {"power": 3.0}}}, "MAS's 'power' has to be 1 or 2, not 3.0"),
    ],
)
def test_impossible_hyper_parameters(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        session(**settings)


def test_table_3s_best_on_each_dataset() -> None:
    assert best_hyper("TWP", "NTU") == {"lambda_l": 100, "lambda_t": 10000, "beta": 0.01}
    assert best_hyper("LwF", "NTU")["lambda_dist"] == 0.1
    assert best_hyper("BARE", "UCLA") == best_hyper("EWC", "another dataset") == {}
    for name in METHODS:
        assert method_config(name, **best_hyper(name, "UCLA")) == method_config(name), "the defaults"


def test_unknown_data() -> None:
    with pytest.raises(ParameterError, match=r"no value of data 'nuclaa'\. Did you mean 'nucla'\? "):
        CglSession("41_cgl_task_order", scale="smoke", data="nuclaa")


def test_the_network_is_that_of_a_run() -> None:
    first, same, other = (session().network(seed=seed, width=8) for seed in (1, 1, 2))
    assert torch.equal(first.layers[0].residual.weight, same.layers[0].residual.weight)
    assert not torch.equal(first.layers[0].residual.weight, other.layers[0].residual.weight)
    assert first.hidden.weight.shape == (64, 16)


def test_runs_are_judged_with_the_size_of_the_smallest_test_class() -> None:
    made = session()
    runs = made.order_runs(made.runs(["BARE"], ORDERS, [0], **SETTINGS))
    assert runs.test_sequences == 1 and runs.resolution == 0.1  # ten sequences per class, one of ten tested
    assert (runs.dataset, made.label, made.panel) == ("UCLA", "UCLA", "a")
