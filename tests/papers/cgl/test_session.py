"""What a notebook asks of its session."""

from __future__ import annotations

from typing import Any

import pytest
from driftlab.core.errors import ParameterError
from driftlab.metrics.accuracy_matrix import final_metrics, task_accuracy
from driftlab.papers.cgl.session import CglSession

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
    free, held = (final_metrics(task_accuracy(table)) for table in tables)
    assert held["average_forgetting"].mean() < free["average_forgetting"].mean()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hyper": {"MAZ": {}}}, r"There is no method 'MAZ'\. Did you mean 'MAS'\?"),
        ({"hyper": {"MAS": {"powr": 1.0}}}, r"MAS has no hyper-parameter 'powr'\. Did you mean 'power'\?"),
        ({"hyper": {"MAS": {"power": 3.0}}}, "MAS's 'power' has to be 1 or 2, not 3.0"),
        (
            {"methods": ["BARE", "EWC"], "hyper": {"MAS": {"power": 1.0}}},
            "hyper names MAS, which is not in methods: BARE, EWC",
        ),
    ],
)
def test_impossible_hyper_parameters(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        session(**settings)


def test_unknown_data() -> None:
    with pytest.raises(ParameterError, match="data is 'nuclaa'; it can be world, world-ntu, nucla, ntu"):
        CglSession("41_cgl_task_order", scale="smoke", data="nuclaa")
